//! The columns that rows have: one table for each kind of row, and those that all kinds share.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::row::{RowItem, TableRow};
use super::value::CellValue;

/// What a column holds, which decides how a query compares it; `:` above all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Words of somebody; `:` looks into them.
    Text,
    /// A path; `:` looks into it, and a comma in its value is part of it.
    Path,
    /// One word or id; `:` is equality.
    Word,
    /// A word that may be written with `#`.
    Channel,
    /// `name` or `name@version`; equal to either.
    Agent,
    /// Words joined by `, `; equal to each.
    List,
    /// A list of tags: `:area` finds `area/import` too.
    Tags,
    /// Yes or no.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A point in time; a date is its whole day.
    Time,
}

impl ColumnType {
    /// Whether `~` can look into it.
    pub const fn is_text(self) -> bool {
        !matches!(self, Self::Bool | Self::Int | Self::Float | Self::Time)
    }

    /// As errors name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text | Self::Path | Self::Word | Self::Channel | Self::Agent | Self::List | Self::Tags => "text",
            Self::Bool => "yes or no",
            Self::Int | Self::Float => "a number",
            Self::Time => "a time",
        }
    }

    /// Whether it can be summed up.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// What queries and rows call it.
    pub name: &'static str,
    /// What it holds.
    pub of: ColumnType,
    /// Whether the session alone decides its value.
    pub of_session: bool,
    /// Its value in a row.
    pub get: for<'a> fn(TableRow<'a>) -> CellValue<'a>,
}

macro_rules! session {
    ($($name:ident $of:ident),* $(,)?) => {
        &[$(Column {
            name: stringify!($name),
            of: ColumnType::$of,
            of_session: true,
            get: |row| (&row.session.$name).into(),
        },)* Column {
            // Not by its own row alone.
            name: "subagent",
            of: ColumnType::Bool,
            of_session: true,
            get: |row| CellValue::Bool(row.is_subagent),
        }]
    };
}

macro_rules! own {
    ($item:ident: $($name:ident $of:ident $(= $field:ident)?),* $(,)?) => {
        &[$(Column {
            name: stringify!($name),
            of: ColumnType::$of,
            of_session: false,
            get: |row| match row.item {
                RowItem::$item(it) => (&own!(@field it $name $($field)?)).into(),
                _ => CellValue::Null,
            },
        }),*]
    };
    (@field $it:ident $name:ident) => { $it.$name };
    (@field $it:ident $name:ident $field:ident) => { $it.$field };
}

impl ColumnType {
    /// A value of a note; a time is written as text.
    fn of_json(self, value: Option<&Json>) -> CellValue<'_> {
        match (self, value.and_then(Json::as_str).and_then(|text| text.parse::<Timestamp>().ok())) {
            (Self::Time, Some(time)) => CellValue::Time(time),
            _ => value.into(),
        }
    }
}

macro_rules! noted {
    ($($name:tt $of:ident),* $(,)?) => {
        &[$(Column {
            name: stringify!($name),
            of: ColumnType::$of,
            of_session: false,
            get: |row| match row.item {
                RowItem::Noted(it) => ColumnType::$of.of_json(it.get(stringify!($name))),
                _ => CellValue::Null,
            },
        }),*]
    };
}

/// Of sessions.
pub const SESSION: &[Column] = session![
    id Text, title Text, status Word, started Time, ended Time, duration_ms Int, agent Agent, participants List,
    channel Channel, model Text, project Path, branch Word, tags Tags, host Word, host_session Text, transcript Path,
    parent Text, subagent_sessions List, phases Int, steps Int, failed_steps Int, decisions Int, errors Int, user Int,
    corrections Int, subagents Int, open_tasks Int, open Text, tokens Int, cost_usd Float, active_ms Int, proof Word, writes_after_check Int, path Path,
];

/// Of phases.
pub const PHASE: &[Column] =
    own![Phase: id Word, title Text, started Time, steps Int, failed_steps Int, after Text, line Int];

/// The column of steps that is computed for a query that names it.
pub const VERDICT: &str = "verdict";

/// Of steps.
pub const STEP: &[Column] = own![
    Step: id Word, phase Word, tool Word, args Text, result Text, status Word, check Word, time Time, exit Int,
    duration_ms Int, after Text, dependents Text, line Int, verdict Text
];

/// Of decisions.
pub const DECISION: &[Column] = own![
    Decision: id Word, phase Word, title Text, text Text, why Text, rejected Text, impact Text, at Time, line Int
];

/// Of errors.
pub const ERROR: &[Column] =
    own![Error: id Word, phase Word, title Text, text Text, resolution Text, step Word, at Time, line Int];

/// Of the user's words.
pub const USER: &[Column] =
    own![User: id Word, phase Word, correction Bool, words Text, action Text, at Time, line Int];

/// Of sub-agents. What its link names is `link`, because `session` is the session it stands in.
pub const SUBAGENTS: &[Column] = own![
    Subagent: id Word, phase Word, agent Agent, model Text, mode Word, task Text, summary Text, tokens Int, line Int, link Text = session
];

