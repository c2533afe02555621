//! Messages of the agent: prose, thinking, tool calls, tokens and cost, and how each ended.

use std::borrow::Cow;

use serde_json::Value;

use super::HOST;
use super::session::PiSession;
use crate::call::{argument, tools};
use crate::file::value::{blocks, dollars, filled, object, trimmed, usage, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::unknown;
use crate::wrapper;
use cru_session::event::{SessionFact, Usage};

impl PiSession {
    /// Reads a message of the agent; `id` is its entry's.
    pub(super) fn assistant(&mut self, message: &Value, id: &str, out: &mut Out<'_>) -> Option<&'static str> {
        self.tokens(object(message, "usage"), filled(message, "model"), out);
        let ended = word(message, "stopReason");
        let mut strange = None;
        for block in blocks(&message["content"]) {
            match word(&block, "type") {
                "text" => self.session.reply(wrapper::reply(HOST.id, word(&block, "text")), out),
                "thinking" => self.session.think(word(&block, "thinking"), out),
                "toolCall" => self.call(&block, id, !matches!(ended, "aborted" | "error"), out),
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        match ended {
            "aborted" => drop(self.session.stop(out)),
            "error" => {
                let text = filled(message, "errorMessage").unwrap_or("The model service failed.");
                self.session.fail(text, out);
            }
            _ => {}
        }
        out.left(strange)
    }

    /// Tells the tokens and the stored cost of one message; `model` is the one that it names.
    pub(super) fn tokens(&mut self, tokens: Option<&Value>, model: Option<&str>, out: &mut Out<'_>) {
        let Some(tokens) = tokens else { return };
        let usage = usage(tokens, ["input", "output", "cacheRead", "cacheWrite"]);
        let cost = dollars(tokens, "/cost/total");
        out.told |= cost.is_some() || usage != Usage::default();
        out.facts(cost.map(SessionFact::Cost));
        // Ids say nothing here: the first version has none, and a damaged file has some twice.
        self.session.usage("", model.unwrap_or_default(), usage, out);
    }

    /// Tells a call of the message `made_by`. `runs`: the message was not stopped, so that the host carries it out.
    fn call(&mut self, block: &Value, made_by: &str, runs: bool, out: &mut Out<'_>) {
        let (tool, id) = (filled(block, "name").unwrap_or("tool"), word(block, "id"));
        let input = unmarked(tool, &block["arguments"]);
        let args = telling(tool, &input, &self.session.place);
        let (calls, place) = (&mut self.session.calls, &self.session.place);
        tools::call_as(calls, place, [id, made_by], tool, (args, input.into_owned()), out);
        if !runs {
            calls.close(id, [made_by, ""]);
        }
    }
}

/// The main argument of a call, in full; paths as a note writes them.
fn telling(tool: &str, input: &Value, place: &Place) -> String {
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
fn unmarked<'v>(tool: &str, input: &'v Value) -> Cow<'v, Value> {
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
