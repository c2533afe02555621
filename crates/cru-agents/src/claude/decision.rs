//! Decisions that a record proves: answered questions and plans that a person approved.

use serde_json::Value;

use crate::call::argument::heading;
use crate::call::question::{Answered, approval, offered};
use crate::file::value::list;
use cru_base::text;
use cru_session::event::DecisionEvent;

/// Answered questions: one decision for each, with what was offered and not taken.
pub(super) fn answers(input: &Value, detail: &Value, call: &str) -> Vec<DecisionEvent<'static>> {
    let (answers, notes) = (&detail["answers"], &detail["annotations"]);
    let mut decisions = Vec::new();
    for question in list(input, "questions") {
        let Some(words) = question.get("question").and_then(Value::as_str) else { continue };
        let Some(answer) = answers.get(words).and_then(answer_text) else { continue };
        let note = notes.get(words).and_then(|note| note.get("notes").or(Some(note))).and_then(Value::as_str);
        let several = question.get("multiSelect").and_then(Value::as_bool).unwrap_or(false);
        let labels: Vec<&str> = offered(question).into_iter().map(|(label, _)| label).collect();
        let taken = if several { labels_in(&answer, &labels) } else { vec![answer.as_str()] };
        decisions.extend(Answered { question, taken, said: Some(&answer), note }.decision(call));
    }
    decisions
}

/// An answer is a word, or a list of them where several could be chosen.
fn answer_text(answer: &Value) -> Option<String> {
    let text = match answer {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The labels in an answer of the form `a, b, c`, read from the left, the longest first: a label may hold a comma.
fn labels_in<'a>(answer: &str, labels: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = answer;
    while !rest.is_empty() {
        let fits = |label: &&&str| {
            let after = rest.strip_prefix(**label);
            after.is_some_and(|after| !label.is_empty() && (after.is_empty() || after.starts_with(", ")))
        };
        let next = labels.iter().filter(fits).max_by_key(|label| label.len());
        rest = match next {
            Some(label) => {
                found.push(*label);
                &rest[label.len()..]
            }
            // Words of the person's own among the labels.
            None => rest.split_once(", ").map_or("", |(_, after)| after),
        };
        rest = rest.strip_prefix(", ").unwrap_or(rest);
    }
    found
}

/// A plan that a person approved.
pub(crate) fn approved(plan: &str, call: Option<&str>) -> DecisionEvent<'static> {
    let title = heading(plan);
    let title = title.strip_prefix("Plan:").map_or(title, str::trim_start);
    let title = if title.is_empty() { "Plan approved".to_owned() } else { format!("Plan: {title}") };
    approval(&text::truncate(&title, 120), plan.trim(), call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(input: &str, detail: &str) -> Vec<DecisionEvent<'static>> {
        answers(&serde_json::from_str(input).unwrap(), &serde_json::from_str(detail).unwrap(), "t1")
    }

    const QUESTION: &str = r#"{"questions":[{"question":"Where to store it?","header":"Store","options":[
        {"label":"Disk","description":"Slow and safe."},{"label":"Memory","description":"Fast."},{"label":"Disk, twice","description":""}]}]}"#;

    #[test]
    fn chosen_and_rejected() {
        let made = decide(
            QUESTION,
            r#"{"answers":{"Where to store it?":"Disk"},"annotations":{"Where to store it?":{"notes":"we had losses"}}}"#,
        );
        let [decision] = &made[..] else { panic!("{made:?}") };
        assert_eq!(decision.title, "Store: Disk");
        assert_eq!(decision.text, "Where to store it?\n\nSlow and safe.");
        assert_eq!(decision.rejected, ["Memory", "Disk, twice"]);
        assert_eq!(decision.why.as_deref(), Some("we had losses"));
        assert!(!decision.approval);
    }

    #[test]
    fn own_words_and_several() {
        let made = decide(QUESTION, r#"{"answers":{"Where to store it?":"nowhere,\nfor now"}}"#);
        assert_eq!(made[0].title, "Store: nowhere, for now");
        assert_eq!(made[0].text, "Where to store it?\n\nnowhere,\nfor now");
        assert_eq!(made[0].rejected.len(), 0, "who answers in other words refuses nothing that is known");
        let several = QUESTION.replace("\"header\"", "\"multiSelect\":true,\"header\"");
        let made = decide(&several, r#"{"answers":{"Where to store it?":"Disk, twice, Memory"}}"#);
        assert_eq!(made[0].rejected, ["Disk"]);
        assert!(decide(QUESTION, r#"{"answers":{"Where to store it?":null}}"#).is_empty());
        assert!(decide("[]", "{}").is_empty());
    }

    #[test]
    fn plans() {
        let plan = approved("# Plan: move the cache\n\n1. Move it.", None);
        assert_eq!((plan.title.as_ref(), plan.approval), ("Plan: move the cache", true));
        assert_eq!(approved("", None).title, "Plan approved");
    }
}
