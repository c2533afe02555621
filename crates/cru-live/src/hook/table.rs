//! The hosts, and what each of their events is called here.
//!
//! A host is a file of `data/hooks` with a line in [`HOSTS`]; another event is a member of [`Event`] with its line in [`EVENTS`].
//! Settings and the plugin are made from this table.

use std::sync::LazyLock;

use serde::Deserialize;

use cru_session::agent_table;

/// All hosts whose hooks are understood, each read when it is asked for; Claude Code is the first.
pub static HOSTS: [LazyLock<Host>; 10] = [
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/claude-code.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/codex.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/cursor.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/gemini-cli.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/copilot-cli.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/opencode.toml"), include_str!("opencode.js"))),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/pi.toml"), include_str!("pi.ts"))),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/qwen-code.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/kimi-cli.toml"), "")),
    LazyLock::new(|| Host::read(include_str!("../../data/hooks/goose.toml"), "")),
];

/// Names of fields in the journal, whatever the host calls them: those of Claude Code.
pub const FIELDS: Fields = Fields {
    session: "session_id",
    transcript: "transcript_path",
    cwd: "cwd",
    event: "hook_event_name",
    tool: "tool_name",
    tool_input: "tool_input",
    tool_response: "tool_response",
    call: "tool_use_id",
    prompt: "prompt",
    reply: "last_assistant_message",
    error: "error",
};

/// Seconds that a hook may take. Work takes milliseconds; this is for a machine that has stalled.
pub const TIMEOUT: u32 = 10;

/// An agent's program that calls hooks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Host {
    /// As in `--host` and in a note's `host`; its row in the table of agents has the rest.
    pub id: &'static str,
    /// The events that `cru connect` and the plugin bring.
    pub installed: Vec<Row>,
    /// Events that are understood and not installed.
    known: Vec<Row>,
    /// What the fields of its JSON are called.
    pub fields: Fields,
    /// Where its hooks are set up, and how.
    pub settings: HookSettings,
    /// Tools that name a file.
    pub files: Vec<ToolFile>,
    /// The variable that names a file whose lines the agent's shell runs.
    pub env_file: Option<&'static str>,
}

/// Where a host's hooks are set up. Paths of the user begin with `~/`, those of a project at its folder.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct HookSettings {
    /// What is written.
    pub layout: HookLayout,
    /// A folder that is there where the host is installed.
    pub folder: &'static str,
    /// The file for all projects of a user.
    pub user: &'static str,
    /// A variable that names a folder, and the file in it that takes the place of `user`.
    pub moved: Option<(&'static str, &'static str)>,
    /// The project's file, which it shares with others.
    pub project: Option<&'static str>,
    /// The project's file for one person.
    pub local: Option<&'static str>,
    /// Whether the host reads comments and trailing commas in it.
    pub comments: bool,
    /// Whether the file is there for `cru` alone, and goes with its hooks.
    pub own: bool,
    /// What a person should know or do.
    pub note: Option<&'static str>,
}

/// What a hook looks like in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookLayout {
    /// `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "…", "timeout": 10}]}]}}`; the timeout in
    /// milliseconds or seconds.
    Groups {
        /// Whether timeouts are milliseconds.
        millis: bool,
    },
    /// `{"version": 1, "hooks": {"stop": [{"command": "…"}]}}`, with `"timeoutSec": 10` where the host has that.
    Flat {
        /// Whether an entry takes `timeoutSec`.
        timeout: bool,
    },
    /// TOML: `[[hooks]]` with `event`, `command` and `timeout`.
    #[default]
    Rows,
    /// A file of its own in the host's language, which calls `cru hook`; `{call}` stands for the words of the command as
    /// a JSON list, without the event.
    Script(&'static str),
}

/// An event of a host: what it is called here and there.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Row {
    /// What it is called here.
    pub event: Event,
    /// What the host calls it.
    pub name: &'static str,
}

/// Names of fields in a host's JSON.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub struct Fields {
    /// Id of the session.
    pub session: &'static str,
    /// Path of the transcript, whose name says the session where the field for it is missing.
    pub transcript: &'static str,
    /// Working folder.
    pub cwd: &'static str,
    /// The host's name of the event.
    pub event: &'static str,
    /// Name of the tool.
    pub tool: &'static str,
    /// Its arguments.
    pub tool_input: &'static str,
    /// Its result.
    pub tool_response: &'static str,
    /// Id of the call.
    pub call: &'static str,
    /// The person's words.
    pub prompt: &'static str,
    /// The agent's last words.
    pub reply: &'static str,
    /// What went wrong.
    pub error: &'static str,
}

impl Default for Fields {
    fn default() -> Self {
        FIELDS
    }
}

impl Fields {
    /// Each name with the one that all hosts share.
    pub(super) fn shared(&self) -> [(&'static str, &'static str); 11] {
        [
            (self.session, FIELDS.session),
            (self.transcript, FIELDS.transcript),
            (self.cwd, FIELDS.cwd),
            (self.event, FIELDS.event),
            (self.tool, FIELDS.tool),
            (self.tool_input, FIELDS.tool_input),
            (self.tool_response, FIELDS.tool_response),
            (self.call, FIELDS.call),
            (self.prompt, FIELDS.prompt),
            (self.reply, FIELDS.reply),
            (self.error, FIELDS.error),
        ]
    }
}

/// A tool that names a file.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ToolFile {
    /// The tool.
    pub tool: &'static str,
    /// The argument with the path.
    pub field: &'static str,
    /// Whether it can make the file.
    pub makes: bool,
}

