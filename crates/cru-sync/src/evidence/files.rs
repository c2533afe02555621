//! Which files a transcript is made of.
//!
//! A note names one file, the one that its first record stands in. A session may have been put together from several:
//! slices of it, which are looked for beside that file. A file that is named after its session holds all of it, so a
//! host's own folders are not searched. Slices in other folders are named nowhere and cannot be found again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cru_session::source::Importer;

/// Folders of more files than this are not searched.
const MOST: usize = 2_000;

/// The files of one transcript.
#[derive(Debug)]
pub(crate) struct Files {
    /// The one that the note names.
    pub(crate) named: PathBuf,
    /// All, in the order they are read, that one among them.
    pub(crate) all: Vec<PathBuf>,
    /// The session whose copies take the place of files that are gone.
    pub(crate) kept: Option<String>,
}

/// The bundles of folders that were searched.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    folders: Mutex<HashMap<PathBuf, Arc<Folder>>>,
}

/// The bundle of each file that is not alone in its own.
type Folder = HashMap<PathBuf, Arc<Vec<PathBuf>>>;

impl Slices {
    /// The files that a session was read from; `named` is one.
    pub(crate) fn files(&self, importer: &Importer, named: PathBuf, session: &str) -> Files {
        let all = if is_named_after(&named, session) { None } else { self.beside(importer, &named) };
        Files { all: all.unwrap_or_else(|| vec![named.clone()]), named, kept: None }
    }

    fn beside(&self, importer: &Importer, named: &Path) -> Option<Vec<PathBuf>> {
        let folder = named.parent()?;
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let known = folders.entry(folder.to_owned()).or_insert_with(|| Arc::new(bundles(importer, folder)));
        known.get(named).map(|files| files.to_vec())
    }
}

fn bundles(importer: &Importer, folder: &Path) -> Folder {
    let Ok(entries) = std::fs::read_dir(folder) else { return Folder::new() };
    let files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let files = files.map(|entry| entry.path()).filter(|path| cru_agents::is_named_so(importer, path));
    let files: Vec<PathBuf> = files.take(MOST + 1).collect();
    if files.len() > MOST {
        return Folder::new();
    }
    let mut folder = Folder::new();
    for bundle in (importer.bundle)(files).unwrap_or_default().into_iter().filter(|bundle| bundle.files.len() > 1) {
        let files = Arc::new(bundle.files);
        folder.extend(files.iter().map(|path| (path.clone(), Arc::clone(&files))));
    }
    folder
}

/// Whether a file has the name of its session, or of its sub-agent.
fn is_named_after(path: &Path, session: &str) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    session.split('/').any(|part| !part.is_empty() && stem.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_named_after_its_session_is_all_of_it() {
        let named = |path: &str, session: &str| is_named_after(Path::new(path), session);
        assert!(named("/p/0f3a.jsonl", "0f3a"));
        assert!(named("/p/0f3a/subagents/agent-a1.jsonl", "0f3a/agent-a1"));
        assert!(named("/p/rollout-2026-01-01-0f3a.jsonl", "0f3a"));
        assert!(!named("/p/part-2.jsonl", "0f3a"));
        assert!(!named("/p/part-2.jsonl", ""));
    }
}
