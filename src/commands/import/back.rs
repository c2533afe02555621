//! `cru import --undo`: takes back what the last import wrote, where nobody has touched it since.
//!
//! The machine state holds which notes the last import made, with the hash of each, and which it added to. A note is removed only
//! where it is byte for byte as it was made and its transcript is still there to make it again.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::text::{note_name, plural, sanitise};
use crate::base::{Error, Result, files};
use crate::commands::derived::DerivedPages;
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::live::resume::host;
use crate::sync::report::{LeftNote, Outcome, Report};
use crate::vault::writer::Which;
use crate::vault::{Catalog, Head, State, Vault, VaultPath, Writer, project, state};

/// What the writer of notes calls an import.
const LABEL: &str = "import";

/// The last import that wrote something.
#[derive(Debug, Serialize, Deserialize)]
struct LastImport {
    at: Timestamp,
    /// Path and hash of each note that was made.
    made: Vec<(String, String)>,
    /// Path of each note that was added to.
    grown: Vec<String>,
}

/// The notes that `--undo` put back as before an import, each with the revision of that: the next imports leave out what it
/// took, until `--restore`.
fn held_back(state: &State) -> (PathBuf, Vec<(String, u64)>) {
    let path = state.dir().join("held-back.json");
    let bytes = files::read_regular(&path, 16 << 20).ok().flatten().unwrap_or_default();
    (path, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// Keeps that list.
fn hold_back(path: &Path, held: &[(String, u64)]) -> Result<()> {
    let bytes = serde_json::to_vec(held).map_err(|error| Error::internal("encode what is held back", error))?;
    files::put_private(path, &bytes)
}

/// Of how many notes an undoing holds something back still; with `again` it is written into them again first.
pub(super) fn restore(vault: &Vault, state: &State, dry_run: bool, again: bool, cx: &Context<'_>) -> Result<u64> {
    let (path, mut held) = held_back(state);
    if held.is_empty() {
        return Ok(0);
    }
    let (catalog, writer) = (Catalog::read(vault), Writer::new(vault, state, cx.env.now()));
    let (all, mut written, mut left) = (held.len(), 0, 0);
    held.retain(|(session, revision)| {
        let key = state::key(session);
        // A note that is away may come back, and so may a history that cannot be read.
        let head = catalog.heads.iter().find(|head| head.id() == *session);
        let Some((head, writes)) = head.zip(writer.history(&key).ok()) else { return true };
        if !writes.iter().any(|past| past.revision == *revision && !past.undone) {
            return false;
        }
        let undo = || writer.undo(&key, &head.path, Which::Revision(*revision), false);
        let warn = |error: &Error| cx.ui.warn(&format!("{}: {error}", head.path));
        let is_undone = again && !dry_run && undo().inspect_err(warn).is_ok();
        written += u64::from(is_undone);
        left += u64::from(!is_undone);
        !is_undone
    });
    if held.len() < all && !dry_run {
        hold_back(&path, &held)?;
    }
    if written > 0 {
        cx.ui.note(&format!("what an undoing took out is in {} again", plural(written, "note")));
        reading::refresh(vault, None, cx);
    }
    Ok(left)
}

/// Keeps what an import wrote, so that it can be taken back.
pub(super) fn keep<'r>(
    reports: impl Iterator<Item = &'r Report>,
    vault: &Vault,
    state: &State,
    at: Timestamp,
) -> Result<()> {
    let (mut made, mut grown) = (Vec::new(), Vec::new());
    for row in reports.flat_map(|report| &report.sessions) {
        match row.outcome {
            Outcome::Created => made.extend(row.note.clone()),
            Outcome::Updated => grown.extend(row.note.clone()),
            _ => {}
        }
    }
    let hashed = |note: String| {
        let bytes = vault.read(&VaultPath::new(&note)?).ok()?;
        Some((note, blake3::hash(&bytes).to_hex().to_string()))
    };
    let last = LastImport { at, made: made.into_par_iter().filter_map(hashed).collect(), grown };
    let bytes = serde_json::to_vec(&last).map_err(|error| Error::internal("encode the last import", error))?;
    files::put_private(&path(state), &bytes)
}

fn path(state: &State) -> PathBuf {
    state.dir().join("last-import.json")
}

pub(super) fn run(dry_run: bool, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    vault.writable()?;
    let state = State::of(&vault, cx.env)?;
    let none = || Error::no("no import of this machine can be undone").with_hint("`cru undo` takes back single writes");
    let bytes = files::read(&path(&state)).map_err(|_| none())?;
    let last: LastImport = serde_json::from_slice(&bytes).map_err(|_| none())?;
    let pages = (!dry_run).then(|| DerivedPages::begin(&vault, &state, cx));
    let mut report = UndoneImport { schema: 1, at: last.at, dry_run, ..UndoneImport::default() };
    let back = Back { vault: &vault, state: &state, at: last.at, dry_run, cx };
    let mut projects = BTreeSet::new();
    for (note, hash) in &last.made {
        match back.remove(note, hash) {
            Ok(project) => {
                report.removed.push(note.clone());
                projects.extend(project);
            }
            Err(why) => report.left.push(LeftNote { note: note.clone(), why }),
        }
    }
    for note in &last.grown {
        match back.shrink(note) {
            Ok(revision) => report.taken_back.push(TakenBack { note: note.clone(), revision }),
            Err(why) => report.left.push(LeftNote { note: note.clone(), why }),
        }
    }
    if let Some(pages) = pages {
        let (held_path, mut held) = held_back(&state);
        held.extend(
            report
                .taken_back
                .iter()
                .filter_map(|back| Some((Head::read(&vault, VaultPath::new(&back.note)?).id(), back.revision?))),
        );
        hold_back(&held_path, &held)?;
        // What was left stays as it is: it does not wait for another try.
        files::remove(&path(&state))?;
        reading::refresh(&vault, None, cx);
        pages.finish();
    }
    let catalog = Catalog::read(&vault);
    let gone: BTreeSet<String> = report.removed.iter().cloned().collect();
    let is_linked = |note: &VaultPath| {
        let left = catalog.sessions().filter(|head| !gone.contains(&*head.path.text()));
        let links = left.filter_map(|head| Some((head.meta.project_note.as_ref()?, head)));
        links.filter_map(|(link, head)| catalog.note(&link.target, &head.path)).any(|linked| linked.path == *note)
    };
    // A project's note in which nobody wrote goes with the last of its sessions.
    for note in projects.iter().filter_map(|target| VaultPath::new(format!("{target}.md"))) {
        let bytes = vault.read(&note).map(Cow::into_owned).unwrap_or_default();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if dry_run {
            // Its lists still name what would be removed.
            let links: Vec<String> = gone.iter().map(|path| format!("[[{}", note_name(path))).collect();
            text = text
                .lines()
                .filter(|line| !links.iter().any(|link| line.contains(link)))
                .fold(String::new(), |text, line| text + line + "\n");
        }
        let remove = || dry_run || files::remove_unchanged(&vault.file(&note), &bytes).is_ok();
        if !is_linked(&note) && project::is_bare(&text) && remove() {
            report.removed.push(note.to_string());
        }
    }
    Ok(Box::new(report))
}

struct Back<'a> {
    vault: &'a Vault,
    state: &'a State,
    at: Timestamp,
    dry_run: bool,
    cx: &'a Context<'a>,
}

