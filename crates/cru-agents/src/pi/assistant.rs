//! Messages of the agent: prose, thinking, tool calls, tokens and cost, and how each ended.

use std::borrow::Cow;

use serde_json::Value;

use super::session::PiSession;
use crate::call::open::OpenCall;
use crate::call::{argument, shell};
use crate::file::value::{blocks, filled, object, trimmed, usage, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_action::ToolKind;
use cru_session::event::{EventKind, SessionFact, Usage};

impl PiSession {
    /// Reads a message of the agent; `id` is its entry's.
    pub(super) fn assistant(&mut self, message: &Value, id: &str, out: &mut Out<'_>) -> Option<&'static str> {
        self.tokens(object(message, "usage"), filled(message, "model"), out);
        let stopped = word(message, "stopReason") == "aborted";
        let failed = word(message, "stopReason") == "error";
        let mut strange = None;
        for block in blocks(&message["content"]) {
            match word(&block, "type") {
                "text" => {
                    if let Some(words) = filled(&block, "text") {
                        out.emit(EventKind::Reply(crate::wrapper::reply(super::IMPORTER.id, words).into()));
                    }
                }
                "thinking" => {
                    if let Some(words) = filled(&block, "thinking") {
                        out.emit(EventKind::Thinking(words.into()));
                    }
                }
                "toolCall" => self.call(&block, id, !(stopped || failed), out),
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        if stopped {
            out.emit(EventKind::Interrupt { call: None, unnamed: false });
        } else if failed {
            let text = filled(message, "errorMessage").unwrap_or("The model service failed.");
            out.emit(EventKind::ApiError(Cow::Borrowed(text)));
        }
        out.left(strange)
    }

    /// Tells the tokens and the stored cost of one message; `model` is the one that it names.
    pub(super) fn tokens(&mut self, tokens: Option<&Value>, model: Option<&str>, out: &mut Out<'_>) {
        let Some(tokens) = tokens else { return };
        let usage = usage(tokens, ["input", "output", "cacheRead", "cacheWrite"]);
        let cost = tokens["cost"]["total"].as_f64();
        if let Some(cost) = cost.filter(|cost| cost.is_finite() && *cost > 0.0) {
            out.emit(EventKind::Meta(SessionFact::Cost(cost)));
        }
        if usage != Usage::default() {
            // Ids say nothing here: the first version has none, and a damaged file has some twice.
            self.messages += 1;
            let model = model.unwrap_or(if self.model.is_empty() { "unknown" } else { &self.model });
            let message = self.messages.to_string().into();
            out.emit(EventKind::Usage { message, model: Cow::Borrowed(model), usage });
        }
    }
}

impl PiSession {
    /// Tells a call of the message `made_by`. `runs`: the message was not stopped, so that the host carries it out.
    pub(super) fn call(&mut self, block: &Value, made_by: &str, runs: bool, out: &mut Out<'_>) {
        let tool = filled(block, "name").unwrap_or("tool").to_owned();
        let id = self.calls.name(word(block, "id"), out.record);
        let input = unmarked(&tool, &block["arguments"]);
        if runs {
            let mut call = OpenCall::new(id.clone(), word(block, "id"), &tool, made_by);
            call.path = argument::path(&tool, &input).map(str::to_owned);
            match ToolKind::of_call(&tool, &input) {
                ToolKind::Shell => call.effects = shell::effects(&tool, &input, &self.place),
                ToolKind::Read | ToolKind::Write | ToolKind::Subagent => call.input = Some(block["arguments"].clone()),
                _ => {}
            }
            self.calls.open(call);
        }
        let args = telling(&tool, &input, &self.place);
        out.call(&id, tool, args, block["arguments"].clone());
    }
}

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let found = match tool {
        "process" => trimmed(input, "action").map(|action| match trimmed(input, "sessionId") {
            Some(session) => format!("{action} {session}"),
            None => action.to_owned(),
        }),
        _ => None,
    };
    found.unwrap_or_else(|| argument::telling(tool, input, place))
}

/// The arguments of a call without the `@` that the model may put before a path.
pub(super) fn unmarked<'v>(tool: &str, input: &'v Value) -> Cow<'v, Value> {
    let Some(path) = argument::path(tool, input).and_then(|path| path.strip_prefix('@')) else {
        return Cow::Borrowed(input);
    };
    let mut input = input.clone();
    for value in input.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        if value.as_str().is_some_and(|text| text.trim().strip_prefix('@') == Some(path)) {
            *value = Value::from(path);
        }
    }
    Cow::Owned(input)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_tool_shows_what_tells() {
        let check = |tool: &str, input: Value, wanted: &str| {
            assert_eq!(telling(tool, &unmarked(tool, &input), &Place::default()), wanted, "{tool}");
        };
        check("process", json!({"action": "kill", "sessionId": "s1"}), "kill s1");
        check("edit", json!({"path": "@src/a.ts", "oldText": "x", "newText": "y"}), "src/a.ts");
        check("read", json!({"path": "a.ts", "offset": 0}), "a.ts");
    }
}
