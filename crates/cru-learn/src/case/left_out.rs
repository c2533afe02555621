//! What is no case, or no row of an export, and why.

use std::collections::BTreeMap;

use serde::Serialize;

use super::origin::{Evidence, Source};

/// Something that is no case, or no row of an export.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// Why.
    pub reason: Reason,
    /// Who found it.
    #[serde(skip)]
    pub evidence: Evidence,
    /// Session id.
    pub session: String,
    /// Id of the case, empty where there is none.
    pub case: String,
    /// One line: what it is about.
    pub title: String,
    /// Where.
    pub source: Source,
}

impl LeftOut {
    /// Reasons with their counts, in the order of reasons.
    pub fn counts(left_out: &[Self]) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
        for it in left_out {
            *counts.entry(it.reason).or_default() += 1;
        }
        counts.into_iter().map(|(reason, count)| (reason.as_str().to_owned(), count)).collect()
    }
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Frontmatter says `export: false`.
    ExportFalse,
    /// Tagged `no-train`.
    NoTrain,
    /// A failure without resolution and without later success.
    Unresolved,
    /// A correction after which nothing is written down.
    Unanswered,
    /// A correction before which the agent did nothing.
    NothingBefore,
    /// What was done after is what was done before.
    Unchanged,
    /// A failure that went away after the person had said something more.
    Helped,
    /// A test that was written to fail first.
    Planned,
    /// A failure of which only a second try is told.
    Retried,
    /// A failure of which nothing says what was wrong.
    Silent,
    /// The check that passed was switched off.
    Shortcut,
    /// The words show a picture that is not in the record.
    PictureUnknown,
    /// What was edited is not in the record, although the calls of its session are.
    ChangeUnknown,
    /// What was done upon a correction, the person corrected too.
    CorrectedAgain,
    /// What came later shows that the answer was wrong.
    ShownWrong,
    /// The better answer follows what only the correction says: it is compared with nothing.
    ToldLater,
    /// The better answer goes on from the other one: it is compared with nothing.
    BuildsOn,
    /// The last check of what was done upon a correction failed.
    CheckFailed,
    /// The words of a plan that was refused, or of the one that took its place, are not in the record.
    PlanUnknown,
    /// The answer quotes or tells again what stands nowhere before it.
    Unshown,
    /// The record alone does not prove it, and nobody has accepted it.
    Unproven,
    /// What a reading calls right is not of one turn, or not in the record any more.
    NotOneTurn,
    /// What a reading found is no mistake of the agent.
    NotOfAgent,
    /// A reading tells of the same steps.
    Read,
    /// Whoever found it names it for something else.
    NotMeant,
    /// The row holds a secret or personal data that masking has missed.
    Leaks,
    /// The commit that the work began at is not in the record.
    CommitUnknown,
    /// No check failed and passed later.
    NoCheck,
    /// The calls of the session are not known as they were made.
    CallsUnknown,
    /// A person rejected the case.
    Rejected,
    /// A reader of cases found it weak or harmful.
    Judged,
    /// Nobody has accepted the case yet.
    NotAccepted,
    /// The answer alone takes more tokens than were asked for.
    TooLong,
    /// The same example as another row.
    Duplicate,
    /// The question holds the answer.
    GivenAway,
    /// Its session is trained on: who is asked has seen it.
    Trained,
}

impl Reason {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExportFalse => "export: false",
            Self::NoTrain => "tagged no-train",
            Self::Unresolved => "no resolution and no later success",
            Self::Unanswered => "nothing written after the correction",
            Self::NothingBefore => "nothing done before the correction",
            Self::Unchanged => "same behaviour before and after",
            Self::Helped => "solved only after the person said more",
            Self::Planned => "a test that was meant to fail first",
            Self::Retried => "only a second try is told",
            Self::Shortcut => "a check was switched off",
            Self::PictureUnknown => "the words show a picture that is not in the record",
            Self::ChangeUnknown => "what was edited is not in the record",
            Self::Silent => "nothing says what was wrong",
            Self::CorrectedAgain => "the answer was corrected too",
            Self::ShownWrong => "later turns show that it was wrong",
            Self::ToldLater => "the better answer follows what only the correction says: no pair",
            Self::BuildsOn => "the better answer goes on from the other one: no pair",
            Self::CheckFailed => "the last check of the answer failed",
            Self::PlanUnknown => "the plan itself is not in the record",
            Self::Unshown => "the answer quotes what is not shown before it",
            Self::Unproven => "proposed: not proven by the record and not accepted",
            Self::NotOneTurn => "the right answer of the reading is not of one turn of the note",
            Self::NotOfAgent => "no mistake of the agent",
            Self::Read => "an accepted reading tells of the same steps",
            Self::NotMeant => "the reading names other uses",
            Self::Leaks => "holds a secret or personal data",
            Self::CommitUnknown => "no commit in the record",
            Self::NoCheck => "no check that failed and passed later",
            Self::CallsUnknown => "not all calls are in the record with their results",
            Self::Rejected => "rejected by a person",
            Self::Judged => "judged weak or harmful",
            Self::NotAccepted => "not accepted yet",
            Self::TooLong => "the answer alone is longer than --max-tokens",
            Self::Duplicate => "same example as another row",
            Self::Trained => "of a session that is trained on",
            Self::GivenAway => "the question holds the answer",
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
