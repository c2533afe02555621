//! `OpenCode`: a plugin of its own that calls `cru hook`. Its database is read by `cru import`.

use super::table::{Event, FIELDS, HookLayout, HookSettings, Host, ToolFile, installed};

/// `OpenCode`.
pub(super) static OPENCODE: Host = Host {
    id: "opencode",
    rows: &[
        installed(Event::SessionStart, "session.created"),
        installed(Event::Prompt, "chat.message"),
        installed(Event::PreTool, "tool.execute.before"),
        installed(Event::PostTool, "tool.execute.after"),
        installed(Event::PreCompact, "experimental.session.compacting"),
        installed(Event::Stop, "session.idle"),
    ],
    fields: FIELDS,
    settings: HookSettings {
        layout: HookLayout::Script(include_str!("opencode.js")),
        folder: "~/.config/opencode",
        user: "~/.config/opencode/plugins/cru.js",
        moved: None,
        project: Some(".opencode/plugins/cru.js"),
        local: None,
        comments: false,
        own: true,
        note: Some("the notes of OpenCode are written by `cru import`, which reads its database"),
    },
    files: &[
        ToolFile { tool: "read", field: "filePath", makes: false },
        ToolFile { tool: "write", field: "filePath", makes: true },
        ToolFile { tool: "edit", field: "filePath", makes: false },
    ],
    env_file: None,
};
