//! Machine state that belongs to a vault and lies under another name: of the time before the vault was moved, or while
//! its configuration could not be read.
//!
//! The name of a state folder has the vault's id and path in it, so a move begins a new one, as does a configuration
//! whose id cannot be read. What lies in the old one is brought over at the next contact: entries that wait, displaced files, recovery copies, and the log of
//! operations where the new one has written nothing yet. The state of a copy stays with the vault that was copied, as
//! long as that one is at its place; where it is not (its disk is away too), the copy is taken for the vault that
//! moved.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::folder::MARK;
use super::journal::{Journal, Mark};
use super::operations::Operations;
use super::{State, Vault};
use cru_base::{Error, Result, files};

/// How far the journals of a state were brought over to another.
const BROUGHT: &str = "brought";

/// The file in a state folder that says where its vault was.
const PLACE: &str = "vault";

/// The file in a state folder that says that all of it was brought over.
const ADOPTED: &str = "adopted";

/// Brings what waits in other state folders of the vault to `dir`, its own; where there is none yet, the newest of them
/// becomes it. What cannot be brought over stays where it is.
pub(super) fn adopt(vault: &Vault, dir: &Path) {
    for other in others(vault, dir) {
        let (from, to) = (State::at(&other), State::at(dir));
        let is_renamed = !dir.exists() && files::rename(&other, dir).is_ok();
        if !is_renamed {
            let is_brought = bring_over(&from, &to).is_ok();
            move_files(&from, &to);
            if is_brought && !has_journal(&other) {
                // Without the mark it is looked at again, and nothing is lost.
                let _ = files::put_private(&other.join(ADOPTED), b"");
            }
        }
        // Displaced files lie in the vault where the state is on another file system.
        move_all(&from.displaced_inside(vault.root()), &to.displaced_inside(vault.root()));
    }
}

/// Stands for the id of a vault whose configuration names none or cannot be read.
pub(super) const NO_ID: &str = "vault";

/// Notes where the vault is, unless that is noted.
pub(super) fn note_place(vault: &Vault, dir: &Path) {
    let place = place(vault);
    let path = dir.join(PLACE);
    let noted = files::read(&path).unwrap_or_default();
    if noted != place.as_os_str().as_encoded_bytes() {
        // Without it the vault is not found again after a move; nothing else is lost.
        let _ = files::put_private(&path, place.as_os_str().as_encoded_bytes());
    }
}

/// Other state folders of the vault, newest first. `dir` is its own.
pub(super) fn others(vault: &Vault, dir: &Path) -> Vec<PathBuf> {
    let (Some(above), Some(own)) = (dir.parent(), dir.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let Some((id, hash)) = own.rsplit_once('-') else { return Vec::new() };
    let is_other = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((other, other_hash)) = name.rsplit_once('-') else { return false };
        let is_ours = match other_hash == hash {
            // A vault in the place of one that is gone has its own id, and starts afresh.
            true => name != own && (id == NO_ID || other == NO_ID),
            // Two ids say alone whether it is the same vault: notes of one name lie in many vaults.
            false if id != NO_ID && other != NO_ID => other == id && is_moved(path),
            false => is_moved(path) && knows_its_notes(vault, path),
        };
        is_ours && (has_journal(path) || !path.join(ADOPTED).exists())
    };
    let folders = std::fs::read_dir(above).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> = folders.filter(|path| path.is_dir() && is_other(path)).collect();
    others.sort_by_key(|path| std::cmp::Reverse(std::fs::metadata(path).and_then(|it| it.modified()).ok()));
    others
}

/// The newest state folder of the vault's path, whatever its id was.
pub(super) fn of_path(dir: &Path) -> Option<PathBuf> {
    let hash = dir.file_name()?.to_str()?.rsplit_once('-')?.1.to_owned();
    let folders = std::fs::read_dir(dir.parent()?).ok()?.flatten().map(|entry| entry.path());
    let is_of = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
        name.is_some_and(|(_, other)| other == hash) && path.is_dir()
    };
    folders.filter(is_of).max_by_key(|path| std::fs::metadata(path).and_then(|it| it.modified()).ok())
}

/// Whether the vault of a state folder is not where it was.
fn is_moved(dir: &Path) -> bool {
    let Ok(noted) = files::read(&dir.join(PLACE)) else { return false };
    let Ok(noted) = String::from_utf8(noted) else { return false };
    // A folder that cannot be asked, on a disk or share that is away, is not moved.
    !noted.is_empty() && matches!(Path::new(&noted).join(MARK).try_exists(), Ok(false))
}

