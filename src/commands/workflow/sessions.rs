//! `cru workflow sessions`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::history::{Filter, Row, gather, look, millis};
use crate::base::Result;
use crate::commands::output::{Align, Cell, Table, minute, rows, style};
use crate::commands::{Context, Format, Output, View};

/// List the sessions that workflows record: how many steps each ran, and how it went
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Paths, file names, titles, or parts of them; all workflows without one
    workflow: Vec<String>,
    #[command(flatten)]
    filter: Filter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let rows = gather(&args.workflow, &args.filter, cx)?;
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut sessions: Vec<Ran> = Vec::new();
    for Row { workflow, run, .. } in rows {
        let session = run.session().unwrap_or_default().to_owned();
        let place = *places.entry((workflow.clone(), session.clone())).or_insert_with(|| {
            sessions.push(Ran { workflow, session, ..Ran::default() });
            sessions.len() - 1
        });
        let Some(ran) = sessions.get_mut(place) else { continue };
        ran.steps += 1;
        match run.status.as_str() {
            "success" => ran.succeeded += 1,
            "failed" | "timeout" => ran.failed += 1,
            "skipped" => ran.skipped += 1,
            _ => {}
        }
        ran.status = if ran.failed > 0 { "failed" } else { "success" };
        ran.started = ran.started.into_iter().chain(run.started).min();
        ran.duration_ms += run.duration_ms.unwrap_or(0.0);
        ran.tokens_used += run.tokens_used.unwrap_or(0.0);
    }
    sessions.sort_by(|a, b| b.started.cmp(&a.started).then(a.session.cmp(&b.session)));
    Ok(Box::new(Sessions { sessions }))
}

#[derive(Clone, Debug, Default, Serialize)]
struct Ran {
    workflow: String,
    session: String,
    started: Option<jiff::Timestamp>,
    status: &'static str,
    steps: usize,
    succeeded: usize,
    failed: usize,
    skipped: usize,
    duration_ms: f64,
    tokens_used: f64,
}

struct Sessions {
    sessions: Vec<Ran>,
}

const COLUMNS: [&str; 10] = [
    "workflow",
    "session",
    "started",
    "status",
    "steps",
    "succeeded",
    "failed",
    "skipped",
    "duration_ms",
    "tokens_used",
];

impl Output for Sessions {
    fn text(&self, view: &View) -> String {
        let mut table = Table::new(&[
            ("started", Align::Left),
            ("status", Align::Left),
            ("steps", Align::Right),
            ("failed", Align::Right),
            ("time", Align::Right),
            ("workflow", Align::Left),
            ("session", Align::Left),
        ]);
        for ran in &self.sessions {
            let bad = if ran.failed > 0 { style::BAD } else { style::DIM };
            table.row([
                Cell::new(ran.started.map_or(String::new(), minute)).style(style::DIM),
                Cell::new(ran.status).style(look(ran.status)),
                Cell::new(ran.steps.to_string()),
                Cell::new(ran.failed.to_string()).style(bad),
                Cell::new(millis(ran.duration_ms)),
                Cell::new(&ran.workflow).style(style::ID),
                Cell::new(&ran.session),
            ]);
        }
        table.render(view)
    }

    fn json(&self) -> serde_json::Result<Value> {
        Ok(json!({ "schema": 1, "count": self.sessions.len(), "sessions": self.sessions }))
    }

    fn export(&self, format: Format) -> Option<String> {
        rows::export(format, &COLUMNS, self.sessions.iter().filter_map(|ran| serde_json::to_value(ran).ok()))
    }

    fn paged(&self) -> bool {
        true
    }
}
