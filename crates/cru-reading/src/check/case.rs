//! Rules 8 to 12, 14 and 16: what a case may be.

use std::collections::HashSet;

use cru_action::verdict::{silences_check, switches_check_off};
use cru_session::StepStatus;

use super::claim::{self, Names};
use super::proof::{range, status_holds};
use super::token::{Named, found};
use super::{Findings, Refusal, Rule, Severity};
use crate::answer::{AfterVerdict, Answer, CaseKind, CaseUse, Claim, Proof, ProofStatus, ReadCase, StepRange};
use crate::record::{Record, SaidFact, StepFact};

/// Checks the cases of an answer.
pub(super) fn check(answer: &Answer, names: &Names<'_>, findings: &mut Findings<'_>) {
    for (at, case) in answer.cases.iter().enumerate() {
        let path = format!("cases[{at}]");
        claim::names_of(&path, &case.title, &case.title, names, findings);
        claim::secret(&path, &case.title, findings);
        for refusal in one(case, findings.record) {
            findings.add(&path, &case.title, Severity::Refused, None, refusal);
        }
        for refusal in after(case, findings.record) {
            findings.add(&path, &case.title, Severity::Refused, None, refusal);
        }
        if let Some(refusal) = no_answer(case, at, answer, findings.record) {
            findings.add(&format!("{path}.right"), &case.title, Severity::Refused, None, refusal);
        }
        if case.uses.contains(&CaseUse::Pair)
            && let Some(refusal) = pair(case, findings.record)
        {
            findings.add(&format!("{path}.for[pair]"), &case.title, Severity::Refused, None, refusal);
        }
        // What is refused itself stands in nobody's way.
        let mut before = (0..at).filter(|other| !findings.refused(&format!("cases[{other}]")));
        if let Some(other) = before.find(|other| overlaps(&answer.cases[*other], case, findings.record)) {
            let refusal = Refusal::of(Rule::Twice, format!("cases[{other}] has the same steps; keep one of them"));
            findings.add(&path, &case.title, Severity::Refused, None, refusal);
        }
    }
}

/// The steps of a range of a case.
fn steps<'r>(range_of: Option<&StepRange>, record: &'r Record) -> Result<Option<&'r [StepFact]>, Refusal> {
    range_of.map(|it| range(record, Some(&it.from), Some(&it.to))).transpose()
}

/// What is wrong with a case.
fn one(case: &ReadCase, record: &Record) -> Vec<Refusal> {
    let mut wrong_with = Vec::new();
    let (wrong, right) = match (steps(case.wrong.as_ref(), record), steps(case.right.as_ref(), record)) {
        (Ok(wrong), Ok(right)) => (wrong, right),
        (wrong, right) => {
            wrong_with.extend(wrong.as_ref().err().cloned());
            wrong_with.extend(right.as_ref().err().cloned());
            (wrong.ok().flatten(), right.ok().flatten())
        }
    };
    wrong_with.extend(shape(case));
    wrong_with.extend(wrong.and_then(|wrong| not_wrong(case, wrong)));
    wrong_with.extend(right.map(|right| gaps(case, right, record)).unwrap_or_default());
    wrong_with.extend(order(case, wrong, right, record));
    wrong_with.extend(check_step(case, wrong, right, record));
    wrong_with
}

/// Which parts a kind of case has.
fn shape(case: &ReadCase) -> Vec<Refusal> {
    let (wrong, right) = (&case.wrong, &case.right);
    let mut all = Vec::new();
    let mut refuse = |reason: &str| all.push(Refusal::of(Rule::Order, reason));
    match case.kind {
        CaseKind::Demonstration => {
            if right.is_none() {
                refuse("a demonstration needs `right`");
            }
            if wrong.is_some() || case.failure.is_some() {
                refuse("a demonstration has no `wrong` and no `failure`");
            }
        }
        CaseKind::Unsolved if right.is_some() || case.check.is_some() => {
            refuse("an unsolved case has no `right` and no `check`");
        }
        CaseKind::Correction | CaseKind::Preference if right.is_none() && !case.is_answered_in_words() => {
            refuse(
                "without `right` the kind is `unsolved`; where the agent answered in words, `expected` cites them (`prose`)",
            );
        }
        CaseKind::Puzzle if right.is_none() => refuse("without `right` the kind is `unsolved`"),
        _ => {}
    }
    if case.kind == CaseKind::Preference && case.failure.is_none() {
        if wrong.is_none() && !cites_words(case.expected.as_ref()) {
            refuse("a preference without `failure` needs the person's words in `expected`");
        }
    } else if case.kind != CaseKind::Demonstration && case.failure.is_none() {
        refuse("the case needs `failure`: what went wrong");
    }
    if right.is_some() && case.expected.is_none() {
        refuse("a case with `right` needs `expected`");
    }
    if matches!(case.kind, CaseKind::Correction | CaseKind::Preference)
        && wrong.is_none()
        && !cites_words(case.failure.as_ref())
        && !(case.kind == CaseKind::Preference && case.failure.is_none())
    {
        refuse(
            "the case needs `wrong`: the steps that were wrong; `wrong` may be null where `failure` cites the agent's words \
             (`prose`) or the person's (`said`)",
        );
    }
    all
}

