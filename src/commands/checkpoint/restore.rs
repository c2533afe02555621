//! `cru checkpoint restore`.

mod report;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::make::{hostname, top_of};
use super::refs;
use super::shelf::NamedCheckpoint;
use super::{CheckpointKind, write_waiting};
use crate::base::text::plural;
use crate::base::{Error, Result, files};
use crate::commands::{Context, Output, reading};
use crate::live::entry::{self, Entry};
use crate::live::hook::HookEntry;
use crate::live::log::Log;
use crate::memory::checkpoint::blob::blob_id;
use crate::memory::checkpoint::choose::path_of;
use crate::memory::checkpoint::restore::{
    EntryKind, MadeFile, RestoreRow, RestoreWish, apply, before, close_folders, plan,
};
use crate::memory::checkpoint::{CopyManifest, ObjectStore};
use crate::session::Session;
use crate::vault::{Journal, State, Vault};
use report::{FailedRow, KeptElsewhere, Restored};

/// Put the files of a checkpoint's copy back
///
/// Shows what it will do, makes a checkpoint of the present files first, and writes only files of the copy: git's index
/// and HEAD stay as they are. Branches, tags and stashes that are gone are made again; those that are there stay. A file
/// that was changed since, by no step of the session and with no copy anywhere, is refused unless --force is given, and so
/// is one outside of the project unless it is named; each refusal names the command that goes on. Nothing is deleted
/// unless --delete-new is given, and then only what a later step of the session made and nobody changed. The last line
/// is the command that takes it back.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 all is back, 1 something was refused, 2 usage error, 3 something could not be written."
)]
pub(super) struct Args {
    /// Which: `cp-20261116-101212`, `latest` (of those that no restore made), or a FILE: the newest copy of it
    #[arg(value_name = "ID|FILE")]
    id: String,
    /// Only these files, or what lies below these folders
    paths: Vec<String>,
    /// Put the files below this folder, and leave their own places as they are
    #[arg(long, value_name = "DIR", conflicts_with_all = ["delete_new", "force"])]
    into: Option<PathBuf>,
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
    let store = ObjectStore::of(state.dir());
    let file = (!is_id(&args.id)).then_some(args.id.as_str());
    let named = match file {
        Some(file) => {
            NamedCheckpoint::with_file(&cx.absolute(Path::new(file)), args.session.as_deref(), &vault, &state, cx)?
        }
        None => NamedCheckpoint::find(&args.id, args.session.as_deref(), &vault, &state, cx)?,
    };
    let copy = named.needed()?.clone();
    let root = copy.root.clone().unwrap_or_default();
    let into = args.into.as_deref().map(|dir| cx.absolute(dir));
    if into.is_none() && !root.is_dir() {
        let hint = format!("`cru checkpoint restore {} --into DIR` puts the files below another folder", named.id);
        return Err(Error::no(format!("the folder {} is not on this machine", root.display())).with_hint(hint));
    }
    let steps = step_hashes(&named, &state);
    let git = GitBlobs::of(&root, cx);
    let is_known = |path: &Path, bytes: &[u8]| {
        let hash = ObjectStore::name(bytes);
        store.has(&hash)
            || git.has(path, bytes)
            || steps.iter().any(|step| step.len() >= 8 && hash.starts_with(step.as_str()))
    };
    let only = file.into_iter().chain(args.paths.iter().map(String::as_str));
    let wish = RestoreWish {
        only: only.map(|path| relative(path, &root, cx)).collect(),
        force: args.force,
        delete_new: args.delete_new,
        made: if args.delete_new { made_since(&named.session, &copy) } else { Vec::new() },
        into: into.clone(),
    };
    let rows = plan(&copy, &store, &wish, &is_known);
    let takes_refs = wish.only.is_empty() && into.is_none() && !copy.refs.is_empty();
    if rows.is_empty() && !takes_refs {
        return Err(Error::no(format!("the copy of {} has no such file", named.id))
            .with_hint(format!("`cru show {}` lists its files", named.id)));
    }
    let mut report = Restored::of(&named.id, &named.target.id, args.dry_run, rows);
    if wish.only.is_empty() {
        report.left_out.clone_from(&copy.left_out);
    }
    report.elsewhere = kept_elsewhere(&report.rows, &named, &git, file.is_some());
    if report.is_damaged() {
        report.instead = named.before().map(|copy| copy.id.clone());
    }
    let refs = |dry| match top_of(&root) {
        Some(top) if takes_refs => refs::restore(&copy.refs, top, &store, dry, cx),
        _ => Vec::new(),
    };
    if args.dry_run || !report.rows.iter().any(RestoreRow::changes) {
        report.refs = refs(args.dry_run);
        return Ok(Box::new(report));
    }
    if let Some(into) = into {
        write(&mut report, &store, &into);
        return Ok(Box::new(report));
    }
    // The way back comes first.
    let mut back = CopyManifest {
        time: cx.env.now(),
        kind: CheckpointKind::Manual,
        title: format!("before restore of {}", named.id),
        root: Some(root.clone()),
        host: hostname(cx),
        restores: Some(named.id.clone()),
        unwritten: true,
        ..CopyManifest::default()
    };
    let kept = before(&report.rows, &store, &mut back).and_then(|()| named.shelf.own().add(&mut back));
    let again = format!("nothing was restored; once that is mended, `cru checkpoint restore {}` does it", named.id);
    kept.map_err(|error| error.with_hint(again))?;
    write(&mut report, &store, &root);
    report.refs = refs(false);
    let creates = report.rows.iter().any(|row| row.kind != EntryKind::Folder && row.now.is_none() && row.changes());
    let undo = if creates { " --delete-new" } else { "" };
    report.undo = Some(format!("cru checkpoint restore {}{undo}", back.id));
    // The files are back whatever becomes of the note.
    if let Err(error) = note(&report, &named, &vault, &state, cx) {
        cx.ui.warn(&format!("the note of {} does not tell of it yet: {error}", named.target.id));
    }
    reading::refresh(&vault, None, cx);
    Ok(Box::new(report))
}

