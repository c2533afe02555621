//! The vault that all tests of this folder look at: imported once, held in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cru::base::files;
use cru::note::Note;
use cru::session::{Session, read};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::Report;
use cru::vault::Vault;
use tempfile::TempDir;

use crate::transcript_set::TranscriptSet;

use super::raw::{self, Line};

/// An imported vault.
pub(super) struct World {
    /// What was imported.
    pub(super) sources: Vec<PathBuf>,
    /// The account of the import.
    pub(super) report: Report,
    /// Every file of the vault by its path in it.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// The sessions among them.
    pub(super) notes: Vec<Written>,
    /// The transcripts, read without the importer.
    pub(super) raw: Vec<raw::File>,
}

/// One imported note.
pub(super) struct Written {
    pub(super) path: String,
    pub(super) note: Note,
    pub(super) session: Session,
}

impl Written {
    pub(super) fn stem(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md")
    }

    pub(super) fn host_session(&self) -> &str {
        self.session.meta.host_session.as_deref().expect("an imported note names its host session")
    }
}

/// The imported vault of a set.
pub(super) fn world(set: &TranscriptSet) -> &'static World {
    static CORPUS: OnceLock<World> = OnceLock::new();
    static SHARED: OnceLock<World> = OnceLock::new();
    let cell = if set.is_shared() { &SHARED } else { &CORPUS };
    cell.get_or_init(|| {
        let sources = set.folders(&["claude-projects", "claude"]);
        let vault = empty();
        let report = import(vault.path(), &sources);
        let files = snapshot(vault.path());
        let raw = raw::read(&sources);
        let notes = files.iter().filter(|(path, _)| path.ends_with(".md")).map(|(path, bytes)| {
            let note = Note::parse(bytes.clone());
            let (session, _) = read::session(&note);
            Written { path: path.clone(), note, session }
        });
        // Those of projects are no sessions.
        let notes: Vec<_> = notes.filter(|note| note.session.meta.is_session()).collect();
        assert!(notes.len() > set.least(10, 50), "{} notes of {} transcripts", notes.len(), raw.len());
        World { sources, report, notes, raw, files }
    })
}

impl World {
    /// The vault on disk again, as the import left it.
    pub(super) fn on_disk(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in &self.files {
            assert!(files::create(&folder.path().join(path), bytes).unwrap());
        }
        folder
    }

    /// The notes of main sessions and of sub-agents by host session.
    pub(super) fn by_host(&self) -> BTreeMap<&str, &Written> {
        let map: BTreeMap<_, _> = self.notes.iter().map(|note| (note.host_session(), note)).collect();
        assert_eq!(map.len(), self.notes.len(), "one note for each host session");
        map
    }

    /// The raw lines of all files.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.raw.iter().flat_map(|file| &file.lines)
    }
}

pub(super) fn empty() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files::create(&folder.path().join(".cru/config.toml"), b"").unwrap();
    folder
}

/// Imports into the vault at `root`.
pub(super) fn import(root: &Path, sources: &[PathBuf]) -> Report {
    let importer = cru::import::find("claude").expect("a row of the table");
    ingest(&Vault::open(root).unwrap(), importer, sources, &Options::default(), &Unwatched).unwrap()
}

/// All files below `root` with their bytes.
pub(super) fn snapshot(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in below(root) {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        found.insert(name, fs::read(&path).unwrap());
    }
    found
}

/// All files below `root`.
pub(super) fn below(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // The index comes and goes while tests ask the example.
            if path.ends_with(".cru/cache") {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
