//! The kinds of rows that can be asked for: one table.

use crate::base::{Error, Result};
use crate::commands::language;
use crate::index::query::FieldSet as _;
use crate::index::table::column::{self, Column};
use crate::index::table::{RowItem, RowsOf};
use crate::index::{SessionRow, Table as Rows};

/// What rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum QueryKind {
    /// Whole sessions
    #[value(alias = "session")]
    Sessions,
    /// Phases and sub-phases
    #[value(alias = "phase")]
    Phases,
    /// Tool calls
    #[value(alias = "step")]
    Steps,
    /// Decisions
    #[value(alias = "decision")]
    Decisions,
    /// Errors
    #[value(alias = "error")]
    Errors,
    /// Words of the user
    #[value(alias = "users")]
    User,
    /// Sub-agents
    #[value(alias = "subagent")]
    Subagents,
    /// Files that steps read and wrote
    #[value(alias = "file")]
    Files,
    /// Tasks in their newest state
    #[value(alias = "task")]
    Tasks,
    /// Lessons of readings and of people
    #[value(alias = "lesson")]
    Lessons,
    /// Lessons about models, tools and the person
    #[value(alias = "quirk")]
    Quirks,
    /// Segments of sessions, with what readings say of them
    #[value(alias = "segment")]
    Segments,
    /// What accepted readings say that came of sessions
    #[value(alias = "outcome")]
    Outcomes,
}

/// A row of the table.
struct KindTable {
    name: &'static str,
    one: &'static str,
    /// Its own columns, in order.
    own: &'static [Column],
    /// What people are shown unless they say otherwise.
    shown: &'static [&'static str],
    /// The tables of a record that its rows are made of.
    tables: &'static [Rows],
    things: RowsOf,
}

/// In the order of [`QueryKind`].
const TABLE: [KindTable; 13] = [
    KindTable {
        name: "sessions",
        one: "session",
        own: column::SESSION,
        shown: &["id", "status", "started", "agent", "channel", "steps", "failed_steps", "tokens", "title"],
        tables: &[],
        things: |_| Box::new(std::iter::once((None, RowItem::Session))),
    },
    KindTable {
        name: "phases",
        one: "phase",
        own: column::PHASE,
        shown: &["session", "id", "agent", "channel", "started", "steps", "failed_steps", "title"],
        tables: &[Rows::Phases],
        things: |record| Box::new(record.phases.iter().map(|it| (None, RowItem::Phase(it)))),
    },
    KindTable {
        name: "steps",
        one: "step",
        own: column::STEP,
        shown: &["session", "id", "agent", "status", "duration_ms", "tool", "args"],
        tables: &[Rows::Phases, Rows::Steps],
        things: |record| Box::new(record.steps.iter().map(|it| (it.phase.as_deref(), RowItem::Step(it)))),
    },
    KindTable {
        name: "decisions",
        one: "decision",
        own: column::DECISION,
        shown: &["session", "id", "agent", "title", "why"],
        tables: &[Rows::Phases, Rows::Decisions],
        things: |record| Box::new(record.decisions.iter().map(|it| (it.phase.as_deref(), RowItem::Decision(it)))),
    },
    KindTable {
        name: "errors",
        one: "error",
        own: column::ERROR,
        shown: &["session", "id", "agent", "title", "resolution"],
        tables: &[Rows::Phases, Rows::Errors],
        things: |record| Box::new(record.errors.iter().map(|it| (it.phase.as_deref(), RowItem::Error(it)))),
    },
    KindTable {
        name: "user",
        one: "word of the user",
        own: column::USER,
        shown: &["session", "id", "at", "correction", "words", "action"],
        tables: &[Rows::Phases, Rows::User],
        things: |record| Box::new(record.user.iter().map(|it| (it.phase.as_deref(), RowItem::User(it)))),
    },
    KindTable {
        name: "subagents",
        one: "sub-agent",
        own: column::SUBAGENTS,
        shown: &["session", "agent", "model", "tokens", "link", "task"],
        tables: &[Rows::Phases, Rows::Subagents],
        things: |record| Box::new(record.subagents.iter().map(|it| (it.phase.as_deref(), RowItem::Subagent(it)))),
    },
    KindTable {
        name: "files",
        one: "file",
        own: column::FILE,
        shown: &["session", "step", "tool", "access", "time", "path"],
        tables: &[Rows::Phases, Rows::Files],
        things: |record| Box::new(record.files.iter().map(|it| (it.phase.as_deref(), RowItem::File(it)))),
    },
    KindTable {
        name: "tasks",
        one: "task",
        own: column::TASK,
        shown: &["session", "id", "status", "priority", "content"],
        tables: &[Rows::Tasks],
        things: |record| Box::new(record.tasks.iter().map(|it| (None, RowItem::Task(it)))),
    },
    of_notes("lessons", "lesson"),
    of_notes("quirks", "quirk"),
    of_notes("segments", "segment"),
    of_notes("outcomes", "outcome"),
];

/// A kind whose rows come of notes beside the sessions.
const fn of_notes(name: &'static str, one: &'static str) -> KindTable {
    KindTable { name, one, own: &[], shown: &[], tables: &[], things: |_| Box::new(std::iter::empty()) }
}

/// A column by the name it was asked for.
#[derive(Clone, Debug)]
pub(super) struct ChosenColumn {
    pub(super) name: String,
    pub(super) column: &'static Column,
}

