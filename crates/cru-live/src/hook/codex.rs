//! Codex: the JSON and the settings are those of Claude Code, in a file of their own.

use super::table::{Event, FIELDS, HookLayout, HookSettings, Host, installed, known};

/// Codex.
pub(super) static CODEX: Host = Host {
    id: "codex",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "UserPromptSubmit"),
        installed(Event::PreTool, "PreToolUse"),
        installed(Event::PostTool, "PostToolUse"),
        installed(Event::Stop, "Stop"),
        // Later events: older versions do not know them.
        known(Event::PermissionRequest, "PermissionRequest"),
        known(Event::PreCompact, "PreCompact"),
        known(Event::PostCompact, "PostCompact"),
        known(Event::SubagentStart, "SubagentStart"),
        known(Event::SubagentStop, "SubagentStop"),
        known(Event::StopFailure, "StopFailure"),
    ],
    fields: FIELDS,
    settings: HookSettings {
        layout: HookLayout::Groups { millis: false },
        folder: "~/.codex",
        user: "~/.codex/hooks.json",
        moved: Some(("CODEX_HOME", "hooks.json")),
        project: Some(".codex/hooks.json"),
        local: None,
        comments: false,
        own: false,
        note: Some(
            "Codex asks before it runs new hooks; older versions want `codex_hooks = true` under `[features]` in config.toml",
        ),
    },
    files: &[],
    env_file: None,
};
