//! What is known of a whole stream: what stands in the frontmatter, and the task list.
//!
//! The last that was told wins, unless said otherwise. Everything is cleaned of control characters here.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

use super::naming::Naming;
use super::phase_rule::{self, PromptEffect};
use super::place;
use super::property::Properties;
use crate::event::{EventKind, PromptOrigin, SessionFact, StreamKey, Usage};
use crate::{Task, task_line};
use cru_base::text::{fold_whitespace, sanitise};

/// What is known of the whole stream.
#[derive(Debug, Default)]
pub(super) struct StreamFacts {
    /// The first time of all, whatever it is of.
    seen: Option<Timestamp>,
    /// The first time of work or of a request.
    first: Option<Timestamp>,
    /// The session that it goes on in.
    pub(super) continued_in: Option<StreamKey>,
    /// What is older was copied from another session.
    copied_until: Option<Timestamp>,
    pub(super) latest: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) home: Option<String>,
    /// The folder whose work tree `cwd` is.
    pub(super) project: Option<String>,
    /// The branches that the work was on, in order; the last is where it ended.
    pub(super) branches: Vec<String>,
    pub(super) commit: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) version: Option<String>,
    pub(super) model: Option<String>,
    pub(super) naming: Naming,
    pub(super) cost: Option<f64>,
    pub(super) total_cost: Option<f64>,
    pub(super) usage: HashMap<String, (String, Usage)>,
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
pub(super) struct TaskRows {
    pub(super) rows: Vec<Task>,
    by_id: BTreeMap<String, usize>,
}

impl StreamFacts {
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

    pub(super) fn meta(&mut self, meta: SessionFact<'_>) {
        let line = |text: &str| Some(fold_whitespace(&sanitise(text))).filter(|text| !text.is_empty());
        match meta {
            SessionFact::Title { rank, text } => self.naming.given(rank, &text),
            SessionFact::Cwd(cwd) => {
                if self.home.is_none() {
                    self.home = place::home_of(&cwd).map(ToOwned::to_owned);
                }
                if self.cwd.is_none() {
                    self.cwd = line(&cwd);
                }
            }
            SessionFact::Project(folder) => self.project = line(&folder).or(self.project.take()),
            SessionFact::TotalCost(cost) => self.total_cost = Some(cost),
            SessionFact::Branch(branch) => {
                if let Some(name) = line(&branch).filter(|name| name != "HEAD" && self.branches.last() != Some(name)) {
                    self.branches.retain(|known| *known != name);
                    self.branches.push(name);
                }
            }
            SessionFact::Commit(commit) => self.commit = self.commit.take().or_else(|| line(&commit)),
            SessionFact::Agent(name) => self.agent = line(&name).or(self.agent.take()),
            SessionFact::HostVersion(version) => self.version = line(&version).or(self.version.take()),
            SessionFact::Started(time) => self.first = Some(self.first.map_or(time, |first| first.min(time))),
            SessionFact::ContinuedIn(next) => self.continued_in = Some(next),
            SessionFact::CopiedUntil(time) => self.copied_until = Some(time),
            SessionFact::Model(model) => self.model = line(&model).or(self.model.take()),
            SessionFact::Tokens(tokens) => self.tokens = Some(tokens),
            SessionFact::Tag(tag) => {
                // One set for both questions would lose the order in which they were given.
                if let Some(tag) = place::tag(&tag).filter(|tag| self.known_tags.insert(tag.clone())) {
                    self.tags.push(tag);
                }
            }
            SessionFact::Memory { key, value } => self.memory.add(&key, &value),
            SessionFact::Property { key, value } => self.properties.add(&key, &value),
            SessionFact::Cost(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
        }
    }

    /// Keeps what the session's title comes from.
    pub(super) fn said(&mut self, words: &str, origin: &PromptOrigin<'_>, effect: PromptEffect) {
        self.asked |= effect != PromptEffect::Aside;
        self.naming.said(words, origin, effect);
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

impl TaskRows {
    /// The rows that were not deleted. A later one whose line would have the id of another's gets one of its own.
    pub(super) fn live(self) -> Vec<Task> {
        let id = |row: &Task| task_line::lossy(row).id.map(|id| id.to_lowercase());
        let mut rows: Vec<Task> = self.rows.into_iter().filter(|row| row.status != "deleted").collect();
        let mut taken: HashSet<String> = rows.iter().filter_map(id).collect();
        let mut seen = HashSet::new();
        for row in &mut rows {
            let is_first = id(row).is_none_or(|id| seen.insert(id));
            let first = row.id.clone();
            let mut numbers = 2..;
            while let Some(number) = numbers.next().filter(|_| !is_first) {
                row.id = format!("{first}-{number}");
                if id(row).is_none_or(|id| taken.insert(id)) {
                    break;
                }
            }
        }
        rows
    }

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
