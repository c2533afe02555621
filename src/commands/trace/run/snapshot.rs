//! The files of a project before and after a command: what differs was written meanwhile.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::commands::Context;
use crate::commands::trace::git::Repository;
use crate::live::file;
use crate::vault::Vault;

/// Files of a project that are looked at; of a larger one only those that are named.
const MOST_FILES: usize = 50_000;

/// A file that changed so shortly before the snapshot may change once more without its time telling it.
const RACY_NANOSECONDS: i128 = 50_000_000;

/// Such files that are read.
const MOST_RACY: usize = 256;

/// The files of a folder, tracked and untracked, but not ignored, with what the system says of them.
#[derive(Debug)]
pub(in crate::commands::trace) struct FilesBefore {
    root: PathBuf,
    files: HashMap<String, FileMark>,
}

/// What a file was like.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileMark {
    len: u64,
    modified: i128,
    /// Time of the last change of what the system keeps of it, and its number; 0 where there is none.
    changed: (i64, i64),
    inode: u64,
    /// Of a file that may change within the same instant.
    hash: Option<String>,
}

/// Files that differ, as paths below the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::commands::trace) struct ChangedFiles {
    pub(in crate::commands::trace) created: Vec<String>,
    pub(in crate::commands::trace) changed: Vec<String>,
    pub(in crate::commands::trace) deleted: Vec<String>,
}

impl FilesBefore {
    /// Of a folder; `None` where it has too many files. What belongs to the vault is left out.
    pub(in crate::commands::trace) fn take(root: &Path, vault: &Vault, cx: &Context<'_>) -> Option<Self> {
        let mut files = HashMap::new();
        let mut racy = 0;
        let now = cx.env.now().as_nanosecond();
        for path in listed(root, cx)? {
            let whole = root.join(&path);
            let Some(mut mark) = FileMark::of(&whole).filter(|_| !is_of_vault(&whole, root, vault)) else { continue };
            // The clock of the tests stands still; a file of the future is as racy as one of this moment.
            if mark.modified + RACY_NANOSECONDS >= now && racy < MOST_RACY {
                racy += 1;
                mark.hash = file::hash(&whole);
            }
            files.insert(path, mark);
        }
        Some(Self { root: root.to_owned(), files })
    }

    /// What differs now.
    pub(in crate::commands::trace) fn changes(&self, vault: &Vault, cx: &Context<'_>) -> ChangedFiles {
        let mut changes = ChangedFiles::default();
        let now = listed(&self.root, cx).unwrap_or_default();
        let known: HashSet<&str> = now.iter().map(String::as_str).collect();
        let gone = self.files.keys().filter(|path| !known.contains(path.as_str())).cloned().collect::<Vec<_>>();
        for path in now.iter().chain(&gone) {
            let whole = self.root.join(path);
            if is_of_vault(&whole, &self.root, vault) {
                continue;
            }
            match (self.files.get(path), FileMark::of(&whole)) {
                (Some(old), Some(new)) if old.differs(&new, &whole) => changes.changed.push(path.clone()),
                (None, Some(_)) => changes.created.push(path.clone()),
                (Some(_), None) => changes.deleted.push(path.clone()),
                _ => {}
            }
        }
        changes.created.sort();
        changes.changed.sort();
        changes.deleted.sort();
        changes
    }
}

impl FileMark {
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok().filter(|it| !it.is_dir())?;
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i128::try_from(since.as_nanos()).ok()).unwrap_or_default();
        let (changed, inode) = numbers(&metadata);
        Some(Self { len: metadata.len(), modified, changed, inode, hash: None })
    }

    fn differs(&self, new: &Self, path: &Path) -> bool {
        let same = Self { hash: None, ..self.clone() } == *new;
        !same || self.hash.is_some() && self.hash != file::hash(path)
    }
}

#[cfg(unix)]
fn numbers(metadata: &Metadata) -> ((i64, i64), u64) {
    use std::os::unix::fs::MetadataExt as _;
    ((metadata.ctime(), metadata.ctime_nsec()), metadata.ino())
}

#[cfg(not(unix))]
fn numbers(_: &Metadata) -> ((i64, i64), u64) {
    ((0, 0), 0)
}

/// The files of a folder, tracked and untracked, but not ignored; `None` where there are too many.
pub(in crate::commands::trace) fn listed(root: &Path, cx: &Context<'_>) -> Option<Vec<String>> {
    let mut paths = match of_git(root, cx) {
        Some(paths) => paths,
        None => walked(root)?,
    };
    paths.sort_unstable();
    paths.dedup();
    (paths.len() <= MOST_FILES).then_some(paths)
}

fn of_git(root: &Path, cx: &Context<'_>) -> Option<Vec<String>> {
    Repository::of(root, cx)?;
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    // Seconds that git may take to list files.
    let answer = cx.ui.git(root, &args, "", 60).ok().filter(|answer| answer.code == Some(0))?;
    let paths = answer.bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    Some(paths.filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect())
}

fn walked(root: &Path) -> Option<Vec<String>> {
    let walk = ignore::WalkBuilder::new(root).hidden(false).require_git(false).build();
    let mut paths = Vec::new();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir())) {
        let path = entry.path().strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
        if path.split('/').next() != Some(".git") {
            paths.push(path);
        }
        if paths.len() > MOST_FILES {
            return None;
        }
    }
    Some(paths)
}

/// Whether a file is one of the vault's own: notes change by what `cru` itself does.
fn is_of_vault(path: &Path, root: &Path, vault: &Vault) -> bool {
    if !path.starts_with(vault.root()) {
        return false;
    }
    let own = [vault.root().join(".cru"), vault.root().join("evidence"), vault.sessions_dir()];
    vault.root() != root && vault.root().starts_with(root) || own.iter().any(|folder| path.starts_with(folder))
}
