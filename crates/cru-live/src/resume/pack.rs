//! The pack: parts in their order, dealt out of one budget.
//!
//! What comes first in the order below is paid first. Titles of decisions are paid whatever the budget is; everything
//! else is left out, and said to be, before the budget is exceeded. Costs are counted by line, so they add up.

mod head;

use serde::Serialize;

use head::heads;

use super::after::After;
use super::decision::{self, Made};
use super::entry::Entry;
use super::phase::{self, Above, Usual};
use super::point::Point;
use super::{BUDGET, open, text, token, window, word};
use cru_base::text::{plural, thousands};
use cru_session::Session;

/// What a line costs that says how much was left out.
const NOTE: u64 = 24;

/// What a pack is made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tokens it may have.
    pub budget: u64,
    /// Path of the note, to read more in.
    pub path: Option<String>,
    /// The block from which work goes on, such as a checkpoint; else the resume point of the session.
    pub from: Option<String>,
    /// What could not be had, from [`super::missing`].
    pub missing: Vec<String>,
    /// What an accepted reading says: a name and a sentence for each line.
    pub reading: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self { budget: BUDGET, path: None, from: None, missing: Vec::new(), reading: Vec::new() }
    }
}

/// What a next agent needs to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pack {
    /// Id of the session.
    pub session: String,
    /// Its title.
    pub title: String,
    /// What it may have.
    pub budget: u64,
    /// What it has, counted by [`token::count`].
    pub tokens: u64,
    /// By how much the budget is exceeded: the titles of decisions are never left out.
    pub over: u64,
    /// What had to be shortened or could not be had; for people, beside the pack.
    pub notices: Vec<String>,
    /// In their order.
    pub parts: Vec<Part>,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What the frontmatter says.
    Session,
    /// What could not be read.
    Missing,
    /// Where work goes on.
    ResumePoint,
    /// Gates before the first phase, which hold for all of them.
    Gates,
    /// All decisions.
    Decisions,
    /// Tasks, questions, errors.
    Open,
    /// The `yaml memory` fences.
    Memory,
    /// The last checkpoint.
    Checkpoint,
    /// Corrections and other words of the user.
    User,
    /// Phases, newest first.
    Recent,
    /// A line for each older phase.
    Earlier,
    /// A line for each phase behind the resume point.
    Behind,
}

/// A section of the pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is.
    pub part: Kind,
    /// Its heading.
    pub heading: String,
    /// Heading, note and entries.
    pub tokens: u64,
    /// What was done to fit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Entries that did not fit.
    pub left_out: u64,
    /// In their order.
    pub entries: Vec<Entry>,
}

impl Part {
    fn new(part: Kind, heading: impl Into<String>, entries: Vec<Entry>) -> Self {
        let mut part = Self { part, heading: heading.into(), tokens: 0, note: None, left_out: 0, entries };
        part.count();
        part
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self.count();
        self
    }

    fn count(&mut self) {
        let note = self.note.as_deref().map_or(0, token::count);
        self.tokens = token::count(&self.heading) + note + self.entries.iter().map(|it| it.tokens).sum::<u64>();
    }

    /// Its first entries, as many as fit into `room`, and a line that says how many do not; `None` where not one fits.
    fn first(part: Kind, heading: &str, entries: Vec<Entry>, room: u64, what: &str) -> Option<Self> {
        let whole = Self::new(part, heading, entries);
        if whole.entries.is_empty() {
            return None;
        }
        if whole.tokens <= room {
            return Some(whole);
        }
        let mut left = room.checked_sub(token::count(heading) + NOTE)?;
        let mut entries = whole.entries;
        let all = entries.len();
        let fits = entries
            .iter()
            .take_while(|it| {
                it.tokens <= left && {
                    left -= it.tokens;
                    true
                }
            })
            .count();
        entries.truncate(fits);
        let left_out = (all - fits) as u64;
        let note = format!("{} more in the note.", plural(left_out, what));
        (fits > 0).then(|| Self { left_out, ..Self::new(part, heading, entries).note(note) })
    }

    fn markdown(&self, out: &mut String) {
        out.push_str(&self.heading);
        out.push('\n');
        if let Some(note) = &self.note {
            out.push_str(&format!("\n{note}\n"));
        }
        let mut listed = false;
        for entry in &self.entries {
            let list = entry.text.starts_with("- ");
            if !(list && listed) {
                out.push('\n');
            }
            listed = list;
            out.push_str(entry.text.trim_end());
            out.push('\n');
        }
    }
}

