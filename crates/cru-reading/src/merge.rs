//! Readings of parts of a session as one, and ids that stay the same over versions.

use crate::answer::{Answer, CaseKind, OutcomeState, ReadCase, StepRange, Summary};

/// The id of a case: of the session, its steps and its kind, so that a later version knows it again.
pub fn case_id(session: &str, case: &ReadCase) -> String {
    let ends =
        |range: &Option<StepRange>| range.as_ref().map(|it| format!("{}..{}", it.from, it.to)).unwrap_or_default();
    let (wrong, right) = (ends(&case.wrong), ends(&case.right));
    // Two cases of words alone are told apart by what they say.
    let words = if wrong.is_empty() && right.is_empty() { case.context.text.as_str() } else { "" };
    let parts = [session, case.kind.as_str(), &wrong, &right, words];
    let hash = crate::hash(if words.is_empty() { &parts[..4] } else { &parts });
    let kind = if case.kind == CaseKind::Unsolved { "unsolved" } else { case.kind.as_str() };
    format!("{kind}-{}", &hash[3..15])
}

/// Two readings as one: the later one counts where both say something of one thing.
pub fn join(earlier: &Answer, later: &Answer) -> Answer {
    let mut joined = later.clone();
    joined.is_brief = earlier.is_brief && later.is_brief;
    let Summary { title, goal, requests, outcome, decisions, not_verified, open, contradicted } = &mut joined.summary;
    let before = &earlier.summary;
    *title = title.take().or_else(|| before.title.clone());
    let mut asked = before.requests.clone();
    asked.retain(|old| !requests.iter().any(|new| new.said == old.said));
    asked.append(requests);
    *requests = asked;
    let mut refuted = before.contradicted.clone();
    refuted.extend(contradicted.drain(..).filter(|it| !before.contradicted.contains(it)));
    *contradicted = refuted;
    // What the person wanted is told by the part with their first words.
    *goal = before.goal.clone().or(goal.take());
    // What a part cannot tell was told before.
    let known = outcome.take_if(|it| it.state != OutcomeState::Unknown || before.outcome.is_none());
    *outcome = known.or(before.outcome.clone());
    for (list, old) in [(decisions, &before.decisions), (not_verified, &before.not_verified), (open, &before.open)] {
        let mut all = old.clone();
        all.extend(list.drain(..).filter(|claim| !old.contains(claim)));
        *list = all;
    }
    let id = |case: &ReadCase| case_id(&later.session, case);
    let known: Vec<String> = joined.cases.iter().map(id).collect();
    let mut cases: Vec<ReadCase> = earlier.cases.iter().filter(|case| !known.contains(&id(case))).cloned().collect();
    cases.append(&mut joined.cases);
    joined.cases = cases;
    let mut lessons = earlier.lessons.clone();
    lessons.retain(|old| !joined.lessons.iter().any(|new| new.text == old.text));
    lessons.append(&mut joined.lessons);
    joined.lessons = lessons;
    let mut workflow = earlier.workflow.clone();
    workflow.append(&mut joined.workflow);
    joined.workflow = workflow;
    let mut segments = earlier.segments.clone();
    segments.retain(|old| !joined.segments.iter().any(|new| new.id == old.id));
    segments.append(&mut joined.segments);
    joined.segments = segments;
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Claim, ReadOutcome};

    #[test]
    fn the_later_one_counts() {
        let claim = |text: &str| Claim { text: text.to_owned(), proof: Vec::new() };
        let outcome = |text: &str| Some(ReadOutcome { state: OutcomeState::Done, claim: claim(text) });
        let summary = |goal: Option<&str>, end: Option<&str>, open: &[&str]| Summary {
            goal: goal.map(claim),
            outcome: end.and_then(outcome),
            open: open.iter().map(|text| claim(text)).collect(),
            ..Summary::default()
        };
        let one = Answer { summary: summary(Some("a"), Some("b"), &["x"]), ..Answer::default() };
        let two = Answer { summary: summary(Some("c"), Some("d"), &["x", "y"]), ..Answer::default() };
        assert_eq!(join(&one, &two).summary, summary(Some("a"), Some("d"), &["x", "y"]));
        let three = Answer { summary: summary(None, None, &[]), ..Answer::default() };
        assert_eq!(join(&one, &three).summary, one.summary);
        let unknown = ReadOutcome { state: OutcomeState::Unknown, claim: claim("e") };
        let four = Answer { summary: Summary { outcome: Some(unknown), ..Summary::default() }, ..Answer::default() };
        assert_eq!(join(&one, &four).summary, one.summary, "an end that nobody knows takes no other's place");
    }
}
