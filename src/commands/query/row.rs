//! A row: one thing of a session, with what it stands in.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::index::record::{DecisionRow, ErrorRow, FileRow, PhaseRow, StepRow, SubagentRow, TaskRow, UserRow};
use crate::index::{Record, SessionRow};

/// A thing and the session and phase that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) session: &'a SessionRow,
    /// Whether the session is a sub-agent's.
    pub(super) is_subagent: bool,
    pub(super) phase: Option<&'a PhaseRow>,
    pub(super) item: Item<'a>,
}

/// The thing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    Session,
    Phase(&'a PhaseRow),
    Step(&'a StepRow),
    Decision(&'a DecisionRow),
    Error(&'a ErrorRow),
    User(&'a UserRow),
    Subagent(&'a SubagentRow),
    File(&'a FileRow),
    Task(&'a TaskRow),
}

impl<'a> Row<'a> {
    /// The row of a session.
    pub(super) fn session(session: &'a SessionRow, is_subagent: bool) -> Self {
        Self { session, is_subagent, phase: None, item: Item::Session }
    }

    /// When it was, else when its session began.
    pub(super) fn time(self) -> Option<Timestamp> {
        let own = match self.item {
            Item::Session | Item::Subagent(_) | Item::Task(_) => None,
            Item::Phase(it) => it.started,
            Item::Step(it) => it.time,
            Item::Decision(it) => it.at,
            Item::Error(it) => it.at,
            Item::User(it) => it.at,
            Item::File(it) => it.time,
        };
        own.or_else(|| self.phase.and_then(|phase| phase.started)).or(self.session.started)
    }
}

/// What hands out the things of one kind with the id of their phase.
pub(super) type Things = for<'a> fn(&'a Record) -> Box<dyn Iterator<Item = (Option<&'a str>, Item<'a>)> + 'a>;

/// The rows of one record.
pub(super) fn rows(record: &Record, is_subagent: bool, things: Things) -> impl Iterator<Item = Row<'_>> {
    let phases: HashMap<&str, &PhaseRow> = record.phases.iter().map(|phase| (phase.id.as_str(), phase)).collect();
    things(record).map(move |(phase, item)| Row {
        session: &record.session,
        is_subagent,
        phase: match item {
            Item::Phase(own) => Some(own),
            _ => phase.and_then(|id| phases.get(id).copied()),
        },
        item,
    })
}
