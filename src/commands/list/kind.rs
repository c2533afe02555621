//! The kinds of rows that can be asked for: one table.

use jiff::tz::TimeZone;

use super::view::{KindView, RowSource, VIEWS};
use crate::base::{Error, Result};
use crate::commands::language;
use crate::index::query::FieldSet as _;
use crate::index::table::column::{self, Column};
use crate::index::table::{CellValue, RowItem, RowsOf, TableRow};
use crate::index::{SessionRow, Table as Rows};

/// What rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ListKind {
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
    /// Case notes
    #[value(alias = "case")]
    Cases,
    /// Checkpoints of the current session: those of its note, copies on this machine, and computed ones
    #[value(alias = "checkpoint")]
    Checkpoints,
    /// Bookmarks, and where they lead
    #[value(alias = "bookmark")]
    Bookmarks,
    /// Workflows
    #[value(alias = "workflow")]
    Workflows,
    /// What workflows record of their runs, a row for each run of a step
    #[value(alias = "run")]
    Runs,
    /// Sessions that did the same kind of work, a row for each group
    #[value(alias = "group")]
    Groups,
}

/// A column by the name it was asked for.
#[derive(Clone, Debug)]
pub(super) struct ChosenColumn {
    pub(super) name: String,
    pub(super) column: &'static Column,
}

impl ListKind {
    pub(super) fn view(self) -> &'static KindView {
        &VIEWS[self as usize]
    }

    /// The table of a record that its rows are.
    fn table(self) -> Option<Rows> {
        match self.view().source {
            RowSource::Records(table) => Some(table),
            RowSource::Sessions | RowSource::Notes(..) => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.view().name
    }

    /// One of them, as messages say it.
    pub(super) fn one(self) -> &'static str {
        self.view().one
    }

    pub(super) fn things(self) -> RowsOf {
        self.table().map_or(|_| Box::new(std::iter::once((None, RowItem::Session))), Rows::rows)
    }

    /// The tables that its rows are made of.
    pub(super) fn tables(self) -> Vec<Rows> {
        let table = self.table();
        let phases = Rows::Phases;
        let named = table.filter(|it| ![Rows::Phases, Rows::Tasks].contains(it)).map(|_| phases);
        named.into_iter().chain(table).collect()
    }

    /// Whether a session may have some, as its row tells: it counts most of them.
    pub(super) fn may_be_in(self, session: &SessionRow) -> bool {
        let counts = if self == Self::Files { "steps" } else { self.name() };
        let Some(column) = self.table().and_then(|_| column::of_session(counts)) else { return true };
        (column.get)(TableRow::session(session, false, &TimeZone::UTC)) != CellValue::Int(0)
    }

    /// Whether its rows come of notes beside the sessions.
    pub(super) fn is_noted(self) -> bool {
        matches!(self.view().source, RowSource::Notes(..))
    }

    /// Whether its rows leave out sessions that are kept from who asks.
    pub(super) const fn minds_reach(self) -> bool {
        !matches!(self, Self::Cases | Self::Checkpoints | Self::Bookmarks | Self::Workflows | Self::Runs | Self::Groups)
    }

    /// Whether its rows belong to no session.
    pub(super) const fn is_of_all(self) -> bool {
        matches!(self, Self::Lessons | Self::Quirks)
    }

    /// Whether what is named behind it are workflows; else sessions.
    pub(super) const fn is_of_workflows(self) -> bool {
        matches!(self, Self::Workflows | Self::Runs)
    }

    /// What a session does not say of it.
    fn own(self) -> &'static [Column] {
        match self.view().source {
            RowSource::Sessions => column::SESSION,
            RowSource::Records(table) => table.columns(),
            RowSource::Notes(_, columns) => columns,
        }
    }

    /// Those that every kind has and this one does not say itself.
    fn shared(self) -> impl Iterator<Item = &'static Column> {
        let phase = self.own().iter().any(|own| own.name == "phase").then_some(&column::PHASE_TITLE);
        let shared = column::SHARED.iter().filter(move |shared| match self {
            // Their own id and path.
            Self::Sessions => false,
            _ if self.is_noted() => false,
            _ => !self.own().iter().any(|own| own.name == shared.name),
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
        match self.view().shown {
            [] => self.columns(),
            shown => shown.iter().filter_map(|name| self.find(name)).collect(),
        }
    }

    /// The column of that name: its own, else one that all have, else its session's, which may be called `session_…`.
    pub(super) fn find(self, name: &str) -> Option<ChosenColumn> {
        let lower = name.trim().to_lowercase();
        let column = column::find(self.own(), &lower)?;
        Some(ChosenColumn { name: lower, column })
    }

    /// [`ListKind::find`], or an error of `option` that names what there is.
    pub(super) fn column(self, option: &str, name: &str) -> Result<ChosenColumn> {
        self.find(name).ok_or_else(|| {
            Error::usage(format!("{option}: {} have no column `{}`", self.name(), name.trim()))
                .with_hint(self.suggestion(name))
        })
    }

    /// The names of its columns and of those that every kind has; of a session's, where rows are no sessions, none.
    pub(super) fn names_of_columns(self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.columns().iter().map(|chosen| chosen.column.name).collect();
        let calendar = column::COMPUTED.iter().map(|column| column.name).filter(|_| !self.is_noted());
        names.extend(calendar.filter(|name| self.own().iter().all(|own| own.name != *name)));
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
        let mut text = format!("Columns without KIND: {}\n\nColumns:", super::overview::columns().join(" "));
        for kind in Self::value_variants() {
            let names: Vec<&str> = kind.own().iter().map(|column| column.name).collect();
            text.push_str(&format!("\n  {:<11} {}", kind.name(), names.join(" ")));
        }
        format!("{text}{HELP}\n\n{}", language::rules())
    }
}

const HELP: &str = "
  all but sessions: session (its id), note (its path), agent and channel (of the phase, else of the session), \
phase_title, and the columns of the session: session_tokens, or tokens where the kind has no column of that name
  all: time, else when its phase or session began; its day and ISO week in the zone of the vault; link, for a note
  check is how a check ended: passed, failed, unknown; correction takes yes or no
  proof is what checks say of what was written: green, writes_after (a check), failing, never_checked, unknown
  verdict is computed only where it is named: holds, moved, drifted, gone, superseded, unknown, or `rests on stale`

Aggregates: count, count:COLUMN (known values), sum avg min max p1…p99 of COLUMN. pN is a percentile by nearest \
rank. Unknown values are skipped. Units are those of the column.";