/// Whether a claim cites words of the agent or of a person.
fn cites_words(claim: Option<&Claim>) -> bool {
    let is_words = |proof: &Proof| matches!(proof, Proof::Said { .. } | Proof::Prose { .. });
    claim.is_some_and(|claim| claim.proof.iter().any(is_words))
}

/// Checks, looks and failures of the host are never wrong.
fn not_wrong(case: &ReadCase, wrong: &[StepFact]) -> Option<Refusal> {
    // What the host refused to do was wrong to try.
    let is_refused = |step: &StepFact| case.kind == CaseKind::Unsafe && step.status == StepStatus::Denied;
    if wrong.iter().all(|step| !is_refused(step) && (step.looks || step.only_checks || step.host_failed)) {
        let reason = if wrong.iter().all(|step| step.host_failed) {
            "the steps of `wrong` failed by the host or its provider, which is no fault of the agent"
        } else if matches!(case.kind, CaseKind::Puzzle | CaseKind::Unsolved) && wrong.iter().any(StepFact::failed) {
            // What failed may be a check alone: what it found is the puzzle.
            return None;
        } else {
            "the steps of `wrong` only look or check, which is never wrong; leave `wrong` null where no step of the agent was, \
             and cite its words or the person's in `failure`"
        };
        return Some(Refusal::of(Rule::Wrong, reason));
    }
    None
}

/// The right answer stands without gaps on the way to the end, and switches no check off.
fn gaps(case: &ReadCase, right: &[StepFact], record: &Record) -> Vec<Refusal> {
    let mut all = Vec::new();
    if case.right.as_ref().and_then(|it| it.whole) == Some(false) {
        all.push(Refusal::of(Rule::Gap, "`whole: false` is never accepted: name a range of which every step belongs to the answer, and leave `whole` out"));
    }
    if let Some(step) = right.iter().find(|step| !step.on_path) {
        all.push(Refusal::of(Rule::Gap, format!("{} was gone back from: it is not on the way to the end", step.id)));
    }
    if right.iter().all(|step| matches!(step.proof_status(), Some(ProofStatus::Denied))) {
        all.push(Refusal::of(Rule::Gap, "every step of `right` was refused"));
    }
    if let Some(step) = fails_behind(case, right, record) {
        let reason = format!(
            "{} fails right behind {}: `right` ends where its check passes, or is no answer",
            step.id,
            right.last().map_or("", |it| &it.id)
        );
        all.push(Refusal::of(Rule::Gap, reason));
    }
    // Unless a person asked for it by its name.
    let asked = record.said.iter().any(|said| switches_check_off(&said.words) || silences_check(&said.words));
    for step in right.iter().filter(|_| !asked) {
        if let Some(text) = &step.shortcut {
            all.push(Refusal::of(Rule::Shortcut, format!("{} switches a check off: `{text}`", step.id)));
            break;
        }
    }
    all
}

/// The check that fails behind an answer that changes something, before anything else is changed or anybody says a word; where a
/// check of its own shows the answer, others that fail are about something else.
fn fails_behind<'r>(case: &ReadCase, right: &[StepFact], record: &'r Record) -> Option<&'r StepFact> {
    let changes = right.iter().any(|step| step.writes && !step.failed());
    let last = right.last().filter(|_| case.check.is_none() && changes)?;
    let spoken = record.said.iter().map(|said| said.at).find(|at| *at > last.at).unwrap_or(usize::MAX);
    let mut behind = record.steps.iter().skip_while(|step| step.at <= last.at);
    let passes = |step: &StepFact| step.only_checks && !step.failed();
    let step = behind.find(|step| !step.looks && !passes(step))?;
    (step.only_checks && step.failed() && step.at < spoken).then_some(step)
}