/// What happened, whatever the host calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "&str")]
#[expect(missing_docs, reason = "docs/live.md says what each does")]
pub enum Event {
    SessionStart,
    SessionEnd,
    Prompt,
    PreTool,
    PostTool,
    PostToolFailure,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    PreCompact,
    PostCompact,
    Notification,
    PermissionRequest,
    PermissionDenied,
    TaskCreated,
    TaskCompleted,
    CwdChanged,
    ToolBatch,
    PreModelSwitch,
    PostModelSwitch,
    WorktreeCreate,
    WorktreeRemove,
    InstructionsLoaded,
}

/// Every event, in their order, with its name as in `cru hook <event>` and in the journal.
pub const EVENTS: [(Event, &str); 24] = [
    (Event::SessionStart, "session-start"),
    (Event::SessionEnd, "session-end"),
    (Event::Prompt, "prompt"),
    (Event::PreTool, "pre-tool"),
    (Event::PostTool, "post-tool"),
    (Event::PostToolFailure, "post-tool-failure"),
    (Event::Stop, "stop"),
    (Event::StopFailure, "stop-failure"),
    (Event::SubagentStart, "subagent-start"),
    (Event::SubagentStop, "subagent-stop"),
    (Event::PreCompact, "pre-compact"),
    (Event::PostCompact, "post-compact"),
    (Event::Notification, "notification"),
    (Event::PermissionRequest, "permission-request"),
    (Event::PermissionDenied, "permission-denied"),
    (Event::TaskCreated, "task-created"),
    (Event::TaskCompleted, "task-completed"),
    (Event::CwdChanged, "cwd-changed"),
    (Event::ToolBatch, "tool-batch"),
    (Event::PreModelSwitch, "pre-model-switch"),
    (Event::PostModelSwitch, "post-model-switch"),
    (Event::WorktreeCreate, "worktree-create"),
    (Event::WorktreeRemove, "worktree-remove"),
    (Event::InstructionsLoaded, "instructions-loaded"),
];

impl TryFrom<&str> for Event {
    type Error = String;

    fn try_from(name: &str) -> Result<Self, String> {
        Self::parse(name).ok_or_else(|| format!("no event `{name}`"))
    }
}

impl Event {
    /// As in `cru hook <event>` and in the journal.
    pub const fn name(self) -> &'static str {
        EVENTS[self as usize].1
    }

    /// Whether something ends with it that a person wants to see in the note, whatever the save policy.
    pub const fn completes(self) -> bool {
        matches!(
            self,
            Self::SessionEnd | Self::Prompt | Self::Stop | Self::StopFailure | Self::SubagentStop | Self::PreCompact
        )
    }

    /// Whether a step is complete with it.
    pub const fn ends_step(self) -> bool {
        matches!(self, Self::PostTool | Self::PostToolFailure)
    }

    /// By its name here.
    pub fn parse(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(_, own)| *own == name).map(|(event, _)| *event)
    }
}

impl Host {
    /// Of its file; a test reads each. `script` is what a host is given that has a language of its own for hooks.
    fn read(text: &'static str, script: &'static str) -> Self {
        let mut host: Self = toml::from_str(text).unwrap_or_default();
        if let HookLayout::Script(own) = &mut host.settings.layout {
            *own = script;
        }
        host
    }

    /// Its name for people.
    pub fn title(&self) -> &'static str {
        agent_table::by_host(self.id).map_or(self.id, |agent| &agent.title)
    }

    /// By its id, or another name of its agent.
    pub fn find(id: &str) -> Option<&'static Self> {
        let own = |id: &str| HOSTS.iter().map(|host| &**host).find(|host| host.id == id);
        own(id).or_else(|| own(&agent_table::by_host(id).or_else(|| agent_table::by_id(id))?.host))
    }

    /// All its events.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.installed.iter().chain(&self.known)
    }

    /// Whether `cru connect` brings an event.
    pub fn is_installed(&self, event: Event) -> bool {
        self.installed.iter().any(|row| row.event == event)
    }

    /// What it calls an event.
    pub fn row(&self, event: Event) -> Option<&Row> {
        self.rows().find(|row| row.event == event)
    }

    /// The event it calls so.
    pub fn event(&self, name: &str) -> Option<Event> {
        self.rows().find(|row| row.name == name).map(|row| row.event)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unlike_and_found_again() {
        let names: BTreeSet<_> = EVENTS.iter().map(|(_, name)| *name).collect();
        assert_eq!(names.len(), EVENTS.len());
        for (event, name) in EVENTS {
            assert_eq!(event.name(), name);
            assert_eq!(Event::parse(event.name()), Some(event));
            assert!(event.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        }
        assert_eq!(Event::parse("PostToolUse"), None);
    }

    #[test]
    fn each_host_names_an_event_once() {
        for host in &HOSTS {
            assert!(std::ptr::eq(Host::find(host.id).unwrap(), &raw const **host));
            assert!(agent_table::by_host(host.id).is_some_and(|agent| agent.hooks), "{}", host.id);
            assert!(host.settings.user.starts_with("~/") && host.settings.folder.starts_with("~/"), "{}", host.id);
            for row in host.rows() {
                assert_eq!(host.event(row.name), Some(row.event), "{}", row.name);
                assert!(std::ptr::eq(host.row(row.event).unwrap(), row), "{} twice", row.event.name());
            }
            let ends = |row: &Row| matches!(row.event, Event::SessionEnd | Event::Stop);
            assert!(host.installed.iter().any(ends), "{}: its notes are written", host.id);
        }
        assert!(Host::find("none").is_none());
        assert_eq!(Host::find("claude").unwrap().id, "claude-code");
    }
}