/// Whether an argument names a checkpoint, and no file.
fn is_id(text: &str) -> bool {
    let id = text.trim().trim_start_matches('^').trim_start_matches("cp:");
    id == "latest" || id.starts_with("cp-") && !id.contains(['/', '.'])
}

/// Writes what is planned.
fn write(report: &mut Restored, store: &ObjectStore, root: &Path) {
    files::confine(root);
    for row in &report.rows {
        if let Err(error) = apply(row, store, root) {
            report.failed.push(FailedRow { path: row.path.clone(), why: error.to_string() });
        }
    }
    close_folders(&report.rows);
}

/// Where else there are bytes of files that are not put back; with `all`, of every file.
fn kept_elsewhere(rows: &[RestoreRow], named: &NamedCheckpoint, git: &GitBlobs, all: bool) -> Vec<KeptElsewhere> {
    let wanted = rows.iter().filter(|row| row.kind != EntryKind::Folder && (all || row.act.is_refusal()));
    let one = |row: &RestoreRow| {
        let copies = named.copies.iter().rev().filter(|copy| copy.id != named.id);
        let copies = copies.filter_map(|copy| {
            let file = copy
                .files
                .iter()
                .find(|file| file.hash.is_some() && copy.place(&file.at).as_ref() == Some(&row.place))?;
            let same = if file.hash == row.target { "the same bytes" } else { "other bytes" };
            Some(format!("{} ({same})", copy.id))
        });
        let mut places: Vec<String> = copies.collect();
        if git.knows(&row.at.real()) {
            places.push("git".to_owned());
        }
        KeptElsewhere { path: row.path.clone(), places }
    };
    wanted.map(one).filter(|it| !it.places.is_empty()).collect()
}

/// Writes the callouts of the checkpoint before, and of the restore.
fn note(report: &Restored, named: &NamedCheckpoint, vault: &Vault, state: &State, cx: &Context<'_>) -> Result<()> {
    let log = Log::new(vault, state, cx.env.now())?;
    write_waiting(&log, &named.target, cx)?;
    let done = report.done();
    let undo = report.undo.as_deref().unwrap_or_default();
    let title = format!("Restored {}", report.id);
    let text = format!("{}.\nUndo: `{undo}`", plural(done, "file"));
    let entry = Entry::Summary(entry::Summary { title, text, ..entry::Summary::default() });
    let entry = log.masked(entry).map_err(|bad| Error::usage(bad.message))?;
    log.add(&named.target, &entry)?;
    log.flush(&named.target, "checkpoint restore").map(drop)
}

/// A path of the command line as a manifest names it.
fn relative(path: &str, root: &Path, cx: &Context<'_>) -> PathBuf {
    let given: PathBuf = cx.absolute(Path::new(path)).components().collect();
    // Named from the folder the command was called in, or from the top of the project.
    match given.strip_prefix(root) {
        Ok(inside) if !root.join(path).exists() || given == root.join(path) => inside.to_owned(),
        _ if Path::new(path).is_absolute() => given,
        _ => Path::new(path).components().filter(|part| *part != std::path::Component::CurDir).collect(),
    }
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

/// What git has in its HEAD and index, by path.
struct GitBlobs(HashSet<(PathBuf, String)>);

impl GitBlobs {
    fn of(root: &Path, cx: &Context<'_>) -> Self {
        let mut found = HashSet::new();
        for args in [&["ls-files", "-z", "--stage"][..], &["ls-tree", "-r", "-z", "HEAD"]] {
            let answer = if root.join(".git").exists() { cx.ui.git(root, args, "", 30).ok() } else { None };
            let bytes = answer.filter(|answer| answer.code == Some(0)).map(|answer| answer.bytes).unwrap_or_default();
            for line in bytes.split(|byte| *byte == 0) {
                let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
                let facts = String::from_utf8_lossy(&line[..tab]).into_owned();
                let id = facts.split(' ').find(|word| word.len() >= 40);
                found.extend(id.map(|id| (path_of(&line[tab + 1..]), id.to_owned())));
            }
        }
        Self(found)
    }

    fn has(&self, path: &Path, bytes: &[u8]) -> bool {
        let ids = [blob_id(bytes, ""), blob_id(bytes, &"0".repeat(64))];
        ids.into_iter().any(|id| self.0.contains(&(path.to_owned(), id)))
    }

    fn knows(&self, path: &Path) -> bool {
        self.0.iter().any(|(known, _)| known == path)
    }
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
