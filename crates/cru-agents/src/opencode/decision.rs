//! Decisions that a record proves: answered questions and approved plans.

use serde_json::Value;

use crate::call::question::Answered;
use crate::file::value::{list, strings};
use cru_base::text;
use cru_session::event::DecisionEvent;

/// Answered questions: one decision for each, with what was offered and not taken.
pub(super) fn answers(input: &Value, metadata: &Value, call: &str) -> Vec<DecisionEvent<'static>> {
    let answered =
        |(question, answer)| Answered { question, taken: strings(Some(answer)), said: None, note: None }.decision(call);
    list(input, "questions").iter().zip(list(metadata, "answers")).filter_map(answered).collect()
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
