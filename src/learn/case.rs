//! A case: what was asked and done, what went wrong, and what the record shows to be right.
//!
//! Cases are made from notes alone and hold only what a note says. Exporters give them a shape; nothing here knows
//! one. A case without a right answer in the record is still a case: [`Case::answer`] says so, and each exporter that
//! needs one leaves it out and counts it.

use std::sync::Arc;

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
    /// A stretch of work that succeeded, from what was asked to the last word.
    Demonstration,
    /// A plan that a person refused, and the one that it accepted instead.
    Preference,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Puzzle, Self::Correction, Self::Demonstration, Self::Preference];

    /// The word on the command line and in rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Puzzle => "puzzle",
            Self::Correction => "correction",
            Self::Demonstration => "demonstration",
            Self::Preference => "preference",
        }
    }

    /// The kind of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// How much of the tool calls of a case is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fidelity {
    /// There are none.
    None,
    /// A line for each, as the note has them.
    Summary,
    /// All arguments and answers, from the transcript.
    Full,
}

impl Fidelity {
    /// The word in rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Summary => "summary",
            Self::Full => "full",
        }
    }
}

/// One training or evaluation case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// Kind, `-` and 16 hex digits: BLAKE3 of session and failure or words, so that edits elsewhere
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
    /// The tools of its session as JSON, with what they were given there: a list of functions.
    #[serde(skip)]
    pub tools: Arc<str>,
    /// How much of the tool calls is there.
    pub fidelity: Fidelity,
    /// How many secrets and personal data were taken out of it.
    pub redactions: usize,
    /// What a person made of it in its note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// Whether a person accepted it.
    pub accepted: bool,
}

/// The parts of a case that a person wrote anew, as text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Edits {
    /// What was asked and done before.
    pub context: Option<String>,
    /// What went wrong.
    pub failure: Option<String>,
    /// The person's words.
    pub words: Option<String>,
    /// What is right.
    pub expected: Option<String>,
}

