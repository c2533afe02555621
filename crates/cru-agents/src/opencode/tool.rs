//! Tool calls: a part holds the call and, once it is there, the answer.

use jiff::Timestamp;
use serde_json::Value;

use super::session::OpenCodeSession;
use crate::call::{argument, task_list};
use crate::file::value::{filled, list, millis, trimmed, word};
use crate::stream::place::Place;
use cru_session::event::{EventKind, PromptOrigin};

/// The name under which a person's own shell line is told.
const SHELL: &str = "Shell";

/// The call that an answer belongs to.
pub(super) struct Asked<'p> {
    /// The id told in events.
    pub(super) id: String,
    /// The tool as the host names it.
    pub(super) tool: &'p str,
    pub(super) input: &'p Value,
    /// Whether the host could not read what it was asked.
    pub(super) invalid: bool,
}

impl Asked<'_> {
    /// Whether it starts a sub-agent.
    pub(super) fn is_subagent(&self) -> bool {
        matches!(self.tool, "task" | "subagent")
    }
}

impl OpenCodeSession<'_> {
    /// Reads a tool part; `time` is its message's.
    pub(super) fn tool(&mut self, record: u64, part: &Value, time: Option<Timestamp>) {
        let none = Value::Null;
        let state = &part["state"];
        let input = &state["input"];
        let times = &state["time"];
        let start = millis(times, "start").or(time);
        let end = millis(times, "end").or(start);
        let tool = filled(part, "tool").unwrap_or("tool");
        let invalid = tool == "invalid";
        let asked = Asked {
            id: self.calls.name(word(part, "callID"), record),
            tool: if invalid { filled(input, "tool").unwrap_or(tool) } else { tool },
            input: if invalid { &none } else { input },
            invalid,
        };
        let args = telling(asked.tool, asked.input, &self.place);
        let mut name = asked.tool;
        if self.by_person && asked.tool == "bash" && !args.trim().is_empty() {
            name = SHELL;
            self.told.out(record, start).prompt(args.as_str(), PromptOrigin::Shell);
        }
        self.told.out(record, start).call(&asked.id, name, args, asked.input.clone());
        if asked.tool == "todowrite" && word(state, "status") == "completed" {
            self.list(record, list(asked.input, "todos"));
        }
        match word(state, "status") {
            "completed" => self.answer(record, end, &asked, state, false),
            "error" => self.answer(record, end, &asked, state, true),
            // No answer is recorded.
            _ => {}
        }
    }

    /// Tells the task list.
    pub(super) fn list(&mut self, record: u64, todos: &[Value]) {
        self.tasks = true;
        self.told.emit(record, None, EventKind::Tasks(task_list::read(todos)));
    }
}

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let told = argument::telling(tool, input, place);
    match trimmed(input, "subagent_type").or_else(|| trimmed(input, "agent")) {
        Some(agent) if matches!(tool, "task" | "subagent") && trimmed(input, "description").is_some() => {
            format!("@{agent} {told}")
        }
        _ => told,
    }
}
