//! `cru list`: rows of one kind over all sessions, filtered, grouped and added up.
//!
//! What a session alone decides is asked of the sessions' rows first; only the records of those that are left are read,
//! one table of them and one after the other, and of sessions themselves none.

mod aggregate;
mod args;
mod fields;
mod gather;
mod group;
mod kind;
mod noted;
mod output;
mod overview;
#[cfg(test)]
mod tests;
mod view;

use std::collections::{HashMap, HashSet};

pub(super) use args::Args;

use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::commands::output::most;
use crate::commands::reading::{self, Asked};
use crate::commands::trace::stale::{self, StepVerdicts};
use crate::commands::{Context, Format, Output};
use crate::index::query::{Field, FieldTest, QueryNode, TestValue};
use crate::index::table::{CellValue, ColumnType, Families, RowItem, TableRow, column, rows};
use crate::index::{Query, Record, SessionRow, Table as Rows};
use aggregate::Aggregate;
use gather::Gathered;
use kind::{ChosenColumn, ListKind};
use view::RowSource;

/// What is asked, read against the columns of its kind.
#[derive(Debug)]
struct Question {
    kind: ListKind,
    /// Decided by the session.
    session: Vec<QueryNode>,
    /// Decided by the row.
    row: Vec<QueryNode>,
    columns: Vec<ChosenColumn>,
    keys: Vec<ChosenColumn>,
    aggregates: Vec<Aggregate>,
    is_grouped: bool,
    order: Order,
    reverse: bool,
    limit: usize,
    /// What `project:.` means.
    here: String,
    /// The paths of the sessions that are named, where some are.
    sessions: Option<HashSet<String>>,
    /// The workflows that are named.
    workflows: Vec<String>,
    /// In lower case: a column of text must hold it.
    grep: Option<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Some(kind) = args.rows_of(cx.global.format) else { return overview::run(args, cx) };
    let mut filter = args.filter.clone();
    // The status of rows that are no part of a session is their own.
    let own_status = if kind.is_noted() { std::mem::take(&mut filter.status) } else { Vec::new() };
    let Asked { mut chosen, vault, snapshot } = reading::asked(&filter, cx)?;
    args.more.add_to(&mut chosen);
    let mut question = Question::of(kind, args, cx)?;
    question.add_status(&own_status)?;
    question.sessions = noted::named(kind, &args.of, args.all, &vault, cx)?;
    let subagents = Families::of(snapshot.sessions());
    let wanted = |session: &SessionRow| {
        let row = TableRow::session(session, subagents.is_subagent(session), snapshot.zone());
        let named = question.sessions.as_ref().is_none_or(|named| named.contains(&session.path));
        let may =
            named && question.kind.may_be_in(session) && chosen.matches_row(session) && args.more.is_child(session);
        let is_meant = args.kind.is_some() || args.all || !subagents.is_shown_by_another(session);
        may && is_meant && question.session.iter().all(|part| part.holds(row, Some(&question.here)))
    };
    let gathered = if question.kind == ListKind::Sessions {
        let sessions = snapshot.sessions().iter().filter(|session| wanted(session));
        Gathered::of(sessions.map(|it| TableRow::session(it, subagents.is_subagent(it), snapshot.zone())), &question)
    } else if question.kind.is_noted() {
        let sessions: HashMap<&str, &SessionRow> =
            snapshot.sessions().iter().map(|it| (it.path.as_str(), it)).collect();
        let meant: Vec<&SessionRow> = snapshot.sessions().iter().filter(|session| wanted(session)).collect();
        let found = noted::rows(&question, &meant, &vault, cx)?;
        let (nobody, zone) = (SessionRow::default(), snapshot.zone());
        let rows = found.iter().filter_map(|(path, it)| {
            // What is about no session is in each of them.
            let session = path.as_deref().map_or(Some(&nobody), |path| sessions.get(path).copied())?;
            let row = TableRow::session(session, subagents.is_subagent(session), zone);
            let may = path.is_none() || wanted(session);
            may.then_some(TableRow { item: RowItem::Noted(it), ..row })
        });
        Gathered::of(rows, &question)
    } else {
        let mut all = Gathered::default();
        let asks = question.kind == ListKind::Steps && question.asks(column::VERDICT);
        let verdicts = if asks { stale::verdicts(cx)? } else { StepVerdicts::default() };
        let of = |mut record: Record| {
            for step in record.steps.iter_mut().filter(|_| !verdicts.is_empty()) {
                let key = (record.session.path.clone(), step.id.clone().unwrap_or_default());
                step.verdict = verdicts.get(&key).cloned();
            }
            let rows = rows(&record, subagents.is_subagent(&record.session), question.kind.things(), snapshot.zone());
            Gathered::of(rows, &question)
        };
        snapshot.each_record(wanted, &question.tables(), of, |one| all.add(one, &question));
        all
    };
    let looked_at = gathered.looked_at;
    let answer = gathered.answer(&question);
    if answer.matched == 0 {
        tell(&question, looked_at, snapshot.len(), cx);
    }
    Ok(Box::new(answer))
}