impl QueryKind {
    fn table(self) -> &'static KindTable {
        &TABLE[self as usize]
    }

    pub(super) fn name(self) -> &'static str {
        self.table().name
    }

    /// One of them, as messages say it.
    pub(super) fn one(self) -> &'static str {
        self.table().one
    }

    pub(super) fn things(self) -> RowsOf {
        self.table().things
    }

    /// The tables that its rows are made of.
    pub(super) fn tables(self) -> &'static [Rows] {
        self.table().tables
    }

    /// Whether a session may have some, as its row tells.
    pub(super) fn may_be_in(self, session: &SessionRow) -> bool {
        let count = match self {
            Self::Sessions | Self::Tasks => return true,
            Self::Lessons | Self::Quirks | Self::Segments | Self::Outcomes => 0,
            Self::Phases => session.phases,
            Self::Steps | Self::Files => session.steps,
            Self::Decisions => session.decisions,
            Self::Errors => session.errors,
            Self::User => session.user,
            Self::Subagents => session.subagents,
        };
        count > 0
    }

    /// What a session does not say of it.
    fn own(self) -> impl Iterator<Item = &'static Column> {
        let more: &'static [Column] = match self {
            Self::Sessions => &[column::SUBAGENT],
            Self::Subagents => &[column::LINK],
            Self::Steps => &[column::VERDICT],
            _ => &[],
        };
        self.table().own.iter().chain(more)
    }

    /// Those that every kind has and this one does not say itself.
    fn shared(self) -> impl Iterator<Item = &'static Column> {
        const PHASE_TITLE: &[Column] = &[column::PHASE_TITLE];
        let phase = if self.own().any(|own| own.name == "phase") { PHASE_TITLE } else { &[] };
        let shared = column::SHARED.iter().filter(move |shared| match self {
            // Their own id and path.
            Self::Sessions => false,
            _ => !self.own().any(|own| own.name == shared.name),
        });
        shared.chain(phase)
    }

    /// All columns that rows of programs have.
    pub(super) fn columns(self) -> Vec<ChosenColumn> {
        let order = self.shared().filter(|column| column.of_session).chain(self.own());
        let rest = self.shared().filter(|column| !column.of_session);
        order.chain(rest).map(|column| ChosenColumn { name: column.name.to_owned(), column }).collect()
    }

    /// The columns that people are shown.
    pub(super) fn shown(self) -> Vec<ChosenColumn> {
        self.table().shown.iter().filter_map(|name| self.find(name)).collect()
    }

    /// The column of that name: its own, else one that all have, else its session's, which may be called `session_…`.
    pub(super) fn find(self, name: &str) -> Option<ChosenColumn> {
        let lower = name.trim().to_lowercase();
        let same = |column: &&'static Column| column.name == lower;
        let column = self
            .own()
            .find(same)
            .or_else(|| self.shared().find(same))
            .or_else(|| column::CALENDAR.iter().chain(column::SHARED).find(same))
            .or_else(|| column::of_session(&lower))?;
        Some(ChosenColumn { name: lower, column })
    }

    /// [`QueryKind::find`], or an error of `option` that names what there is.
    pub(super) fn column(self, option: &str, name: &str) -> Result<ChosenColumn> {
        self.find(name).ok_or_else(|| {
            Error::usage(format!("{option}: {} have no column `{}`", self.name(), name.trim()))
                .with_hint(self.suggestion(name))
        })
    }

    /// The names of its columns and of those that every kind has; of a session's, where rows are no sessions, none.
    pub(super) fn names_of_columns(self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.columns().iter().map(|chosen| chosen.column.name).collect();
        let calendar = column::CALENDAR.iter().map(|column| column.name);
        names.extend(calendar.filter(|name| self.own().all(|own| own.name != *name)));
        names
    }

    /// What a wrong name of a column may have meant, and all there are.
    fn suggestion(self, name: &str) -> String {
        let near = self.nearest(name).filter(|near| self.find(near).is_some());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("{near}columns: {}{}", self.names_of_columns().join(", "), self.of_sessions())
    }

    /// That columns of sessions can be named too.
    pub(super) fn of_sessions(self) -> &'static str {
        if self == Self::Sessions { "" } else { "; and `session_…` for those of sessions" }
    }

    /// The columns of all kinds, for `--help`.
    pub(super) fn help() -> String {
        use clap::ValueEnum as _;
        let mut text = "Columns:".to_owned();
        for kind in Self::value_variants() {
            if let Some(names) = super::noted::columns(*kind) {
                text.push_str(&format!("\n  {:<10} {}", kind.name(), names.join(" ")));
                continue;
            }
            let names: Vec<&str> = kind.own().map(|column| column.name).collect();
            text.push_str(&format!("\n  {:<10} {}", kind.name(), names.join(" ")));
        }
        format!("{text}{HELP}\n\n{}", language::rules())
    }
}

const HELP: &str = "
  all but sessions: session (its id), note (its path), agent and channel (of the phase, else of the session), \
phase_title, and each column of the session as session_…, or without session_ where the kind has none of that name
  all: time, else when its phase or session began; its day and ISO week in the zone of the vault
  verdict is computed where it is named: holds, moved, drifted, gone, superseded, unknown, or `rests on stale`

Aggregates: count, count:COLUMN (known values), sum avg min max p1…p99 of COLUMN. pN is the nearest rank: the smallest \
value that N percent of the values are not above. Unknown values are skipped. Units are those of the column.";
