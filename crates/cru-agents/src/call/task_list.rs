//! Lists of tasks, in the forms that tools have them.

use serde_json::Value;

use crate::file::value::trimmed;
use crate::stream::out::Out;
use cru_action::ToolKind;
use cru_session::Task;
use cru_session::event::EventKind;

/// Tasks of one list that are told.
const MOST: usize = 1000;

/// The tasks that a call of a task list gives: objects with words and a state, or lines of a markdown list.
pub(crate) fn of_call(input: &Value) -> Vec<Task> {
    let list = ["todos", "plan"].iter().find_map(|key| input.get(key));
    match list {
        Some(Value::String(list)) => list.lines().take(MOST).filter_map(item).zip(1_u64..).map(numbered).collect(),
        Some(Value::Array(rows)) => read(rows),
        _ => Vec::new(),
    }
}

/// Tells the tasks that a call of a task list gives: all, or those of the list that it changes.
pub(crate) fn tell(tool: &str, input: &Value, out: &mut Out<'_>) {
    let rows = if ToolKind::of(tool) == ToolKind::Task { of_call(input) } else { Vec::new() };
    if input.get("merge") == Some(&Value::Bool(true)) {
        for row in rows {
            out.emit(EventKind::Task(row));
        }
    } else if !rows.is_empty() {
        out.emit(EventKind::Tasks(rows));
    }
}

/// The tasks that objects tell of; a task without an id is called by its place.
pub(crate) fn read(rows: &[Value]) -> Vec<Task> {
    let row = |(index, row): (usize, &Value)| {
        let words = ["content", "description", "step", "text", "title"];
        let content = trimmed(row, words)?.to_owned();
        let id = trimmed(row, "id").map_or_else(|| (index + 1).to_string(), str::to_owned);
        let status = trimmed(row, "status").unwrap_or("pending").to_lowercase();
        let status = if status == "done" { "completed".to_owned() } else { status };
        let priority = trimmed(row, "priority").map(str::to_owned);
        Some(Task { id, content, status, priority, ..Task::default() })
    };
    rows.iter().take(MOST).enumerate().filter_map(row).collect()
}

/// `- [x] words`, `1. [completed] words`: the words and the state.
fn item(line: &str) -> Option<(&str, &'static str)> {
    let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '*' | ' '));
    let (mark, words) = line.strip_prefix('[')?.split_once(']')?;
    let status = match mark.trim().to_lowercase().as_str() {
        "x" | "completed" | "done" => "completed",
        "~" | ">" | "-" | "in_progress" => "in_progress",
        _ => "pending",
    };
    Some(words.trim()).filter(|words| !words.is_empty()).map(|words| (words, status))
}

fn numbered(((content, status), id): ((&str, &str), u64)) -> Task {
    Task { id: id.to_string(), content: content.to_owned(), status: status.to_owned(), ..Task::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn task_lists() {
        let told = |todos: Value| {
            let rows = of_call(&json!({ "todos": todos }));
            rows.into_iter().map(|row| format!("{} {} {}", row.id, row.content, row.status)).collect::<Vec<_>>()
        };
        assert_eq!(told(json!([{"id": "a", "content": "one", "status": "DONE"}, {"x": 1}, 5])), ["a one completed"]);
        assert_eq!(
            told(json!("1. [completed] one\n- [ ] two\n* [~] three\nnone")),
            ["1 one completed", "2 two pending", "3 three in_progress"]
        );
        assert!(told(json!(7)).is_empty());
    }
}
