//! A case: what was asked and done, what went wrong, and what the record shows to be right.
//!
//! Cases are made from notes alone and hold only what a note says. Exporters give them a shape; nothing here knows
//! one. A case without a right answer in the record is still a case: [`Case::answer`] says so, and each exporter that
//! needs one leaves it out and counts it.

use serde::Serialize;

use super::budget;
use super::entry::{self, Entry};
use crate::base::text;

/// What a case was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something failed.
    Puzzle,
    /// A person set the agent right.
    Correction,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Puzzle, Self::Correction];

    /// The word on the command line and in rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Puzzle => "puzzle",
            Self::Correction => "correction",
        }
    }
}

/// One training or evaluation case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// `puzzle-` or `correction-` and 16 hex digits: BLAKE3 of session and failure or words, so that edits elsewhere
    /// in the note leave it as it is.
    pub id: String,
    /// One line for lists and headings.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What was asked and done before, oldest first. The last turn is the one in which it went wrong.
    pub context: Vec<Turn>,
    /// What happened.
    pub story: Story,
    /// BLAKE3 of context and story, 16 hex digits: changes with any text of the case.
    pub content_hash: String,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Story {
    /// Something failed.
    Puzzle(Puzzle),
    /// A person set the agent right.
    Correction(Correction),
}

/// A failure and how it was overcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Puzzle {
    /// The step that failed, where one is known.
    pub step: Option<Entry>,
    /// What the note calls the error; empty when the step's result says the same.
    pub title: String,
    /// What the note says of it; empty when only the step tells.
    pub text: String,
    /// `Resolution:` in words.
    pub resolution: Option<String>,
    /// The steps that fixed it, the last of them the success where [`Puzzle::verified`].
    pub fix: Vec<Entry>,
    /// Whether a later success of what had failed stands in the record.
    pub verified: bool,
}

impl Puzzle {
    /// What the note says of the error beyond the failing step.
    pub fn error(&self) -> String {
        entry::paragraphs([self.title.as_str(), &self.text])
    }
}

/// A person's correction and what the agent made of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Correction {
    /// What the agent did right before.
    pub behaviour: Vec<Entry>,
    /// The person's exact words.
    pub words: String,
    /// Why it counts as a correction: its own `words`, the agent was `denied` a call or
    /// `interrupted` right before, or it is only `titled` so.
    pub rule: &'static str,
    /// What was done of it, in the note's own words after the quote.
    pub interpretation: Option<String>,
    /// What the agent then did, at most up to the next words of the person or the end of the phase; without calls at
    /// its end that were refused.
    pub response: Vec<Entry>,
    /// How many things it did after those.
    pub more: usize,
    /// Whether the person had to correct that too.
    pub corrected_again: bool,
}

/// What a person asked and what was done upon it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Turn {
    /// Exact words; where nobody's words stand in the note, session title and phase heading.
    pub asked: String,
    /// Whether `asked` is a heading instead of words.
    pub heading: bool,
    /// What was done; of a long turn its beginning and its end.
    pub done: Vec<Entry>,
    /// How many things done are left out between the two.
    pub skipped_done: usize,
    /// How many turns before this one are left out.
    pub skipped_turns: usize,
}

impl Turn {
    /// What was done, as text.
    pub fn done(&self) -> String {
        if self.skipped_done == 0 {
            return entry::join(&self.done);
        }
        let split = self.done.len().saturating_sub(budget::LAST);
        let mark = format!("[… {} left out …]", text::plural(self.skipped_done as u64, "step"));
        entry::paragraphs(
            [&entry::join(&self.done[..split]), &mark, &entry::join(&self.done[split..])].map(String::as_str),
        )
    }
}

/// Where a case comes from, for filtering and for finding it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Origin {
    /// Session id.
    pub session: String,
    /// Id of the session at the top of its tree of parents; itself where it has none.
    pub root: String,
    /// Name of the note for links.
    pub note: String,
    /// Title of the session.
    pub session_title: String,
    /// Where in which file.
    pub source: Source,
    /// Heading of the phase, without agent and channel.
    pub phase: String,
    /// `planner@1.2`, empty when unknown.
    pub agent: String,
    /// Model, empty when unknown.
    pub model: String,
    /// Which program ran it, empty when unknown.
    pub host: String,
    /// Channel of the phase or session, empty when unknown.
    pub channel: String,
    /// Status of the session, empty when unknown.
    pub outcome: String,
    /// Tags of the session.
    pub tags: Vec<String>,
}

/// A place in a note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Path relative to the vault, `/` between folders.
    pub path: String,
    /// First line, from 1.
    pub line_start: usize,
    /// Last line, from 1.
    pub line_end: usize,
    /// Block id without `^`, empty when it has none.
    pub block_id: String,
}

impl Case {
    /// What it was made from.
    pub const fn kind(&self) -> Kind {
        match self.story {
            Story::Puzzle(_) => Kind::Puzzle,
            Story::Correction(_) => Kind::Correction,
        }
    }

    /// What went wrong, as text: the failing step with its result and the error, or what the agent did.
    pub fn failure(&self) -> String {
        match &self.story {
            Story::Puzzle(it) => {
                let step = it.step.as_ref().map(Entry::text).unwrap_or_default();
                entry::paragraphs([step.as_str(), &it.error()])
            }
            Story::Correction(it) => entry::join(&it.behaviour),
        }
    }

    /// What is right, as text, where the record shows it.
    pub fn answer(&self) -> Option<String> {
        let text = match &self.story {
            Story::Puzzle(it) => {
                entry::paragraphs([it.resolution.as_deref().unwrap_or_default(), &entry::join(&it.fix)])
            }
            Story::Correction(it) => {
                entry::paragraphs([it.interpretation.as_deref().unwrap_or_default(), &entry::join(&it.response)])
            }
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// How the right answer is known: `later success`, `resolution`, `response`, or `""` when it is not.
    pub fn evidence(&self) -> &'static str {
        match &self.story {
            Story::Puzzle(it) if it.verified => "later success",
            Story::Puzzle(it) if it.resolution.is_some() || !it.fix.is_empty() => "resolution",
            Story::Correction(it) if it.interpretation.is_some() || !it.response.is_empty() => "response",
            Story::Puzzle(_) | Story::Correction(_) => "",
        }
    }

    /// Whether the record itself shows that the answer worked.
    pub const fn verified(&self) -> bool {
        matches!(&self.story, Story::Puzzle(it) if it.verified)
    }
}
