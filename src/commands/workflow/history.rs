//! `cru workflow history`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::find::{self, FoundWorkflow};
use super::listing::{self, Listing};
use crate::base::{Error, Result};
use crate::commands::output::{Align, Cell, Table, duration, minute, most, rows, style};
use crate::commands::session::filter::time;
use crate::commands::{Context, Format, Output, View, reading};
use crate::vault::{Catalog, Vault};
use crate::workflow::history::{Run, Sum, runs};

/// Ask what workflows record of their runs
///
/// One row for each run of a step. `--by` puts rows together, `--of` says which column is summed up there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Paths, file names, titles, or parts of them; all workflows without one
    workflow: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// Put together by step, agent, channel, status, workflow, session, or another column; may be given again
    #[arg(long, value_name = "COLUMN")]
    by: Vec<String>,
    /// The column of numbers that is summed up
    #[arg(long, value_name = "COLUMN", default_value = "duration_ms")]
    of: String,
    /// Rows to show; 0 for all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

/// Filters over runs; all that are given must hold, and case does not matter.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct Filter {
    /// Agent; may be given again
    #[arg(long, value_name = "AGENT")]
    agent: Vec<String>,
    /// Status (success, failed, timeout, skipped); may be given again
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Channel; may be given again
    #[arg(long, value_name = "CHANNEL")]
    channel: Vec<String>,
    /// Part of the step's title
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Run at or after: `2026-11-01`, `2026-11-01T09:00Z`, `7d`, `12h`, `today`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Run before the end of that day, or before that time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

/// A run with the workflow that records it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RunRow {
    pub(super) workflow: String,
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) run: Run,
}

/// The runs of these workflows that the filter lets through. Where a run has no time, that of its phase in the vault is
/// taken, else of its session.
pub(super) fn gather(names: &[String], filter: &Filter, cx: &Context<'_>) -> Result<Vec<RunRow>> {
    let found = find::some(names, cx)?;
    let now = reading::now(cx);
    let since = filter.since.as_deref().map(|text| time("--since", text, false, &now)).transpose()?;
    let until = filter.until.as_deref().map(|text| time("--until", text, true, &now)).transpose()?;
    let starts = Starts::of(&found, cx);
    let mut rows = Vec::new();
    for FoundWorkflow { stem, path, workflow, .. } in &found {
        for mut run in runs(workflow) {
            run.started = run.started.or_else(|| starts.of_run(&run));
            let any = |wanted: &[String], own: Option<&str>, mark: char| {
                let own = own.map(str::to_lowercase);
                let mut words = wanted.iter().flat_map(|words| words.split(','));
                wanted.is_empty()
                    || words.any(|word| {
                        own.as_deref() == Some(word.trim().trim_start_matches(mark).to_lowercase().as_str())
                    })
            };
            let part = filter.step.as_ref().is_none_or(|part| run.step.to_lowercase().contains(&part.to_lowercase()));
            let fits = any(&filter.agent, run.agent.as_deref(), '@')
                && any(&filter.status, Some(&run.status), ' ')
                && any(&filter.channel, run.channel.as_deref(), '#')
                && part
                && since.is_none_or(|since| run.started.is_some_and(|time| time >= since))
                && until.is_none_or(|until| run.started.is_some_and(|time| time < until));
            if fits {
                rows.push(RunRow { workflow: stem.clone(), path: path.clone(), run });
            }
        }
    }
    if rows.is_empty() {
        return Err(Error::no("no run is recorded that fits")
            .with_hint("`cru workflow history` without filters shows all; a run is a row of a `session-toon` fence"));
    }
    Ok(rows)
}

/// When phases and sessions of the vault began.
#[derive(Default)]
struct Starts(BTreeMap<String, (Option<Timestamp>, BTreeMap<String, Timestamp>)>);

impl Starts {
    /// Of the sessions that these workflows name, where a run has no time of its own.
    fn of(found: &[FoundWorkflow], cx: &Context<'_>) -> Self {
        let runs = found.iter().flat_map(|found| runs(&found.workflow)).filter(|run| run.started.is_none());
        let names: BTreeSet<String> = runs.filter_map(|run| run.session().map(str::to_owned)).collect();
        let Some(vault) = Vault::find_to_read(cx.vault_arg(), cx.env).ok().filter(|_| !names.is_empty()) else {
            return Self::default();
        };
        let catalog = Catalog::read(&vault);
        let heads: Vec<_> = catalog.sessions().filter(|head| names.contains(&head.id())).collect();
        let read = heads.par_iter().map(|head| {
            let phases = vault.session(&head.path).map(|session| session.phases).unwrap_or_default();
            let phases = phases.into_iter().filter_map(|phase| Some((phase.id, phase.started?))).collect();
            (head.id(), (head.meta.started, phases))
        });
        Self(read.collect())
    }

