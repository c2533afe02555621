//! What happened in a case: a failure and how it was overcome, words that set right and what came of them, or work that
//! succeeded.

use serde::Serialize;

use crate::case::Kind;
use crate::case::entry::{self, Entry};

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// A whole session, all of it in [`context`](crate::Case::context).
    #[default]
    Trajectory,
}

impl Story {
    /// Its kind.
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Puzzle(_) => Kind::Puzzle,
            Self::Correction(_) => Kind::Correction,
            Self::Demonstration(_) => Kind::Demonstration,
            Self::Preference(_) => Kind::Preference,
            Self::Trajectory => Kind::Trajectory,
        }
    }

    /// What was wrong: the step that failed, or what the agent did before it was set right.
    pub(crate) fn wrong(&self) -> &[Entry] {
        match self {
            Self::Puzzle(it) => it.step.as_slice(),
            Self::Correction(it) | Self::Preference(it) => &it.behaviour,
            Self::Demonstration(_) | Self::Trajectory => &[],
        }
    }

    /// What was wrong, and what was done that is right.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        let (wrong, done): (&mut [Entry], &mut [Entry]) = match self {
            Self::Puzzle(it) => (it.step.as_mut_slice(), &mut it.fix),
            Self::Correction(it) | Self::Preference(it) => (&mut it.behaviour, &mut it.response),
            Self::Demonstration(it) => (&mut [], &mut it.done),
            Self::Trajectory => (&mut [], &mut []),
        };
        wrong.iter_mut().chain(done)
    }

    /// What was done that is right.
    pub(crate) fn done(&self) -> &[Entry] {
        match self {
            Self::Puzzle(it) => &it.fix,
            Self::Correction(it) | Self::Preference(it) => &it.response,
            Self::Demonstration(it) => &it.done,
            Self::Trajectory => &[],
        }
    }
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
#[expect(clippy::struct_excessive_bools, reason = "each decides by itself")]
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
    /// Whether it worked only after the person had said more, which may have been the help.
    #[serde(skip)]
    pub helped: bool,
    /// Whether the test that failed was written to fail first: before it only tests had been changed.
    #[serde(skip)]
    pub planned: bool,
    /// Whether the fix is all that was done between failure and success.
    #[serde(skip)]
    pub complete: bool,
    /// Whether what worked is the very command that had failed, at the first try behind what was done.
    #[serde(skip)]
    pub straight: bool,
    /// Whether a check that ran later in the same turn failed at last: the success is not the end.
    #[serde(skip)]
    pub disputed: bool,
    /// Whether nothing is told of what made it work but that it was tried again.
    #[serde(skip)]
    pub retried: bool,
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
    /// `interrupted` right before, it is only `titled` so, or a `reading` says so.
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
    /// Whether the last check of the answer failed.
    #[serde(skip)]
    pub fails: bool,
}
