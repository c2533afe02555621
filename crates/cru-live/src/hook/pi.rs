//! pi: an extension of its own that calls `cru hook`.

use super::table::{Event, FIELDS, HookLayout, HookSettings, Host, ToolFile, installed};

/// pi.
pub(super) static PI: Host = Host {
    id: "pi",
    rows: &[
        installed(Event::SessionStart, "session_start"),
        installed(Event::Prompt, "before_agent_start"),
        installed(Event::PreTool, "tool_call"),
        installed(Event::PostTool, "tool_result"),
        installed(Event::PreCompact, "session_before_compact"),
        installed(Event::Stop, "agent_end"),
        installed(Event::SessionEnd, "session_shutdown"),
    ],
    fields: FIELDS,
    settings: HookSettings {
        layout: HookLayout::Script(include_str!("pi.ts")),
        folder: "~/.pi/agent",
        user: "~/.pi/agent/extensions/cru.ts",
        moved: Some(("PI_CODING_AGENT_DIR", "extensions/cru.ts")),
        project: Some(".pi/extensions/cru.ts"),
        local: None,
        comments: false,
        own: true,
        note: None,
    },
    files: &[
        ToolFile { tool: "read", field: "path", makes: false },
        ToolFile { tool: "write", field: "path", makes: true },
        ToolFile { tool: "edit", field: "path", makes: false },
    ],
    env_file: None,
};
