//! What is known of a whole stream: what stands in the frontmatter, and the task list.
//!
//! The last that was told wins, unless said otherwise. Everything is cleaned of control characters here.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

use super::phase_rule::{self, Verdict};
use super::place;
use super::property::Properties;
use crate::Task;
use crate::event::{EventKind, Meta, PromptOrigin, TitleRank, Usage};
use crate::words::shorten::without_queries;
use crate::words::title;
use cru_base::text::{fold_whitespace, sanitise, slug};

/// Words of a prompt in a file name.
const SLUG_WORDS: usize = 6;

/// What is known of the whole stream.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The first time of all, whatever it is of.
    seen: Option<Timestamp>,
    /// The first time of work or of a request.
    first: Option<Timestamp>,
    /// What is older was copied from another session.
    copied_until: Option<Timestamp>,
    pub(super) latest: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) home: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) version: Option<String>,
    pub(super) model: Option<String>,
    pub(super) title: Option<(TitleRank, String)>,
    pub(super) cost: Option<f64>,
    pub(super) usage: HashMap<String, (String, Usage)>,
    /// Heading and file name part of the first prompt.
    pub(super) prompt: Option<title::Title>,
    pub(super) slug: Option<String>,
    /// The same of the first command.
    pub(super) command: Option<String>,
    pub(super) command_slug: Option<String>,
    /// The first phase that the record names, and its part of a file name.
    pub(super) phase: Option<String>,
    pub(super) phase_slug: Option<String>,
    /// Tokens of which it is not said what kind they are.
    pub(super) tokens: Option<u64>,
    pub(super) tags: Vec<String>,
    known_tags: HashSet<String>,
    pub(super) memory: Properties,
    pub(super) properties: Properties,
    pub(super) asked: bool,
    pub(super) worked: bool,
    /// Whether the record holds something ready-made: that is worth a note by itself.
    pub(super) kept: bool,
}

/// The task list as it now is.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) rows: Vec<Task>,
    by_id: BTreeMap<String, usize>,
}

impl Facts {
    /// Takes in the time of an event.
    pub(super) fn at(&mut self, time: Timestamp, kind: &EventKind<'_>) {
        self.seen.get_or_insert(time);
        self.latest = self.latest.max(Some(time));
        if self.first.is_none() && is_work(kind) && self.copied_until.is_none_or(|until| time >= until) {
            self.first = Some(time);
        }
    }

    /// When the session began: with its first request or work. A command about the host, what the host notes and what was
    /// copied from another session are none, unless there is nothing else.
    pub(super) fn started(&self) -> Option<Timestamp> {
        self.first.or(self.seen)
    }

    pub(super) fn meta(&mut self, meta: Meta<'_>) {
        let line = |text: &str| Some(fold_whitespace(&sanitise(text))).filter(|text| !text.is_empty());
        match meta {
            Meta::Title { rank, text } => {
                let stronger = self.title.as_ref().is_none_or(|(old, _)| *old <= rank);
                if let Some(text) = title::given(&text).filter(|_| stronger) {
                    self.title = Some((rank, text));
                }
            }
            Meta::Cwd(cwd) => {
                if self.home.is_none() {
                    self.home = place::home_of(&cwd).map(ToOwned::to_owned);
                }
                if self.cwd.is_none() {
                    self.cwd = line(&cwd);
                }
            }
            Meta::Branch(branch) => {
                self.branch = self.branch.take().or_else(|| line(&branch).filter(|name| name != "HEAD"));
            }
            Meta::Commit(commit) => self.commit = self.commit.take().or_else(|| line(&commit)),
            Meta::HostVersion(version) => self.version = line(&version).or(self.version.take()),
            Meta::Started(time) => self.first = Some(self.first.map_or(time, |first| first.min(time))),
            Meta::CopiedUntil(time) => self.copied_until = Some(time),
            Meta::Model(model) => self.model = line(&model).or(self.model.take()),
            Meta::Tokens(tokens) => self.tokens = Some(tokens),
            Meta::Tag(tag) => {
                // One set for both questions would lose the order in which they were given.
                if let Some(tag) = place::tag(&tag).filter(|tag| self.known_tags.insert(tag.clone())) {
                    self.tags.push(tag);
                }
            }
            Meta::Memory { key, value } => self.memory.add(&key, &value),
            Meta::Property { key, value } => self.properties.add(&key, &value),
            Meta::Cost(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
        }
    }

    /// Keeps what the session's name and title come from.
    pub(super) fn said(&mut self, words: &str, origin: &PromptOrigin<'_>, verdict: Verdict) {
        let part = || name_part(words);
        if *origin == PromptOrigin::Command {
            self.asked |= verdict != Verdict::Aside;
            if self.command.is_none() && verdict != Verdict::Aside {
                self.command = Some(title::of_command(words));
            }
            self.command_slug = self.command_slug.take().or_else(part);
        } else if verdict != Verdict::Aside {
            self.asked = true;
            // The first request that names something; where none does, the first.
            if !self.prompt.as_ref().is_some_and(|title| title.tells) {
                let better = title::of(words).filter(|title| title.tells || self.prompt.is_none());
                self.prompt = better.or(self.prompt.take());
            }
            self.slug = self.slug.take().or_else(part);
        }
    }
}

/// Whether an event is a request or work.
fn is_work(kind: &EventKind<'_>) -> bool {
    match kind {
        EventKind::Prompt(prompt) => {
            prompt.origin != PromptOrigin::Command || !phase_rule::is_housekeeping(prompt.text.trim())
        }
        EventKind::Meta(_)
        | EventKind::Usage { .. }
        | EventKind::Rewind { .. }
        | EventKind::Branch { .. }
        | EventKind::Bookmark { .. }
        | EventKind::Compaction { .. } => false,
        _ => true,
    }
}

impl Tasks {
    pub(super) fn replace(&mut self, rows: Vec<Task>) {
        self.by_id = rows.iter().enumerate().map(|(index, row)| (row.id.clone(), index)).collect();
        self.rows = rows;
    }

    pub(super) fn change(&mut self, new: Task) {
        let known = self.by_id.get(&new.id).filter(|_| !new.id.is_empty()).and_then(|&index| self.rows.get_mut(index));
        let Some(row) = known else {
            self.by_id.insert(new.id.clone(), self.rows.len());
            self.rows.push(new);
            return;
        };
        if !new.content.is_empty() {
            row.content = new.content;
        }
        if !new.status.is_empty() {
            row.status = new.status;
        }
        row.priority = new.priority.or(row.priority.take());
        row.extra.extend(new.extra);
    }
}

/// The part of a file name that `words` give.
pub(super) fn name_part(words: &str) -> Option<String> {
    Some(slug(title::unmarked(&without_queries(words)), SLUG_WORDS)).filter(|part| !part.is_empty())
}
