//! Qwen Code: events and JSON of Claude Code, timeouts in milliseconds. No importer reads its transcripts: what its hooks told
//! stands in their place.

use super::table::{Event, FIELDS, Fields, HookLayout, HookSettings, Host, ToolFile, installed, known};

/// Qwen Code.
pub(super) static QWEN: Host = Host {
    id: "qwen-code",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "UserPromptSubmit"),
        installed(Event::PreTool, "PreToolUse"),
        installed(Event::PostTool, "PostToolUse"),
        installed(Event::PostToolFailure, "PostToolUseFailure"),
        installed(Event::SubagentStart, "SubagentStart"),
        installed(Event::SubagentStop, "SubagentStop"),
        installed(Event::PreCompact, "PreCompact"),
        installed(Event::Stop, "Stop"),
        installed(Event::SessionEnd, "SessionEnd"),
        known(Event::Notification, "Notification"),
        known(Event::PermissionRequest, "PermissionRequest"),
        known(Event::PermissionDenied, "PermissionDenied"),
        known(Event::PostCompact, "PostCompact"),
        known(Event::StopFailure, "StopFailure"),
        known(Event::CwdChanged, "CwdChanged"),
    ],
    fields: Fields { prompt: "submitted_prompt", ..FIELDS },
    settings: HookSettings {
        layout: HookLayout::Groups { millis: true },
        folder: "~/.qwen",
        user: "~/.qwen/settings.json",
        moved: None,
        project: Some(".qwen/settings.json"),
        local: None,
        comments: true,
        own: false,
        note: None,
    },
    files: &[
        ToolFile { tool: "read_file", field: "file_path", makes: false },
        ToolFile { tool: "write_file", field: "file_path", makes: true },
        ToolFile { tool: "edit", field: "file_path", makes: false },
    ],
    env_file: None,
};
