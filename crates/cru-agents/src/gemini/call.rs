//! Tool calls: each holds what was asked and what came of it.

use jiff::Timestamp;
use serde_json::Value;

use super::result::{self, GeminiAnswer};
use super::session::GeminiSession;
use crate::call::touched::TouchedFiles;
use crate::call::{argument, shell, task_list, tools};
use crate::file::value::{filled, text, time};
use cru_action::ToolKind;
use cru_session::FileRef;
use cru_session::event::{CallResult, EventKind, StreamKey, SubagentRun};

/// Whether a call may still change.
pub(super) fn is_open(call: &Value) -> bool {
    matches!(text(call, "status"), "validating" | "scheduled" | "executing" | "awaiting_approval" | "pending")
}

impl GeminiSession<'_> {
    /// Tells a call and its answer; `at` is its message's time.
    pub(super) fn call(&mut self, record: u64, call: &Value, at: Option<Timestamp>) {
        let tool = filled(call, "name").unwrap_or("tool");
        let input = &call["args"];
        let ended = time(call, "timestamp").or(at);
        if tool == "write_todos" {
            let tasks = task_list::of_call(input);
            return self.told.emit(record, at, EventKind::Tasks(tasks));
        }
        let id = self.told.calls.name(text(call, "id"), record);
        let args = argument::telling(tool, input, &self.told.place);
        self.told.out(record, at).call(&id, tool, args, input.clone());
        if is_open(call) {
            return;
        }
        let mut answer = result::of(call);
        if let Some(whole) = self.told.spilled(&answer.output).filter(|_| !answer.failed) {
            answer.output = whole;
        }
        let works = !answer.failed && !answer.denied;
        if works {
            self.find_place(record, tool, input, &answer.output);
        }
        let mut files = if works { self.files(tool, call, input, &answer) } else { TouchedFiles::default() };
        if works && ToolKind::of(tool) == ToolKind::Shell {
            shell::touched(&shell::effects(tool, input, &self.told.place), &answer.output, &mut files);
        }
        let stream = filled(call, "agentId");
        let subagent = stream.map(|agent| SubagentRun {
            stream: Some(StreamKey { session: self.told.own_id().to_owned(), agent: Some(agent.to_owned()) }),
            agent: Some(tool.to_owned().into()),
            task: filled(input, "objective").map(|task| task.to_owned().into()),
            ..SubagentRun::default()
        });
        let denied = answer.denied;
        self.told.emit(
            record,
            ended,
            EventKind::Result(CallResult {
                call: id.as_str().into(),
                output: answer.output.into(),
                brief: answer.brief.map(Into::into),
                failed: answer.failed,
                denied,
                exit: answer.exit,
                subagent,
                ..files.into()
            }),
        );
    }

    /// Files that an answer proves to be read and written.
    fn files(&self, tool: &str, call: &Value, input: &Value, answer: &GeminiAnswer) -> TouchedFiles {
        let mut files = TouchedFiles::default();
        let path = argument::path(tool, input).map(|path| self.told.place.show(path).into_owned());
        match (ToolKind::of_call(tool, input), path) {
            (ToolKind::Read, Some(path)) => files.read(path, result::lines(&answer.output)),
            (ToolKind::Write | ToolKind::Edit, Some(path)) => {
                let file = FileRef { path, created: answer.created, ..FileRef::default() };
                let diff = call.get("resultDisplay").map_or("", |display| text(display, "fileDiff"));
                tools::wrote(tool, input, file, diff, &mut files);
            }
            _ => {}
        }
        files
    }

    /// The folder of the work, where an answer names a file whole that the call named from there.
    fn find_place(&mut self, record: u64, tool: &str, input: &Value, output: &str) {
        if !self.told.place.start().is_empty() {
            return;
        }
        let Some(path) = argument::path(tool, input) else { return };
        let Some((_, rest)) = output.lines().next().and_then(|line| line.split_once("file: ")) else { return };
        let whole = rest.trim_end_matches('.');
        let root = whole.strip_suffix(path).and_then(|root| root.strip_suffix(['/', '\\']));
        if let Some(root) = root.filter(|root| !path.starts_with('/') && root.len() > 1) {
            let root = root.to_owned();
            self.told.see(record, &root);
        }
    }
}
