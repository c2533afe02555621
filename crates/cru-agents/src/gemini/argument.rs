//! The telling argument of a tool call: what a step line shows after the tool.

use serde_json::{Map, Value};

use crate::argument::{compact, lines_of, word};
use crate::place::Place;

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let Some(input) = input.as_object() else { return String::new() };
    let get = |key: &str| word(input, key);
    let shown = || path(input).map(|path| place.show(path).into_owned());
    let found = match tool {
        "run_shell_command" => get("command").map(str::to_owned),
        "read_file" => shown().map(|path| format!("{path}{}", lines_of(input))),
        "write_file" | "replace" | "edit_file" => shown(),
        "list_directory" => Some(shown().unwrap_or_else(|| ".".to_owned())),
        "search_file_content" | "grep_search" | "glob" => get("pattern").map(|pattern| {
            let place = path(input).map(|path| place.show(path)).filter(|path| path != ".");
            let kinds = get("include").map(|kinds| format!(" ({kinds})")).unwrap_or_default();
            format!("{pattern}{}{kinds}", place.map(|path| format!(" in {path}")).unwrap_or_default())
        }),
        "google_web_search" => get("query").map(str::to_owned),
        "web_fetch" => get("prompt").or_else(|| get("url")).map(str::to_owned),
        "save_memory" => get("fact").map(str::to_owned),
        "activate_skill" => get("name").map(str::to_owned),
        "codebase_investigator" | "delegate_to_agent" => get("objective").map(str::to_owned),
        _ => None,
    };
    found.unwrap_or_else(|| compact(input, place))
}

/// The file or folder that a call names.
pub(super) fn path(input: &Map<String, Value>) -> Option<&str> {
    ["file_path", "absolute_path", "dir_path", "path"].iter().find_map(|key| word(input, key))
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
        check("run_shell_command", &json!({"command": "npm test", "description": "x"}), "npm test");
        check("read_file", &json!({"absolute_path": "/home/mia/api/a.ts", "offset": 10, "limit": 51}), "a.ts:10-60");
        check("replace", &json!({"file_path": "/home/mia/x.md", "old_string": "…"}), "~/x.md");
        check("list_directory", &json!({"dir_path": "/home/mia/api"}), ".");
        check(
            "search_file_content",
            &json!({"pattern": "fn", "dir_path": "src", "include": "*.ts"}),
            "fn in src (*.ts)",
        );
        check("google_web_search", &json!({"query": "rust"}), "rust");
        check("mine", &json!({"a": 1}), r#"{"a":1}"#);
        check("replace", &json!(3), "");
    }
}
