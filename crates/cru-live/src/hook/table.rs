//! The hosts, and what each of their events is called here and does.
//!
//! Another host is an entry of `data/hosts.toml`; another event is a member of [`Event`], and the compiler names what is
//! still open. Settings, the plugin and `--help` are made from this table.

use std::sync::LazyLock;

use cru_session::agent_table;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// All hosts whose hooks are understood, in the order of `data/hosts.toml`; Claude Code is the first.
pub static HOSTS: LazyLock<Vec<&'static Host>> = LazyLock::new(|| {
    // A test reads each of them.
    let table: HostTable = toml::from_str(include_str!("../../data/hosts.toml")).unwrap_or_default();
    table.host.leak().iter().collect()
});

#[derive(Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct HostTable {
    host: Vec<Host>,
}

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
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// As in `--host` and in a note's `host`; its row in the table of agents has the rest.
    pub id: &'static str,
    /// Its events.
    pub rows: Vec<Row>,
    /// What the fields of its JSON are called.
    #[serde(default)]
    pub fields: Fields,
    /// Where its hooks are set up, and how.
    pub settings: HookSettings,
    /// Tools that name a file.
    #[serde(default)]
    pub files: Vec<ToolFile>,
    /// The variable that names a file whose lines the agent's shell runs.
    pub env_file: Option<&'static str>,
}

/// Where a host's hooks are set up. Paths of the user begin with `~/`, those of a project at its folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
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
    #[serde(default)]
    pub comments: bool,
    /// Whether the file is there for `cru` alone, and goes with its hooks.
    #[serde(default)]
    pub own: bool,
    /// What a person should know or do.
    pub note: Option<&'static str>,
}

/// What a hook looks like in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
    Rows,
    /// A file of its own in the host's language, which calls `cru hook`; `{call}` stands for the words of the command as
    /// a JSON list, without the event.
    #[serde(deserialize_with = "script")]
    Script(&'static str),
}

/// The text of a script that stands beside this file.
fn script<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "opencode.js" => Ok(include_str!("opencode.js")),
        "pi.ts" => Ok(include_str!("pi.ts")),
        other => Err(D::Error::custom(format!("no script '{other}'"))),
    }
}

/// An event of a host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it is called here.
    pub event: Event,
    /// What the host calls it.
    pub name: &'static str,
    /// Whether `cru hooks install` and the plugin bring it.
    #[serde(default)]
    pub installed: bool,
}

/// Names of fields in a host's JSON.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFile {
    /// The tool.
    pub tool: &'static str,
    /// The argument with the path.
    pub field: &'static str,
    /// Whether it can make the file.
    #[serde(default)]
    pub makes: bool,
}

/// What happened, whatever the host calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "`does` says it")]
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

