//! A row: one thing of a session, with what it stands in.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::record::{
    DecisionRow, ErrorRow, FileRow, PhaseRow, Record, SessionRow, StepRow, SubagentRow, TaskRow, UserRow,
};

/// A thing and the session and phase that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct TableRow<'a> {
    /// The session.
    pub session: &'a SessionRow,
    /// Whether the session is a sub-agent's.
    pub is_subagent: bool,
    /// The phase, of what stands in one.
    pub phase: Option<&'a PhaseRow>,
    /// The thing.
    pub item: RowItem<'a>,
    /// All files of the session, in the order of their lines; empty where they were not read.
    pub files: &'a [FileRow],
    /// The zone whose days are meant.
    pub zone: &'a TimeZone,
}

/// The thing.
#[derive(Clone, Copy, Debug)]
pub enum RowItem<'a> {
    /// The session itself.
    Session,
    /// A phase.
    Phase(&'a PhaseRow),
    /// A step.
    Step(&'a StepRow),
    /// A decision.
    Decision(&'a DecisionRow),
    /// An error.
    Error(&'a ErrorRow),
    /// Words of the user.
    User(&'a UserRow),
    /// A sub-agent.
    Subagent(&'a SubagentRow),
    /// A file that a step read or wrote.
    File(&'a FileRow),
    /// A task.
    Task(&'a TaskRow),
    /// What a note beside the sessions tells, by the names of its columns.
    Noted(&'a serde_json::Value),
}

impl RowItem<'_> {
    /// What it is, as `kind:` and `is:` name it.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Phase(_) => "phase",
            Self::Step(_) => "step",
            Self::Decision(_) => "decision",
            Self::Error(_) => "error",
            Self::User(_) => "user",
            Self::Subagent(_) => "subagent",
            Self::File(_) => "file",
            Self::Task(_) => "task",
            Self::Noted(_) => "noted",
        }
    }
}

impl<'a> TableRow<'a> {
    /// The row of a session.
    pub fn session(session: &'a SessionRow, is_subagent: bool, zone: &'a TimeZone) -> Self {
        Self { session, is_subagent, phase: None, item: RowItem::Session, files: &[], zone }
    }

    /// `[[session#^d-01]]`; where it has no id, a link to the session.
    pub fn link(self) -> String {
        let id = match self.item {
            RowItem::Phase(it) => Some(&it.id),
            RowItem::Task(it) => Some(&it.id),
            RowItem::Step(it) => it.id.as_ref(),
            RowItem::Decision(it) => it.id.as_ref(),
            RowItem::Error(it) => it.id.as_ref(),
            RowItem::User(it) => it.id.as_ref(),
            RowItem::Subagent(it) => it.id.as_ref(),
            RowItem::Session | RowItem::File(_) | RowItem::Noted(_) => None,
        };
        let name = self.session.path.rsplit('/').next().unwrap_or_default();
        let block = id.map(|id| format!("#^{id}")).unwrap_or_default();
        format!("[[{}{block}]]", name.strip_suffix(".md").unwrap_or(name))
    }

    /// When it was, else when its session began.
    pub fn time(self) -> Option<Timestamp> {
        let own = match self.item {
            RowItem::Session | RowItem::Subagent(_) | RowItem::Task(_) | RowItem::Noted(_) => None,
            RowItem::Phase(it) => it.started,
            RowItem::Step(it) => it.time,
            RowItem::Decision(it) => it.at,
            RowItem::Error(it) => it.at,
            RowItem::User(it) => it.at,
            RowItem::File(it) => it.time,
        };
        own.or_else(|| self.phase.and_then(|phase| phase.started)).or(self.session.started)
    }
}

/// What hands out the things of one kind with the id of their phase.
pub type RowsOf = for<'a> fn(&'a Record) -> Box<dyn Iterator<Item = (Option<&'a str>, RowItem<'a>)> + 'a>;

/// The rows of one record.
pub fn rows<'a>(
    record: &'a Record,
    is_subagent: bool,
    things: RowsOf,
    zone: &'a TimeZone,
) -> impl Iterator<Item = TableRow<'a>> {
    let phases: HashMap<&str, &PhaseRow> = record.phases.iter().map(|phase| (phase.id.as_str(), phase)).collect();
    things(record).map(move |(phase, item)| TableRow {
        session: &record.session,
        is_subagent,
        phase: match item {
            RowItem::Phase(own) => Some(own),
            _ => phase.and_then(|id| phases.get(id).copied()),
        },
        item,
        files: &record.files,
        zone,
    })
}
