//! Copilot CLI and the agents of VS Code that read its files: a file of our own among its hooks. Names of events in Pascal case
//! make its JSON that of Claude Code.

use super::table::{Event, FIELDS, Fields, HookLayout, HookSettings, Host, installed, known};

/// Copilot CLI.
pub(super) static COPILOT: Host = Host {
    id: "copilot-cli",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "UserPromptSubmit"),
        installed(Event::PostTool, "PostToolUse"),
        installed(Event::PostToolFailure, "PostToolUseFailure"),
        installed(Event::PreCompact, "PreCompact"),
        installed(Event::Stop, "Stop"),
        installed(Event::SubagentStop, "SubagentStop"),
        installed(Event::SessionEnd, "SessionEnd"),
        // A hook before a call that cannot be started denies the call.
        known(Event::PreTool, "PreToolUse"),
        known(Event::StopFailure, "ErrorOccurred"),
        known(Event::Notification, "Notification"),
    ],
    fields: Fields { tool_response: "tool_result", ..FIELDS },
    settings: HookSettings {
        layout: HookLayout::Flat { timeout: true },
        folder: "~/.copilot",
        user: "~/.copilot/hooks/cru.json",
        moved: Some(("COPILOT_HOME", "hooks/cru.json")),
        project: Some(".github/hooks/cru.json"),
        local: None,
        comments: false,
        own: true,
        note: None,
    },
    files: &[],
    env_file: None,
};
