//! A copy of a project in which commands run without touching it: a worktree of git with the files as they are now,
//! those that are not committed included. It protects the files of the project, and nothing else of the machine.

use std::path::{Path, PathBuf};

use crate::base::{Error, Result, files};
use crate::commands::Context;
use crate::commands::trace::git::Repository;
use crate::commands::trace::run::snapshot::listed;

/// Such a folder. It goes away when dropped.
pub(super) struct Scratch<'a, 'c> {
    /// What is removed at the end.
    whole: PathBuf,
    /// The folder that stands for the project.
    pub(super) dir: PathBuf,
    repository: Option<Repository<'a, 'c>>,
}

impl<'a, 'c> Scratch<'a, 'c> {
    /// Of the project in a folder.
    ///
    /// Errors: there is no cache folder, the project has too many files, or they cannot be copied.
    pub(super) fn of(project: &Path, cx: &'a Context<'c>) -> Result<Self> {
        let cache = cx.env.cache_dir().ok_or_else(|| {
            Error::usage("there is no cache folder").with_hint("set XDG_CACHE_HOME, or use --in tree")
        })?;
        let root = project.canonicalize().map_err(|source| Error::io("read", project, source))?;
        let name = format!("{}-{}", std::process::id(), cx.env.now().as_nanosecond());
        let whole = cache.join("scratch").join(name);
        files::create_private_dir(&cache.join("scratch"))?;
        let repository = Repository::of(&root, cx);
        let top = repository.as_ref().map_or(root.as_path(), Repository::top).to_owned();
        let is_worktree = repository.as_ref().is_some_and(|it| it.commit("HEAD").is_some() && it.add_worktree(&whole));
        if !is_worktree {
            files::create_private_dir(&whole)?;
        }
        let below = root.strip_prefix(&top).unwrap_or(Path::new(""));
        let scratch = Self { dir: whole.join(below), whole, repository: repository.filter(|_| is_worktree) };
        let paths = listed(&top, cx).ok_or_else(|| {
            Error::usage("the project has more than 50,000 files").with_hint("use --in tree, which runs in the project")
        })?;
        for path in paths {
            let from = top.join(&path);
            // What was deleted is not there, and a folder is a repository of its own.
            if from.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
                files::copy(&from, &scratch.whole.join(&path))?;
            }
        }
        files::create_dir(&scratch.dir)?;
        Ok(scratch)
    }
}

impl Drop for Scratch<'_, '_> {
    fn drop(&mut self) {
        if let Some(repository) = &self.repository {
            repository.remove_worktree(&self.whole);
        }
        // Derived, and in a folder of our own; what cannot be removed does no harm there.
        let _ = files::remove_derived(&self.whole);
    }
}
