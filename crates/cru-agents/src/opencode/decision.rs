//! Decisions that a record proves: answered questions and approved plans.

use std::borrow::Cow;

use serde_json::Value;

use crate::value::{filled, list};
use cru_base::text;
use cru_session::event::DecisionEvent;

/// Answered questions: one decision for each, with what was offered and not taken.
pub(super) fn answers(input: &Value, metadata: &Value, call: &str) -> Vec<DecisionEvent<'static>> {
    let questions = list(input, "questions").iter().zip(list(metadata, "answers"));
    questions.filter_map(|(question, answer)| answered(question, answer, call)).collect()
}

fn answered(question: &Value, answer: &Value, call: &str) -> Option<DecisionEvent<'static>> {
    const TITLE: usize = 120;
    let asked = filled(question, "question")?;
    let taken: Vec<&str> = match answer {
        Value::String(answer) => vec![answer.as_str()],
        answer => answer.as_array()?.iter().filter_map(Value::as_str).collect(),
    };
    let taken: Vec<&str> = taken.into_iter().filter(|answer| !answer.trim().is_empty()).collect();
    if taken.is_empty() {
        return None;
    }
    let mut body = asked.to_owned();
    let mut rejected = Vec::new();
    for option in list(question, "options") {
        let Some(label) = filled(option, "label") else { continue };
        if !taken.contains(&label) {
            rejected.push(Cow::Owned(label.to_owned()));
        } else if let Some(description) = filled(option, "description") {
            let label = if taken.len() > 1 { format!("{label}: ") } else { String::new() };
            body = format!("{body}\n\n{label}{description}");
        }
    }
    let said = taken.join(", ");
    let line = text::fold_whitespace(&said);
    if line.chars().count() > TITLE {
        // An answer in the person's own words may be long; the title is only its beginning.
        body = format!("{body}\n\n{}", said.trim());
    }
    let title = match filled(question, "header") {
        Some(header) => format!("{}: {line}", header.trim()),
        None => line.clone(),
    };
    Some(DecisionEvent {
        title: text::truncate(&title, TITLE).into_owned().into(),
        text: body.into(),
        why: None,
        rejected,
        approval: false,
        call: Some(call.to_owned().into()),
    })
}

/// A plan that a person approved.
pub(super) fn plan(output: &str, call: &str) -> DecisionEvent<'static> {
    DecisionEvent {
        title: "Plan approved".into(),
        text: text::truncate(output.trim(), 400).into_owned().into(),
        why: None,
        rejected: Vec::new(),
        approval: true,
        call: Some(call.to_owned().into()),
    }
}