/// The words that set the agent right: those that the case cites between what was wrong and what is right.
fn said<'r>(case: &ReadCase, from: Option<usize>, to: usize, record: &'r Record) -> Option<&'r SaidFact> {
    // Where no step was wrong, what was asked first is no correction of it.
    let context = from.map(|_| &case.context);
    let claims = case.expected.iter().chain(&case.failure).chain(context);
    let cited = claims.flat_map(|claim: &Claim| &claim.proof).filter_map(|proof| match proof {
        Proof::Said { said, .. } => record.words(said),
        _ => None,
    });
    cited.filter(|said| from.is_none_or(|from| said.at > from) && said.at < to).min_by_key(|said| said.at)
}

/// Wrong, then the person's words, then right.
fn order(case: &ReadCase, wrong: Option<&[StepFact]>, right: Option<&[StepFact]>, record: &Record) -> Option<Refusal> {
    let end = wrong.and_then(|steps| steps.last());
    let start = right.and_then(|steps| steps.first());
    if let (Some(end), Some(start)) = (end, start)
        && start.at <= end.at
    {
        return Some(Refusal::of(
            Rule::Order,
            format!("`right` begins at {}, not after `wrong`, which ends at {}", start.id, end.id),
        ));
    }
    if !matches!(case.kind, CaseKind::Correction | CaseKind::Preference) || (end.is_none() && case.wrong.is_some()) {
        return None;
    }
    let to = start.map_or(usize::MAX, |step| step.at);
    if said(case, end.map(|step| step.at), to, record).is_some() {
        return None;
    }
    let places = [end.map(|step| format!("after {}", step.id)), start.map(|step| format!("before {}", step.id))];
    let places: Vec<String> = places.into_iter().flatten().collect();
    Some(Refusal::of(
        Rule::Order,
        format!(
            "no words of the person {} are cited; a correction needs them in `expected` or `failure`",
            places.join(" and ")
        ),
    ))
}

/// The check passed, repeats what failed, and comes after what it shows.
fn check_step(
    case: &ReadCase,
    wrong: Option<&[StepFact]>,
    right: Option<&[StepFact]>,
    record: &Record,
) -> Vec<Refusal> {
    let Some(check) = &case.check else { return Vec::new() };
    let mut all = Vec::new();
    let Some(step) = record.step(&check.step) else {
        return vec![Refusal::of(Rule::Id, format!("the session has no step {}", check.step))];
    };
    if check.status != ProofStatus::Ok {
        all.push(Refusal::of(Rule::Order, "`check.status` must be ok: a check that failed shows no right answer"));
    } else if let Err(refusal) = status_holds(step, ProofStatus::Ok) {
        all.push(refusal);
    } else if !step.passed() {
        let why = if step.hidden {
            "a pipe hides its status, and its output does not say"
        } else {
            "the record does not say"
        };
        all.push(Refusal::of(Rule::Order, format!("whether {} passed is not known: {why}", step.id)));
    }
    if let Some(first) = right.and_then(|right| right.first())
        && step.at < first.at
    {
        all.push(Refusal::of(Rule::Order, format!("the check {} ran before {}", step.id, first.id)));
    }
    let later = right.and_then(|right| right.iter().rev().find(|it| it.writes && it.at > step.at && !it.failed()));
    if let Some(later) = later {
        all.push(Refusal::of(Rule::Order, format!("{} changed a file after the check {}", later.id, step.id)));
    }
    let failed = match &check.same_as {
        Some(id) => match record.step(id) {
            None => {
                all.push(Refusal::of(Rule::Id, format!("the session has no step {id}")));
                return all;
            }
            Some(failed) if !failed.failed() => {
                let reason = format!("{id} did not fail ({}): the check repeats no failure", failed.ended());
                all.push(Refusal::of(Rule::Order, reason));
                return all;
            }
            Some(failed) => Some(failed),
        },
        None if case.kind == CaseKind::Puzzle => {
            let same = wrong.and_then(|wrong| wrong.iter().find(|it| it.failed() && step.repeats(it)));
            // What no command repeats, as an edit that did not apply, is shown by any check; so is what a look found.
            let cited = case.failure.iter().flat_map(|claim| &claim.proof).filter_map(Proof::block);
            let mut cited = cited.filter_map(|id| record.step(id));
            let can_repeat = |it: &StepFact| it.failed() && it.key.is_some();
            let repeatable = wrong.map_or_else(|| cited.any(can_repeat), |wrong| wrong.iter().any(can_repeat));
            if same.is_none() && repeatable {
                let reason =
                    format!("{} repeats no failed step of `wrong`; name the failed step in `same_as`", step.id);
                all.push(Refusal::of(Rule::Order, reason));
            }
            None
        }
        None => None,
    };
    if let Some(failed) = failed {
        if failed.at >= step.at {
            all.push(Refusal::of(Rule::Order, format!("{} did not fail before {}", failed.id, step.id)));
        } else if failed.key.is_some() && step.key.is_some() && !step.repeats(failed) {
            let (a, b) = (failed.key.as_deref().unwrap_or_default(), step.key.as_deref().unwrap_or_default());
            all.push(Refusal::of(
                Rule::Order,
                format!("{} is another command than {}: `{b}`, not `{a}`", step.id, failed.id),
            ));
        }
    }
    all
}

