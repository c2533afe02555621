//! Kimi Code CLI: rows of TOML. No importer reads its transcripts: what its hooks told stands in their place.

use super::table::{Event, FIELDS, Fields, HookLayout, HookSettings, Host, ToolFile, installed, known};

/// Kimi Code CLI.
pub(super) static KIMI: Host = Host {
    id: "kimi-cli",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "UserPromptSubmit"),
        installed(Event::PreTool, "PreToolUse"),
        installed(Event::PostTool, "PostToolUse"),
        installed(Event::PostToolFailure, "PostToolUseFailure"),
        installed(Event::PreCompact, "PreCompact"),
        installed(Event::Stop, "Stop"),
        installed(Event::StopFailure, "StopFailure"),
        installed(Event::SessionEnd, "SessionEnd"),
        // Sub-agents have no id.
        known(Event::SubagentStart, "SubagentStart"),
        known(Event::SubagentStop, "SubagentStop"),
        known(Event::PostCompact, "PostCompact"),
        known(Event::Notification, "Notification"),
    ],
    fields: Fields { call: "tool_call_id", tool_response: "tool_output", ..FIELDS },
    settings: HookSettings {
        layout: HookLayout::Rows,
        folder: "~/.kimi",
        user: "~/.kimi/config.toml",
        moved: None,
        project: None,
        local: None,
        comments: false,
        own: false,
        note: None,
    },
    files: &[
        ToolFile { tool: "WriteFile", field: "path", makes: true },
        ToolFile { tool: "StrReplaceFile", field: "path", makes: false },
        ToolFile { tool: "ReadFile", field: "path", makes: false },
    ],
    env_file: None,
};