impl Pack {
    /// The pack of a session.
    pub fn of(session: &Session, options: &Options) -> Self {
        let point = Point::of(session, options.from.as_deref());
        let made = decision::all(session, &point);
        let mut pack = Self {
            session: text::clean(session.meta.session_id.as_deref().unwrap_or_default()),
            title: text::clean(session.title()).trim().to_owned(),
            budget: options.budget,
            ..Self::default()
        };
        pack.notices.extend(options.missing.iter().map(|notice| text::clean(notice)));
        if let Some(lost) = point.lost {
            pack.notices
                .push(format!("no phase has the id `{}` of `resume_point`; the last one goes on", text::clean(lost)));
        }
        let whole = decisions(&made, decision::full(&made));
        let heads = heads(session, options, &point);
        let cost = |parts: &[Part]| parts.iter().map(|part| part.tokens).sum::<u64>();
        if let Some(head) = heads.iter().find(|head| cost(head) + whole.tokens <= options.budget) {
            pack.parts.clone_from(head);
            if !made.is_empty() {
                pack.parts.push(whole);
            }
            pack.rest(session, &point);
        } else {
            pack.shorten(&made, heads, whole.tokens);
        }
        pack.tokens = pack.parts.iter().map(|part| part.tokens).sum();
        pack
    }