/// Of files.
pub const FILE: &[Column] =
    own![File: path Path, access Word, hash Word, step Word, phase Word, tool Word, time Time, line Int];

/// Of tasks.
pub const TASK: &[Column] = own![Task: id Word, content Text, status Word, priority Word];

/// Of lessons.
pub const LESSON: &[Column] = noted![
    id Word, status Word, level Word, confidence Word, seen Int, where Text, project Path, learned Word, text Text,
    do Text, tags Text, verdict Word, broken Int, path Path,
];

/// Of lessons about models, tools and the person.
pub const QUIRK: &[Column] = noted![
    id Word, status Word, level Word, where Text, frequency Text, severity Text, confidence Word, seen Int,
    project Path, learned Word, text Text, do Text,
];

/// Of segments of sessions.
pub const SEGMENT: &[Column] = noted![
    session Text, id Word, type Word, outcome Word, goal Text, language Text, frameworks Text, steps Int, tokens Int,
    cost Float, machine Text, entries Text, started Text, ended Text, ended_by Text, topics Text, version Text,
    analyzed Text, summary Text,
];

/// Of what came of sessions.
pub const OUTCOME: &[Column] = noted![
    session Text, outcome Word, type Word, goal Text, result Text, decisions Text, open Text, reading Text,
];

/// Of case notes.
pub const CASE: &[Column] = noted![id Word, status Word, edited Bool, type Word, title Text, session Text, path Path];

/// Of checkpoints.
pub const CHECKPOINT: &[Column] = noted![
    session Text, time Time, kind Word, id Word, files Int, block Word, title Text, elsewhere Bool,
];

/// Of bookmarks.
pub const BOOKMARK: &[Column] = noted![name Word, target Text, note Text, leads_to Text, problem Text];

/// Of workflows.
pub const WORKFLOW: &[Column] = noted![
    workflow Word, path Path, title Text, dialect Word, steps Int, checks Int, agents List, sources List, runs Int,
    failed Int, errors Int, warnings Int,
];

/// Of what workflows record of their runs. Columns of one workflow alone stand in `more`.
pub const RUN: &[Column] = noted![
    workflow Word, path Path, session Text, step Text, phase Text, agent Agent, channel Channel, status Word,
    started Time, duration_ms Float, tokens_used Float, input Text, output Text, source Text, more Text,
];

/// Of groups of sessions that did the same kind of work.
pub const GROUP: &[Column] = noted![size Int, same_request Bool, shared List, sessions List];

/// The column of that name in rows that have columns of their `own`: one of these, else one that all rows have, else their
/// session's, which may be called `session_…`.
pub fn find(own: &'static [Column], name: &str) -> Option<&'static Column> {
    let same = |column: &&Column| column.name == name;
    let phase = own.iter().any(|own| own.name == "phase").then_some(&PHASE_TITLE);
    own.iter().chain(SHARED).chain(phase).chain(COMPUTED).find(same).or_else(|| of_session(name))
}

/// The column of a session called `name`; `session_status` is `status`.
pub fn of_session(name: &str) -> Option<&'static Column> {
    let name = name.strip_prefix("session_").unwrap_or(name);
    SESSION.iter().find(|column| column.name == name)
}

/// Of every kind.
pub const SHARED: &[Column] = &[
    Column { name: "session", of: ColumnType::Text, of_session: true, get: |row| (&row.session.id).into() },
    Column { name: "note", of: ColumnType::Path, of_session: true, get: |row| (&row.session.path).into() },
    Column {
        name: "agent",
        of: ColumnType::Agent,
        of_session: false,
        get: |row| row.phase.and_then(|phase| phase.agent.as_ref()).or(row.session.agent.as_ref()).into(),
    },
    Column {
        name: "channel",
        of: ColumnType::Channel,
        of_session: false,
        get: |row| row.phase.and_then(|phase| phase.channel.as_ref()).or(row.session.channel.as_ref()).into(),
    },
];

/// The phase's title, of what stands in one.
pub static PHASE_TITLE: Column = Column {
    name: "phase_title",
    of: ColumnType::Text,
    of_session: false,
    get: |row| row.phase.map(|phase| &phase.title).into(),
};

/// Computed where they are named: a row's time, else its phase's or session's start; its day and ISO week in the zone of the vault;
/// a link to it.
pub const COMPUTED: &[Column] = &[
    Column { name: "time", of: ColumnType::Time, of_session: false, get: |row| row.time().into() },
    Column { name: "day", of: ColumnType::Word, of_session: false, get: |row| calendar(row, "%Y-%m-%d") },
    Column { name: "link", of: ColumnType::Text, of_session: false, get: |row| row.link().into() },
    Column { name: "week", of: ColumnType::Word, of_session: false, get: |row| calendar(row, "%G-W%V") },
];

fn calendar(row: TableRow<'_>, form: &str) -> CellValue<'static> {
    let time = row.time().map(|time| time.to_zoned(row.zone.clone()));
    time.map_or(CellValue::Null, |time| CellValue::Text(Cow::Owned(time.strftime(form).to_string())))
}
