//! The main arguments of the tools that only this host has.

use serde_json::Value;

use crate::call::argument;
use crate::file::value::trimmed;
use crate::stream::place::Place;

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let get = |key: &str| trimmed(input, key);
    let found = match tool {
        "TaskCreate" => get("subject").map(str::to_owned),
        "TaskUpdate" | "TaskGet" => get("taskId").map(|id| match get("status").or(get("subject")) {
            Some(change) => format!("#{id} {change}"),
            None => format!("#{id}"),
        }),
        "SendMessage" => get("to").or(get("recipient")).map(|to| match get("summary").or(get("content")) {
            Some(words) => format!("{to}: {words}"),
            None => to.to_owned(),
        }),
        _ => None,
    };
    found.unwrap_or_else(|| argument::telling(tool, input, place))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_tool_shows_what_tells() {
        let check = |tool: &str, input: Value, wanted: &str| {
            assert_eq!(telling(tool, &input, &Place::default()), wanted, "{tool}");
        };
        check("TaskUpdate", json!({"taskId": "3", "status": "completed"}), "#3 completed");
        check("SendMessage", json!({"to": "reviewer", "content": "done"}), "reviewer: done");
        check("Bash", json!({"command": "ls"}), "ls");
    }
}