    /// As markdown, one line end at the end.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            if !out.is_empty() {
                out.push('\n');
            }
            part.markdown(&mut out);
        }
        out
    }

    /// The part of a kind.
    pub fn part(&self, kind: Kind) -> Option<&Part> {
        self.parts.iter().find(|part| part.part == kind)
    }

    fn left(&self) -> u64 {
        let spent: u64 = self.parts.iter().map(|part| part.tokens).sum();
        self.budget.saturating_sub(spent)
    }

    /// The decisions alone do not fit: their reasons are shortened; where even their titles do not fit, the budget is
    /// exceeded.
    fn shorten(&mut self, made: &[Made<'_>], heads: Vec<Vec<Part>>, need: u64) {
        let why = format!(
            "The decisions alone take {} tokens of a budget of {}: their reasons are shortened here, the note has all \
             of them.",
            thousands(need),
            thousands(self.budget)
        );
        let titles = decisions(made, decision::titles(made)).note(why.as_str());
        let cost = |parts: &[Part]| parts.iter().map(|part| part.tokens).sum::<u64>();
        let need = if made.is_empty() { 0 } else { titles.tokens };
        let fits = heads.iter().position(|head| cost(head) + need <= self.budget).unwrap_or(heads.len() - 1);
        self.parts.extend(heads.into_iter().nth(fits).unwrap_or_default());
        if made.is_empty() {
            // Even the title is too much.
            self.over = cost(&self.parts).saturating_sub(self.budget);
            self.notices.push(format!("a budget of {} tokens holds nothing of the session", thousands(self.budget)));
            return;
        }
        if titles.tokens <= self.left() {
            let room = self.left() - titles.tokens;
            self.parts.push(decisions(made, decision::shortened(made, room)).note(why.as_str()));
            self.notices.push(why);
            return;
        }
        let mut titles = decisions(made, decision::titles(made));
        // The number in the note is part of what it counts.
        for _ in 0..4 {
            let all = titles.tokens + self.parts.iter().map(|part| part.tokens).sum::<u64>();
            self.over = all.saturating_sub(self.budget);
            if self.over == 0 {
                titles = Part { note: None, ..titles };
                titles.count();
                break;
            }
            titles = titles.note(format!(
                "This pack is {} over its budget of {}: titles of decisions are never left out.",
                plural(self.over, "token"),
                thousands(self.budget)
            ));
        }
        self.parts.push(titles);
        let all = self.parts.iter().map(|part| part.tokens).sum::<u64>();
        self.over = all.saturating_sub(self.budget);
        self.notices.push(format!(
            "the titles of the decisions alone exceed the budget of {} tokens by {}",
            thousands(self.budget),
            thousands(self.over)
        ));
    }

    /// Everything below the decisions, in the order of what it is worth.
    fn rest(&mut self, session: &Session, point: &Point<'_>) {
        let missing = self.notices.iter().map(|notice| Entry::new("", format!("- {}", text::inline(notice)))).collect();
        if let Some(part) = Part::first(Kind::Missing, "## Not all of it", missing, self.left(), "line") {
            self.parts.insert(1, part);
        }
        let gates = phase::gates(&session.preface);
        self.parts.extend(Part::first(Kind::Gates, "## Gates of the session", gates, self.left(), "gate"));
        let tasks = open::entries(session, point);
        self.parts.extend(Part::first(Kind::Open, "## Open", tasks, self.left(), "open point"));
        let memory = open::memory(session);
        self.parts.extend(Part::first(Kind::Memory, "## Working memory", memory, self.left(), "block"));
        let mut above = Above::default();
        if let Some((place, checkpoint)) = open::checkpoint(point) {
            let is_named = checkpoint.id.as_deref().is_some_and(|id| point.block == Some(id));
            let heading = if is_named { "## The checkpoint to go on from" } else { "## Last checkpoint" };
            // A summary by the host is long and partly old: it may not push out what came after it.
            let most = if checkpoint.kind == open::SUMMARY { self.left() / 4 } else { self.left() };
            let room = most.saturating_sub(token::count(heading));
            if let Some(entry) = open::written(checkpoint, session, place, room) {
                above.checkpoint = Some(place);
                self.parts.push(Part::new(Kind::Checkpoint, heading, vec![entry]));
            }
        }
        self.talk_and_phases(session, point, above);
    }

    /// What the user said, the newest phases, and the lines for all others: three parts that share what is left, since
    /// words that stand in a phase shown in full need not stand apart.
    fn talk_and_phases(&mut self, session: &Session, point: &Point<'_>, mut above: Above) {
        const HEADINGS: [&str; 4] =
            ["## What the user said", "## Phases, newest first", "## Earlier phases", "## After the resume point"];
        const FURTHER: usize = 8;
        let headings: u64 = HEADINGS.iter().map(|heading| token::count(heading) + NOTE).sum();
        let Some(left) = self.left().checked_sub(headings) else { return };
        let entries = |said: &[word::Said<'_>], room: u64| {
            let mut ranked: Vec<_> = said.iter().collect();
            ranked.sort_by_key(|it| it.rank());
            let mut left = room;
            let mut taken = Vec::new();
            for it in ranked {
                let entry = it.entry(session);
                if entry.tokens <= left {
                    left -= entry.tokens;
                    taken.push((it.place, entry));
                }
            }
            (taken, room - left)
        };
        let standing = word::standing(session, point);
        // Corrections may take half of what is left, so that the newest phase is never without a place.
        let (mut said, spent) = entries(&standing, left / 2);
        let stood = said.len();
        above.words = said.iter().map(|(place, _)| *place).collect();
        let mut left = left - spent;
        let after = After::of(session);
        let usual = Usual::of(&session.meta, &after);
        let lines: Vec<Entry> = point
            .before()
            .iter()
            .enumerate()
            .map(|(at, it)| Entry::new(phase::name(it), phase::line(it, at, usual)))
            .collect();
        let behind = (point.end..).zip(point.behind());
        let behind: Vec<Entry> =
            behind.map(|(at, it)| Entry::new(phase::name(it), phase::line(it, at, usual))).collect();
        let cost = |lines: &[Entry]| lines.iter().map(|it| it.tokens).sum::<u64>();
        let reserve = (cost(&lines) + cost(&behind)).min(left / 4);
        let (recent, from) = window::recent(point, usual, &above, left - reserve);
        left -= cost(&recent);
        // What was asked first stands in its phase, if that is shown and the words are few.
        said.retain(|(place, entry)| {
            let twice =
                place.0.is_some_and(|index| index >= from) && entry.tokens < 40 && !entry.text.starts_with("- Corr");
            if twice {
                left += entry.tokens;
            }
            !twice
        });
        let reserve = (cost(&lines[..from]) + cost(&behind)).min(left);
        let more = word::others(session, point, from.saturating_sub(FURTHER)..from);
        let (others, spent) = entries(&more, left - reserve);
        left -= spent;
        let missed = (standing.len() - stood + more.len() - others.len()) as u64;
        said.extend(others);
        said.sort_by_key(|(place, _)| *place);
        if !said.is_empty() {
            let mut part = Part::new(Kind::User, HEADINGS[0], said.into_iter().map(|(_, entry)| entry).collect());
            part.left_out = missed;
            if missed > 0 {
                part = part.note(format!("{} more in the note.", plural(missed, "remark")));
            }
            self.parts.push(part);
        }
        if !recent.is_empty() {
            self.parts.push(Part::new(Kind::Recent, HEADINGS[1], recent));
        }
        let mut earlier: Vec<Entry> = lines.into_iter().take(from).collect();
        earlier.reverse();
        let room = left.saturating_sub(cost(&behind)) + token::count(HEADINGS[2]) + NOTE;
        if let Some(part) = Part::first(Kind::Earlier, HEADINGS[2], earlier, room, "phase") {
            left -= cost(&part.entries).min(left);
            self.parts.push(part);
        }
        let room = left + token::count(HEADINGS[3]) + NOTE;
        self.parts.extend(Part::first(Kind::Behind, HEADINGS[3], behind, room, "phase"));
    }
}

fn decisions(made: &[Made<'_>], entries: Vec<Entry>) -> Part {
    Part::new(Kind::Decisions, format!("## Decisions ({})", made.len()), entries)
}
