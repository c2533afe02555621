//! The second reader: for each claim only its text and what it cites.

use serde_json::Value;

use crate::answer::{AnswerError, json_of};
use crate::check::{Checked, Finding, Rule, Severity, cited, left};
use crate::record::Record;

/// What the second reader says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// What is cited says it.
    Carried,
    /// What is cited says part of it.
    MoreThan,
    /// What is cited does not say it.
    Not,
}

/// The claims of a checked reading, numbered from 1, each with what it cites. Cases, lessons and the summary.
pub fn claims(checked: &Checked, record: &Record) -> Vec<(String, String, String)> {
    let answer = &checked.answer;
    let mut all: Vec<(String, String, String)> = Vec::new();
    let lines =
        |proofs: &[crate::Proof]| proofs.iter().map(|proof| cited(proof, record)).collect::<Vec<_>>().join("\n");
    for (path, claim) in answer.claims() {
        all.push((path, claim.text.clone(), lines(&claim.proof)));
    }
    for (at, lesson) in answer.lessons.iter().enumerate() {
        all.push((format!("lessons[{at}]"), lesson.text.clone(), lines(&lesson.proof)));
    }
    all
}

/// [`claims`] as one text of data for a prompt.
pub fn listed(claims: &[(String, String, String)]) -> String {
    let mut out = String::new();
    for (at, (_, text, lines)) in claims.iter().enumerate() {
        out.push_str(&format!("claim {}: {text}\n", at + 1));
        for line in lines.lines() {
            out.push_str(&format!("  cites {line}\n"));
        }
    }
    out
}

/// Reads what the second reader said: for each claim its judgement; those that it leaves out are not judged.
pub fn read(answer: &str, count: usize) -> Result<Vec<Option<Judgement>>, AnswerError> {
    const FORM: &str = "answer with {\"verdicts\": [{\"claim\": 1, \"verdict\": \"carried\"}]} and nothing else";
    let error = |message: &str| AnswerError { path: String::new(), message: format!("{message}; {FORM}") };
    if answer.len() > crate::answer::MAX_BYTES {
        return Err(error("the answer is too long"));
    }
    let value: Value = serde_json::from_str(json_of(answer)).map_err(|_| error("no valid JSON"))?;
    let Some(verdicts) = value.get("verdicts").and_then(Value::as_array) else { return Err(error("no `verdicts`")) };
    let mut all = vec![None; count];
    for verdict in verdicts {
        let number = verdict.get("claim").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let judgement = match verdict.get("verdict").and_then(Value::as_str) {
            Some("carried") => Judgement::Carried,
            Some("more_than") => Judgement::MoreThan,
            Some("not") => Judgement::Not,
            _ => return Err(error("a verdict is none of carried, more_than, not")),
        };
        let place = number.and_then(|number| number.checked_sub(1)).and_then(|at| all.get_mut(at));
        *place.ok_or_else(|| error("a verdict is of no claim"))? = Some(judgement);
    }
    Ok(all)
}

/// Takes the judgements over: `not` refuses, `more_than` doubts.
pub fn apply(checked: &mut Checked, claims: &[(String, String, String)], judgements: &[Option<Judgement>]) {
    let mut fresh = Vec::new();
    for ((path, text, _), judgement) in claims.iter().zip(judgements) {
        let (severity, reason) = match judgement {
            Some(Judgement::Not) => (Severity::Refused, "the second reader does not find it in what is cited"),
            Some(Judgement::MoreThan) => {
                (Severity::Doubted, "the second reader finds only part of it in what is cited")
            }
            _ => continue,
        };
        let (path, text, reason) = (path.clone(), text.clone(), reason.to_owned());
        fresh.push(Finding { path, text, rule: Rule::Judge, severity, proof: None, reason });
    }
    let before = checked.kept;
    checked.answer = left(&checked.answer, &fresh);
    checked.kept = crate::check::count(&checked.answer).min(before);
    checked.findings.extend(fresh);
}
