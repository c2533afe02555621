//! The telling argument of a tool call: what a step line shows after the tool.
//!
//! pi's own tools and those that its relatives add; any other shows its arguments as compact JSON.

use serde_json::{Map, Value};

use crate::argument::{compact, lines_of, scope, word};
use crate::place::Place;

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let Some(input) = input.as_object() else { return String::new() };
    let get = |key: &str| word(input, key);
    let shown = || path(input).map(|path| place.show(path).into_owned());
    let found = match tool {
        "bash" | "exec" | "shell" => get("command").map(str::to_owned),
        "read" => shown().map(|path| format!("{path}{}", range(input))),
        "edit" | "write" => shown(),
        "ls" => Some(shown().unwrap_or_else(|| ".".to_owned())),
        "grep" | "find" | "glob" => {
            get("pattern").map(|pattern| format!("{pattern}{}", scope(path(input), word(input, "glob"), place)))
        }
        "web_fetch" | "fetch" => get("url").map(str::to_owned),
        "web_search" => get("query").map(str::to_owned),
        "process" => get("action").map(|action| match get("sessionId") {
            Some(session) => format!("{action} {session}"),
            None => action.to_owned(),
        }),
        "task" => get("description").or_else(|| get("assignment")).map(str::to_owned),
        _ => None,
    };
    found.unwrap_or_else(|| compact(input, place))
}

/// The file that a call names.
pub(super) fn path(input: &Map<String, Value>) -> Option<&str> {
    let path = ["path", "file_path", "filePath"].iter().find_map(|key| word(input, key));
    path.map(|path| path.strip_prefix('@').unwrap_or(path))
}

/// `:10-60` for a part of a file.
fn range(input: &Map<String, Value>) -> String {
    let number = |key: &str| input.get(key).and_then(Value::as_u64);
    match (number("start_line"), number("end_line")) {
        (Some(from), Some(to)) => format!(":{from}-{to}"),
        // From the first line to the last.
        _ if number("offset").is_some_and(|from| from <= 1) && number("limit").is_none() => String::new(),
        _ => lines_of(input),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, input: &Value, wanted: &str) {
        let mut place = Place::default();
        place.see("/home/mia/api");
        assert_eq!(telling(tool, input, &place), wanted, "{tool}");
    }

    #[test]
    fn each_tool_shows_what_tells() {
        check("bash", &json!({"command": "npm test\n", "timeout": 5}), "npm test");
        check("read", &json!({"path": "/home/mia/api/src/a.ts", "offset": 10, "limit": 51}), "src/a.ts:10-60");
        check("read", &json!({"file_path": "/src/a.rs", "start_line": 1, "end_line": 10}), "/src/a.rs:1-10");
        check("read", &json!({"path": "a.ts", "offset": 0}), "a.ts");
        check("edit", &json!({"path": "@src/a.ts", "oldText": "x", "newText": "y"}), "src/a.ts");
        check("write", &json!({"path": "/home/mia/x.md", "content": "…"}), "~/x.md");
        check("ls", &json!({}), ".");
        check("grep", &json!({"pattern": "fn", "path": "src", "glob": "*.ts"}), "fn in src (*.ts)");
        check("web_search", &json!({"query": "rust"}), "rust");
        check("unknown", &json!({"a": 1}), r#"{"a":1}"#);
        check("bash", &json!("ls"), "");
    }
}
