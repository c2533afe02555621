//! Claude Code: its events, fields and tools.

use super::table::{Event, FIELDS, HookLayout, HookSettings, Host, ToolFile, installed, known};

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
        known(Event::ToolBatch, "PostToolBatch"),
        known(Event::PreModelSwitch, "PreModelSwitch"),
        known(Event::PostModelSwitch, "PostModelSwitch"),
        // A hook of this event makes the worktree in the host's place: none of ours may be installed.
        known(Event::WorktreeCreate, "WorktreeCreate"),
        known(Event::WorktreeRemove, "WorktreeRemove"),
        known(Event::InstructionsLoaded, "InstructionsLoaded"),
    ],
    fields: FIELDS,
    settings: HookSettings {
        layout: HookLayout::Groups { millis: false },
        folder: "~/.claude",
        user: "~/.claude/settings.json",
        moved: Some(("CLAUDE_CONFIG_DIR", "settings.json")),
        project: Some(".claude/settings.json"),
        local: Some(".claude/settings.local.json"),
        comments: false,
        own: false,
        note: None,
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
