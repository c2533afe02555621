//! Gemini CLI: `settings.json` with comments, timeouts in milliseconds, no ids of calls.

use super::table::{Event, FIELDS, Fields, HookLayout, HookSettings, Host, ToolFile, installed, known};

/// Gemini CLI.
pub(super) static GEMINI: Host = Host {
    id: "gemini-cli",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "BeforeAgent"),
        installed(Event::PreTool, "BeforeTool"),
        installed(Event::PostTool, "AfterTool"),
        installed(Event::Stop, "AfterAgent"),
        installed(Event::PreCompact, "PreCompress"),
        installed(Event::SessionEnd, "SessionEnd"),
        known(Event::Notification, "Notification"),
    ],
    fields: Fields { reply: "prompt_response", ..FIELDS },
    settings: HookSettings {
        layout: HookLayout::Groups { millis: true },
        folder: "~/.gemini",
        user: "~/.gemini/settings.json",
        moved: Some(("GEMINI_CLI_HOME", ".gemini/settings.json")),
        project: Some(".gemini/settings.json"),
        local: None,
        comments: true,
        own: false,
        note: None,
    },
    files: &[
        ToolFile { tool: "read_file", field: "file_path", makes: false },
        ToolFile { tool: "write_file", field: "file_path", makes: true },
        ToolFile { tool: "replace", field: "file_path", makes: false },
    ],
    env_file: None,
};
