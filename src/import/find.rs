//! Finding transcripts under given files and folders.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::IMPORTERS;
use crate::base::{Error, Result};
use crate::session::source::Importer;

/// How much of a file is looked at.
const HEAD: u64 = 64 << 10;

/// A search's result.
#[derive(Debug, Default)]
pub struct Found {
    /// Transcripts with the importer that recognised each, by path.
    pub transcripts: Vec<(&'static Importer, PathBuf)>,
    /// Files that were named and that no importer recognises.
    pub strangers: Vec<PathBuf>,
    /// Folders and files that could not be read.
    pub unreadable: Vec<Error>,
}

impl Found {
    /// The transcripts of one importer.
    pub fn of(&self, importer: &Importer) -> Vec<PathBuf> {
        self.transcripts.iter().filter(|(found, _)| found.id == importer.id).map(|(_, path)| path.clone()).collect()
    }
}

/// Looks for transcripts at `paths`: files, and folders with all below them, hidden ones too. Linked folders below are
/// not followed, so that no loop is walked. The result does not depend on the order of `paths`.
///
/// Errors: a path of `paths` that is not there.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    let mut folders = Vec::new();
    for path in paths {
        let meta = fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        if meta.is_dir() {
            folders.push(path.clone());
        } else if !look(path, &mut found) {
            found.strangers.push(path.clone());
        }
    }
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(source) => {
                found.unreadable.push(Error::io("read", &folder, source));
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() || (kind.is_symlink() && path.is_file()) {
                look(&path, &mut found);
            }
        }
    }
    found.transcripts.sort_by(|(_, path), (_, other)| path.cmp(other));
    found.transcripts.dedup_by(|(_, path), (_, other)| path == other);
    found.strangers.sort();
    Ok(found)
}

/// Adds a file that an importer recognises; whether one did or reading failed.
fn look(path: &Path, found: &mut Found) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    if let Err(source) = read {
        found.unreadable.push(Error::io("read", path, source));
        return true;
    }
    let importer = IMPORTERS.iter().find(|importer| (importer.recognise)(path, &head));
    if let Some(importer) = importer {
        found.transcripts.push((importer, path.to_owned()));
    }
    importer.is_some()
}