impl Back<'_> {
    /// Removes a note that the import made, and says which note of a project it linked; or why not.
    fn remove(&self, note: &str, hash: &str) -> Result<Option<String>, String> {
        let path = VaultPath::new(note).ok_or("its path is none of the vault")?;
        let bytes = self.vault.read(&path).map_err(|_| "it is not there any more".to_owned())?;
        if blake3::hash(&bytes).to_hex().as_str() != hash {
            return Err("it was changed since".to_owned());
        }
        let head = Head::read(self.vault, path.clone());
        if host::transcript(&head.meta, self.cx.env).is_none() {
            return Err("its transcript is gone, so nothing could make it again".to_owned());
        }
        let project = head.meta.project_note.map(|link| link.target);
        if self.dry_run {
            return Ok(project);
        }
        files::remove_unchanged(&self.vault.file(&path), &bytes).map_err(|error| error.to_string())?;
        Ok(project)
    }

    /// Takes back what the import added to a note, and the revision that does so; or why not.
    fn shrink(&self, note: &str) -> Result<Option<u64>, String> {
        let path = VaultPath::new(note).ok_or("its path is none of the vault")?;
        if !self.vault.file(&path).is_file() {
            return Err("it is not there any more".to_owned());
        }
        let key = state::key(&Head::read(self.vault, path.clone()).id());
        let writer = Writer::new(self.vault, self.state, self.cx.env.now());
        let writes = writer.history(&key).map_err(|error| error.to_string())?;
        let of_import =
            |past: &&crate::vault::writer::Past| past.label == LABEL && past.time == self.at && !past.undone;
        let written = writes.iter().rev().find(of_import).ok_or("the write of the import is not known")?;
        let undone = writer.undo(&key, &path, Which::Revision(written.revision), self.dry_run);
        undone.map(|undone| undone.revision).map_err(|error| error.to_string())
    }
}

/// What became of each note.
#[derive(Debug, Default, Serialize)]
struct UndoneImport {
    schema: u32,
    /// When the import ran.
    at: Timestamp,
    dry_run: bool,
    removed: Vec<String>,
    taken_back: Vec<TakenBack>,
    left: Vec<LeftNote>,
}

/// A note from which something was taken out.
#[derive(Debug, Serialize)]
struct TakenBack {
    note: String,
    /// That of the undoing; none where it was only looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

impl PlainOutput for UndoneImport {
    fn shown(&self, _: &View) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let mut text = String::new();
        if !self.removed.is_empty() {
            let _ = writeln!(text, "{} {would}removed", plural(self.removed.len() as u64, "note"));
        }
        for note in &self.removed {
            let _ = writeln!(text, "  {}", paint(style::DIM, sanitise(note)));
        }
        if !self.taken_back.is_empty() {
            let notes = plural(self.taken_back.len() as u64, "note");
            let _ = writeln!(text, "{notes} {would}put back as before the import");
        }
        for TakenBack { note, .. } in &self.taken_back {
            let _ = writeln!(text, "  {}", paint(style::DIM, sanitise(note)));
        }
        if !self.left.is_empty() {
            let _ = writeln!(
                text,
                "{} left as {}",
                plural(self.left.len() as u64, "note"),
                if self.left.len() == 1 { "it is" } else { "they are" }
            );
            for LeftNote { note, why } in &self.left {
                let _ = writeln!(text, "  {}: {}", sanitise(note), sanitise(why));
            }
        }
        if !(self.removed.is_empty() && self.taken_back.is_empty() || self.dry_run) {
            text.push_str("Later imports leave this so; the same import with --restore takes it back.\n");
        }
        text
    }

    fn is_no(&self) -> bool {
        !self.left.is_empty()
    }
}
