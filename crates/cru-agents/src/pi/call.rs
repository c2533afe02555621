//! Tool calls, and what is kept of each until its answer comes.

use serde_json::{Map, Value};

use super::argument;
use super::record::Block;
use super::session::Session;
use crate::calls::OpenCall;
use crate::out::Out;
use crate::shell;
use cru_session::event::{Call, EventKind};

/// Whether a tool runs its argument as a shell command.
pub(super) fn is_shell(tool: &str) -> bool {
    matches!(tool, "bash" | "exec" | "shell")
}

impl Session {
    /// Tells a call of the message `made_by`. `runs`: the message was not stopped, so that the host carries it out.
    pub(super) fn call(&mut self, block: Block<'_>, made_by: &str, runs: bool, out: &mut Out<'_>) {
        let tool = block.name.filled().unwrap_or("tool").to_owned();
        let id = self.calls.name(block.id.str(), out.record);
        let none = Map::new();
        let input = block.arguments.as_object().unwrap_or(&none);
        if runs {
            let mut call = OpenCall::new(id.clone(), block.id.str(), &tool, made_by);
            if is_shell(&tool) {
                let command = input.get("command").and_then(Value::as_str).unwrap_or("");
                call.writes = shell::written(command).iter().map(|path| self.place.show_shell(path)).collect();
                call.commits = command.contains("git") && command.contains("commit");
            } else {
                call.path = argument::path(input).map(str::to_owned);
            }
            if matches!(tool.as_str(), "read" | "write") {
                call.input = Some(block.arguments.clone());
            }
            self.calls.open(call);
        }
        let args = argument::telling(&tool, &block.arguments, &self.place);
        out.emit(EventKind::Call(Call { id: id.into(), tool: tool.into(), args: args.into(), input: block.arguments }));
    }
}
