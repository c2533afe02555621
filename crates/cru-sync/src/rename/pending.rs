//! Renames whose links may not all be rewritten yet: one file each in the machine state, until they are.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RenameGround, Renamed};
use cru_base::files;
use cru_vault::state::key;
use cru_vault::{Catalog, Head, State, Vault, VaultPath};

/// A note that got another path.
#[derive(Debug, Serialize, Deserialize)]
pub struct MovedNote {
    /// `session_id` of the note.
    pub session: String,
    /// Its path before.
    pub from: String,
    /// Its path after.
    pub to: String,
}

/// Notes a rename that is about to be done.
pub(super) fn note(state: &State, head: &Head, to: &VaultPath) {
    let pending = MovedNote { session: head.id(), from: head.path.text().into_owned(), to: to.text().into_owned() };
    if let Ok(bytes) = serde_json::to_vec(&pending) {
        let _ = files::put_private(&place(state, &pending.session), &bytes);
    }
}

/// All links of a session's note lead to it.
pub(super) fn done(state: &State, session: &str) {
    let _ = files::remove(&place(state, session));
}

/// Rewrites the links that renames which did not come to their end left; how many. A rename that goes on in another process
/// is left to that.
pub fn finish(vault: &Vault, state: &State, now: Timestamp) -> usize {
    let Ok(entries) = std::fs::read_dir(folder(state)) else { return 0 };
    let mut links = 0;
    // One whose name begins with a dot is still being written.
    for entry in entries.flatten().filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")) {
        let read = || files::read(&entry.path()).ok().map(|bytes| serde_json::from_slice::<MovedNote>(&bytes));
        let relinked = match read() {
            None => continue,
            Some(Err(_)) => None,
            Some(Ok(pending)) => {
                let Ok(Some(_lock)) = files::try_lock(&state.lock(&key(&pending.session))) else { continue };
                // It may have come to its end before it let the lock go.
                if !entry.path().exists() {
                    continue;
                }
                Some(finish_one(&pending, vault, state, now))
            }
        };
        links += relinked.as_ref().map_or(0, |renamed| renamed.links);
        if relinked.is_none_or(|renamed| renamed.failed.is_empty()) {
            let _ = files::remove(&entry.path());
        }
    }
    links
}

fn finish_one(pending: &MovedNote, vault: &Vault, state: &State, now: Timestamp) -> Renamed {
    let mut renamed = Renamed::default();
    let Catalog { mut heads, others, findings, .. } = Catalog::read(vault);
    let (Some(from), Some(to)) = (VaultPath::new(&pending.from), VaultPath::new(&pending.to)) else { return renamed };
    let is_taken = heads.iter().any(|head| head.path == from);
    let Some(moved) = heads.iter_mut().find(|head| head.path == to && head.id() == pending.session) else {
        return renamed;
    };
    // Not renamed after all, or another note has the name by now.
    if is_taken {
        return renamed;
    }
    // Links are resolved as they were before the note had its new name.
    moved.path = from.clone();
    heads.sort_by(|one, other| one.path.cmp(&other.path));
    let catalog = Catalog::new(heads, others, findings);
    if let Some(head) = catalog.at(&from) {
        RenameGround { vault, catalog: &catalog, state, now }.relink(head, &to, false, &mut renamed);
    }
    renamed
}

fn folder(state: &State) -> PathBuf {
    state.dir().join("renames")
}

fn place(state: &State, session: &str) -> PathBuf {
    folder(state).join(format!("{}.json", key(session)))
}