/// Says what was looked at in vain.
fn tell(question: &Question, looked_at: usize, sessions: usize, cx: &Context<'_>) {
    let one = question.kind.one();
    let why = if let (RowSource::Notes(from, _), 0) = (question.kind.view().source, looked_at) {
        format!("there are none; {from}")
    } else if looked_at > 0 {
        let of = if question.kind == ListKind::Sessions { "" } else { " of the sessions" };
        format!("{}{of} asked for were looked at", plural(looked_at as u64, one))
    } else if sessions == 0 {
        "the vault holds no session; `cru import claude` brings some in".to_owned()
    } else if question.kind == ListKind::Sessions {
        format!("the vault holds {}", plural(sessions as u64, one))
    } else {
        format!("the sessions asked for have none; the vault holds {}", plural(sessions as u64, "session"))
    };
    cx.ui.note(&format!("no {one} matches: {why}"));
}

impl Question {
    fn of(kind: ListKind, args: &Args, cx: &Context<'_>) -> Result<Self> {
        let (mut session, mut row) = (Vec::new(), Vec::new());
        let now = reading::now(cx);
        for text in &args.more.conditions {
            let query = Query::parse_with(text, &kind, &now).map_err(|error| error.into_usage(text))?;
            for part in query.parts() {
                if part.is_about_sessions() { session.push(part.clone()) } else { row.push(part.clone()) }
            }
        }
        let named = |option: &str, names: &[String]| -> Result<Vec<ChosenColumn>> {
            let mut columns: Vec<ChosenColumn> = Vec::new();
            for name in names {
                let column = kind.column(option, name)?;
                if columns.iter().any(|other| other.name == column.name) {
                    return Err(Error::usage(format!("{option}: `{}` is there twice", column.name)));
                }
                columns.push(column);
            }
            Ok(columns)
        };
        let keys = named("--by", &args.by)?;
        let is_grouped = !keys.is_empty() || !args.aggregates.is_empty();
        let mut aggregates: Vec<Aggregate> = Vec::new();
        for text in &args.aggregates {
            let aggregate = Aggregate::parse(text, kind)?;
            let name = &aggregate.name;
            if aggregates.iter().any(|other| other.name == *name) || keys.iter().any(|key| key.name == *name) {
                return Err(Error::usage(format!("--sum: `{text}` is there twice")));
            }
            aggregates.push(aggregate);
        }
        if is_grouped && aggregates.is_empty() {
            aggregates.push(Aggregate::count());
        }
        let columns = match cx.global.format {
            _ if !args.columns.is_empty() => named("--columns", &args.columns)?,
            Format::Text => kind.shown(),
            Format::Markdown => {
                let shown = kind.shown();
                let link = kind.find("link").filter(|link| shown.iter().all(|it| it.name != link.name));
                shown.into_iter().chain(link).collect()
            }
            // That of steps is computed where it is named.
            _ => kind.columns().into_iter().filter(|it| kind.is_noted() || it.name != column::VERDICT).collect(),
        };
        let (order, reverse, limit) = (Order::Given, args.reverse, most(args.limit.unwrap_or(0)));
        let is_of_workflows = kind.is_of_workflows();
        if !args.of.is_empty() && kind.is_of_all() {
            return Err(Error::usage(format!("{} are of all sessions", kind.name()))
                .with_hint("`--where` chooses some: `level=project`"));
        }
        let mut question = Self {
            kind,
            session,
            row,
            columns,
            keys,
            aggregates,
            is_grouped,
            order,
            reverse,
            limit,
            here: cx.env.folder(),
            sessions: None,
            workflows: if is_of_workflows { args.of.clone() } else { Vec::new() },
            grep: args.grep.as_deref().map(str::to_lowercase),
        };
        if let Some(name) = &args.sort {
            question.order = question.sort(name)?;
        }
        Ok(question)
    }

