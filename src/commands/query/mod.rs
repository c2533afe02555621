//! `cru query`: rows of one kind over all sessions, filtered, grouped and added up.
//!
//! What a session alone decides is asked of the sessions' rows first; only the records of those that are left are read,
//! one table of them and one after the other, and of sessions themselves none.

mod aggregate;
mod fields;
mod gather;
mod group;
mod kind;
mod noted;
mod output;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::session::filter::SessionFilter;
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::commands::output::most;
use crate::commands::reading::{self, Asked};
use crate::commands::trace::stale::{self, StepVerdicts};
use crate::commands::{Context, Format, Output};
use crate::index::query::QueryNode;
use crate::index::table::{Families, RowItem, TableRow, column, rows};
use crate::index::{Query, Record, SessionRow, Table as Rows};
use aggregate::Aggregate;
use gather::Gathered;
use kind::{ChosenColumn, QueryKind};

/// Query rows of sessions, phases, steps, decisions, errors, user, subagents, files, tasks, lessons, quirks or segments
///
/// The newest session comes first; rows of one session stand in the order of its note. For people a few columns are shown;
/// the other formats (json, jsonl, csv, toon) hold them all.
#[derive(Debug, clap::Args)]
#[command(after_long_help = QueryKind::help(), after_help = "Columns, aggregates and the query language: --help")]
pub struct Args {
    /// What to query
    #[arg(value_enum)]
    kind: QueryKind,
    /// A query on fields, `status=failed and duration_ms>=1000`; may be given again: all must hold
    #[arg(short = 'w', long = "where", value_name = "QUERY")]
    conditions: Vec<String>,
    /// Which columns, in this order
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Rows that agree in a column as one: agent, channel, status, model, project, tool, day, week, or any other
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', conflicts_with = "columns")]
    group_by: Vec<String>,
    /// What to compute: count, or sum, avg, min, max, p50, p95 of a column: `avg:duration_ms`; else count
    #[arg(long = "agg", value_name = "FUNCTION:COLUMN,…", value_delimiter = ',', conflicts_with = "columns")]
    aggregates: Vec<String>,
    /// Order by a column; what is unknown comes last
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// The largest first; without --sort the oldest session first, each from its end
    #[arg(long)]
    reverse: bool,
    /// Rows to show; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    limit: usize,
    #[command(flatten)]
    filter: SessionFilter,
}

/// What is asked, read against the columns of its kind.
#[derive(Debug)]
struct Question {
    kind: QueryKind,
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
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let question = Question::of(args, cx)?;
    let Asked { chosen, vault, snapshot } = reading::asked(&args.filter, cx)?;
    let subagents = Families::of(snapshot.sessions());
    let wanted = |session: &SessionRow| {
        let row = TableRow::session(session, subagents.is_subagent(session), snapshot.zone());
        let may = question.kind.may_be_in(session) && chosen.matches_row(session);
        may && question.session.iter().all(|part| part.holds(row, Some(&question.here)))
    };
    let gathered = if question.kind == QueryKind::Sessions {
        let sessions = snapshot.sessions().iter().filter(|session| wanted(session));
        Gathered::of(sessions.map(|it| TableRow::session(it, subagents.is_subagent(it), snapshot.zone())), &question)
    } else if question.kind.is_noted() {
        let sessions: HashMap<&str, &SessionRow> =
            snapshot.sessions().iter().map(|it| (it.path.as_str(), it)).collect();
        let found = noted::rows(question.kind, &vault, cx)?;
        let (nobody, zone) = (SessionRow::default(), snapshot.zone());
        let rows = found.iter().filter_map(|(path, it)| {
            // What is about no session is in each of them.
            let session = path.as_deref().map_or(Some(&nobody), |path| sessions.get(path).copied())?;
            let row = TableRow::session(session, subagents.is_subagent(session), zone);
            (path.is_none() || wanted(session)).then_some(TableRow { item: RowItem::Noted(it), ..row })
        });
        Gathered::of(rows, &question)
    } else {
        let mut all = Gathered::default();
        let verdicts = if question.asks_verdict() { stale::verdicts(cx)? } else { StepVerdicts::default() };
        let of = |mut record: Record| {
            for step in record.steps.iter_mut().filter(|_| !verdicts.is_empty()) {
                let key = (record.session.path.clone(), step.id.clone().unwrap_or_default());
                step.verdict = verdicts.get(&key).cloned();
            }
            let rows = rows(&record, subagents.is_subagent(&record.session), question.kind.things(), snapshot.zone());
            Gathered::of(rows, &question)
        };
        snapshot.each_record(wanted, &question.tables(), of, |one| all.add(one, &question))?;
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
    let why = if question.kind.is_noted() && looked_at == 0 {
        "the vault has none; `cru read SESSION` makes readings".to_owned()
    } else if looked_at > 0 {
        format!("{} of the sessions asked for were looked at", plural(looked_at as u64, one))
    } else if sessions == 0 {
        "the vault holds no session; `cru import claude` brings some in".to_owned()
    } else if question.kind == QueryKind::Sessions {
        format!("the vault holds {}", plural(sessions as u64, one))
    } else {
        format!("the sessions asked for have none; the vault holds {}", plural(sessions as u64, "session"))
    };
    cx.ui.note(&format!("no {one} matches: {why}"));
}

impl Question {
    fn of(args: &Args, cx: &Context<'_>) -> Result<Self> {
        let kind = args.kind;
        let (mut session, mut row) = (Vec::new(), Vec::new());
        let now = reading::now(cx);
        for text in &args.conditions {
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
        let keys = named("--group-by", &args.group_by)?;
        let is_grouped = !keys.is_empty() || !args.aggregates.is_empty();
        let mut aggregates: Vec<Aggregate> = Vec::new();
        for text in &args.aggregates {
            let aggregate = Aggregate::parse(text, kind)?;
            let name = &aggregate.name;
            if aggregates.iter().any(|other| other.name == *name) || keys.iter().any(|key| key.name == *name) {
                return Err(Error::usage(format!("--agg: `{text}` is there twice")));
            }
            aggregates.push(aggregate);
        }
        if is_grouped && aggregates.is_empty() {
            aggregates.push(Aggregate::count());
        }
        let columns = match cx.global.format {
            _ if !args.columns.is_empty() => named("--columns", &args.columns)?,
            Format::Text => kind.shown(),
            _ => kind.columns().into_iter().filter(|it| it.name != column::VERDICT).collect(),
        };
        let (order, reverse, limit) = (Order::Given, args.reverse, most(args.limit));
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
        };
        if let Some(name) = &args.sort {
            question.order = question.sort(name)?;
        }
        Ok(question)
    }

    /// Whether the verdict of steps must be known.
    fn asks_verdict(&self) -> bool {
        let name = column::VERDICT;
        let sorted = match &self.order {
            Order::Column(by) => Some(by),
            Order::Given | Order::Place(_) => None,
        };
        self.kind == QueryKind::Steps
            && (self.columns.iter().chain(&self.keys).chain(sorted).any(|it| it.column.name == name)
                || self.aggregates.iter().any(|it| it.asks(name))
                || self.row.iter().any(|part| part.asks_column(name)))
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
