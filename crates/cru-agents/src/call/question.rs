//! Questions that a person answered, as decisions: what was chosen, and what was offered and not taken.

use std::borrow::Cow;

use serde_json::Value;

use crate::file::value::{filled, trimmed};
use cru_base::text;
use cru_session::event::DecisionEvent;

/// Characters of a title.
const TITLE: usize = 120;

/// A question with its answer.
#[derive(Debug)]
pub(crate) struct Answered<'a> {
    /// The question as the tool has it: `question`, perhaps a `header`, and `options` or `choices`.
    pub(crate) question: &'a Value,
    /// The labels that were taken, or the person's own words.
    pub(crate) taken: Vec<&'a str>,
    /// The whole answer, where it is more than what was taken.
    pub(crate) said: Option<&'a str>,
    /// What the person noted beside it.
    pub(crate) note: Option<&'a str>,
}

impl Answered<'_> {
    /// The decision that it is; `None` where nothing was asked or answered.
    pub(crate) fn decision(&self, call: &str) -> Option<DecisionEvent<'static>> {
        let asked = trimmed(self.question, "question")?;
        let taken: Vec<&str> = self.taken.iter().map(|label| plain(label)).filter(|label| !label.is_empty()).collect();
        let said = self.said.map_or_else(|| taken.join(", "), |said| plain(said).to_owned());
        if said.is_empty() {
            return None;
        }
        let options = offered(self.question);
        let (chosen, rejected): (Vec<_>, Vec<_>) =
            options.into_iter().partition(|(label, _)| taken.contains(&plain(label)));
        // Who answers in other words may mean one of what was offered: nothing is known to be refused.
        let rejected = if chosen.is_empty() { Vec::new() } else { rejected };
        let line = text::fold_whitespace(&said);
        let mut body = asked.to_owned();
        if chosen.is_empty() || line.chars().count() > TITLE {
            // An answer in the person's own words may be long; the title is only its beginning.
            body = format!("{body}\n\n{said}");
        }
        for (label, description) in chosen.iter().filter_map(|(label, description)| Some((label, (*description)?))) {
            let label = if chosen.len() > 1 { format!("{label}: ") } else { String::new() };
            body = format!("{body}\n\n{label}{description}");
        }
        let title = trimmed(self.question, "header").map_or_else(|| line.clone(), |header| format!("{header}: {line}"));
        Some(DecisionEvent {
            title: text::truncate(&title, TITLE).into_owned().into(),
            text: body.into(),
            why: self.note.map(str::trim).filter(|note| !note.is_empty()).map(|note| note.to_owned().into()),
            rejected: rejected.iter().map(|(label, _)| Cow::Owned(plain(label).to_owned())).collect(),
            approval: false,
            call: Some(call.to_owned().into()),
        })
    }
}

/// A plan that a person approved.
pub(crate) fn approval(title: &str, plan: &str, call: Option<&str>) -> DecisionEvent<'static> {
    DecisionEvent {
        title: title.to_owned().into(),
        text: plan.to_owned().into(),
        approval: true,
        call: call.map(|call| call.to_owned().into()),
        ..DecisionEvent::default()
    }
}

/// What was offered: labels and what they mean.
pub(crate) fn offered(question: &Value) -> Vec<(&str, Option<&str>)> {
    let options = ["options", "choices", "follow_up"].iter().find_map(|key| question.get(key)?.as_array());
    options.into_iter().flatten().filter_map(option).collect()
}

fn option(option: &Value) -> Option<(&str, Option<&str>)> {
    match option {
        Value::String(label) => Some((label, None)),
        option => Some((filled(option, ["label", "text"])?, trimmed(option, "description"))),
    }
}

/// A label without the agent's own advice.
fn plain(label: &str) -> &str {
    label.trim().trim_end_matches("(Recommended)").trim_end()
}
