//! `cru checkpoint`: marks in a session, with copies of the files of that moment.

mod callouts;
mod diff;
mod hook;
mod make;
mod refs;
mod restore;
mod shelf;
mod show;

pub(super) use crate::memory::checkpoint::listing;
pub(super) use callouts::{finish, write_waiting};
pub(super) use diff::diff;
pub(super) use hook::{Risky, before_call, note_written};
pub(super) use shelf::{MarkedSessions, SessionCopies, place, session_keys};
pub(super) use show::{CheckpointOptions, named, show};

use serde::Serialize;

use super::output::style::{self, paint};
use super::{Context, Output, PlainOutput, View, reading};
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::live::entry::{self, Entry};
use crate::live::log::Log;
use crate::memory::checkpoint::{CheckpointKind, CopyLimits, account};
use crate::sync::flush::up_to_date;
use crate::vault::{State, Vault};
use make::{CopyTask, Making};

/// Mark a place in a session, and copy the files that git does not have
///
/// Writes a `[!checkpoint]` callout with the tasks and questions that are open, and copies files that differ from git's
/// HEAD and untracked ones into the machine's state; without git those that the session's steps wrote. The repository
/// itself is not touched. Files above 8 MiB, and what exceeds 256 MiB together, are left out and named.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What for
    title: Vec<String>,
    /// Why it is made
    #[arg(long, default_value = "manual", value_parser = CheckpointKind::WORDS, value_name = "KIND")]
    kind: String,
    /// What the work waits for
    #[arg(long, value_name = "TEXT")]
    blocked: Option<String>,
    /// Copy no files
    #[arg(long)]
    no_files: bool,
    /// Write an account of what was asked, decided, committed and learned since the last checkpoint, too
    #[arg(long, visible_alias = "summarize")]
    summary: bool,
    /// Which session; else `CRU_SESSION`, the host's session, the only active one of this folder
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    #[command(subcommand)]
    command: Option<CheckpointCommand>,
}

/// What else can be done with checkpoints.
#[derive(Debug, clap::Subcommand)]
enum CheckpointCommand {
    Restore(restore::Args),
}

pub(super) fn run(args: Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    match args.command {
        Some(CheckpointCommand::Restore(args)) => restore::run(&args, cx),
        None => create(&args, cx),
    }
}

fn create(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let log = Log::new(&vault, &state, cx.env.now())?;
    let target = up_to_date(args.session.as_deref(), &vault, &state, cx.env, &|text| cx.ui.warn(text))?;
    let shelf = SessionCopies::of(&target, &state);
    let kind = CheckpointKind::parse(&args.kind).unwrap_or_default();
    let loaded = vault.session(&target.path)?;
    let account = args.summary.then(|| account::since(&loaded, cx.env.now())).flatten();
    let mut making = Making::new(kind, args.title.join(" "), cx.env.now());
    making.manifest.blocked.clone_from(&args.blocked);
    if !args.no_files {
        let root = shelf::folder(&target, cx)?;
        let written = shelf::written(&loaded, &root, cx);
        making.copy(&CopyTask::of(&root, &written), CopyLimits::default(), &state, cx);
    }
    let mut manifest = making.manifest;
    manifest.unwritten = true;
    shelf.own().add(&mut manifest)?;
    let written = write_waiting(&log, &target, cx)?;
    // Of two checkpoints in one second the later has a number behind its id.
    let numbered = format!("{}-", manifest.id);
    let Some(id) = written.into_iter().rev().find(|id| *id == manifest.id || id.starts_with(&numbered)) else {
        return Err(Error::usage("the checkpoint is kept, and its callout is not written yet")
            .with_hint("`cru admin flush` writes it"));
    };
    if let Some(text) = account {
        let told = entry::Summary { title: format!("Up to {id}"), text, ..entry::Summary::default() };
        let told = log.masked(Entry::Summary(told)).map_err(|bad| Error::usage(bad.message))?;
        log.add(&target, &told)?;
        log.flush(&target, "checkpoint")?;
    }
    reading::refresh(&vault, None, cx);
    Ok(Box::new(MadeCheckpoint {
        schema: 1,
        id,
        session: target.id,
        kind: manifest.kind,
        files: manifest.files.iter().filter(|file| file.hash.is_some()).count(),
        bytes: manifest.size(),
        left_out: manifest.left_out.iter().map(|it| it.count.max(1)).sum::<u64>() + manifest.more_left_out,
    }))
}

#[derive(Debug, Serialize)]
struct MadeCheckpoint {
    schema: u32,
    id: String,
    session: String,
    kind: CheckpointKind,
    files: usize,
    bytes: u64,
    left_out: u64,
}

impl PlainOutput for MadeCheckpoint {
    fn shown(&self, _: &View) -> String {
        let copied = if self.files == 0 { String::new() } else { format!(" ({})", plural(self.files as u64, "file")) };
        let left_out = match self.left_out {
            0 => String::new(),
            some => format!("; {} left out, see `cru show {}`", plural(some, "file"), self.id),
        };
        format!("{}{copied}{left_out}\n", paint(style::ID, &self.id))
    }
}
