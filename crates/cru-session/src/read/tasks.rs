//! `tasks` fences.

use crate::model::Task;
use cru_base::{Diagnostic, Span};
use cru_note::{Block, Note};

const STATES: &[&str] = &["pending", "in_progress", "completed"];

/// The rows of a fence; none, with a remark at the right line, when it holds no JSON list of objects.
pub(super) fn read(note: &Note, block: &Block, diagnostics: &mut Vec<Diagnostic>) -> Vec<Task> {
    let body = note.unquoted(block);
    if body.as_str().trim().is_empty() {
        return Vec::new();
    }
    let tasks: Vec<Task> = match serde_json::from_str(body.as_str()) {
        Ok(tasks) => tasks,
        Err(error) => {
            let line = body.lines().nth(error.line().saturating_sub(1));
            let at =
                line.map_or(block.content.start, |(at, line)| at + error.column().saturating_sub(1).min(line.len()));
            let at = cru_base::lines::floor_char_boundary(note.text(), at);
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            diagnostics.push(
                Diagnostic::error("tasks-syntax", Span::at(at), format!("the tasks cannot be read: {message}"))
                    .help("a JSON list: [{\"id\":\"TASK-001\",\"content\":\"…\",\"status\":\"pending\"}]"),
            );
            return Vec::new();
        }
    };
    for task in &tasks {
        if !STATES.contains(&task.status.as_str()) {
            let message = format!(
                "task `{}` has the status `{}`",
                if task.id.is_empty() { &task.content } else { &task.id },
                task.status
            );
            diagnostics.push(
                Diagnostic::warning("task-status", block.content, message).help("pending, in_progress or completed"),
            );
        }
    }
    tasks
}
