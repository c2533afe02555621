//! Cases of accepted readings.
//!
//! A reading says which steps were wrong and which are right, each claim checked against the record; the texts of its cases
//! are the record's. A rule's case of the same steps is left out: who read the session has judged them.

use std::collections::HashSet;

use crate::learn::{self, Case, CaseUses, Extraction, Family, FaultPlaces, Kind, LeftOut, Reason, TypedCase};
use crate::readings::answer::{CaseKind, CaseUse, Proof, ReadCase, StepRange};
use crate::readings::note::ReadingNote;
use crate::session::Session;

/// Puts the cases of a session's accepted reading before those of rules; only of `kinds`.
pub(super) fn add(
    extraction: &mut Extraction,
    reading: &ReadingNote,
    note: learn::Note<'_>,
    family: &Family,
    kinds: &[Kind],
) {
    let (cases, left_out) = of(reading, note, family, kinds);
    let mut blocks: HashSet<String> = HashSet::new();
    for case in &cases {
        blocks.extend(case.blocks().map(str::to_owned));
    }
    let read = |case: &Case| case.blocks().any(|block| blocks.contains(block));
    let (told, kept): (Vec<Case>, Vec<Case>) = std::mem::take(&mut extraction.cases).into_iter().partition(read);
    extraction.left_out.extend(told.iter().map(|case| case.left_out(Reason::Read)));
    extraction.left_out.extend(left_out);
    extraction.cases = cases;
    extraction.cases.extend(kept);
}

/// The cases of a reading, and those that the record does not give.
pub(super) fn of(
    reading: &ReadingNote,
    note: learn::Note<'_>,
    family: &Family,
    kinds: &[Kind],
) -> (Vec<Case>, Vec<LeftOut>) {
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for case in reading.answer.iter().flat_map(|answer| &answer.cases) {
        let wanted = typed_case(case, note.session, &reading.head.key);
        match kind_of(case) {
            Ok(kind) if !kinds.contains(&kind) => {}
            Ok(kind) => match learn::typed(note, family, kind, &wanted) {
                Ok(case) => cases.push(case),
                Err(why) => left_out.push(*why),
            },
            Err(reason) => left_out.push(learn::untyped(note, &wanted, reason)),
        }
    }
    (cases, left_out)
}

/// The kind of case that a reading's becomes; why there is none of what is told and not learned from.
fn kind_of(case: &ReadCase) -> Result<Kind, Reason> {
    match case.kind {
        CaseKind::Puzzle => Ok(Kind::Puzzle),
        CaseKind::Demonstration => Ok(Kind::Demonstration),
        CaseKind::Preference => Ok(Kind::Correction),
        // What a person, the host or older code did wrong is none of the agent's mistakes; what it solved or did well is its own.
        _ if !case.about_agent => Err(Reason::NotOfAgent),
        CaseKind::Unsolved if case.wrong.is_some() => Ok(Kind::Puzzle),
        // What nobody set right says what not to do, and not what to do.
        CaseKind::Unsolved => Err(Reason::Unresolved),
        CaseKind::Unsafe if case.right.is_none() => Err(Reason::Unresolved),
        // The host may have refused it, and nobody said a word.
        CaseKind::Unsafe if !case.cites_person() => Ok(Kind::Puzzle),
        CaseKind::Correction | CaseKind::Unsafe => Ok(Kind::Correction),
    }
}

fn typed_case<'a>(case: &'a ReadCase, session: &Session, key: &'a str) -> TypedCase<'a> {
    let ends = |range: &'a Option<StepRange>| range.as_ref().map(|it| (it.from.as_str(), it.to.as_str()));
    // The words that set right are cited where it is said what went wrong or what is right.
    let claims = case.expected.iter().chain(&case.failure);
    let mut cited = claims.flat_map(|claim| &claim.proof).filter_map(|proof| match proof {
        Proof::Said { said, .. } => Some(said.as_str()),
        _ => None,
    });
    let said = if case.wrong.is_some() {
        cited.next()
    } else {
        // Without steps that were wrong, the last ones before the answer.
        let place = |id: &str| session.items().position(|(_, item)| item.id() == Some(id));
        let right = case.right.as_ref().and_then(|right| place(&right.from));
        cited.filter(|id| right.is_none() || place(id) < right).max_by_key(|id| place(id))
    };
    let mut fault = FaultPlaces::default();
    // Of several ways that are right none was wrong.
    let failure = case.failure.iter().filter(|_| case.kind != CaseKind::Preference);
    for proof in failure.flat_map(|claim| &claim.proof) {
        match proof {
            Proof::Step { step, .. } => fault.steps.push(step),
            Proof::Prose { quote, .. } => fault.quotes.push(quote),
            _ => {}
        }
    }
    let used = |wanted: CaseUse| case.uses.contains(&wanted);
    TypedCase {
        title: &case.title,
        wrong: ends(&case.wrong),
        fault,
        failed: case.check.as_ref().and_then(|check| check.same_as.as_deref()),
        said,
        right: ends(&case.right),
        in_words: case.is_answered_in_words(),
        check: case.check.as_ref().map(|check| check.step.as_str()),
        verified: case
            .check
            .as_ref()
            .is_some_and(|check| learn::is_proof(session, &check.step, check.same_as.as_deref(), ends(&case.wrong))),
        planned: case.planned,
        expected: case.expected.as_ref().map(|claim| claim.text.as_str()),
        uses: CaseUses { completion: used(CaseUse::Completion), pair: used(CaseUse::Pair), eval: used(CaseUse::Eval) },
        reading: key,
    }
}
