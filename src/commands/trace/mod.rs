//! Where a line, a step or a decision comes from, what rests on it, and whether it still holds.

pub(super) mod agree;
pub(super) mod bookmark;
pub(super) mod bookmarks;
pub(super) mod deps;
mod files;
mod git;
pub(super) mod probe;
pub(super) mod refs;
pub(super) mod replay;
pub(super) mod resolve;
pub(super) mod run;
pub(super) mod stale;
pub(super) mod verify;
pub(super) mod why;
mod work;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use self::refs::References;
use super::{Context, reading};
use crate::base::Result;
use crate::index::Snapshot;
use crate::session::Session;
use crate::trace::{AnswerCache, ClaimVerdict, ProjectRoots, Work, WorkMember, judge};
use crate::vault::{Catalog, UserConfig, Vault};

/// Bytes of a patch file that are read.
const LARGEST_PATCH: u64 = 256 << 20;

/// What all of these commands begin with.
pub(super) struct TraceWorld {
    pub(super) vault: Vault,
    pub(super) catalog: Catalog,
    pub(super) roots: ProjectRoots,
    snapshot: OnceLock<Arc<Snapshot>>,
}

impl TraceWorld {
    pub(super) fn read(cx: &Context<'_>) -> Result<Self> {
        Self::of(reading::vault(cx)?, OnceLock::new(), cx)
    }

    /// The same for questions that need the index too.
    pub(super) fn read_with_index(cx: &Context<'_>) -> Result<Self> {
        let vault = reading::vault(cx)?;
        let snapshot = reading::snapshot(&vault, cx)?;
        Self::with(vault, snapshot, cx)
    }

    /// The same where the vault was found and its index read before.
    pub(super) fn with(vault: Vault, snapshot: Arc<Snapshot>, cx: &Context<'_>) -> Result<Self> {
        Self::of(vault, snapshot.into(), cx)
    }

    fn of(vault: Vault, snapshot: OnceLock<Arc<Snapshot>>, cx: &Context<'_>) -> Result<Self> {
        let catalog = match snapshot.get() {
            Some(snapshot) => Catalog::of(&vault, snapshot.walk().clone()),
            None => Catalog::read(&vault),
        };
        let catalog = catalog.only(|head| cx.global.reach.allows(&head.meta));
        let (user, _) = UserConfig::read(cx.env)?;
        let roots = ProjectRoots::new(&user.projects, cx.env);
        Ok(Self { vault, catalog, roots, snapshot })
    }

    /// All sessions as they are in the index, which is brought up to date once.
    pub(super) fn snapshot(&self, cx: &Context<'_>) -> Result<&Snapshot> {
        if let Some(snapshot) = self.snapshot.get() {
            return Ok(snapshot);
        }
        let snapshot = reading::snapshot(&self.vault, cx)?;
        Ok(self.snapshot.get_or_init(|| snapshot))
    }

    /// Finds what a person names; `home` is the session of what names none.
    pub(super) fn references<'a, 'c>(&'a self, home: Option<&'a str>, cx: &'a Context<'c>) -> References<'a, 'c> {
        References { vault: &self.vault, catalog: &self.catalog, cx, home, snapshot: Some(&self.snapshot) }
    }

    /// The text of a session's `evidence/<session_id>.patch`; empty where there is none.
    pub(super) fn patch(&self, id: &str) -> String {
        let path = self.vault.root().join("evidence").join(format!("{}.patch", crate::vault::state::key(id)));
        let bytes = crate::base::files::read_regular(&path, LARGEST_PATCH).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Where answers about files are kept.
    fn cache_path(&self) -> Option<PathBuf> {
        Some(self.vault.cache()?.join("files"))
    }

    pub(super) fn answers(&self) -> AnswerCache {
        self.cache_path().map(|path| AnswerCache::read(&path)).unwrap_or_default()
    }

    /// Keeps them; a cache that cannot be written is computed anew.
    pub(super) fn keep(&self, cache: &AnswerCache) {
        let _ = self.cache_path().map(|path| cache.write(&path));
    }
}

/// Something beside sessions that rests on lines of files: as a session whose steps read them.
pub(super) struct JudgedNote {
    pub(super) session: Session,
}

/// What became of the anchors of each, by path, and whether it is of another branch than what is checked out.
pub(super) fn judge_notes(
    notes: &[JudgedNote],
    world: &TraceWorld,
    cx: &Context<'_>,
) -> Vec<(Vec<(String, ClaimVerdict)>, bool)> {
    let since = notes.iter().filter_map(|it| it.session.meta.started).min();
    let files = files::WorkingFiles::new(since, cx);
    let mut cache = world.answers();
    let mut commits: HashMap<PathBuf, Option<(git::Repository<'_, '_>, String)>> = HashMap::new();
    let judged = notes.iter().map(|it| {
        let root = it.session.meta.commit.as_ref().and_then(|_| world.roots.root(project(&it.session)));
        let other_branch = root.is_some_and(|root| {
            let checked_out = commits.entry(root.clone()).or_insert_with(|| {
                let repository = git::Repository::of(&root, cx)?;
                let commit = repository.commit("HEAD")?;
                Some((repository, commit))
            });
            work::is_other_branch(&it.session, checked_out.as_ref())
        });
        let member = WorkMember { session: &it.session, patch: "", other_branch: false, cleared: &[] };
        let steps = judge(&Work { members: vec![member] }, &world.roots, &files, &mut cache, cx.env.now());
        let anchors = steps.into_iter().flat_map(|step| step.anchors).map(|anchor| {
            let place = if anchor.place.is_empty() { String::new() } else { format!(":{}", anchor.place) };
            (format!("{}{place}", anchor.path), anchor.verdict)
        });
        (anchors.collect(), other_branch)
    });
    let judged = judged.collect();
    world.keep(&cache);
    judged
}

/// The line of the note, from 1, at which a byte stands.
pub(super) fn line_of(vault: &Vault, path: &crate::vault::VaultPath, offset: usize) -> u64 {
    let bytes = vault.read(path).unwrap_or_default();
    let end = offset.min(bytes.len());
    1 + memchr::memchr_iter(b'\n', &bytes[..end]).count() as u64
}

/// The project of a session, as its note names it.
pub(super) fn project(session: &Session) -> &str {
    session.meta.project.as_deref().unwrap_or_default()
}