impl Event {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SessionStart,
        Self::SessionEnd,
        Self::Prompt,
        Self::PreTool,
        Self::PostTool,
        Self::PostToolFailure,
        Self::Stop,
        Self::StopFailure,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::Notification,
        Self::PermissionRequest,
        Self::PermissionDenied,
        Self::TaskCreated,
        Self::TaskCompleted,
        Self::CwdChanged,
        Self::ToolBatch,
        Self::PreModelSwitch,
        Self::PostModelSwitch,
        Self::WorktreeCreate,
        Self::WorktreeRemove,
        Self::InstructionsLoaded,
    ];

    /// As in `cru hook <event>` and in the journal.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::SessionEnd => "session-end",
            Self::Prompt => "prompt",
            Self::PreTool => "pre-tool",
            Self::PostTool => "post-tool",
            Self::PostToolFailure => "post-tool-failure",
            Self::Stop => "stop",
            Self::StopFailure => "stop-failure",
            Self::SubagentStart => "subagent-start",
            Self::SubagentStop => "subagent-stop",
            Self::PreCompact => "pre-compact",
            Self::PostCompact => "post-compact",
            Self::Notification => "notification",
            Self::PermissionRequest => "permission-request",
            Self::PermissionDenied => "permission-denied",
            Self::TaskCreated => "task-created",
            Self::TaskCompleted => "task-completed",
            Self::CwdChanged => "cwd-changed",
            Self::ToolBatch => "tool-batch",
            Self::PreModelSwitch => "pre-model-switch",
            Self::PostModelSwitch => "post-model-switch",
            Self::WorktreeCreate => "worktree-create",
            Self::WorktreeRemove => "worktree-remove",
            Self::InstructionsLoaded => "instructions-loaded",
        }
    }

    /// What it is for, for people.
    pub const fn does(self) -> &'static str {
        match self {
            Self::SessionStart => "begins or continues a session; tells the agent's shell its id",
            Self::SessionEnd => "closes the session and writes the note",
            Self::Prompt => "keeps the person's words; the phase before is complete and is written",
            Self::PreTool => "opens a step",
            Self::PostTool => "completes a step with its result and the hashes of its files",
            Self::PostToolFailure => "completes a step that failed",
            Self::Stop => "the agent has answered: what is pending is written",
            Self::StopFailure => "the agent stopped on an error: what is pending is written",
            Self::SubagentStart => "a sub-agent begins",
            Self::SubagentStop => "a sub-agent is done: what is pending is written",
            Self::PreCompact => "writes what is pending before the host shortens its context",
            Self::PostCompact => "keeps the summary that the host made",
            Self::Notification => "keeps the host's message",
            Self::PermissionRequest => "keeps what the person was asked to allow",
            Self::PermissionDenied => "keeps what was not allowed",
            Self::TaskCreated => "keeps a new task",
            Self::TaskCompleted => "keeps that a task is done",
            Self::CwdChanged => "keeps the new working folder",
            Self::ToolBatch => "keeps that a batch of calls is done",
            Self::PreModelSwitch => "keeps which model is about to go on",
            Self::PostModelSwitch => "keeps which model goes on",
            Self::WorktreeCreate => "keeps that a worktree is made",
            Self::WorktreeRemove => "keeps that a worktree is removed",
            Self::InstructionsLoaded => "keeps which instructions were loaded",
        }
    }

    /// Whether something ends with it that a person wants to see in the note, whatever the save policy.
    pub const fn completes(self) -> bool {
        match self {
            Self::SessionEnd
            | Self::Prompt
            | Self::Stop
            | Self::StopFailure
            | Self::SubagentStop
            | Self::PreCompact => true,
            Self::SessionStart
            | Self::PreTool
            | Self::PostTool
            | Self::PostToolFailure
            | Self::SubagentStart
            | Self::PostCompact
            | Self::Notification
            | Self::PermissionRequest
            | Self::PermissionDenied
            | Self::TaskCreated
            | Self::TaskCompleted
            | Self::CwdChanged
            | Self::ToolBatch
            | Self::PreModelSwitch
            | Self::PostModelSwitch
            | Self::WorktreeCreate
            | Self::WorktreeRemove
            | Self::InstructionsLoaded => false,
        }
    }

    /// Whether a step is complete with it.
    pub const fn ends_step(self) -> bool {
        matches!(self, Self::PostTool | Self::PostToolFailure)
    }

    /// By its name here.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }
}

impl Host {
    /// Its name for people.
    pub fn title(&self) -> &'static str {
        agent_table::by_host(self.id).map_or(self.id, |agent| &agent.title)
    }

    /// By its id, or another name of its agent.
    pub fn find(id: &str) -> Option<&'static Self> {
        let own = HOSTS.iter().copied().find(|host| host.id == id);
        own.or_else(|| {
            let agent = agent_table::by_host(id).or_else(|| agent_table::by_id(id))?;
            HOSTS.iter().copied().find(|host| host.id == agent.host)
        })
    }

    /// What it calls an event.
    pub fn row(&self, event: Event) -> Option<&Row> {
        self.rows.iter().find(|row| row.event == event)
    }

    /// The event it calls so.
    pub fn event(&self, name: &str) -> Option<Event> {
        self.rows.iter().find(|row| row.name == name).map(|row| row.event)
    }

    /// Those that are installed.
    pub fn installed(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.installed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unlike_and_found_again() {
        let names: BTreeSet<_> = Event::ALL.iter().map(|event| event.name()).collect();
        assert_eq!(names.len(), Event::ALL.len());
        for &event in Event::ALL {
            assert_eq!(Event::parse(event.name()), Some(event));
            assert!(event.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        }
        assert_eq!(Event::parse("PostToolUse"), None);
    }

    #[test]
    fn each_host_names_an_event_once() {
        assert_eq!(HOSTS.len(), 10);
        for host in HOSTS.iter() {
            assert!(std::ptr::eq(Host::find(host.id).unwrap(), *host));
            assert!(agent_table::by_host(host.id).is_some_and(|agent| agent.hooks), "{}", host.id);
            assert!(host.settings.user.starts_with("~/") && host.settings.folder.starts_with("~/"), "{}", host.id);
            for row in &host.rows {
                assert_eq!(host.event(row.name), Some(row.event), "{}", row.name);
                assert!(std::ptr::eq(host.row(row.event).unwrap(), row), "{} twice", row.event.name());
            }
            let ends = |row: &Row| matches!(row.event, Event::SessionEnd | Event::Stop);
            assert!(host.installed().any(ends), "{}: its notes are written", host.id);
        }
        assert!(Host::find("none").is_none());
        assert_eq!(Host::find("claude").unwrap().id, "claude-code");
    }
}
