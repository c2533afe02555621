//! `cru admin flush`.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::derived::DerivedPages;
use super::events::{self, ChangedNote};
use super::status::waiting::{self, Waiting};
use super::{Context, Output, PlainOutput, View, agent, checkpoint, onset, reading};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::live::hook::{trouble, unfiled};
use crate::live::log::{Log, Target};
use crate::live::queue::{self, Asked};
use crate::session::Status;
use crate::sync::evidence::Transcripts;
use crate::sync::flush::{FlushRow, flush_and_find, is_live, logged, orphans};
use crate::sync::hooked::{Synced, flush_hooked};
use crate::sync::report::Outcome;
use crate::sync::untold;
use crate::vault::{Catalog, Head, State, UserConfig, Vault};

/// Write pending journal entries into the notes
///
/// Entries wait where a note could not be written, or where hooks leave the writing to others. A session in which nothing
/// happened for `[session] idle` minutes is paused. With --all a session of a host that crashed, or has no event for an end,
/// is closed. With --all, and behind the end of a session, the lists in the notes of projects are brought up to date. The
/// start of a session does the same as --all.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which session; else the current one
    #[arg(conflicts_with = "all")]
    session: Option<String>,
    /// All that have something waiting
    #[arg(long)]
    all: bool,
    /// For hooks: one process at a time, which writes for all that hooks ask for, and ends by itself
    #[arg(long, hide = true)]
    background: bool,
    /// Seconds after which that ends
    #[arg(long, hide = true, requires = "background")]
    seconds: Option<u64>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    state.tidy(cx.env);
    if args.background {
        // Seconds that a process may take that hooks leave in the background. What it does not write waits for the next one.
        cx.ui.end_after(Duration::from_secs(args.seconds.unwrap_or(300)));
        let asked = args.session.clone().map(Asked::Session).or(args.all.then_some(Asked::All));
        return Ok(Box::new(in_background(asked, &vault, &state, cx)?));
    }
    let report = flush(args.session.as_deref(), args.all, &vault, &state, cx)?;
    if args.all {
        // Said, never thrown away.
        let log = Log::new(&vault, &state, cx.env.now())?;
        let targets: Vec<Target> = Catalog::read(&vault).sessions().map(Target::of).collect();
        for (name, path) in orphans(&log, &targets) {
            cx.ui.warn(&format!("no session '{name}' in this vault; its entries are kept in {}", path.display()));
        }
    }
    Ok(Box::new(report))
}

