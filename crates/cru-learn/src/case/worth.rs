//! What a case is worth: how its answer is known, and who vouches for it. A person's word is above all of it.

use crate::case::entry::Entry;
use crate::case::{Case, Evidence, Story};

cru_base::words! {
    /// How sure a case is, the surest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Grade {
        /// A person accepted it by itself, or wrote its parts anew.
        Accepted = "accepted",
        /// A reader found it good: a reader of cases, or the accepted reading that it is of.
        Judged = "judged",
        /// The record alone proves that its check passed.
        Proven = "proven",
        /// Nothing but a rule proposes it: exported where it is asked for.
        Proposed = "proposed",
        /// It has no answer, or one that the record shows to be wrong.
        LeftOut = "left out",
    }
}

impl Case {
    /// How sure it is.
    pub fn grade(&self) -> Grade {
        match () {
            () if self.accepted || self.edits.is_some() => Grade::Accepted,
            () if self.judged || self.evidence == Evidence::Reading => Grade::Judged,
            () if self.is_proven() => Grade::Proven,
            () => Grade::Proposed,
        }
    }

    /// What an export makes of it.
    pub fn standing(&self) -> Grade {
        if self.gap().is_some() { Grade::LeftOut } else { self.grade() }
    }

    /// How the right answer is known: `later success`, `resolution`, `response`, `check passed`, `approved`, `reading`, or `""`
    /// when it is not.
    pub fn answer_from(&self) -> &'static str {
        match &self.story {
            _ if self.evidence == Evidence::Reading && !self.verified() => {
                if self.done().is_empty() {
                    ""
                } else {
                    "reading"
                }
            }
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
            Story::Puzzle(_) | Story::Correction(_) | Story::Preference(_) | Story::Trajectory => "",
        }
    }

    /// Whether the record itself shows that the answer worked.
    pub const fn verified(&self) -> bool {
        match &self.story {
            Story::Puzzle(it) => it.verified,
            Story::Demonstration(it) => it.check.is_some(),
            Story::Preference(_) => true,
            Story::Correction(_) | Story::Trajectory => self.checked,
        }
    }

    /// Whether facts alone prove the answer: a check that passed, or the very command that failed and worked at the first try
    /// behind something that was done, within its turn and without another failure.
    /// An answer that deletes or discards something is left to whoever knows whether it should, and one whose files are changed again
    /// upon the person's next words, or whose plan says more than was done, may not be what they wanted. Everything else is a proposal.
    fn is_proven(&self) -> bool {
        let by_facts = match &self.story {
            Story::Puzzle(it) => {
                // Wrong turns are learned as well, and what a linter says is a matter of style.
                let goes_wrong = it.fix.iter().any(|entry| entry.is_step() && entry.is_failed());
                let is_style = it.step.as_ref().is_some_and(Entry::judges_style);
                let is_known = it.verified && it.complete && it.straight && !it.planned && !it.disputed;
                is_known && !goes_wrong && !is_style && it.fix.iter().any(Entry::shows_change)
            }
            Story::Demonstration(it) => it.check.is_some(),
            Story::Correction(_) | Story::Preference(_) => false,
            Story::Trajectory => true,
        };
        by_facts && !self.unfinished && !self.done().iter().any(Entry::destroys)
    }

    /// Whether nothing between is left out of the answer.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.story {
            Story::Puzzle(it) => it.complete || it.fix.is_empty(),
            Story::Correction(it) | Story::Preference(it) => it.more == 0,
            Story::Demonstration(_) | Story::Trajectory => true,
        }
    }
}
