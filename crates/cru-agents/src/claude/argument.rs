//! The telling argument of a tool call: what a step line shows after the tool.
//!
//! One row for each tool that has a better answer than its arguments as JSON.

use serde_json::{Map, Value};

use crate::argument::{compact, lines_of, scope, word};
use crate::place::Place;
use cru_base::text;

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let Some(input) = input.as_object() else { return String::new() };
    let get = |key: &str| input.get(key).and_then(Value::as_str).map(str::trim).filter(|value| !value.is_empty());
    let path = |key: &str| get(key).map(|path| place.show(path).into_owned());
    let found = match tool {
        "Bash" | "PowerShell" | "Monitor" | "SlashCommand" => get("command").map(str::to_owned),
        "BashOutput" => get("bash_id").map(str::to_owned),
        "KillShell" | "KillBash" => get("shell_id").or(get("bash_id")).map(str::to_owned),
        "TaskOutput" | "TaskStop" | "AgentOutputTool" => get("task_id").or(get("agentId")).map(str::to_owned),
        "Read" => path("file_path").map(|path| format!("{path}{}", lines_of(input))),
        "Edit" | "MultiEdit" | "Write" => path("file_path"),
        "NotebookEdit" | "NotebookRead" => path("notebook_path"),
        "LS" => path("path"),
        "Glob" => get("pattern").map(|pattern| format!("{pattern}{}", searched(input, place))),
        "Grep" => get("pattern").map(|pattern| format!("{pattern}{}", searched(input, place))),
        "Task" | "Agent" => get("description").or(get("prompt")).map(str::to_owned),
        "WebFetch" => get("url").map(str::to_owned),
        "WebSearch" | "ToolSearch" => get("query").map(str::to_owned),
        "Skill" => get("skill").or(get("command")).map(|skill| match get("args") {
            Some(args) => format!("{skill} {args}"),
            None => skill.to_owned(),
        }),
        "TodoWrite" => {
            input.get("todos").and_then(Value::as_array).map(|todos| text::plural(todos.len() as u64, "task"))
        }
        "TaskCreate" => get("subject").map(str::to_owned),
        "TaskUpdate" | "TaskGet" => get("taskId").map(|id| match get("status").or(get("subject")) {
            Some(change) => format!("#{id} {change}"),
            None => format!("#{id}"),
        }),
        "AskUserQuestion" => questions(input),
        "ExitPlanMode" => Some(get("plan").map_or_else(String::new, |plan| heading(plan).to_owned())),
        "SendMessage" => get("to").or(get("recipient")).map(|to| match get("summary").or(get("content")) {
            Some(words) => format!("{to}: {words}"),
            None => to.to_owned(),
        }),
        _ => None,
    };
    found.unwrap_or_else(|| compact(input, place))
}

/// The first line of a plan that says something, without its mark-up.
pub(super) fn heading(plan: &str) -> &str {
    let line = plan.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    line.unwrap_or("")
}

/// Where a search looks: ` in src (*.rs)`.
fn searched(input: &Map<String, Value>, place: &Place) -> String {
    scope(word(input, "path"), word(input, "glob").or(word(input, "type")), place)
}

fn questions(input: &Map<String, Value>) -> Option<String> {
    let questions = input.get("questions")?.as_array()?;
    let asked = questions.iter().filter_map(|question| question.get("question")?.as_str());
    Some(asked.collect::<Vec<_>>().join(" / ")).filter(|asked| !asked.is_empty())
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
        check("Bash", &json!({"command": "cargo test\n", "description": "Run"}), "cargo test");
        check("Read", &json!({"file_path": "/home/mia/api/src/a.rs"}), "src/a.rs");
        check("Read", &json!({"file_path": "/home/mia/x.md", "offset": 10, "limit": 51}), "~/x.md:10-60");
        check("Read", &json!({"file_path": "/etc/x", "limit": "20"}), "/etc/x:1-20");
        check("Grep", &json!({"pattern": "fn a", "path": "/home/mia/api/src", "glob": "*.rs"}), "fn a in src (*.rs)");
        check("Grep", &json!({"pattern": "x", "path": "/home/mia/api"}), "x");
        check("Task", &json!({"description": "Review", "prompt": "Look at …"}), "Review");
        check("TodoWrite", &json!({"todos": [1, 2]}), "2 tasks");
        check("TaskUpdate", &json!({"taskId": "3", "status": "completed"}), "#3 completed");
        check("ExitPlanMode", &json!({"plan": "\n# Move the **cache**\n\nText"}), "Move the **cache**");
        check("Skill", &json!({"skill": "release", "args": "1.2"}), "release 1.2");
        check(
            "AskUserQuestion",
            &json!({"questions": [{"question": "Which?"}, {"question": "When?"}]}),
            "Which? / When?",
        );
    }

    #[test]
    fn unknown_tools_show_their_arguments() {
        check(
            "mcp__db__query",
            &json!({"sql": "select 1", "rows": [1, 2], "deep": {"a": 1}}),
            r#"{"sql":"select 1","rows":[1,2],"deep":{"a":1}}"#,
        );
        check("mcp__x__y", &json!({}), "");
        check("mcp__x__y", &json!([1]), "");
        let long = json!({"a": "word ".repeat(50), "b": "x".repeat(500), "c": "y".repeat(500), "d": 1});
        let line = telling("mcp__x__y", &long, &Place::default());
        assert!(line.chars().count() < 300 && line.ends_with(",…}"), "{line}");
        check("Bash", &json!({"command": 5}), r#"{"command":5}"#);
    }
}