/// Whether a journal lies in a state folder.
fn has_journal(dir: &Path) -> bool {
    std::fs::read_dir(dir.join("journal")).is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether a session that a state folder knows has its note in the vault.
fn knows_its_notes(vault: &Vault, dir: &Path) -> bool {
    let sessions = vault.sessions_dir();
    ["operations", "known"].iter().any(|folder| {
        let names = std::fs::read_dir(dir.join(folder)).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .map(|name| name.strip_suffix(".jsonl").unwrap_or(&name).to_owned())
            .any(|stem| sessions.join(format!("{stem}.md")).is_file())
    })
}

/// Appends the entries that wait in one state's journals to those of another, each once.
fn bring_over(from: &State, to: &State) -> Result<()> {
    let names = std::fs::read_dir(from.dir().join("journal")).into_iter().flatten().flatten();
    let names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let _lock = files::lock(&to.lock("adopt"))?;
    let mut consumed = consumed(from);
    let mut brought = brought(from);
    consumed.extend(brought.clone());
    for key in names.iter().filter_map(|name| name.strip_suffix(".jsonl")) {
        let old = Journal::at(from.journal(key));
        let read = old.read(consumed.get(key))?;
        let new = Journal::at(to.journal(key));
        let there: HashSet<String> = new.read(None)?.entries.into_iter().map(|entry| entry.id).collect();
        for entry in read.entries.iter().filter(|entry| !there.contains(&entry.id)) {
            new.append_again(entry)?;
        }
        // Who appends to it in this moment has it stay, and what cannot be read stays: how far it was brought over is
        // noted.
        if read.odd > 0 || !old.remove_if_at(&read.mark)? {
            brought.insert(key.to_owned(), read.mark);
            let text =
                serde_json::to_vec(&brought).map_err(|error| Error::internal("encode a state's marks", error))?;
            files::put_private(&from.dir().join(BROUGHT), &text)?;
        }
    }
    Ok(())
}

/// Moves what a state holds beside its journals: displaced files and recovery copies; all that its writes left where
/// the other state has written nothing.
fn move_files(from: &State, to: &State) {
    let _lock = files::lock(&to.lock("adopt"));
    if !to.dir().join("operations").exists() && !to.dir().join("writer").exists() {
        for name in ["writer", "mark", "operations", "base", "known", "regions"] {
            // What cannot be moved stays where it is.
            let _ = files::rename(&from.dir().join(name), &to.dir().join(name));
        }
    }
    // Objects come before the checkpoints that name them.
    for name in ["displaced", "recovery", "objects", "checkpoints"] {
        move_all(&from.dir().join(name), &to.dir().join(name));
    }
}

/// Moves the files of the folders in `from` to those of the same name in `to`. A file whose name is taken stays.
fn move_all(from: &Path, to: &Path) {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    for folder in entries(from) {
        let target = to.join(folder.file_name());
        if !folder.path().is_dir() || files::create_private_dir(&target).is_err() {
            continue;
        }
        for file in entries(&folder.path()) {
            let place = target.join(file.file_name());
            if place.symlink_metadata().is_err() {
                let _ = files::rename(&file.path(), &place);
            }
        }
    }
}

/// How far a state's journals were brought over.
fn brought(state: &State) -> BTreeMap<String, Mark> {
    let bytes = files::read(&state.dir().join(BROUGHT)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// How far a state's journals are consumed.
fn consumed(state: &State) -> BTreeMap<String, Mark> {
    let logs = std::fs::read_dir(state.dir().join("operations")).into_iter().flatten().flatten();
    let newest = logs.filter_map(|entry| Operations::at(entry.path()).newest().ok().flatten());
    newest.flat_map(|record| record.consumed).collect()
}

/// The vault's path as it is noted.
fn place(vault: &Vault) -> PathBuf {
    vault.root().canonicalize().unwrap_or_else(|_| vault.root().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_with_a_torn_line_is_brought_over_once() {
        let temp = tempfile::tempdir().unwrap();
        let (from, to) = (State::at(temp.path().join("from")), State::at(temp.path().join("to")));
        let line = "\n{\"id\":\"x\",\"time\":\"2026-11-20T00:00:00Z\",\"event\":{}}\n\n{\"id\":\"torn";
        files::put(&from.journal("s"), line.as_bytes()).unwrap();
        let count = || Journal::at(to.journal("s")).read(None).unwrap().entries.len();
        bring_over(&from, &to).unwrap();
        assert_eq!(count(), 1);
        // What was consumed is compacted away in the new state; the old journal still stands.
        files::remove(&to.journal("s")).unwrap();
        bring_over(&from, &to).unwrap();
        assert_eq!(count(), 0, "it was brought over before");
        assert!(from.journal("s").exists(), "what cannot be read stays where it is");
    }

    #[test]
    fn displaced_files_and_the_log_come_along() {
        let temp = tempfile::tempdir().unwrap();
        let (from, to) = (State::at(temp.path().join("from")), State::at(temp.path().join("to")));
        files::create_private_dir(&to.dir().join("locks")).unwrap();
        for path in [from.displaced("s").join("r1_x"), from.recovery("s").join("r1.md"), from.operations("s")] {
            files::put(&path, b"old").unwrap();
        }
        files::put(&to.recovery("s").join("r2.md"), b"new").unwrap();
        move_files(&from, &to);
        assert!(to.displaced("s").join("r1_x").exists() && to.recovery("s").join("r1.md").exists());
        assert!(to.recovery("s").join("r2.md").exists() && to.operations("s").exists());

        // A state that has written keeps its own log.
        files::put(&from.operations("s"), b"other").unwrap();
        move_files(&from, &to);
        assert_eq!(std::fs::read(to.operations("s")).unwrap(), b"old");
        assert!(from.operations("s").exists());
    }
}
