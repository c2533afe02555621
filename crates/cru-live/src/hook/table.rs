//! The hosts, and what each of their events is called here and does.
//!
//! Another host is a file with one constant and a line in [`HOSTS`]; another event is a member of [`Event`], and the
//! compiler names what is still open. Settings, the plugin and `--help` are made from this table.

use super::claude_code::CLAUDE_CODE;
use cru_session::agent_table;

/// All hosts whose hooks are understood.
pub static HOSTS: &[&Host] = &[&CLAUDE_CODE];

/// An agent's program that calls hooks.
#[derive(Debug)]
pub struct Host {
    /// As in `--host` and in a note's `host`; its row in the table of agents has the rest.
    pub id: &'static str,
    /// Its events.
    pub rows: &'static [Row],
    /// What the fields of its JSON are called.
    pub fields: Fields,
    /// Tools that name a file.
    pub files: &'static [ToolFile],
    /// The variable that names a file whose lines the agent's shell runs.
    pub env_file: Option<&'static str>,
}

/// An event of a host.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is called here.
    pub event: Event,
    /// What the host calls it.
    pub name: &'static str,
    /// Whether `cru hooks install` and the plugin bring it.
    pub installed: bool,
    /// Only when this matches, where the host has such a thing; `None` for always.
    pub matcher: Option<&'static str>,
    /// Seconds after which the host stops waiting.
    pub timeout: u32,
}

/// Names of fields in a host's JSON.
#[derive(Clone, Copy, Debug)]
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
}

/// A tool that names a file.
#[derive(Clone, Copy, Debug)]
pub struct ToolFile {
    /// The tool.
    pub tool: &'static str,
    /// The argument with the path.
    pub field: &'static str,
    /// Whether it can make the file.
    pub makes: bool,
}

/// What happened, whatever the host calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
            | Self::CwdChanged => false,
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

    /// By its id.
    pub fn find(id: &str) -> Option<&'static Self> {
        HOSTS.iter().copied().find(|host| host.id == id)
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
        for host in HOSTS {
            assert!(std::ptr::eq(Host::find(host.id).unwrap(), *host));
            assert!(agent_table::by_host(host.id).is_some_and(|agent| agent.hooks), "{}", host.id);
            for row in host.rows {
                assert_eq!(host.event(row.name), Some(row.event), "{}", row.name);
                assert!(std::ptr::eq(host.row(row.event).unwrap(), row), "{} twice", row.event.name());
                assert!((1..=60).contains(&row.timeout), "a hook is quick or it is stopped");
            }
            assert!(host.installed().any(|row| row.event == Event::SessionEnd));
        }
        assert!(Host::find("none").is_none());
    }
}
