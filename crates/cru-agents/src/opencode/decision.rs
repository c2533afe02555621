//! Decisions that a record proves: answered questions and approved plans.

use serde_json::Value;

use crate::call::question::Answered;
use crate::file::value::list;
use cru_base::text;
use cru_session::event::DecisionEvent;

/// Answered questions: one decision for each, with what was offered and not taken.
pub(super) fn answers(input: &Value, metadata: &Value, call: &str) -> Vec<DecisionEvent<'static>> {
    let questions = list(input, "questions").iter().zip(list(metadata, "answers"));
    questions.filter_map(|(question, answer)| answered(question, answer, call)).collect()
}

fn answered(question: &Value, answer: &Value, call: &str) -> Option<DecisionEvent<'static>> {
    let taken = match answer {
        Value::String(answer) => vec![answer.as_str()],
        answer => answer.as_array()?.iter().filter_map(Value::as_str).collect(),
    };
    Answered { question, taken, said: None, note: None }.decision(call)
}

/// A plan that a person approved.
pub(super) fn plan(output: &str, call: &str) -> DecisionEvent<'static> {
    DecisionEvent {
        title: "Plan approved".into(),
        text: text::truncate(output.trim(), 400).into_owned().into(),
        approval: true,
        call: Some(call.to_owned().into()),
        ..DecisionEvent::default()
    }
}
