//! Files as claims ask for them: those of working copies, and those of a commit.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::git::Repository;
use crate::commands::Context;
use crate::trace::{DiskFiles, FileStamp, FileState, LARGEST_FILE, ReadFiles, UnknownReason, newest_name};

/// Files of one commit that are read; each is a call of git.
const MOST_FILES: u32 = 4_096;

/// The working copies of projects. What a file that is gone is called now is asked of git, once for each project.
pub(super) struct WorkingFiles<'a, 'c> {
    cx: &'a Context<'c>,
    disk: DiskFiles,
    /// Renames before this time are not looked at.
    since: Option<Timestamp>,
    renames: RefCell<HashMap<PathBuf, HashMap<String, String>>>,
}

impl<'a, 'c> WorkingFiles<'a, 'c> {
    pub(super) fn new(since: Option<Timestamp>, cx: &'a Context<'c>) -> Self {
        Self { cx, disk: DiskFiles, since, renames: RefCell::default() }
    }

    /// New names of files by their old ones, below a project.
    fn names(&self, root: &Path) -> HashMap<String, String> {
        let Some(repository) = Repository::of(root, self.cx) else { return HashMap::new() };
        let Some(folder) = repository.folder(root) else { return HashMap::new() };
        let below = |name: &str| name.strip_prefix(folder.as_str()).map(str::to_owned);
        let names = repository.renames(self.since, "HEAD");
        names.iter().filter_map(|(old, new)| below(old).zip(below(new))).collect()
    }
}

impl ReadFiles for WorkingFiles<'_, '_> {
    fn read(&self, root: &Path, path: &str) -> FileState {
        self.disk.read(root, path)
    }

    fn stamp(&self, root: &Path, path: &str) -> Option<FileStamp> {
        self.disk.stamp(root, path)
    }

    fn renamed(&self, root: &Path, path: &str) -> Option<String> {
        let known = self.renames.borrow().contains_key(root);
        if !known {
            let names = self.names(root);
            self.renames.borrow_mut().insert(root.to_owned(), names);
        }
        newest_name(self.renames.borrow().get(root)?, path)
    }
}

/// The files of a commit.
pub(super) struct CommitFiles<'a, 'c> {
    repository: &'a Repository<'a, 'c>,
    commit: &'a str,
    renames: HashMap<String, String>,
    read: Cell<u32>,
}

impl<'a, 'c> CommitFiles<'a, 'c> {
    /// Renames before `since` are not looked at.
    pub(super) fn new(repository: &'a Repository<'a, 'c>, commit: &'a str, since: Option<Timestamp>) -> Self {
        let renames = repository.renames(since, commit);
        Self { repository, commit, renames, read: Cell::new(0) }
    }
}

impl ReadFiles for CommitFiles<'_, '_> {
    fn read(&self, root: &Path, path: &str) -> FileState {
        let Some(folder) = self.repository.folder(root) else { return FileState::Unknown(UnknownReason::Outside) };
        self.read.set(self.read.get().saturating_add(1));
        if self.read.get() > MOST_FILES {
            return FileState::Unknown(UnknownReason::TooMuchWork);
        }
        match self.repository.file(self.commit, &format!("{folder}{path}")) {
            Some(bytes) if bytes.len() as u64 > LARGEST_FILE => FileState::Unknown(UnknownReason::Unreadable),
            Some(bytes) => FileState::Bytes(bytes),
            None => FileState::Gone,
        }
    }

    fn renamed(&self, root: &Path, path: &str) -> Option<String> {
        let folder = self.repository.folder(root)?;
        let new = newest_name(&self.renames, &format!("{folder}{path}"))?;
        new.strip_prefix(folder.as_str()).map(str::to_owned)
    }
}
