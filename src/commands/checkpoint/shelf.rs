//! Where the checkpoints of a session lie, and how a person names one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::commands::session::current_or_newest;
use crate::live::log::Target;
use crate::memory::checkpoint::{CopyManifest, CopyShelf, listing};
use crate::session::Session;
use crate::trace::ProjectRoots;
use crate::vault::state::key;
use crate::vault::{Catalog, State, UserConfig, Vault, VaultPath};

/// The shelves of a session: hooks know it by its host's id.
pub(in crate::commands) struct SessionCopies {
    shelves: Vec<CopyShelf>,
}

impl SessionCopies {
    pub(in crate::commands) fn of(target: &Target, state: &State) -> Self {
        Self { shelves: session_keys(target).iter().map(|key| CopyShelf::of(state.dir(), key)).collect() }
    }

    /// Where new ones go.
    pub(super) fn own(&self) -> &CopyShelf {
        &self.shelves[0]
    }

    /// All manifests, oldest first, and the ids of those that cannot be read.
    pub(in crate::commands) fn all(&self) -> (Vec<CopyManifest>, Vec<String>) {
        let (mut all, mut odd) = (Vec::new(), Vec::new());
        for shelf in &self.shelves {
            let (read, unread) = shelf.all();
            all.extend(read);
            odd.extend(unread);
        }
        all.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        (all, odd)
    }

    /// Writes a manifest that is there anew.
    pub(super) fn put(&self, manifest: &CopyManifest) -> Result<()> {
        let there = self.shelves.iter().find(|shelf| shelf.read(&manifest.id).is_some());
        there.unwrap_or_else(|| self.own()).put(manifest)
    }

    /// Gives a manifest another id, where its note has one of somebody else under it.
    pub(super) fn rename(&self, manifest: &mut CopyManifest) -> Result<()> {
        let there = self.shelves.iter().find(|shelf| shelf.read(&manifest.id).is_some());
        there.unwrap_or_else(|| self.own()).rename(manifest)
    }

    /// Whether there is nothing on it.
    pub(super) fn is_empty(&self) -> bool {
        self.shelves.iter().all(CopyShelf::is_empty)
    }
}

/// Sessions that have checkpoints in a machine's state.
pub(in crate::commands) struct MarkedSessions(HashSet<String>);

impl MarkedSessions {
    pub(in crate::commands) fn of(state: &State) -> Self {
        Self(CopyShelf::keys(state.dir()).into_iter().collect())
    }

    /// Whether a session is one of them.
    pub(in crate::commands) fn has(&self, target: &Target) -> bool {
        !self.0.is_empty() && session_keys(target).iter().any(|key| self.0.contains(key))
    }
}

/// The names of a session in the machine's state: its own, and that which its hooks know it by.
pub(in crate::commands) fn session_keys(target: &Target) -> Vec<String> {
    let host = target.meta.host.as_deref().zip(target.meta.host_session.as_deref());
    let hooked = host.map(|(host, session)| key(&format!("{host}--{session}")));
    std::iter::once(target.key()).chain(hooked).collect()
}

