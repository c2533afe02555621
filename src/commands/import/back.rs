//! `cru import --undo`: takes back what the last import wrote, where nobody has touched it since.
//!
//! The machine state holds which notes the last import made, with the hash of each, and which it added to. A note is removed only
//! where it is byte for byte as it was made and its transcript is still there to make it again.

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result, files};
use crate::commands::derived::DerivedPages;
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::live::resume::host;
use crate::sync::report::{LeftNote, Outcome, Report};
use crate::vault::writer::Which;
use crate::vault::{Head, State, Vault, VaultPath, Writer, state};

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
    for (note, hash) in &last.made {
        match back.remove(note, hash) {
            Ok(()) => report.removed.push(note.clone()),
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
        // What was left stays as it is: it does not wait for another try.
        files::remove(&path(&state))?;
        reading::refresh(&vault, None, cx);
        pages.finish();
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
    /// Removes a note that the import made; or why not.
    fn remove(&self, note: &str, hash: &str) -> Result<(), String> {
        let path = VaultPath::new(note).ok_or("its path is none of the vault")?;
        let bytes = self.vault.read(&path).map_err(|_| "it is not there any more".to_owned())?;
        if blake3::hash(&bytes).to_hex().as_str() != hash {
            return Err("it was changed since".to_owned());
        }
        let head = Head::read(self.vault, path.clone());
        if host::transcript(&head.meta, self.cx.env).is_none() {
            return Err("its transcript is gone, so nothing could make it again".to_owned());
        }
        if self.dry_run {
            return Ok(());
        }
        files::remove_unchanged(&self.vault.file(&path), &bytes).map_err(|error| error.to_string())
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
        for TakenBack { note, revision } in &self.taken_back {
            let again = revision.map(|revision| {
                let session = note.rsplit('/').next().unwrap_or(note).trim_end_matches(".md");
                format!("  (`cru undo --session {session} --write r{revision}` takes that back)")
            });
            let _ = writeln!(text, "  {}{}", paint(style::DIM, sanitise(note)), sanitise(&again.unwrap_or_default()));
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
        if !self.removed.is_empty() && !self.dry_run {
            text.push_str("`cru import --restore` makes removed notes again\n");
        }
        text
    }

    fn is_no(&self) -> bool {
        !self.left.is_empty()
    }
}
