//! The columns that rows have: one table for each kind of row, and those that all kinds share.

use std::borrow::Cow;

use jiff::Timestamp;

use super::row::{Item, Row};
use super::value::{Field as _, Value};

/// What a column holds, which decides how a condition compares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    /// `name` or `name@version`; equal to either.
    Agent,
    /// Words joined by `, `; equal to each.
    List,
    Bool,
    Int,
    Float,
    Time,
}

impl Type {
    /// As a condition's errors name it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text | Self::Agent | Self::List => "text",
            Self::Bool => "yes or no",
            Self::Int | Self::Float => "a number",
            Self::Time => "a time",
        }
    }

    /// Whether it can be summed up.
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) of: Type,
    /// Whether the session alone decides its value.
    pub(super) of_session: bool,
    pub(super) get: for<'a> fn(Row<'a>) -> Value<'a>,
}

macro_rules! session {
    ($($name:ident $of:ident),* $(,)?) => {
        &[$(Column {
            name: stringify!($name),
            of: Type::$of,
            of_session: true,
            get: |row| row.session.$name.value(),
        }),*]
    };
}

macro_rules! own {
    ($item:ident: $($name:ident $of:ident),* $(,)?) => {
        &[$(Column {
            name: stringify!($name),
            of: Type::$of,
            of_session: false,
            get: |row| match row.item {
                Item::$item(it) => it.$name.value(),
                _ => Value::Null,
            },
        }),*]
    };
}

/// Of sessions.
pub(super) const SESSION: &[Column] = session![
    id Text, title Text, status Text, started Time, ended Time, duration_ms Int, agent Agent, participants List,
    channel Text, model Text, project Text, branch Text, tags List, host Text, host_session Text, transcript Text,
    parent Text, subagent_sessions List, phases Int, steps Int, failed_steps Int, decisions Int, errors Int, user Int,
    corrections Int, subagents Int, open_tasks Int, tokens Int, cost_usd Float, path Text,
];

/// Of sessions, but not by their own rows alone.
pub(super) const SUBAGENT: Column =
    Column { name: "subagent", of: Type::Bool, of_session: true, get: |row| Value::Bool(row.is_subagent) };

/// Of phases.
pub(super) const PHASE: &[Column] =
    own![Phase: id Text, title Text, started Time, steps Int, failed_steps Int, after Text, line Int];

/// Of steps.
pub(super) const STEP: &[Column] = own![
    Step: id Text, phase Text, tool Text, args Text, result Text, status Text, check Text, time Time, exit Int, duration_ms Int,
    after Text, line Int
];

/// Of decisions.
pub(super) const DECISION: &[Column] = own![
    Decision: id Text, phase Text, title Text, text Text, why Text, rejected Text, impact Text, at Time, line Int
];

/// Of errors.
pub(super) const ERROR: &[Column] =
    own![Error: id Text, phase Text, title Text, text Text, resolution Text, at Time, line Int];

/// Of the user's words.
pub(super) const USER: &[Column] = own![User: id Text, phase Text, correction Bool, words Text, at Time, line Int];

/// Of sub-agents. What its link names is `link`, because `session` is the session it stands in.
pub(super) const SUBAGENTS: &[Column] = own![Subagent: id Text, phase Text, agent Agent, model Text, mode Text, task Text, summary Text, tokens Int, line Int];

/// Of sub-agents: the session that the link names.
pub(super) const LINK: Column = Column {
    name: "link",
    of: Type::Text,
    of_session: false,
    get: |row| match row.item {
        Item::Subagent(it) => it.session.value(),
        _ => Value::Null,
    },
};

/// Of files.
pub(super) const FILE: &[Column] =
    own![File: path Text, access Text, hash Text, step Text, phase Text, tool Text, time Time, line Int];

/// Of tasks.
pub(super) const TASK: &[Column] = own![Task: id Text, content Text, status Text, priority Text];

/// Of every kind.
pub(super) const SHARED: &[Column] = &[
    Column { name: "session", of: Type::Text, of_session: true, get: |row| row.session.id.value() },
    Column { name: "note", of: Type::Text, of_session: true, get: |row| row.session.path.value() },
    Column {
        name: "agent",
        of: Type::Agent,
        of_session: false,
        get: |row| {
            row.phase
                .and_then(|phase| phase.agent.as_ref())
                .or(row.session.agent.as_ref())
                .map_or(Value::Null, |it| it.value())
        },
    },
    Column {
        name: "channel",
        of: Type::Text,
        of_session: false,
        get: |row| {
            row.phase
                .and_then(|phase| phase.channel.as_ref())
                .or(row.session.channel.as_ref())
                .map_or(Value::Null, |it| it.value())
        },
    },
];

/// The phase's title, of what stands in one.
pub(super) const PHASE_TITLE: Column = Column {
    name: "phase_title",
    of: Type::Text,
    of_session: false,
    get: |row| row.phase.map_or(Value::Null, |phase| phase.title.value()),
};

/// A row's time, else its phase's or session's start; its day and week (ISO, UTC).
pub(super) const CALENDAR: &[Column] = &[
    Column { name: "time", of: Type::Time, of_session: false, get: |row| row.time().map_or(Value::Null, Value::Time) },
    Column { name: "day", of: Type::Text, of_session: false, get: |row| calendar(row.time(), "%Y-%m-%d") },
    Column { name: "week", of: Type::Text, of_session: false, get: |row| calendar(row.time(), "%G-W%V") },
];

fn calendar(time: Option<Timestamp>, form: &str) -> Value<'static> {
    time.map_or(Value::Null, |time| Value::Text(Cow::Owned(time.strftime(form).to_string())))
}
