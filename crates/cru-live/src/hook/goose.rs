//! goose: a plugin folder with `hooks/hooks.json`. Its hooks name no transcript: what they told stands in the place of one;
//! they tell no results of calls.

use super::table::{Event, FIELDS, Fields, HookLayout, HookSettings, Host, ToolFile, installed};

/// goose.
pub(super) static GOOSE: Host = Host {
    id: "goose",
    rows: &[
        installed(Event::SessionStart, "SessionStart"),
        installed(Event::Prompt, "UserPromptSubmit"),
        installed(Event::PreTool, "PreToolUse"),
        installed(Event::PostTool, "PostToolUse"),
        installed(Event::PostToolFailure, "PostToolUseFailure"),
        installed(Event::Stop, "Stop"),
        installed(Event::SessionEnd, "SessionEnd"),
    ],
    fields: Fields { event: "event", cwd: "working_dir", call: "tool_call_id", prompt: "message", ..FIELDS },
    settings: HookSettings {
        layout: HookLayout::Groups { millis: false },
        folder: "~/.config/goose",
        user: "~/.agents/plugins/cru/hooks/hooks.json",
        moved: None,
        project: Some(".agents/plugins/cru/hooks/hooks.json"),
        local: None,
        comments: false,
        own: true,
        note: None,
    },
    files: &[
        ToolFile { tool: "developer__write", field: "path", makes: true },
        ToolFile { tool: "developer__edit", field: "path", makes: false },
    ],
    env_file: None,
};
