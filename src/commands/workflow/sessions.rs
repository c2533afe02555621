//! `cru workflow sessions`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::history::{Filter, RunRow, gather, look, millis};
use super::listing::{self, Listing};
use crate::base::Result;
use crate::commands::output::{Align, Cell, minute, style};
use crate::commands::{Context, Output};

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
    for RunRow { workflow, run, .. } in rows {
        let session = run.session().unwrap_or_default().to_owned();
        let place = *places.entry((workflow.clone(), session.clone())).or_insert_with(|| {
            sessions.push(Ran { workflow, session, ..Ran::default() });
            sessions.len() - 1
        });
        let Some(ran) = sessions.get_mut(place) else { continue };
        ran.steps += 1;
        match run.status.as_str() {
            "success" => ran.succeeded += 1,
            "failed" | "timeout" | "abandoned" => ran.failed += 1,
            "skipped" => ran.skipped += 1,
            _ => {}
        }
        ran.status = if ran.failed > 0 { "failed" } else { "success" };
        ran.started = ran.started.into_iter().chain(run.started).min();
        ran.duration_ms += run.duration_ms.unwrap_or(0.0);
        ran.tokens_used += run.tokens_used.unwrap_or(0.0);
    }
    sessions.sort_by(|a, b| b.started.cmp(&a.started).then(a.session.cmp(&b.session)));
    Ok(Box::new(Listing(sessions)))
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

impl listing::Row for Ran {
    const NAME: &'static str = "sessions";
    const HEADS: &'static [(&'static str, Align)] = &[
        ("started", Align::Left),
        ("status", Align::Left),
        ("steps", Align::Right),
        ("failed", Align::Right),
        ("time", Align::Right),
        ("workflow", Align::Left),
        ("session", Align::Left),
    ];
    const COLUMNS: &'static [&'static str] = &[
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

    fn cells(&self) -> Vec<Cell> {
        let bad = if self.failed > 0 { style::BAD } else { style::DIM };
        vec![
            Cell::new(self.started.map_or(String::new(), minute)).style(style::DIM),
            Cell::new(self.status).style(look(self.status)),
            Cell::new(self.steps.to_string()),
            Cell::new(self.failed.to_string()).style(bad),
            Cell::new(millis(self.duration_ms)),
            Cell::new(&self.workflow).style(style::ID),
            Cell::new(&self.session),
        ]
    }
}