    /// One of these must be the status of a row.
    fn add_status(&mut self, words: &[String]) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let field = Field::Column(self.kind.column("--status", "status")?.column);
        let values = words.iter().flat_map(|it| it.split(',')).map(TestValue::text).collect();
        self.row.push(QueryNode::Test(FieldTest::has(field, values)));
        Ok(())
    }

    /// Whether all holds that is asked of a row.
    fn holds(&self, row: TableRow<'_>) -> bool {
        let has_text = |wanted: &String| {
            let own = |it: &ChosenColumn| self.kind == ListKind::Sessions || !it.column.of_session;
            let texts = self.kind.columns().into_iter().filter(|it| it.column.of == ColumnType::Text && own(it));
            let mut values = texts.map(|it| (it.column.get)(row));
            values.any(|value| matches!(value, CellValue::Text(text) if text.to_lowercase().contains(wanted)))
        };
        self.row.iter().all(|part| part.holds(row, Some(&self.here))) && self.grep.as_ref().is_none_or(has_text)
    }

    /// Whether a column of that name is shown or decides something.
    fn asks(&self, name: &str) -> bool {
        let sorted = match &self.order {
            Order::Column(by) => Some(by),
            Order::Given | Order::Place(_) => None,
        };
        let shown = self.columns.iter().filter(|_| !self.is_grouped);
        shown.chain(&self.keys).chain(sorted).any(|it| it.column.name == name)
            || self.aggregates.iter().any(|it| it.asks(name))
            || self.row.iter().any(|part| part.asks_column(name))
    }

    /// The tables of records that it reads.
    fn tables(&self) -> Vec<Rows> {
        let mut tables = self.kind.tables();
        if self.row.iter().any(QueryNode::asks_files) && !tables.contains(&Rows::Files) {
            tables.push(Rows::Files);
        }
        tables
    }

    /// The names of the columns, and whether each holds numbers.
    fn heads(&self) -> Vec<(String, bool)> {
        let head = |it: &ChosenColumn| (it.name.clone(), it.column.of.is_number());
        if self.is_grouped {
            let aggregates = self.aggregates.iter().map(|it| (it.name.clone(), it.is_number()));
            return self.keys.iter().map(head).chain(aggregates).collect();
        }
        self.columns.iter().map(head).collect()
    }

    /// What to sort by: a column that may not be shown, or the place of one of the answer.
    fn sort(&self, name: &str) -> Result<Order> {
        if !self.is_grouped {
            return Ok(Order::Column(self.kind.column("--sort", name)?));
        }
        let heads = self.heads();
        // `avg:duration_ms` is the column `avg_duration_ms`.
        let name = name.trim().to_lowercase().replace(':', "_");
        let place = heads.iter().position(|(head, _)| *head == name);
        let names = || heads.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let missing = || Error::usage(format!("--sort: the groups have no column `{name}`")).with_hint(names());
        Ok(Order::Place(place.ok_or_else(missing)?))
    }
}

/// What to sort by.
#[derive(Debug)]
enum Order {
    /// Rows of the newest session first, as its note has them; groups as they are.
    Given,
    /// A column of the rows, shown or not.
    Column(ChosenColumn),
    /// A column of the groups, by its place.
    Place(usize),
}
