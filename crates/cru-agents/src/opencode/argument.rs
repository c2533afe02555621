//! The telling argument of a tool call: what a step line shows after the tool.

use serde_json::{Map, Value};

use crate::argument::{compact, lines_of, scope, word};
use crate::place::Place;

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let Some(input) = input.as_object() else { return String::new() };
    let get = |key: &str| word(input, key);
    let shown = || path(input).map(|path| place.show(path).into_owned());
    let found = match tool {
        "bash" => get("command").map(str::to_owned),
        "read" => shown().map(|path| format!("{path}{}", lines_of(input))),
        "edit" | "multiedit" | "write" | "lsp" => shown(),
        "list" | "ls" => Some(shown().unwrap_or_else(|| ".".to_owned())),
        "grep" | "glob" => {
            get("pattern").map(|pattern| format!("{pattern}{}", scope(path(input), word(input, "include"), place)))
        }
        "webfetch" => get("url").map(str::to_owned),
        "websearch" | "codesearch" => get("query").map(str::to_owned),
        "skill" => get("name").map(str::to_owned),
        "task" => get("description").map(|task| match get("subagent_type") {
            Some(agent) => format!("@{agent} {task}"),
            None => task.to_owned(),
        }),
        "patch" | "apply_patch" => get("patchText").map(|patch| {
            let files: Vec<String> = patched(patch).map(|file| place.show(file).into_owned()).collect();
            files.join(", ")
        }),
        "question" => {
            let questions = input.get("questions").and_then(Value::as_array);
            let first = questions.and_then(|all| all.first());
            first.and_then(|question| question.get("question")).and_then(Value::as_str).map(str::to_owned)
        }
        _ => None,
    };
    found.unwrap_or_else(|| compact(input, place))
}

/// The file that a call names.
pub(super) fn path(input: &Map<String, Value>) -> Option<&str> {
    ["filePath", "path", "file_path"].iter().find_map(|key| word(input, key))
}

/// The files that a patch changes.
pub(super) fn patched(patch: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 50;
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
    patch
        .lines()
        .filter_map(move |line| marks.iter().find_map(|mark| line.strip_prefix(mark)))
        .map(str::trim)
        .take(MOST)
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
        check("bash", &json!({"command": "npm test\n", "description": "x"}), "npm test");
        check("read", &json!({"filePath": "/home/mia/api/src/a.ts", "offset": 10, "limit": 51}), "src/a.ts:10-60");
        check("write", &json!({"filePath": "/home/mia/x.md", "content": "…"}), "~/x.md");
        check("list", &json!({}), ".");
        check("grep", &json!({"pattern": "fn", "path": "src", "include": "*.ts"}), "fn in src (*.ts)");
        check("task", &json!({"description": "Look", "subagent_type": "explore", "prompt": "…"}), "@explore Look");
        check(
            "apply_patch",
            &json!({"patchText": "*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: /home/mia/api/b\n"}),
            "a.md, b",
        );
        check("question", &json!({"questions": [{"question": "Which?"}]}), "Which?");
        check("github_search", &json!({"a": 1}), r#"{"a":1}"#);
        check("bash", &json!("ls"), "");
    }
}