/// Writes what waits for one session; with `None` for all, with all that the start of a session does: sessions that are over
/// are closed, those that are idle paused, and what is made of notes is brought up to date.
pub(super) fn write(session: Option<&str>, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<()> {
    flush(session, session.is_none(), vault, state, cx).map(drop)
}

/// Writes for all who are in the queue, one process at a time for a vault; nothing where one waits already, which will.
fn in_background(asked: Option<Asked>, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<FlushReport> {
    let mut report = FlushReport { schema: 1, sessions: Vec::new(), waiting: Vec::new(), failed: 0 };
    if let Some(asked) = asked {
        queue::put(state, &asked)?;
    }
    let Some(_turn) = queue::turn(state)? else { return Ok(report) };
    while let Some(asked) = queue::next(state) {
        let session = asked.session();
        match flush(session, session.is_none(), vault, state, cx) {
            Ok(done) => report.sessions.extend(done.sessions),
            // The others are written all the same.
            Err(error) => trouble::note(&state.hook_log(), cx.env.now(), "flush", &error.with_causes())?,
        }
    }
    read_ended(&report, vault, state, cx)?;
    Ok(report)
}

/// Has sessions of which the end was just written read by the agent of the user's configuration, in a process of its own; nothing where that does
/// not ask for it.
fn read_ended(report: &FlushReport, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<()> {
    let agent = UserConfig::read(cx.env)?.0.agent;
    let is_wanted = agent.after_session && report.sessions.iter().any(|row| row.changed);
    if !is_wanted || agent::named(agent)?.is_none() {
        return Ok(());
    }
    let catalog = Catalog::read(vault);
    let is_closed = |head: &Head| head.meta.status.as_ref().is_some_and(Status::is_closed);
    let is_changed = |head: &Head| {
        report.sessions.iter().any(|row| row.changed && (row.session == head.id() || row.session == head.path.stem()))
    };
    if !catalog.sessions().any(|head| is_closed(head) && is_changed(head)) {
        return Ok(());
    }
    let mut root = std::ffi::OsString::from("--vault=");
    root.push(vault.root());
    let words = ["read", "--pending", "--daily", "--since", RECENT, "--quiet"];
    let mut args: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
    args.push(&root);
    cx.ui.spawn_detached(&args, &state.hook_log()).map_err(|error| Error::io("start", "cru read", error))
}

/// How old a session may be that is read when another one ends.
const RECENT: &str = "2d";

fn flush(session: Option<&str>, all: bool, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<FlushReport> {
    // Events that found no vault belong to the one that the user's configuration names by now.
    if UserConfig::read(cx.env).is_ok_and(|(config, _)| config.names(vault)) {
        unfiled::adopt_all(state, cx.env)?;
    }
    let log = Log::new(vault, state, cx.env.now())?;
    let pages = DerivedPages::begin(vault, state, cx);
    let mut report = FlushReport { schema: 1, sessions: Vec::new(), waiting: Vec::new(), failed: 0 };
    let heard = Transcripts::of(vault, cx.env).listen();
    let ended = if all { untold::end(vault, state, cx.env)? } else { Vec::new() };
    // What a host did comes first: what was logged stands in the phase that it began.
    let (targets, hooked) = if all {
        let hooked = flush_hooked(vault, state, cx.env, None, heard.as_deref())?;
        untold::tell(&ended, &log)?;
        let catalog = Catalog::read(vault);
        let marked = checkpoint::MarkedSessions::of(state);
        let waits =
            |target: &Target| is_live(&log, target) || marked.has(target) || onset::waits_for_note(state, target);
        (catalog.sessions().map(Target::of).filter(waits).collect(), hooked)
    } else {
        let (target, hooked) = flush_and_find(session, vault, state, cx.env, heard.as_deref())?;
        (target.into_iter().collect::<Vec<_>>(), hooked)
    };
    let mut notes: Vec<ChangedNote> = targets.iter().map(|target| ChangedNote::there(target.path.clone())).collect();
    for (session, synced) in hooked {
        match synced {
            Ok(synced) => {
                let synced = synced.unwrap_or_default();
                notes.extend(synced.notes.iter().filter_map(ChangedNote::of));
                report.add(synced);
            }
            Err(error) if all => report.fail(&error, &session, cx),
            Err(error) => return Err(error),
        }
    }
    for target in &targets {
        match logged(&log, target) {
            Ok(row) => {
                report.sessions.extend(row);
                match checkpoints(&log, target, cx) {
                    Ok(true) => report.changed(&target.id),
                    Ok(false) => {}
                    Err(error) => cx.ui.warn(&format!("{}: its checkpoints wait: {error}", target.id)),
                }
            }
            Err(error) => {
                cx.ui.warn(&format!("its entries are kept in {}", log.journal(target).path().display()));
                if !all {
                    return Err(error);
                }
                report.fail(&error, &target.path.text(), cx);
            }
        }
    }
    if report.sessions.iter().any(|row| row.changed) {
        notes.sort();
        notes.dedup_by(|a, b| a.path == b.path);
        events::tell(&notes, vault, state, cx);
        reading::refresh(vault, heard, cx);
    }
    // Hooks flush after every turn: pages wait until a session has ended.
    let has_ended = |target: &Target| {
        Head::read(vault, target.path.clone()).meta.status.is_some_and(|status| status != Status::Active)
    };
    let is_changed = report.sessions.iter().any(|row| row.changed);
    if all || pages.were_left() || is_changed && targets.iter().any(has_ended) {
        pages.finish();
    } else {
        pages.leave();
    }
    if report.failed > 0 {
        let count = plural(report.failed, "session");
        return Err(
            Error::usage(format!("{count} could not be written")).with_hint("run `cru admin flush --all` again")
        );
    }
    // The notes are read only where something waits: hooks flush after every turn.
    report.waiting = waiting::all(vault, cx.env, || Catalog::read(vault).sessions().map(Head::id).collect())?;
    Ok(report)
}

/// Writes what the session was told at its start, and the callouts of checkpoints, behind what waited; whether there was any.
fn checkpoints(log: &Log<'_>, target: &Target, cx: &Context<'_>) -> Result<bool> {
    let told = onset::write_into_note(log, target)?;
    let written = !checkpoint::write_waiting(log, target, cx)?.is_empty();
    Ok(checkpoint::finish(log, target)? || written || told)
}

#[derive(Debug, Serialize)]
struct FlushReport {
    schema: u32,
    sessions: Vec<FlushRow>,
    /// What still waits afterwards, as `cru status` says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<Waiting>,
    #[serde(skip)]
    failed: u64,
}

impl FlushReport {
    /// Adds a session of a host with the notes it has.
    fn add(&mut self, synced: Synced) {
        let records = synced.records;
        let changed = synced.notes.into_iter().filter(|row| matches!(row.outcome, Outcome::Created | Outcome::Updated));
        for (at, note) in changed.enumerate() {
            let name = note.note.as_deref().unwrap_or(&note.host_session);
            let stem = name.rsplit('/').next().unwrap_or(name);
            let session = stem.strip_suffix(".md").unwrap_or(stem).to_owned();
            let records = if at == 0 { records } else { 0 };
            self.sessions.push(FlushRow { session, records, changed: true, ..FlushRow::default() });
        }
    }

    /// Notes that a session's note changed.
    fn changed(&mut self, session: &str) {
        match self.sessions.iter_mut().find(|row| row.session == session) {
            Some(row) => row.changed = true,
            None => {
                self.sessions.push(FlushRow { session: session.to_owned(), changed: true, ..FlushRow::default() });
            }
        }
    }

    fn fail(&mut self, error: &Error, session: &str, cx: &Context<'_>) {
        self.failed += 1;
        cx.ui.warn(&format!("{session}: {error}"));
    }
}

impl PlainOutput for FlushReport {
    fn shown(&self, _: &View) -> String {
        if self.sessions.is_empty() && self.waiting.is_empty() {
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
        for it in &self.waiting {
            let entries = if it.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", it.entries) };
            let why = Some(it.why()).filter(|why| !why.is_empty()).unwrap_or("`cru admin flush --all` writes them");
            let _ = writeln!(out, "{}  {entries} still waiting: {why}", sanitise(&it.session));
        }
        out
    }
}
