//! Tool calls, and what is kept of each until its answer comes.

use serde_json::Value;

use super::session::PiSession;
use crate::call::argument;
use crate::call::open::OpenCall;
use crate::call::shell;
use crate::file::value::{filled, word};
use crate::stream::out::Out;
use cru_action::ToolKind;

impl PiSession {
    /// Tells a call of the message `made_by`. `runs`: the message was not stopped, so that the host carries it out.
    pub(super) fn call(&mut self, block: &Value, made_by: &str, runs: bool, out: &mut Out<'_>) {
        let tool = filled(block, "name").unwrap_or("tool").to_owned();
        let id = self.calls.name(word(block, "id"), out.record);
        let input = super::argument::unmarked(&tool, &block["arguments"]);
        if runs {
            let mut call = OpenCall::new(id.clone(), word(block, "id"), &tool, made_by);
            call.path = argument::path(&tool, &input).map(str::to_owned);
            match ToolKind::of_call(&tool, &input) {
                ToolKind::Shell => call.effects = shell::effects(&tool, &input, &self.place),
                ToolKind::Read | ToolKind::Write | ToolKind::Subagent => call.input = Some(block["arguments"].clone()),
                _ => {}
            }
            self.calls.open(call);
        }
        let args = super::argument::telling(&tool, &input, &self.place);
        out.call(&id, tool, args, block["arguments"].clone());
    }
}