impl Edits {
    /// Whether nothing was written anew.
    pub const fn is_empty(&self) -> bool {
        self.context.is_none() && self.failure.is_none() && self.words.is_none() && self.expected.is_none()
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Story {
    /// Something failed.
    Puzzle(Puzzle),
    /// A person set the agent right.
    Correction(Correction),
    /// Work that succeeded.
    Demonstration(Demonstration),
    /// A person refused a plan and accepted another.
    Preference(Correction),
}

/// Work that succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Demonstration {
    /// All that was done, to the last words.
    pub done: Vec<Entry>,
    /// The check that passed after the last change; `None` where only the person's next words say that it was right.
    pub check: Option<String>,
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
    /// Whether what it corrected then may be this answer, and not only a call that was refused after it.
    pub undone: bool,
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
            Story::Demonstration(_) => Kind::Demonstration,
            Story::Preference(_) => Kind::Preference,
        }
    }

    /// The words that set right, and what was done before and after them.
    pub const fn correction(&self) -> Option<&Correction> {
        match &self.story {
            Story::Correction(it) | Story::Preference(it) => Some(it),
            Story::Puzzle(_) | Story::Demonstration(_) => None,
        }
    }

    /// Whether it can be compared what was right and what was wrong.
    pub fn is_pair(&self) -> bool {
        self.correction().is_some() && self.gap().is_none()
    }

    /// What went wrong, as text: the failing step with its result and the error, or what the agent did.
    pub fn failure(&self) -> String {
        if let Some(text) = self.edits.as_ref().and_then(|edits| edits.failure.as_ref()) {
            return text.clone();
        }
        match &self.story {
            Story::Puzzle(it) => {
                let step = it.step.as_ref().map(Entry::text).unwrap_or_default();
                entry::paragraphs([step.as_str(), &it.error()])
            }
            Story::Correction(it) | Story::Preference(it) => entry::join(&it.behaviour),
            Story::Demonstration(_) => String::new(),
        }
    }

    /// What is right, as text, where the record shows it.
    pub fn answer(&self) -> Option<String> {
        if let Some(text) = self.edits.as_ref().and_then(|edits| edits.expected.as_ref()) {
            return (!text.trim().is_empty()).then(|| text.clone());
        }
        let text = entry::paragraphs([self.said(), &entry::join(self.done())]);
        (!text.trim().is_empty()).then_some(text)
    }

    /// What the note says in words of what is right.
    pub fn said(&self) -> &str {
        match &self.story {
            Story::Puzzle(it) => it.resolution.as_deref().unwrap_or_default(),
            Story::Correction(it) | Story::Preference(it) => it.interpretation.as_deref().unwrap_or_default(),
            Story::Demonstration(_) => "",
        }
    }

    /// What was done that is right.
    pub fn done(&self) -> &[Entry] {
        match &self.story {
            Story::Puzzle(it) => &it.fix,
            Story::Correction(it) | Story::Preference(it) => &it.response,
            Story::Demonstration(it) => &it.done,
        }
    }

    /// How the right answer is known: `later success`, `resolution`, `response`, `check passed`, `approved`, or `""`
    /// when it is not.
    pub fn evidence(&self) -> &'static str {
        match &self.story {
            Story::Puzzle(it) if it.verified => "later success",
            Story::Puzzle(it) if it.resolution.is_some() || !it.fix.is_empty() => "resolution",
            Story::Preference(it) if !it.response.is_empty() => "approved",
            Story::Correction(it) if it.interpretation.is_some() || !it.response.is_empty() => "response",
            Story::Demonstration(it) => {
                if it.check.is_some() {
                    "check passed"
                } else {
                    "approved"
                }
            }
            Story::Puzzle(_) | Story::Correction(_) | Story::Preference(_) => "",
        }
    }

    /// Whether the record itself shows that the answer worked.
    pub const fn verified(&self) -> bool {
        match &self.story {
            Story::Puzzle(it) => it.verified,
            Story::Demonstration(it) => it.check.is_some(),
            Story::Preference(_) => true,
            Story::Correction(_) => false,
        }
    }

    /// Every step, said or done thing of it.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        let story: (Option<&Entry>, &[Entry]) = match &self.story {
            Story::Puzzle(it) => (it.step.as_ref(), &[]),
            Story::Correction(it) | Story::Preference(it) => (None, &it.behaviour),
            Story::Demonstration(_) => (None, &[]),
        };
        self.context.iter().flat_map(|turn| &turn.done).chain(story.0).chain(story.1).chain(self.done())
    }

    /// How much of its tool calls is there: all of them, or a line for each.
    pub(super) fn fidelity_found(&self) -> Fidelity {
        let mut steps = self.entries().filter(|entry| entry.is_step()).peekable();
        if steps.peek().is_none() {
            Fidelity::None
        } else if steps.all(|entry| entry.whole().is_some()) {
            Fidelity::Full
        } else {
            Fidelity::Summary
        }
    }

    /// How much there is for it that the answer is right, from 0 to 1.
    pub fn quality(&self) -> f64 {
        let mut points: i32 = match (&self.story, self.evidence()) {
            (_, "") => 0,
            (Story::Demonstration(it), _) if it.check.is_none() => 60,
            (Story::Puzzle(_), "later success") => 80,
            (Story::Demonstration(_) | Story::Preference(_), _) => 80,
            (Story::Puzzle(_), _) => 60,
            (Story::Correction(it), _) => match it.rule {
                "words" => 70,
                "denied" | "titled" => 60,
                _ => 40,
            },
        };
        if points > 0 {
            points += if self.fidelity == Fidelity::Summary { 0 } else { 10 };
            points += if self.said().is_empty() { 0 } else { 10 };
            points -= if self.correction().is_some_and(|it| it.corrected_again) { 30 } else { 0 };
            points -= if self.correction().is_some_and(|it| it.more > 0) { 5 } else { 0 };
            points = if self.accepted { 100 } else { points };
        }
        f64::from(points.clamp(0, 100)) / 100.0
    }

    /// Takes out of it what must not leave the vault, after a person wrote in it.
    pub fn clean(&mut self) {
        super::redact::redact(self, &mut super::redact::Known::default());
    }

    /// Every text of it that may hold what must not leave the vault, with the name it stands under where it has one.
    pub(super) fn texts_mut(&mut self, each: &mut dyn FnMut(&str, &mut String)) {
        each("", &mut self.title);
        each("", &mut self.origin.session_title);
        each("", &mut self.origin.phase);
        for turn in &mut self.context {
            each("", &mut turn.asked);
            turn.done.iter_mut().for_each(|entry| entry.texts_mut(each));
        }
        match &mut self.story {
            Story::Puzzle(it) => {
                it.step.iter_mut().chain(&mut it.fix).for_each(|entry| entry.texts_mut(each));
                for text in [&mut it.title, &mut it.text].into_iter().chain(&mut it.resolution) {
                    each("", text);
                }
            }
            Story::Correction(it) | Story::Preference(it) => {
                it.behaviour.iter_mut().chain(&mut it.response).for_each(|entry| entry.texts_mut(each));
                for text in std::iter::once(&mut it.words).chain(&mut it.interpretation) {
                    each("", text);
                }
            }
            Story::Demonstration(it) => {
                it.done.iter_mut().for_each(|entry| entry.texts_mut(each));
                it.check.iter_mut().for_each(|text| each("", text));
            }
        }
        if let Some(edits) = &mut self.edits {
            let parts = [&mut edits.context, &mut edits.failure, &mut edits.words, &mut edits.expected];
            for text in parts.into_iter().flatten() {
                each("", text);
            }
        }
    }
}
