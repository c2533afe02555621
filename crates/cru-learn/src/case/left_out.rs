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

cru_base::words! {
    /// Why something was left out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Reason {
        /// Frontmatter says `export: false`.
        ExportFalse = "export: false",
        /// Tagged `no-train`.
        NoTrain = "tagged no-train",
        /// A failure without resolution and without later success.
        Unresolved = "no resolution and no later success",
        /// A correction after which nothing is written down.
        Unanswered = "nothing written after the correction",
        /// A correction before which the agent did nothing.
        NothingBefore = "nothing done before the correction",
        /// What was done after is what was done before.
        Unchanged = "same behaviour before and after",
        /// A failure that went away after the person had said something more.
        Helped = "solved only after the person said more",
        /// A test that was written to fail first.
        Planned = "a test that was meant to fail first",
        /// A failure of which only a second try is told.
        Retried = "only a second try is told",
        /// A failure of which nothing says what was wrong.
        Silent = "nothing says what was wrong",
        /// The check that passed was switched off.
        Shortcut = "a check was switched off",
        /// What tests expect was changed and nothing else.
        Bent = "only what tests expect was changed",
        /// The words show a picture that is not in the record.
        PictureUnknown = "the words show a picture that is not in the record",
        /// What was edited is not in the record, although the calls of its session are.
        ChangeUnknown = "what was edited is not in the record",
        /// What was done upon a correction, the person corrected too.
        CorrectedAgain = "the answer was corrected too",
        /// What came later shows that the answer was wrong.
        ShownWrong = "later turns show that it was wrong",
        /// The better answer follows what only the correction says: it is compared with nothing.
        ToldLater = "the better answer follows what only the correction says: no pair",
        /// The better answer goes on from the other one: it is compared with nothing.
        BuildsOn = "the better answer goes on from the other one: no pair",
        /// The last check of what was done upon a correction failed.
        CheckFailed = "the last check of the answer failed",
        /// The words of a plan that was refused, or of the one that took its place, are not in the record.
        PlanUnknown = "the plan itself is not in the record",
        /// The answer quotes or tells again what stands nowhere before it.
        Unshown = "the answer quotes what is not shown before it",
        /// The record alone does not prove it, and nobody has accepted it.
        Unproven = "proposed: not proven by the record and not accepted",
        /// What a reading calls right is not of one turn, or not in the record any more.
        NotOneTurn = "the right answer of the reading is not of one turn of the note",
        /// What a reading found is no mistake of the agent.
        NotOfAgent = "no mistake of the agent",
        /// A reading tells of the same steps.
        Read = "an accepted reading tells of the same steps",
        /// Whoever found it names it for something else.
        NotMeant = "the reading names other uses",
        /// The row holds a secret or personal data that masking has missed.
        Leaks = "holds a secret or personal data",
        /// The commit that the work began at is not in the record.
        CommitUnknown = "no commit in the record",
        /// No check failed and passed later.
        NoCheck = "no check that failed and passed later",
        /// The calls of the session are not known as they were made.
        CallsUnknown = "not all calls are in the record with their results",
        /// A person rejected the case.
        Rejected = "rejected by a person",
        /// A reader of cases found it weak or harmful.
        Judged = "judged weak or harmful",
        /// Nobody has accepted the case yet.
        NotAccepted = "not accepted yet",
        /// The answer alone takes more tokens than were asked for.
        TooLong = "the answer alone is longer than --max-tokens",
        /// The same example as another row.
        Duplicate = "same example as another row",
        /// The question holds the answer.
        GivenAway = "the question holds the answer",
        /// Its session is trained on: who is asked has seen it.
        Trained = "of a session that is trained on",
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
