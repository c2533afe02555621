//! What is accepted about a session: the one place that says which of its readings counts, and what it says.
//!
//! The newest reading that a person accepted counts. Workflows, packs of sessions that are resumed, the summary on top of a
//! note, rows of queries, and statistics read it here.

use std::collections::HashMap;

use cru_session::Session;
use serde::Serialize;

use crate::Ledger;
use crate::answer::{Answer, Contradiction, OutcomeState, ReadRequest, ReadSegment, SegmentType, WorkGroup};
use crate::note::ReadingNote;

/// What is accepted about a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accepted {
    /// Name of the reading's note, for links.
    pub name: String,
    /// Hash of the record that was read.
    pub record: String,
    /// Who read it.
    pub reader: String,
    /// Claims that hold, and claims that were made.
    pub claims: (usize, usize),
    /// What to call the session.
    pub title: Option<String>,
    /// What the person wanted: all that was asked, in order.
    pub goal: Option<String>,
    /// What came of it.
    pub outcome: Option<AcceptedOutcome>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// What nobody verified.
    pub not_verified: Vec<String>,
    /// What is still open.
    pub open: Vec<String>,
    /// What the agent claimed and what the record shows instead.
    pub contradicted: Vec<String>,
    /// Steps that belong together.
    pub workflow: Vec<WorkGroup>,
    /// What each segment was.
    pub segments: Vec<ReadSegment>,
}

/// What came of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptedOutcome {
    /// In one word.
    pub state: OutcomeState,
    /// In a sentence.
    pub text: String,
}

/// The reading that counts of those of one session: the newest that is accepted, or a brief of which the program
/// proved every statement, and whose data can be read.
pub fn counting<'r>(readings: impl IntoIterator<Item = &'r ReadingNote>) -> Option<&'r ReadingNote> {
    let counts = |it: &&ReadingNote| it.head.status.counts() && it.answer.is_some();
    readings.into_iter().filter(counts).max_by_key(|it| (it.version(), it.path.as_str()))
}

/// What is accepted about the session that all of `readings` are of.
pub fn accepted<'r>(readings: impl IntoIterator<Item = &'r ReadingNote>) -> Option<Accepted> {
    Accepted::of(counting(readings)?)
}

/// What was asked, in order: `Mend the pump. Then: paint it.`
fn asked(requests: &[ReadRequest]) -> Option<String> {
    let (first, rest) = requests.split_first()?;
    let rest = rest.iter().map(|it| it.claim.text.as_str()).collect::<Vec<_>>().join("; ");
    let first = &first.claim.text;
    Some(if rest.is_empty() { first.clone() } else { format!("{first} Then: {rest}") })
}

/// `"All tests pass": two of them failed.`
fn contradicted(it: &Contradiction) -> String {
    format!("\"{}\": {}", it.said.quoted().unwrap_or_default(), it.claim.text)
}

impl Accepted {
    /// What a reading says, whatever was decided about it; `None` where its data cannot be read.
    pub fn of(reading: &ReadingNote) -> Option<Self> {
        let answer = reading.answer.as_ref()?;
        let name = reading.path.rsplit('/').next().unwrap_or(&reading.path).trim_end_matches(".md").to_owned();
        let own = Self::of_answer(answer, name, reading.head.note.clone());
        Some(Self { reader: reading.head.reader.clone(), claims: reading.head.claims, ..own })
    }

    fn of_answer(answer: &Answer, name: String, record: String) -> Self {
        let summary = &answer.summary;
        let texts = |claims: &[crate::Claim]| claims.iter().map(|claim| claim.text.clone()).collect();
        Self {
            name,
            record,
            reader: String::new(),
            claims: (0, 0),
            title: summary.title.clone(),
            goal: summary.goal.as_ref().map(|claim| claim.text.clone()).or_else(|| asked(&summary.requests)),
            outcome: summary
                .outcome
                .as_ref()
                .map(|it| AcceptedOutcome { state: it.state, text: it.claim.text.clone() }),
            decisions: texts(&summary.decisions),
            not_verified: texts(&summary.not_verified),
            open: texts(&summary.open),
            contradicted: summary.contradicted.iter().map(contradicted).collect(),
            workflow: answer.workflow.clone(),
            segments: answer.segments.clone(),
        }
    }

    /// Whether the session is still as it was when it was read: goal and decisions hold beyond that, the outcome and what is
    /// open do not.
    pub fn is_of(&self, session: &Session) -> bool {
        Ledger::of(session, false, &HashMap::new()).note() == self.record
    }

    /// What most of its segments were; of equals the first one.
    pub fn main_type(&self) -> Option<SegmentType> {
        let count = |kind: SegmentType| self.segments.iter().filter(|it| it.kind == kind).count();
        let mut best: Option<(SegmentType, usize)> = None;
        for kind in self.segments.iter().map(|it| it.kind) {
            let many = count(kind);
            if best.is_none_or(|(_, most)| many > most) {
                best = Some((kind, many));
            }
        }
        best.map(|(kind, _)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Claim, ReadOutcome, Summary};
    use crate::note::{ReadingHead, ReviewStatus};

    fn reading(path: &str, status: ReviewStatus, goal: &str) -> ReadingNote {
        let claim = |text: &str| Claim { text: text.to_owned(), proof: Vec::new() };
        let outcome = ReadOutcome { state: OutcomeState::Partly, claim: claim("Half of it.") };
        let segment = |id: &str, kind| ReadSegment {
            id: id.to_owned(),
            kind,
            outcome: OutcomeState::Done,
            summary: claim("x"),
            topics: Vec::new(),
        };
        let segments = vec![
            segment("a", SegmentType::Research),
            segment("b", SegmentType::Coding),
            segment("c", SegmentType::Coding),
        ];
        let summary = Summary { goal: Some(claim(goal)), outcome: Some(outcome), ..Summary::default() };
        ReadingNote {
            path: path.to_owned(),
            head: ReadingHead { status, ..ReadingHead::default() },
            odd_status: None,
            changed: false,
            answer: Some(Answer { summary, segments, ..Answer::default() }),
            error: None,
            text: String::new(),
        }
    }

    #[test]
    fn the_newest_accepted_one_counts() {
        use ReviewStatus::{Accepted as Yes, Proposed, Rejected};
        let all = [
            reading("readings/s@2.md", Yes, "second"),
            reading("readings/s@10.md", Yes, "tenth"),
            reading("readings/s@11.md", Proposed, "eleventh"),
            reading("readings/s@12.md", Rejected, "twelfth"),
        ];
        let found = accepted(&all).unwrap();
        assert_eq!((found.name.as_str(), found.goal.as_deref()), ("s@10", Some("tenth")));
        assert_eq!(found.outcome.as_ref().unwrap().state, OutcomeState::Partly);
        assert_eq!(found.main_type(), Some(SegmentType::Coding));
        assert_eq!(accepted(&all[2..]), None);
        let unreadable = ReadingNote { answer: None, ..all[1].clone() };
        assert_eq!(accepted([&unreadable, &all[0]]).unwrap().name, "s@2");
    }
}