/// How the person took it: what was said next behind the right answer must be judged.
fn after(case: &ReadCase, record: &Record) -> Vec<Refusal> {
    let place = |step: &StepFact| (step.at, step.id.clone());
    let step = |range: Option<&StepRange>| range.and_then(|it| record.step(&it.to)).map(place);
    let words = || words_cited(case).into_iter().filter_map(|id| record.words(id)).max_by_key(|said| said.at);
    let right = match &case.right {
        None if case.is_answered_in_words() => words().map(|said| (said.at, said.id.clone())),
        right => step(right.as_ref()),
    };
    let end = right.clone().or_else(|| step(case.wrong.as_ref()));
    let next = right.as_ref().and_then(|(at, _)| record.said.iter().find(|said| said.at > *at));
    let mut all = Vec::new();
    let told = case.after.as_ref().filter(|after| after.verdict != AfterVerdict::None);
    if let Some(id) = case.after.as_ref().and_then(|after| after.said.as_ref()) {
        let Some(said) = record.words(id) else {
            return vec![Refusal::of(Rule::Id, format!("{id} is no words of a person"))];
        };
        if let Some((_, end)) = end.filter(|(at, _)| said.at <= *at) {
            all.push(Refusal::of(Rule::Order, format!("{id} was said before {end}")));
        } else if let (Some(next), Some((_, end))) = (next.filter(|next| next.at < said.at), &right) {
            let reason =
                format!("the next words of the person after {end} are {}: say in `after` how they took it", next.id);
            all.push(Refusal::of(Rule::After, reason));
        }
    } else if told.is_some() {
        all.push(Refusal::of(Rule::Id, "`after` names no words; give `said`, or the verdict none"));
    }
    if let (Some(next), Some((_, end)), None) = (next, right, told) {
        let reason = format!("{} follows {end}: say in `after` how the person took it", next.id);
        all.push(Refusal::of(Rule::After, reason));
    }
    all
}

/// Why the right answer of a case is none: the person complains of it, or another case shows that steps of it were wrong.
fn no_answer(case: &ReadCase, at: usize, answer: &Answer, record: &Record) -> Option<Refusal> {
    if case.right.is_none() && !case.is_answered_in_words() {
        return None;
    }
    if let Some(after) = case.after.as_ref().filter(|after| after.verdict == AfterVerdict::Complains) {
        let said = after.said.as_deref().unwrap_or_default();
        let reason = format!("the person's next words {said} complain: it is no right answer; the case is `unsolved`");
        return Some(Refusal::of(Rule::After, reason));
    }
    let right = steps(case.right.as_ref(), record).ok().flatten()?;
    let (first, last) = (right.first()?.at, right.last()?.at);
    let others = answer.cases.iter().enumerate().filter(|(other, _)| *other != at);
    for (other, case) in others {
        let Ok(Some(wrong)) = steps(case.wrong.as_ref(), record) else { continue };
        // Looks and checks that passed stand in a range and were not wrong.
        let is_fault = |step: &&StepFact| !(step.looks || (step.only_checks && !step.failed()));
        if let Some(step) = wrong.iter().filter(is_fault).find(|step| (first..=last).contains(&step.at)) {
            let reason = format!("{} is `wrong` in cases[{other}]: one step is not right and wrong", step.id);
            return Some(Refusal::of(Rule::Wrong, reason));
        }
    }
    None
}

