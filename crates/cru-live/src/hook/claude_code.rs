//! Claude Code: its events, fields and tools.

use super::table::{Event, Fields, Host, Row, ToolFile};

/// Seconds. Work takes milliseconds; this is for a machine that has stalled.
const TIMEOUT: u32 = 10;

/// Claude Code.
pub(super) static CLAUDE_CODE: Host = Host {
    id: "claude-code",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "UserPromptSubmit"),
        installed(Event::PreTool, "PreToolUse"),
        installed(Event::PostTool, "PostToolUse"),
        installed(Event::PostToolFailure, "PostToolUseFailure"),
        installed(Event::SubagentStart, "SubagentStart"),
        installed(Event::SubagentStop, "SubagentStop"),
        installed(Event::PreCompact, "PreCompact"),
        installed(Event::PostCompact, "PostCompact"),
        installed(Event::Stop, "Stop"),
        installed(Event::StopFailure, "StopFailure"),
        // Without a timeout of its own all hooks of this event share a second and a half.
        installed(Event::SessionEnd, "SessionEnd"),
        known(Event::Notification, "Notification"),
        known(Event::PermissionRequest, "PermissionRequest"),
        known(Event::PermissionDenied, "PermissionDenied"),
        known(Event::TaskCreated, "TaskCreated"),
        known(Event::TaskCompleted, "TaskCompleted"),
        known(Event::CwdChanged, "CwdChanged"),
    ],
    fields: Fields {
        session: "session_id",
        transcript: "transcript_path",
        cwd: "cwd",
        event: "hook_event_name",
        tool: "tool_name",
        tool_input: "tool_input",
        tool_response: "tool_response",
    },
    files: &[
        ToolFile { tool: "Read", field: "file_path", makes: false },
        ToolFile { tool: "Edit", field: "file_path", makes: false },
        ToolFile { tool: "MultiEdit", field: "file_path", makes: false },
        ToolFile { tool: "Write", field: "file_path", makes: true },
        ToolFile { tool: "NotebookEdit", field: "notebook_path", makes: false },
        ToolFile { tool: "NotebookRead", field: "notebook_path", makes: false },
    ],
    env_file: Some("CLAUDE_ENV_FILE"),
};

const fn installed(event: Event, name: &'static str) -> Row {
    Row { event, name, installed: true, matcher: None, timeout: TIMEOUT }
}

const fn known(event: Event, name: &'static str) -> Row {
    Row { event, name, installed: false, matcher: None, timeout: TIMEOUT }
}
