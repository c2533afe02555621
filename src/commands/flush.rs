//! `cru flush`.

use std::fmt::Write as _;

use serde::Serialize;

use super::import::report::Outcome;
use super::import::sync::{Flushed, Synced, flush_hooked, last_told};
use super::{Context, Output, View, reading};
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

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let log = Log::new(&vault, &state, cx.env.now())?;
    let mut report = Report { schema: 1, sessions: Vec::new(), failed: 0 };
    // What a host did comes first: what was logged stands in the phase that it began.
    let (targets, hooked) = if args.all {
        let hooked = flush_hooked(&vault, &state, cx.env, None)?;
        let catalog = Catalog::read(&vault);
        (catalog.sessions().map(Target::of).filter(|target| is_live(&log, target)).collect(), hooked)
    } else {
        let (target, hooked) = find(args.session.as_deref(), &vault, &state, cx)?;
        (target.into_iter().collect::<Vec<_>>(), hooked)
    };
    for (session, synced) in hooked {
        match synced {
            Ok(synced) => report.add(synced.unwrap_or_default()),
            Err(error) if args.all => report.fail(&error, &session, cx),
            Err(error) => return Err(error),
        }
    }
    for target in &targets {
        match logged(&log, target) {
            Ok(row) => report.sessions.extend(row),
            Err(error) => {
                cx.ui.warn(&format!("its entries are kept in {}", log.journal(target).path().display()));
                if !args.all {
                    return Err(error);
                }
                report.fail(&error, &target.path.text(), cx);
            }
        }
    }
    if args.all {
        orphans(&log, &targets, cx);
    }
    if report.sessions.iter().any(|row| row.changed) {
        reading::refresh(&vault, cx);
    }
    if report.failed > 0 {
        let count = plural(report.failed, "session");
        return Err(Error::usage(format!("{count} could not be written")).with_hint("run `cru flush --all` again"));
    }
    Ok(Box::new(report))
}

/// The session of that name, after what its hooks told was brought into its note; no session where a host has one that
/// has no note yet.
pub(super) fn find(
    name: Option<&str>,
    vault: &Vault,
    state: &State,
    cx: &Context<'_>,
) -> Result<(Option<Target>, Vec<Flushed>)> {
    let found = Target::find(name, vault, cx.env);
    // A note that no host wrote to has no hooks either.
    let named = match &found {
        Ok(target) => target.meta.host_session.as_deref(),
        Err(_) => name.or_else(|| cx.env.var("CRU_SESSION")),
    };
    let flushed = flush_hooked(vault, state, cx.env, Some(named.as_slice()))?;
    if flushed.is_empty() {
        return Ok((Some(found?), flushed));
    }
    // The note may have been made just now.
    let target = found.or_else(|_| Target::find(name, vault, cx.env)).ok();
    Ok((target, flushed))
}

/// The session of that name with all that its host did before: what comes now stands behind it.
pub(super) fn up_to_date(name: Option<&str>, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<Target> {
    let (target, flushed) = find(name, vault, state, cx)?;
    for (session, synced) in flushed {
        if let Err(error) = synced {
            cx.ui.warn(&format!("what the host of {session} told could not be written: {error}"));
        }
    }
    target.ok_or_else(|| {
        Error::usage("the host's session has no note yet")
            .with_hint("it gets one with the first prompt that the agent answers")
    })
}

/// Writes what waits for one host session, for a hook that does not leave that to another process.
pub(super) fn inline(vault: &Vault, state: &State, session: &str, cx: &Context<'_>) -> Result<()> {
    let (target, flushed) = find(Some(session), vault, state, cx)?;
    for (_, synced) in flushed {
        synced?;
    }
    if let Some(target) = target {
        logged(&Log::new(vault, state, cx.env.now())?, &target)?;
    }
    Ok(())
}

/// Whether a session may have something to write: a journal, or time that ran out.
fn is_live(log: &Log<'_>, target: &Target) -> bool {
    target.meta.status == Some(Status::Active) || log.journal(target).path().exists()
}

/// Entries that were logged by hand.
fn logged(log: &Log<'_>, target: &Target) -> Result<Option<Row>> {
    let waited = log.journal(target).path().exists();
    let mut row = Row { session: target.id.clone(), entries: 0, records: 0, changed: false, paused: false };
    if waited {
        let flushed = log.flush(target, "flush")?;
        row.entries = flushed.entries;
        row.changed = flushed.changed;
    }
    if let Some(paused) = status::pause_if_due(log, target, &|| last_told(log.state, &target.meta))? {
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
    /// Logged entries that were written.
    entries: usize,
    /// Records of its transcript that were brought in.
    records: u64,
    changed: bool,
    paused: bool,
}

impl Report {
    /// Adds a session of a host with the notes it has.
    fn add(&mut self, synced: Synced) {
        let records = synced.records;
        let changed = synced.notes.into_iter().filter(|row| matches!(row.outcome, Outcome::Created | Outcome::Updated));
        for (at, note) in changed.enumerate() {
            let name = note.note.as_deref().unwrap_or(&note.host_session);
            let stem = name.rsplit('/').next().unwrap_or(name);
            let session = stem.strip_suffix(".md").unwrap_or(stem).to_owned();
            let records = if at == 0 { records } else { 0 };
            self.sessions.push(Row { session, entries: 0, records, changed: true, paused: false });
        }
    }

    fn fail(&mut self, error: &Error, session: &str, cx: &Context<'_>) {
        self.failed += 1;
        cx.ui.warn(&format!("{session}: {error}"));
    }
}

impl Output for Report {
    fn text(&self, _: &View) -> String {
        if self.sessions.is_empty() {
            return "nothing waits\n".to_owned();
        }
        let mut out = String::new();
        for row in &self.sessions {
            let mut what = Vec::new();
            match row.entries {
                0 => {}
                1 => what.push("1 entry".to_owned()),
                many => what.push(format!("{many} entries")),
            }
            if row.records > 0 {
                what.push(plural(row.records, "record"));
            }
            if row.paused {
                what.push("paused".to_owned());
            }
            if what.is_empty() {
                what.push(if row.changed { "new" } else { "nothing" }.to_owned());
            }
            let _ = writeln!(out, "{}  {}", row.session, what.join(", "));
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
