//! `cru checkpoint restore`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::make::hostname;
use super::shelf::NamedCheckpoint;
use super::{CheckpointKind, write_waiting};
use crate::base::text::{one_line, plural};
use crate::base::{Error, Result};
use crate::commands::{Context, Output, View, reading};
use crate::live::entry::{self, Entry};
use crate::live::hook::HookEntry;
use crate::live::log::Log;
use crate::memory::checkpoint::restore::{MadeFile, RestoreAct, RestoreRow, RestoreWish, apply, before, plan};
use crate::memory::checkpoint::{CopyManifest, ObjectStore};
use crate::session::Session;
use crate::vault::{Journal, State, Vault};

/// Put the files of a checkpoint's copy back
///
/// Shows what it will do, makes a checkpoint of the present files first, and writes only files of the copy: git's index
/// and HEAD stay as they are. A file that was changed since, by no step of the session and with no copy anywhere, is
/// refused unless --force is given. Nothing is deleted unless --delete-new is given, and then only what a later step of
/// the session made and nobody changed. The last line is the command that takes it back.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which: `cp-20261116-101212`, or `latest`
    #[arg(value_name = "ID")]
    id: String,
    /// Only these files, or what lies below these folders
    paths: Vec<String>,
    /// Delete what was made since by the session
    #[arg(long)]
    delete_new: bool,
    /// Overwrite files that somebody else changed
    #[arg(long)]
    force: bool,
    /// Show what would be done
    #[arg(long)]
    dry_run: bool,
    /// In this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let named = NamedCheckpoint::find(&args.id, args.session.as_deref(), &vault, &state, cx)?;
    let copy = named.needed()?.clone();
    let root = copy.root.clone().unwrap_or_default();
    if !root.is_dir() {
        return Err(Error::no(format!("the folder {} is not on this machine", root.display())));
    }
    let store = ObjectStore::of(state.dir());
    let steps = step_hashes(&named, &state);
    let git = git_blobs(&copy, &root, cx);
    let is_known = |path: &str, bytes: &[u8]| {
        let hash = ObjectStore::name(bytes);
        store.has(&hash)
            || git.contains(&(path.to_owned(), hash.clone()))
            || steps.iter().any(|step| step.len() >= 8 && hash.starts_with(step.as_str()))
    };
    let wish = RestoreWish {
        only: args.paths.iter().map(|path| relative(path, &root, cx)).collect(),
        force: args.force,
        delete_new: args.delete_new,
        made: if args.delete_new { made_since(&named.session, &copy) } else { Vec::new() },
    };
    let rows = plan(&copy, &store, &wish, &is_known);
    if rows.is_empty() {
        return Err(Error::no(format!("the copy of {} has no such file", named.id))
            .with_hint(format!("`cru checkpoint show {}` lists its files", named.id)));
    }
    let mut report = Restored {
        schema: 1,
        id: named.id.clone(),
        session: named.target.id.clone(),
        dry_run: args.dry_run,
        rows,
        failed: Vec::new(),
        undo: None,
        instead: None,
    };
    if report.count(|act| *act == RestoreAct::Damaged) > 0 {
        report.instead = named.before().map(|copy| copy.id.clone());
    }
    if args.dry_run || !report.rows.iter().any(RestoreRow::changes) {
        return Ok(Box::new(report));
    }
    // The way back comes first.
    let mut back = CopyManifest {
        time: cx.env.now(),
        kind: CheckpointKind::Manual,
        title: format!("before restore of {}", named.id),
        root: Some(root.clone()),
        host: hostname(cx),
        unwritten: true,
        ..CopyManifest::default()
    };
    before(&report.rows, &store, &mut back)?;
    named.shelf.own().add(&mut back)?;
    for row in &report.rows {
        if let Err(error) = apply(row, &store) {
            report.failed.push(FailedRow { path: row.path.clone(), why: error.to_string() });
        }
    }
    let undo = if report.count(|act| *act == RestoreAct::Create) > 0 { " --delete-new" } else { "" };
    report.undo = Some(format!("cru checkpoint restore {}{undo}", back.id));
    // The files are back whatever becomes of the note.
    if let Err(error) = note(&report, &named, &vault, &state, cx) {
        cx.ui.warn(&format!("the note of {} does not tell of it yet: {error}", named.target.id));
    }
    reading::refresh(&vault, None, cx);
    Ok(Box::new(report))
}

