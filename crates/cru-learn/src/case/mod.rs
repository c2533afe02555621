//! A case: what was asked and done, what went wrong, and what the record shows to be right.
//!
//! Cases are made from notes alone and hold only what a note says. Exporters give them a shape; nothing here knows
//! one. A case without a right answer in the record is still a case: [`Case::answer`] says so, and each exporter that
//! needs one leaves it out and counts it.

pub(crate) mod action;
pub(crate) mod call;
pub(crate) mod entry;
pub(crate) mod facts;
pub(crate) mod family;
pub(crate) mod gap;
pub(crate) mod left_out;
pub(crate) mod note;
pub(crate) mod origin;
pub(crate) mod story;
pub(crate) mod worth;

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use self::entry::Entry;
pub(crate) use self::origin::Repository;
pub use self::origin::{Evidence, Origin, Source};
pub use self::story::{Correction, Demonstration, Puzzle, Story};
use crate::case::left_out::Reason;
use cru_base::text;

cru_base::words! {
    /// What a case was made from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Kind {
        /// Something failed.
        Puzzle = "puzzle",
        /// A person set the agent right.
        Correction = "correction",
        /// A stretch of work that succeeded, from what was asked to the last word.
        Demonstration = "demonstration",
        /// A plan that a person refused, and the one that it accepted instead.
        Preference = "preference",
        /// A whole session; made only where it is asked for.
        Trajectory = "trajectory",
    }
}

/// What a case may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CaseUses {
    /// To train on its answer.
    pub completion: bool,
    /// To compare its answer with what was wrong.
    pub pair: bool,
    /// To evaluate with.
    pub eval: bool,
}

impl Default for CaseUses {
    /// For everything.
    fn default() -> Self {
        Self { completion: true, pair: true, eval: true }
    }
}

impl Kind {
    /// Every kind that stands in a session.
    pub const IN_SESSIONS: [Self; 4] = [Self::Puzzle, Self::Correction, Self::Demonstration, Self::Preference];
}

cru_base::words! {
    /// How much of the tool calls of a case is there.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Fidelity {
        /// There are none.
        #[default]
        None = "none",
        /// A line for each, as the note has them.
        Summary = "summary",
        /// All arguments and answers, from the transcript.
        Full = "full",
    }
}

/// One training or evaluation case.
#[expect(clippy::struct_excessive_bools, reason = "each decides by itself")]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// Who found it.
    pub evidence: Evidence,
    /// The key of the reading that tells of it; empty where a rule found it.
    pub reading: String,
    /// What it may be used for.
    pub uses: CaseUses,
    /// What is right in the words of whoever found it, for persons and graders: nobody of the session said it.
    pub expected: String,
    /// Whether whoever found it names a check that passed.
    pub(crate) checked: bool,
    /// What was said and done between what was wrong and what is right, where somebody found them apart.
    pub(crate) between: Vec<Turn>,
    /// The repository and the commit at which its session began; empty where they are unknown.
    pub(crate) repository: Repository,
    /// Whether a picture came with the words that were answered.
    #[serde(skip)]
    pub(crate) picture: bool,
    /// Lines of the answer that stood somewhere before it.
    #[serde(skip)]
    pub(crate) recalled: HashSet<u64>,
    /// What the record shows to be wrong with its answer.
    #[serde(skip)]
    pub fault: Option<Reason>,
    /// Whether the record says that it was not the end of it: the person's next words lead to another change of a file of its answer, or
    /// the plan says more than was done.
    #[serde(skip)]
    pub(crate) unfinished: bool,
    /// Whether a reader of cases found it good.
    #[serde(skip)]
    pub judged: bool,
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

/// What a person asked and what was done upon it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Turn {
    /// Exact words; where nobody's words stand in the note, session title and phase heading.
    pub asked: String,
    /// Whether `asked` is a heading instead of words.
    pub heading: bool,
    /// Whether the words correct what was done before.
    #[serde(skip)]
    pub(crate) corrects: bool,
    /// What was done; of a long turn its beginning, its end, and what the answer needs.
    pub done: Vec<Entry>,
    /// How many things done are left out among these.
    pub skipped_done: usize,
    /// How many things are left out before this turn.
    pub skipped_before: usize,
    /// How many things are left out before each of those that are shown.
    #[serde(skip)]
    pub(crate) gaps: Vec<usize>,
    /// Which things of its round are shown.
    #[serde(skip)]
    pub(crate) at: Vec<usize>,
    /// Whether it is only shown for what the answer needs of it.
    #[serde(skip)]
    pub(crate) extra: bool,
    /// The rounds of the session whose words it tells; what was done is of the last.
    #[serde(skip)]
    pub(crate) rounds: Vec<usize>,
}

