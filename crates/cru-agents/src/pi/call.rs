//! Tool calls, and what is kept of each until its answer comes.

use std::borrow::Cow;

use serde_json::Value;

use super::session::PiSession;
use crate::call::open::OpenCall;
use crate::call::{argument, shell};
use crate::file::value::{filled, trimmed, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_action::ToolKind;

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