/// Writes the callouts of the checkpoint before, and of the restore.
fn note(report: &Restored, named: &NamedCheckpoint, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<()> {
    let log = Log::new(vault, state, cx.env.now())?;
    write_waiting(&log, &named.target, cx)?;
    let done = report.rows.iter().filter(|row| row.changes()).count() - report.failed.len();
    let undo = report.undo.as_deref().unwrap_or_default();
    let title = format!("Restored {}", report.id);
    let text = format!("{}.\nUndo: `{undo}`", plural(done as u64, "file"));
    let entry = Entry::Summary(entry::Summary { title, text, ..entry::Summary::default() });
    let entry = log.masked(entry).map_err(|bad| Error::usage(bad.message))?;
    log.add(&named.target, &entry)?;
    log.flush(&named.target, "checkpoint restore").map(drop)
}

/// A path of the command line as a manifest names it.
fn relative(path: &str, root: &Path, cx: &Context<'_>) -> String {
    let given = cx.absolute(Path::new(path));
    // Named from the top of the project, or from the folder the command was called in.
    let inside = given.strip_prefix(root).ok().filter(|_| !root.join(path).exists() || given == root.join(path));
    inside.map_or_else(|| path.trim_start_matches("./").to_owned(), |path| path.to_string_lossy().replace('\\', "/"))
}

/// Hashes of whole files that steps of the session wrote, as far as note and journal tell.
fn step_hashes(named: &NamedCheckpoint, state: &State) -> HashSet<String> {
    let written = named.session.steps().flat_map(|(_, step)| &step.writes).filter(|file| file.lines.is_empty());
    let mut hashes: HashSet<String> = written.filter_map(|file| file.hash.clone()).collect();
    let meta = &named.target.meta;
    if let (Some(host), Some(id)) = (meta.host.as_deref(), meta.host_session.as_deref()) {
        let journal = Journal::at(state.journal(&crate::vault::state::key(&format!("{host}--{id}"))));
        let lines = journal.read(None).map(|read| read.entries).unwrap_or_default();
        let entries = lines.iter().filter_map(|line| serde_json::from_str::<HookEntry>(line.event.get()).ok());
        hashes.extend(entries.flat_map(|entry| entry.files).map(|file| file.hash).filter(|hash| !hash.is_empty()));
    }
    hashes
}

/// Path and BLAKE3 of what git has of the files of a copy, in its HEAD and index.
fn git_blobs(copy: &CopyManifest, root: &Path, cx: &Context<'_>) -> HashSet<(String, String)> {
    const SECONDS: u64 = 30;
    let mut found = HashSet::new();
    if !root.join(".git").exists() {
        return found;
    }
    let plain = |path: &&str| !path.contains('\n') && !Path::new(path).is_absolute();
    for path in copy.files.iter().map(|file| file.path.as_str()).filter(plain) {
        if copy.files.iter().any(|file| file.path == path && file.untracked) {
            continue;
        }
        for of in ["HEAD", ""] {
            let answer = cx.ui.git(root, &["cat-file", "blob", &format!("{of}:{path}")], "", SECONDS);
            if let Ok(answer) = answer
                && answer.code == Some(0)
            {
                found.insert((path.to_owned(), ObjectStore::name(&answer.bytes)));
            }
        }
    }
    found
}

/// Files that steps behind the checkpoint made, with the hash of what was written last.
fn made_since(session: &Session, copy: &CopyManifest) -> Vec<MadeFile> {
    let mut made: Vec<MadeFile> = Vec::new();
    for (_, step) in session.steps().filter(|(_, step)| step.time.is_some_and(|time| time > copy.time)) {
        for file in step.writes.iter().filter(|file| file.lines.is_empty()) {
            let Some(hash) = &file.hash else { continue };
            match made.iter_mut().find(|known| known.path == file.path) {
                Some(known) => known.hash.clone_from(hash),
                None if file.created => made.push(MadeFile { path: file.path.clone(), hash: hash.clone() }),
                None => {}
            }
        }
    }
    made
}

#[derive(Debug, Serialize)]
struct FailedRow {
    path: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct Restored {
    schema: u32,
    id: String,
    session: String,
    dry_run: bool,
    rows: Vec<RestoreRow>,
    failed: Vec<FailedRow>,
    /// The command that takes it back.
    undo: Option<String>,
    /// The checkpoint before it with a copy, where this one is damaged.
    instead: Option<String>,
}

impl Restored {
    fn count(&self, is: impl Fn(&RestoreAct) -> bool) -> usize {
        self.rows.iter().filter(|row| is(&row.act)).count()
    }
}

impl Output for Restored {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        for row in self.rows.iter().filter(|row| row.act != RestoreAct::Same) {
            let path = one_line(&row.path);
            let _ = match &row.act {
                RestoreAct::Create => writeln!(out, "create   {path}"),
                RestoreAct::Replace => writeln!(out, "replace  {path}"),
                RestoreAct::Delete => writeln!(out, "delete   {path}"),
                RestoreAct::New => writeln!(out, "stays    {path}: it was not there"),
                RestoreAct::Foreign => {
                    writeln!(out, "refused  {path}: somebody else changed it; --force overwrites it")
                }
                RestoreAct::Damaged => writeln!(out, "refused  {path}: its copy is damaged"),
                RestoreAct::Blocked { why } => writeln!(out, "refused  {path}: {why}"),
                RestoreAct::Same => Ok(()),
            };
        }
        for it in &self.failed {
            let _ = writeln!(out, "failed   {}: {}", one_line(&it.path), one_line(&it.why));
        }
        let same = self.count(|act| *act == RestoreAct::Same);
        if same > 0 {
            let _ = writeln!(out, "{} as in the copy", plural(same as u64, "file"));
        }
        if let Some(instead) = &self.instead {
            let _ = writeln!(out, "the checkpoint before {} with a copy is {instead}", self.id);
        }
        match (&self.undo, self.dry_run) {
            (Some(undo), _) => {
                let done = self.rows.iter().filter(|row| row.changes()).count() - self.failed.len();
                let _ = writeln!(out, "Restored {} of {}. Undo: {undo}", plural(done as u64, "file"), self.id);
            }
            (None, true) => out.push_str("nothing was written (--dry-run)\n"),
            (None, false) => out.push_str("nothing to write\n"),
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    /// Something was refused or failed.
    fn exit_code(&self) -> u8 {
        let refused =
            |act: &RestoreAct| matches!(act, RestoreAct::Foreign | RestoreAct::Damaged | RestoreAct::Blocked { .. });
        u8::from(self.count(refused) > 0 || !self.failed.is_empty())
    }
}
