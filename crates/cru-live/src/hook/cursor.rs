//! Cursor: events in camel case, one entry a command, sessions called conversations. It may run hooks of Claude Code as well.

use super::table::{Event, FIELDS, Fields, HookLayout, HookSettings, Host, installed, known};

/// Cursor.
pub(super) static CURSOR: Host = Host {
    id: "cursor",
    rows: &[
        installed(Event::SessionStart, "sessionStart"),
        installed(Event::Prompt, "beforeSubmitPrompt"),
        installed(Event::PreTool, "preToolUse"),
        installed(Event::PostTool, "postToolUse"),
        installed(Event::PostToolFailure, "postToolUseFailure"),
        installed(Event::PreCompact, "preCompact"),
        installed(Event::Stop, "stop"),
        installed(Event::SessionEnd, "sessionEnd"),
        // Their JSON names no agent that a transcript would name.
        known(Event::SubagentStart, "subagentStart"),
        known(Event::SubagentStop, "subagentStop"),
    ],
    fields: Fields { session: "conversation_id", tool_response: "tool_output", error: "error_message", ..FIELDS },
    settings: HookSettings {
        layout: HookLayout::Flat { timeout: false },
        folder: "~/.cursor",
        user: "~/.cursor/hooks.json",
        moved: None,
        project: Some(".cursor/hooks.json"),
        local: None,
        comments: false,
        own: false,
        note: None,
    },
    files: &[],
    env_file: None,
};
