//! What may be removed from a machine's state on request: copies of checkpoints, recovery copies of notes, and what was
//! generated last. Never a note, never evidence.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use cru_base::{Result, files};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::checkpoint::{CopyShelf, ObjectStore};

/// An object that was written so shortly ago may belong to a checkpoint that is being made.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

cru_base::words! {
    /// What is removed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Prunable {
        /// Copies of checkpoints: manifests, and objects that none names any more.
        Copies = "copies",
        /// What `cru` generated last of a session: the next growth of its note compares without it.
        Base = "base",
        /// Copies of notes that were made before risky writes.
        Recovery = "recovery",
    }
}

/// A file that may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedFile {
    /// What it is.
    pub what: Prunable,
    /// Where it lies.
    pub path: PathBuf,
    /// Its bytes on disk.
    pub bytes: u64,
}

/// What is older than `before`, in order of path.
pub fn candidates(state: &Path, wanted: &[Prunable], before: Timestamp, now: Timestamp) -> Vec<PrunedFile> {
    let mut found = Vec::new();
    for what in wanted {
        match what {
            Prunable::Copies => copies(state, before, now, &mut found),
            Prunable::Base => old_files(&state.join("base"), *what, before, &mut found),
            Prunable::Recovery => old_files(&state.join("recovery"), *what, before, &mut found),
        }
    }
    found.sort_by(|a, b| (a.what, &a.path).cmp(&(b.what, &b.path)));
    found
}

/// Removes them; how many files, and bytes.
pub fn remove(found: &[PrunedFile]) -> Result<(u64, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for file in found {
        if files::remove(&file.path)? {
            count += 1;
            bytes += file.bytes;
        }
    }
    Ok((count, bytes))
}

/// Manifests of checkpoints that are older, and the objects that no other manifest names. One that cannot be read names
/// nobody knows what, so that no object goes while there is one.
fn copies(state: &Path, before: Timestamp, now: Timestamp, found: &mut Vec<PrunedFile>) {
    let mut named: HashSet<String> = HashSet::new();
    let mut is_sure = true;
    for key in CopyShelf::keys(state) {
        let shelf = CopyShelf::of(state, &key);
        let (manifests, odd) = shelf.all();
        is_sure &= odd.is_empty();
        for manifest in manifests {
            // One whose callout is not in its note yet is the only trace of what happened.
            if manifest.time < before && !manifest.unwritten {
                let path = state.join("checkpoints").join(&key).join(format!("{}.json", manifest.id));
                let bytes = size(&path);
                found.push(PrunedFile { what: Prunable::Copies, path, bytes });
            } else {
                named.extend(manifest.objects().cloned());
            }
        }
    }
    if !is_sure {
        return;
    }
    for (name, bytes) in ObjectStore::of(state).all() {
        let path = state.join("objects").join(&name[..2]).join(&name);
        let is_fresh = changed(&path).is_none_or(|at| now.duration_since(at) < FRESH);
        if !named.contains(&name) && !is_fresh {
            found.push(PrunedFile { what: Prunable::Copies, path, bytes });
        }
    }
}

/// Files below a folder that were changed before a time; links are not followed.
fn old_files(dir: &Path, what: Prunable, before: Timestamp, found: &mut Vec<PrunedFile>) {
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && changed(&path).is_some_and(|at| at < before) {
                let bytes = size(&path);
                found.push(PrunedFile { what, path, bytes });
            }
        }
    }
}

fn changed(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(fs::symlink_metadata(path).ok()?.modified().ok()?).ok()
}

fn size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{CopiedFile, CopyManifest};

    #[test]
    fn objects_go_when_nobody_names_them() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path();
        let (store, shelf) = (ObjectStore::of(state), CopyShelf::of(state, "s"));
        let time = |day: i8| -> Timestamp { format!("2026-11-{day:02}T10:00:00Z").parse().unwrap() };
        let both = store.put(b"both").unwrap();
        for (day, text) in [(1, &b"old"[..]), (20, b"new")] {
            let file = |hash: String| CopiedFile { hash: Some(hash), ..CopiedFile::default() };
            let files = vec![file(store.put(text).unwrap()), file(both.clone())];
            shelf.add(&mut CopyManifest { time: time(day), files, ..CopyManifest::default() }).unwrap();
        }
        files::create(&state.join("recovery/s/a.md"), b"note").unwrap();
        files::create(&state.join("journal/s.jsonl"), b"{}\n").unwrap();
        let later = Timestamp::from_second(4_000_000_000).unwrap();
        let find = |wanted: &[Prunable], before| candidates(state, wanted, before, later);
        assert_eq!(candidates(state, &[Prunable::Copies], time(10), time(1)).len(), 1, "fresh objects stay");
        let gone = find(&[Prunable::Copies], time(10));
        assert_eq!(gone.len(), 2, "{gone:?}");
        remove(&gone).unwrap();
        assert!(store.has(&both) && store.all().len() == 2 && shelf.all().0.len() == 1);
        assert_eq!(find(&Prunable::ALL, later).len(), 4, "the manifest, two objects, a recovery copy");
        files::put_private(&state.join("checkpoints/s/cp-odd.json"), b"{").unwrap();
        assert_eq!(find(&[Prunable::Copies], later).len(), 1, "what cannot be read may name any object");
        let mut waiting = CopyManifest { time: time(2), unwritten: true, ..CopyManifest::default() };
        shelf.add(&mut waiting).unwrap();
        assert!(
            find(&[Prunable::Copies], later).iter().all(|file| !file.path.ends_with(format!("{}.json", waiting.id)))
        );
        assert!(find(&Prunable::ALL, later).iter().all(|file| !file.path.starts_with(state.join("journal"))));
    }
}