/// The note that a checkpoint stands in, and its id: a place to go on from. `latest` is the last one that its session has.
///
/// Error: there is none, or the note does not tell of it.
pub(in crate::commands) fn place(
    id: &str,
    session: Option<&str>,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<(VaultPath, String)> {
    let state = State::there_or_not(vault, cx.env);
    let named = NamedCheckpoint::find(id, session, vault, &state, cx)?;
    let mut written = listing::written(&named.session).filter_map(|it| it.id.as_deref());
    let is_latest = id.trim().trim_start_matches("cp:") == "latest";
    let found = if is_latest { written.last() } else { written.find(|it| it.eq_ignore_ascii_case(&named.id)) };
    match found {
        Some(id) => Ok((named.target.path.clone(), id.to_owned())),
        None => {
            Err(Error::no(format!("{} does not tell of the checkpoint `{}`", named.target.id, sanitise(&named.id)))
                .with_hint(format!("`cru checkpoint restore {}` puts its files back", sanitise(&named.id))))
        }
    }
}

/// A checkpoint that was named, and its session.
pub(super) struct NamedCheckpoint {
    pub(super) target: Target,
    pub(super) session: Session,
    pub(super) shelf: SessionCopies,
    pub(super) copies: Vec<CopyManifest>,
    pub(super) odd: Vec<String>,
    /// `cp-…`.
    pub(super) id: String,
}

impl NamedCheckpoint {
    /// The checkpoint with an id, in the session that is named; else in whichever has it, the current one first. `latest`
    /// is the last one with a copy that no restore made.
    pub(super) fn find(
        id: &str,
        session: Option<&str>,
        vault: &Vault,
        state: &State,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let catalog = Catalog::read(vault);
        let id = id.trim().trim_start_matches('^').trim_start_matches("cp:");
        let first = match session {
            Some(name) => catalog.session(name, vault, cx.env)?,
            None => current_or_newest(&catalog, vault, cx)?,
        };
        let others = catalog.sessions().filter(|head| session.is_none() && id != "latest" && head.path != first.path);
        for head in std::iter::once(first).chain(others) {
            let target = Target::of(head);
            let shelf = SessionCopies::of(&target, state);
            // Only the first one is read whatever it holds; of the others a copy is needed to find it fast.
            if head.path != first.path && shelf.is_empty() {
                continue;
            }
            let (copies, odd) = shelf.all();
            let session = vault.session(&target.path)?;
            let latest =
                || copies.iter().rfind(|copy| copy.has_copy() && !copy.is_of_restore()).map(|copy| copy.id.clone());
            let is_it = |known: &str| known.eq_ignore_ascii_case(id);
            let written = || listing::written(&session).filter_map(|it| it.id.as_deref());
            let found = if id == "latest" {
                latest().or_else(|| written().last().map(str::to_owned))
            } else {
                let known = copies.iter().map(|copy| copy.id.as_str()).chain(odd.iter().map(String::as_str));
                known.chain(written()).find(|known| is_it(known)).map(str::to_owned)
            };
            if let Some(id) = found {
                return Ok(Self { target, session, shelf, copies, odd, id });
            }
        }
        // It may stand in a session that has no copies here.
        let notes = catalog.sessions().filter(|head| session.is_none() && head.path != first.path);
        for head in notes {
            let needle = format!("^{id}");
            let bytes = vault.read(&head.path)?;
            if memchr::memmem::find(&bytes, needle.as_bytes()).is_some() {
                let target = Target::of(head);
                let shelf = SessionCopies::of(&target, state);
                let (copies, odd) = shelf.all();
                let session = vault.session(&target.path)?;
                return Ok(Self { target, session, shelf, copies, odd, id: id.to_owned() });
            }
        }
        Err(Error::no(format!("no checkpoint `{}`", sanitise(id)))
            .with_hint("`cru list checkpoints` shows those of a session"))
    }

    /// The newest checkpoint with a copy of a file that differs from what is there now, else the newest with one. Those
    /// that a restore made come last.
    pub(super) fn with_file(
        file: &Path,
        session: Option<&str>,
        vault: &Vault,
        state: &State,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let file: PathBuf = file.components().collect();
        let catalog = Catalog::read(vault);
        let now = crate::base::files::read_regular(&file, crate::memory::checkpoint::object::LARGEST).ok().flatten();
        let now = now.map(|bytes| crate::memory::checkpoint::ObjectStore::name(&bytes));
        let wanted = session.map(|name| catalog.session(name, vault, cx.env)).transpose()?;
        // The best by whether a person made it, whether it differs, and when it was made.
        let mut best: Option<(_, Target, SessionCopies, String)> = None;
        for head in catalog.sessions().filter(|head| wanted.is_none_or(|wanted| wanted.path == head.path)) {
            let target = Target::of(head);
            let shelf = SessionCopies::of(&target, state);
            if shelf.is_empty() {
                continue;
            }
            for copy in shelf.all().0 {
                let is_it = |it: &&crate::memory::checkpoint::CopiedFile| {
                    let place = copy.place(&it.at);
                    it.hash.is_some() && place.is_some_and(|place| place.starts_with(&file))
                };
                let Some(found) = copy.files.iter().find(is_it) else { continue };
                let worth = (!copy.is_of_restore(), found.hash != now, copy.time);
                if best.as_ref().is_none_or(|(known, ..)| worth > *known) {
                    best = Some((worth, target.clone(), SessionCopies::of(&target, state), copy.id));
                }
            }
        }
        let Some((_, target, shelf, id)) = best else {
            return Err(Error::no(format!("no checkpoint has a copy of {}", sanitise(&file.to_string_lossy())))
                .with_hint("`cru list checkpoints` shows those of a session, `cru show ID` their files"));
        };
        let (copies, odd) = shelf.all();
        let session = vault.session(&target.path)?;
        Ok(Self { target, session, shelf, copies, odd, id })
    }

    /// Its copy on this machine.
    pub(super) fn copy(&self) -> Option<&CopyManifest> {
        self.copies.iter().find(|copy| copy.id == self.id)
    }

    /// Its copy; an error that says where it is, and which checkpoint before it has one.
    pub(super) fn needed(&self) -> Result<&CopyManifest> {
        if let Some(copy) = self.copy().filter(|copy| !copy.files.is_empty() || !copy.refs.is_empty()) {
            return Ok(copy);
        }
        let why = match self.copy() {
            Some(_) => format!("{} has no copy of files", self.id),
            None if self.odd.contains(&self.id) => format!("the copy of {} cannot be read", self.id),
            None => format!("the copy of {} is on another machine, or was removed", self.id),
        };
        let before = self.before().map_or_else(
            || "`cru show` tells what was open".to_owned(),
            |copy| format!("the checkpoint before it with a copy is {}", copy.id),
        );
        Err(Error::no(why).with_hint(before))
    }

    /// The last checkpoint before it that has a copy.
    pub(super) fn before(&self) -> Option<&CopyManifest> {
        let time =
            self.copy().map(|copy| copy.time).or_else(|| crate::memory::checkpoint::listing::time_of_id(&self.id))?;
        self.copies
            .iter()
            .rfind(|copy| copy.time < time && copy.has_copy() && !copy.is_of_restore() && copy.id != self.id)
    }
}

/// The folder that a session works in: that of its project on this machine, else the one the command was called in.
pub(super) fn folder(target: &Target, cx: &Context<'_>) -> Result<PathBuf> {
    let (user, _) = UserConfig::read(cx.env)?;
    let project = target.meta.project.as_deref().unwrap_or_default();
    let root = ProjectRoots::new(&user.projects, cx.env).root(project);
    Ok(match root {
        // A folder within the project is part of the work.
        Some(root) if !cx.env.cwd().starts_with(&root) => root,
        _ => cx.env.cwd().to_owned(),
    })
}

/// The files that steps of a session wrote, where they are there.
pub(super) fn written(session: &Session, root: &Path, cx: &Context<'_>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for file in session.steps().flat_map(|(_, step)| &step.writes) {
        let path = crate::vault::config::expand_home(&file.path, cx.env).unwrap_or_default();
        let path = if path.is_absolute() { path } else { root.join(&file.path) };
        if path.is_file() && !files.contains(&path) {
            files.push(path);
        }
    }
    files
}