/// A pair is trained on without the correcting words: `right` may not use what they alone told. Numbers that `expected` tells
/// must come of the same side.
fn pair(case: &ReadCase, record: &Record) -> Option<Refusal> {
    let (Ok(Some(wrong)), Ok(Some(right))) = (steps(case.wrong.as_ref(), record), steps(case.right.as_ref(), record))
    else {
        return Some(Refusal::of(Rule::Pair, "a pair needs `wrong` and `right`"));
    };
    let (end, start) = (wrong.last()?.at, right.first()?.at);
    if let Some(said) = said(case, Some(end), start, record) {
        let named = Named::of(&said.words);
        let told: HashSet<&str> = named.names.iter().chain(&named.small).map(String::as_str).collect();
        let before = record
            .steps
            .iter()
            .filter(|step| step.at <= end)
            .flat_map(|step| [step.call.as_str(), step.result.as_str()]);
        let before = before.chain(record.said.iter().filter(|it| it.at < end).map(|it| it.words.as_str()));
        let known = found(&told, before);
        let news: HashSet<&str> = told.difference(&known).copied().collect();
        let mut used: Vec<&str> = found(&news, right.iter().map(|step| step.call.as_str())).into_iter().collect();
        used.sort_unstable();
        if let Some(name) = used.first() {
            let reason =
                format!("`right` uses `{name}`, which only {} told: a row without those words cannot know it", said.id);
            return Some(Refusal::of(Rule::Pair, reason));
        }
    }
    let numbers = Named::of(&case.expected.as_ref()?.text);
    let numbers: HashSet<&str> = numbers
        .names
        .iter()
        .filter(|it| it.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        .map(String::as_str)
        .collect();
    let in_wrong = found(&numbers, wrong.iter().map(|step| step.result.as_str()));
    let in_right = found(&numbers, right.iter().map(|step| step.result.as_str()));
    let other = in_wrong.difference(&in_right).min()?;
    Some(Refusal::of(Rule::Pair, format!("the number {other} comes of the steps that were wrong")))
}

/// Whether two cases are one: they are about the same thing and have steps of their answers in common that do more than look,
/// or all that was wrong.
fn overlaps(one: &ReadCase, other: &ReadCase, record: &Record) -> bool {
    let ends = |it: &Option<StepRange>| {
        let it = it.as_ref()?;
        Some((record.step_index(&it.from)?, record.step_index(&it.to)?))
    };
    let right = ends(&one.right).zip(ends(&other.right));
    let shared = right.and_then(|(a, b)| record.steps.get(a.0.max(b.0)..=a.1.min(b.1)));
    if shared.is_some_and(|steps| steps.iter().any(|step| !step.looks)) {
        return is_same_subject(one, other, record);
    }
    one.right.is_none() && other.right.is_none() && one.wrong.is_some() && one.wrong == other.wrong
}

/// Whether two cases begin at the same thing: words that set right, or what failed. One change may answer two remarks, or words
/// and a failure.
fn is_same_subject(one: &ReadCase, other: &ReadCase, record: &Record) -> bool {
    let is_of_words = |case: &ReadCase| matches!(case.kind, CaseKind::Correction | CaseKind::Preference);
    let is_puzzle = |case: &ReadCase| case.kind == CaseKind::Puzzle;
    if is_of_words(one) && is_of_words(other) {
        let (one, other) = (words_cited(one), words_cited(other));
        return one.is_empty() || other.is_empty() || !one.is_disjoint(&other);
    }
    if is_puzzle(one) && is_puzzle(other) {
        let failed = |case: &ReadCase| -> HashSet<usize> {
            let ends = case.wrong.iter().flat_map(|it| [&it.from, &it.to]);
            let same_as = case.check.iter().filter_map(|check| check.same_as.as_ref());
            ends.chain(same_as).filter_map(|id| record.step_index(id)).collect()
        };
        let (a, b) = (failed(one), failed(other));
        let ends_in = |a: &HashSet<usize>, b: &HashSet<usize>| {
            a.iter().any(|at| b.iter().min() <= Some(at) && Some(at) <= b.iter().max())
        };
        return a.is_empty() || b.is_empty() || ends_in(&a, &b) || ends_in(&b, &a);
    }
    is_puzzle(one) == is_puzzle(other) && is_of_words(one) == is_of_words(other)
}

/// The words of persons that a case cites as what set right.
fn words_cited(case: &ReadCase) -> HashSet<&str> {
    let proofs = case.expected.iter().chain(&case.failure).flat_map(|claim| &claim.proof);
    let said = proofs.filter_map(|proof| match proof {
        Proof::Said { said, .. } => Some(said.as_str()),
        _ => None,
    });
    said.collect()
}