impl Turn {
    /// How many things are left out before one that is shown.
    pub(crate) fn gap(&self, index: usize) -> usize {
        self.gaps.get(index).copied().unwrap_or_default()
    }

    /// What was done, as text.
    pub fn done(&self) -> String {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in 0..=self.done.len() {
            let gap = if at < self.done.len() { self.gap(at) } else { 0 };
            if gap > 0 || at == self.done.len() {
                parts.push(entry::join(&self.done[from..at]));
                from = at;
            }
            if gap > 0 {
                parts.push(format!("[… {} left out …]", text::plural(gap as u64, "step")));
            }
        }
        entry::paragraphs(parts.iter().map(String::as_str))
    }
}

impl Case {
    /// What it was made from.
    pub const fn kind(&self) -> Kind {
        self.story.kind()
    }

    /// The words that set right, and what was done before and after them.
    pub const fn correction(&self) -> Option<&Correction> {
        match &self.story {
            Story::Correction(it) | Story::Preference(it) => Some(it),
            Story::Puzzle(_) | Story::Demonstration(_) | Story::Trajectory => None,
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
            Story::Demonstration(_) | Story::Trajectory => String::new(),
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
            Story::Demonstration(_) | Story::Trajectory => "",
        }
    }

    /// What was done that is right.
    pub fn done(&self) -> &[Entry] {
        self.story.done()
    }

    /// Every step, said or done thing of it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        let turns = self.context.iter().chain(&self.between);
        turns.flat_map(|turn| &turn.done).chain(self.story.wrong()).chain(self.done())
    }

    /// The block ids of what was wrong and of what is right.
    pub fn blocks(&self) -> impl Iterator<Item = &str> {
        self.story.wrong().iter().chain(self.done()).filter_map(|entry| entry.block.as_deref())
    }

    /// What every tool answered.
    pub(crate) fn outputs_mut(&mut self, each: &mut dyn FnMut(&mut String)) {
        let context = self.context.iter_mut().chain(&mut self.between).flat_map(|turn| &mut turn.done);
        context.chain(self.story.entries_mut()).filter_map(Entry::output_mut).for_each(each);
    }

    /// How much of its tool calls is there: all of them, or a line for each.
    pub(crate) fn fidelity_found(&self) -> Fidelity {
        let mut steps = self.entries().filter(|entry| entry.is_step()).peekable();
        if steps.peek().is_none() {
            Fidelity::None
        } else if steps.all(|entry| entry.whole().is_some()) {
            Fidelity::Full
        } else {
            Fidelity::Summary
        }
    }

    /// Takes out of it what must not leave the vault, after a person wrote in it.
    pub fn clean(&mut self) {
        crate::hygiene::redact(self, &mut crate::hygiene::RedactedTexts::default());
    }

    /// Every text of it that may hold what must not leave the vault, with the name it stands under where it has one.
    pub(crate) fn texts_mut(&mut self, each: &mut dyn FnMut(&str, &mut String)) {
        each("", &mut self.title);
        each("", &mut self.expected);
        each("", &mut self.origin.session_title);
        each("", &mut self.origin.phase);
        for turn in self.context.iter_mut().chain(&mut self.between) {
            each("", &mut turn.asked);
            turn.done.iter_mut().for_each(|entry| entry.texts_mut(each));
        }
        self.story.entries_mut().for_each(|entry| entry.texts_mut(each));
        match &mut self.story {
            Story::Puzzle(it) => {
                for text in [&mut it.title, &mut it.text].into_iter().chain(&mut it.resolution) {
                    each("", text);
                }
            }
            Story::Correction(it) | Story::Preference(it) => {
                for text in std::iter::once(&mut it.words).chain(&mut it.interpretation) {
                    each("", text);
                }
            }
            Story::Demonstration(it) => it.check.iter_mut().for_each(|text| each("", text)),
            Story::Trajectory => each("", &mut self.repository.name),
        }
        if let Some(edits) = &mut self.edits {
            let parts = [&mut edits.context, &mut edits.failure, &mut edits.words, &mut edits.expected];
            for text in parts.into_iter().flatten() {
                each("", text);
            }
        }
    }
}
