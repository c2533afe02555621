//! The main arguments of the tools that only this host and its relatives have.

use std::borrow::Cow;

use serde_json::Value;

use crate::call::argument;
use crate::file::value::trimmed;
use crate::stream::place::Place;

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
