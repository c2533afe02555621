//! `cru flush`.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Context, Output, View};
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::live::log::{Log, Target};
use crate::live::status;
use crate::session::Status;
use crate::vault::state::key;
use crate::vault::{Catalog, State, Vault};

/// Write what waits in journals into the notes
///
/// Entries wait where a note could not be written, or where hooks leave the writing to others. A session in which nothing
/// happened for `[session] idle` minutes is paused.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which session; else the current one
    #[arg(conflicts_with = "all")]
    session: Option<String>,
    /// All that have something waiting
    #[arg(long)]
    all: bool,
}

/// A source of what waits: `Ok(None)` where it has nothing of this session.
type Source = fn(&Log<'_>, &Target, &Context<'_>) -> Result<Option<Row>>;

/// The sources, in the order they are asked.
const SOURCES: &[Source] = &[logged];

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let log = Log::new(&vault, &state, cx.env.now())?;
    let targets = if args.all {
        let catalog = Catalog::read(&vault);
        catalog.sessions().map(Target::of).filter(|target| is_live(&log, target)).collect()
    } else {
        vec![Target::find(args.session.as_deref(), &vault, cx.env)?]
    };
    let mut report = Report { schema: 1, sessions: Vec::new(), failed: 0 };
    for target in &targets {
        for source in SOURCES {
            match source(&log, target, cx) {
                Ok(row) => report.sessions.extend(row),
                Err(error) if args.all => {
                    report.failed += 1;
                    cx.ui.warn(&format!("{}: {error}", target.path));
                    cx.ui.warn(&format!("its entries are kept in {}", log.journal(target).path().display()));
                }
                Err(error) => {
                    cx.ui.warn(&format!("its entries are kept in {}", log.journal(target).path().display()));
                    return Err(error);
                }
            }
        }
    }
    if args.all {
        orphans(&log, &targets, cx);
    }
    if report.failed > 0 {
        let count = plural(report.failed, "session");
        return Err(Error::usage(format!("{count} could not be written")).with_hint("run `cru flush --all` again"));
    }
    Ok(Box::new(report))
}

/// Whether a session may have something to write: a journal, or time that ran out.
fn is_live(log: &Log<'_>, target: &Target) -> bool {
    target.meta.status == Some(Status::Active) || log.journal(target).path().exists()
}

/// Entries that were logged by hand.
fn logged(log: &Log<'_>, target: &Target, _: &Context<'_>) -> Result<Option<Row>> {
    let waited = log.journal(target).path().exists();
    let mut row = Row { session: target.id.clone(), entries: 0, changed: false, paused: false };
    if waited {
        let flushed = log.flush(target, "flush")?;
        row.entries = flushed.entries;
        row.changed = flushed.changed;
    }
    if let Some(paused) = status::pause_if_due(log, target)? {
        paused.written?;
        row.paused = true;
        row.changed = true;
    }
    Ok((row.entries > 0 || row.paused).then_some(row))
}

/// Journals whose note is gone: said, never thrown away.
fn orphans(log: &Log<'_>, targets: &[Target], cx: &Context<'_>) {
    let known: std::collections::HashSet<String> = targets.iter().map(Target::key).collect();
    let Ok(folder) = std::fs::read_dir(log.state.dir().join("journal")) else { return };
    let mut names: Vec<String> = folder.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    for name in names {
        let Some(stem) = name.strip_suffix(".jsonl") else { continue };
        // Those of hooks are named after the host, and are not of this list.
        if !stem.contains("--") && !known.contains(&key(stem)) {
            let path = log.state.journal(stem);
            cx.ui.warn(&format!("no session '{stem}' in this vault; its entries are kept in {}", path.display()));
        }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    sessions: Vec<Row>,
    #[serde(skip)]
    failed: u64,
}

#[derive(Debug, Serialize)]
struct Row {
    session: String,
    entries: usize,
    changed: bool,
    paused: bool,
}

impl Output for Report {
    fn text(&self, _: &View) -> String {
        if self.sessions.is_empty() {
            return "nothing waits\n".to_owned();
        }
        let mut out = String::new();
        for row in &self.sessions {
            let entries = match row.entries {
                1 => "1 entry".to_owned(),
                many => format!("{many} entries"),
            };
            let paused = if row.paused { ", paused" } else { "" };
            let _ = writeln!(out, "{}  {entries}{paused}", row.session);
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