    fn of_run(&self, run: &Run) -> Option<Timestamp> {
        let (session, phases) = self.0.get(run.session()?)?;
        let block =
            run.source.as_deref().and_then(|source| source.split_once("#^")).map(|(_, id)| id.trim_end_matches(']'));
        block.and_then(|id| phases.get(id).copied()).or(*session)
    }
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let mut rows = gather(&args.workflow, &args.filter, cx)?;
    if args.by.is_empty() {
        rows.truncate(most(args.limit.unwrap_or(0)));
        return Ok(Box::new(Listing(rows)));
    }
    let by: Vec<String> =
        args.by.iter().flat_map(|names| names.split(',')).map(|name| name.trim().to_lowercase()).collect();
    let mut groups: BTreeMap<Vec<String>, Vec<&RunRow>> = BTreeMap::new();
    for row in &rows {
        let cell = |name: &String| match name.as_str() {
            "workflow" => row.workflow.clone(),
            name => row.run.column(name).unwrap_or_default().to_owned(),
        };
        groups.entry(by.iter().map(cell).collect()).or_default().push(row);
    }
    let mut groups: Vec<Group> = groups
        .into_iter()
        .map(|(key, rows)| Group {
            failed: rows.iter().filter(|row| matches!(row.run.status.as_str(), "failed" | "timeout")).count(),
            sum: Sum::of(rows.iter().filter_map(|row| row.run.number(&args.of))),
            runs: rows.len(),
            key,
        })
        .collect();
    groups.truncate(most(args.limit.unwrap_or(0)));
    Ok(Box::new(Groups { by, of: args.of.clone(), rows: groups }))
}

impl listing::Row for RunRow {
    const NAME: &'static str = "runs";
    const HEADS: &'static [(&'static str, Align)] = &[
        ("started", Align::Left),
        ("status", Align::Left),
        ("time", Align::Right),
        ("agent", Align::Left),
        ("workflow", Align::Left),
        ("step", Align::Left),
    ];
    const COLUMNS: &'static [&'static str] = &[
        "workflow",
        "step",
        "agent",
        "channel",
        "status",
        "duration_ms",
        "tokens_used",
        "started",
        "input",
        "output",
        "source",
        "path",
    ];

    fn cells(&self) -> Vec<Cell> {
        let Self { workflow, run, .. } = self;
        vec![
            Cell::new(run.started.map_or(String::new(), minute)).style(style::DIM),
            Cell::new(&run.status).style(look(&run.status)),
            Cell::new(run.duration_ms.map_or(String::new(), millis)),
            Cell::new(run.agent.as_deref().unwrap_or("")).style(style::AGENT),
            Cell::new(workflow).style(style::ID),
            Cell::new(&run.step),
        ]
    }
}

/// Milliseconds for people.
pub(super) fn millis(ms: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time for people, never negative")]
    duration((ms.max(0.0) / 1000.0).round() as u64)
}

/// The colour of a status.
pub(super) fn look(status: &str) -> anstyle::Style {
    match status {
        "success" => style::GOOD,
        "failed" | "timeout" => style::BAD,
        _ => style::WARN,
    }
}

#[derive(Debug, Serialize)]
struct Group {
    key: Vec<String>,
    runs: usize,
    failed: usize,
    #[serde(flatten)]
    sum: Sum,
}

struct Groups {
    by: Vec<String>,
    of: String,
    rows: Vec<Group>,
}

impl Groups {
    fn object(&self, group: &Group) -> Value {
        let mut object = serde_json::Map::new();
        for (name, value) in self.by.iter().zip(&group.key) {
            object.insert(name.clone(), json!(value));
        }
        let sum = &group.sum;
        object.insert("runs".into(), json!(group.runs));
        object.insert("failed".into(), json!(group.failed));
        for (word, value) in [("sum", Some(sum.sum)), ("avg", sum.avg), ("min", sum.min), ("max", sum.max)] {
            object.insert(format!("{word}_{}", self.of), json!(value.filter(|_| sum.count > 0)));
        }
        Value::Object(object)
    }
}

impl Output for Groups {
    fn text(&self, view: &View) -> String {
        let mut columns: Vec<(&str, Align)> = self.by.iter().map(|name| (name.as_str(), Align::Left)).collect();
        columns.extend([("runs", Align::Right), ("failed", Align::Right)]);
        columns.extend([("sum", Align::Right), ("avg", Align::Right), ("min", Align::Right), ("max", Align::Right)]);
        let mut table = Table::new(&columns);
        let number = |value: Option<f64>| {
            let text = |value: f64| {
                if self.of == "duration_ms" { millis(value) } else { format!("{}", (value * 100.0).round() / 100.0) }
            };
            Cell::new(value.map_or(String::new(), text))
        };
        for group in &self.rows {
            let mut cells: Vec<Cell> = group.key.iter().map(|key| Cell::new(key).style(style::ID)).collect();
            let bad = if group.failed > 0 { style::BAD } else { style::DIM };
            cells.extend([Cell::new(group.runs.to_string()), Cell::new(group.failed.to_string()).style(bad)]);
            let sum = &group.sum;
            let total = Some(sum.sum).filter(|_| sum.count > 0);
            cells.extend([total, sum.avg, sum.min, sum.max].map(number));
            table.row(cells);
        }
        format!("{}{}\n", table.render(view), style::paint(style::DIM, format!("sum, avg, min and max of {}", self.of)))
    }

    fn json(&self) -> serde_json::Result<Value> {
        let groups: Vec<Value> = self.rows.iter().map(|group| self.object(group)).collect();
        Ok(json!({ "schema": 1, "by": self.by, "of": self.of, "groups": groups }))
    }

    fn export(&self, format: Format) -> Option<String> {
        let mut columns: Vec<String> = self.by.clone();
        columns.extend(["runs".to_owned(), "failed".to_owned()]);
        columns.extend(["sum", "avg", "min", "max"].map(|word| format!("{word}_{}", self.of)));
        rows::export(format, &columns, self.rows.iter().map(|group| self.object(group)))
    }
}
