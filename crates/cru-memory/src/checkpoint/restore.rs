//! Going back to a copy: first a plan, then the writes.
//!
//! Only files of the copy are written. A file that was changed since by nobody whose change is kept anywhere is foreign and
//! stays, unless it is forced. Git's index and HEAD are never touched.

use std::fs;
use std::path::{Path, PathBuf};

use cru_base::{Error, Result, files};
use serde::Serialize;

use super::manifest::{CopiedFile, CopyManifest};
use super::object::{LARGEST, ObjectStore};

/// What is to become of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RestoreAct {
    /// It is gone and is written.
    Create,
    /// It has other bytes, which are known elsewhere, and is written.
    Replace,
    /// It was made since and is removed.
    Delete,
    /// It is as it was.
    Same,
    /// It was not there, and is now.
    New,
    /// It was changed by nobody who is known.
    Foreign,
    /// The copy has no bytes of it, or wrong ones.
    Damaged,
    /// It cannot be written: a folder or a link stands there.
    Blocked {
        /// Why.
        why: String,
    },
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoreRow {
    /// As the manifest names it.
    pub path: String,
    /// Where it lies.
    #[serde(skip)]
    pub place: PathBuf,
    /// What is to be done.
    #[serde(flatten)]
    pub act: RestoreAct,
    /// Hash of what it is to become.
    #[serde(skip)]
    pub target: Option<String>,
    /// Whether its owner may run it then.
    #[serde(skip)]
    pub executable: bool,
    /// Its bytes now, where it is replaced or removed.
    #[serde(skip)]
    pub now: Option<Vec<u8>>,
}

impl RestoreRow {
    /// Whether something is written or removed.
    pub const fn changes(&self) -> bool {
        matches!(self.act, RestoreAct::Create | RestoreAct::Replace | RestoreAct::Delete)
    }
}

/// A file that a later step of the session made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFile {
    /// As a manifest would name it.
    pub path: String,
    /// First digits of the BLAKE3 hash of what the session wrote last.
    pub hash: String,
}

/// How to restore.
#[derive(Clone, Debug, Default)]
pub struct RestoreWish {
    /// Only files that are these or lie below; all where empty. As in manifests.
    pub only: Vec<String>,
    /// Whether foreign changes are overwritten.
    pub force: bool,
    /// Whether what was made since is removed.
    pub delete_new: bool,
    /// What later steps made.
    pub made: Vec<MadeFile>,
}

/// Plans to go back to a copy. `is_known` tells of a file's path and present bytes whether they are kept elsewhere: in a
/// copy, in git, or as what a step of the session wrote.
pub fn plan(
    manifest: &CopyManifest,
    store: &ObjectStore,
    wish: &RestoreWish,
    is_known: &dyn Fn(&str, &[u8]) -> bool,
) -> Vec<RestoreRow> {
    let is_meant = |path: &str| {
        let below = |only: &String| {
            path == only || path.strip_prefix(only.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        };
        wish.only.is_empty() || wish.only.iter().any(below)
    };
    let files = manifest.files.iter().filter(|file| is_meant(&file.path));
    let mut rows: Vec<RestoreRow> = files.filter_map(|file| row(file, manifest, store, wish, is_known)).collect();
    if wish.delete_new {
        let known: std::collections::HashSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        let made = wish.made.iter().filter(|made| is_meant(&made.path) && !known.contains(made.path.as_str()));
        for made in made {
            let file =
                CopiedFile { path: made.path.clone(), becomes: Some(made.hash.clone()), ..CopiedFile::default() };
            rows.extend(row(&file, manifest, store, wish, is_known).filter(|row| row.act == RestoreAct::Delete));
        }
    }
    rows
}

fn row(
    file: &CopiedFile,
    manifest: &CopyManifest,
    store: &ObjectStore,
    wish: &RestoreWish,
    is_known: &dyn Fn(&str, &[u8]) -> bool,
) -> Option<RestoreRow> {
    let place = manifest.place(file)?;
    let (act, now) = match (&file.hash, present(&place, manifest.root.as_deref())) {
        (_, Present::Blocked(why)) => (RestoreAct::Blocked { why: why.to_owned() }, None),
        (None, Present::Nothing) => (RestoreAct::Same, None),
        (None, Present::File(bytes)) => {
            let hash = ObjectStore::name(&bytes);
            let is_ours = file.becomes.as_deref().is_some_and(|made| made.len() >= 8 && hash.starts_with(made));
            if is_ours && wish.delete_new { (RestoreAct::Delete, Some(bytes)) } else { (RestoreAct::New, None) }
        }
        (Some(hash), Present::File(bytes)) if ObjectStore::name(&bytes) == *hash => (RestoreAct::Same, None),
        (Some(hash), _) if store.get(hash).is_none() => (RestoreAct::Damaged, None),
        (Some(_), Present::Nothing) => (RestoreAct::Create, None),
        (Some(_), Present::File(bytes)) if wish.force || is_known(&file.path, &bytes) => {
            (RestoreAct::Replace, Some(bytes))
        }
        (Some(_), Present::File(_)) => (RestoreAct::Foreign, None),
    };
    let (path, target, executable) = (file.path.clone(), file.hash.clone(), file.executable);
    Some(RestoreRow { path, place, act, target, executable, now })
}

enum Present {
    Nothing,
    File(Vec<u8>),
    Blocked(&'static str),
}

/// What stands at a path. A folder above it that is a link leads elsewhere than the copy was made of.
fn present(place: &Path, root: Option<&Path>) -> Present {
    let inside = root.filter(|root| place.starts_with(root));
    let mut above = place.parent();
    while let (Some(dir), Some(root)) = (above, inside) {
        if dir == root {
            break;
        }
        match fs::symlink_metadata(dir) {
            Ok(metadata) if metadata.is_symlink() => return Present::Blocked("a folder above it is a link"),
            Ok(metadata) if !metadata.is_dir() => return Present::Blocked("a file stands where its folder was"),
            _ => above = dir.parent(),
        }
    }
    let Ok(metadata) = fs::symlink_metadata(place) else { return Present::Nothing };
    if metadata.is_symlink() {
        return Present::Blocked("a link stands there");
    }
    if metadata.is_dir() {
        return Present::Blocked("a folder stands there");
    }
    if is_gits_own(place) {
        return Present::Blocked("it is git's own");
    }
    match files::read_regular(place, LARGEST) {
        Ok(Some(bytes)) => Present::File(bytes),
        _ => Present::Blocked("it is too large or cannot be read"),
    }
}

/// Whether a path lies in a `.git` folder.
fn is_gits_own(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// The copy of what a plan overwrites and removes, and of what it makes: a restore of it takes the plan back.
pub fn before(rows: &[RestoreRow], store: &ObjectStore, manifest: &mut CopyManifest) -> Result<()> {
    for row in rows.iter().filter(|row| row.changes()) {
        let mut file = CopiedFile { path: row.path.clone(), becomes: row.target.clone(), ..CopiedFile::default() };
        if let Some(bytes) = &row.now {
            let metadata = fs::symlink_metadata(&row.place).map_err(|source| Error::io("read", &row.place, source))?;
            file.hash = Some(store.put(bytes)?);
            file.size = bytes.len() as u64;
            file.executable = files::is_executable(&metadata);
        }
        manifest.files.push(file);
    }
    Ok(())
}

/// Carries out a row; [`Error::Changed`] where the file is no longer as it was planned for.
pub fn apply(row: &RestoreRow, store: &ObjectStore) -> Result<()> {
    if is_gits_own(&row.place) {
        return Ok(());
    }
    let bytes = || {
        let name = row.target.as_deref().unwrap_or_default();
        store.get(name).ok_or_else(|| Error::usage(format!("the copy of {} is damaged", row.path)))
    };
    let changed = || Error::Changed { path: row.place.clone() };
    match (&row.act, &row.now) {
        (RestoreAct::Create, _) => {
            if !files::create(&row.place, &bytes()?)? {
                return Err(changed());
            }
            files::set_executable(&row.place, row.executable)
        }
        (RestoreAct::Replace, Some(now)) => {
            files::replace(&row.place, now, &bytes()?)?;
            files::set_executable(&row.place, row.executable)
        }
        (RestoreAct::Delete, Some(now)) => match files::read_regular(&row.place, LARGEST)? {
            Some(bytes) if bytes == *now => files::remove_unchanged(&row.place, now),
            _ => Err(changed()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::copy::{CopyLimits, CopyWish, copy};
    use super::*;

    struct Lab {
        temp: tempfile::TempDir,
        store: ObjectStore,
        manifest: CopyManifest,
    }

    impl Lab {
        fn new(files: &[(&str, &str)]) -> Self {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path().join("work");
            for (path, text) in files {
                cru_base::files::create(&root.join(path), text.as_bytes()).unwrap();
            }
            let store = ObjectStore::of(temp.path());
            let mut manifest = CopyManifest::default();
            let wish = CopyWish { root: root.clone(), named: vec![root], ..CopyWish::default() };
            copy(&wish, &CopyLimits::default(), &store, &mut manifest);
            Self { temp, store, manifest }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.temp.path().join("work").join(path)
        }

        fn put(&self, path: &str, text: &str) {
            files::put(&self.path(path), text.as_bytes()).unwrap();
        }

        fn plan(&self, wish: &RestoreWish) -> Vec<RestoreRow> {
            plan(&self.manifest, &self.store, wish, &|_, bytes| {
                self.store.has(&ObjectStore::name(bytes)) || bytes == b"known"
            })
        }

        fn acts(&self, wish: &RestoreWish) -> Vec<(String, RestoreAct)> {
            self.plan(wish).into_iter().map(|row| (row.path, row.act)).collect()
        }
    }

    #[test]
    fn what_becomes_of_files() {
        let lab = Lab::new(&[("a", "1"), ("b", "2"), ("c", "3"), ("d/e", "4"), ("f", "5")]);
        files::remove(&lab.path("a")).unwrap();
        lab.put("b", "known");
        lab.put("c", "of somebody");
        files::remove(&lab.path("d/e")).unwrap();
        std::fs::remove_dir(lab.path("d")).unwrap();
        lab.put("d", "a file");
        let blocked = RestoreAct::Blocked { why: "a file stands where its folder was".into() };
        let expected = [
            ("a", RestoreAct::Create),
            ("b", RestoreAct::Replace),
            ("c", RestoreAct::Foreign),
            ("d/e", blocked),
            ("f", RestoreAct::Same),
        ];
        let expected: Vec<(String, RestoreAct)> =
            expected.into_iter().map(|(path, act)| (path.to_owned(), act)).collect();
        assert_eq!(lab.acts(&RestoreWish::default()), expected);
        let forced = RestoreWish { force: true, only: vec!["c".into()], ..RestoreWish::default() };
        assert_eq!(lab.acts(&forced), [("c".to_owned(), RestoreAct::Replace)]);
    }

    #[test]
    fn a_restore_can_be_taken_back() {
        let mut lab = Lab::new(&[("a", "1"), ("b", "2")]);
        files::remove(&lab.path("a")).unwrap();
        lab.put("b", "known");
        let rows = lab.plan(&RestoreWish::default());
        let mut back = CopyManifest { root: lab.manifest.root.clone(), ..CopyManifest::default() };
        before(&rows, &lab.store, &mut back).unwrap();
        for row in &rows {
            apply(row, &lab.store).unwrap();
        }
        assert_eq!(
            (files::read(&lab.path("a")).unwrap(), files::read(&lab.path("b")).unwrap()),
            (b"1".into(), b"2".into())
        );
        lab.manifest = back;
        assert_eq!(lab.acts(&RestoreWish::default())[0].1, RestoreAct::New, "nothing is deleted unasked");
        let rows = lab.plan(&RestoreWish { delete_new: true, ..RestoreWish::default() });
        for row in &rows {
            apply(row, &lab.store).unwrap();
        }
        assert!(!lab.path("a").exists());
        assert_eq!(files::read(&lab.path("b")).unwrap(), b"known");
    }

    #[test]
    fn only_what_the_session_made_is_deleted() {
        let lab = Lab::new(&[("a", "1")]);
        lab.put("made", "by a step");
        lab.put("edited", "since");
        let made = |path: &str, text: &str| MadeFile {
            path: path.into(),
            hash: ObjectStore::name(text.as_bytes())[..16].to_owned(),
        };
        let wish = RestoreWish {
            delete_new: true,
            made: vec![made("made", "by a step"), made("edited", "before"), made("gone", "x")],
            ..RestoreWish::default()
        };
        let deleted: Vec<String> =
            lab.plan(&wish).into_iter().filter(|row| row.act == RestoreAct::Delete).map(|row| row.path).collect();
        assert_eq!(deleted, ["made"]);
        assert!(lab.acts(&RestoreWish { delete_new: false, ..wish }).iter().all(|(_, act)| *act != RestoreAct::Delete));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere() {
        let lab = Lab::new(&[("d/a", "1"), ("b", "2")]);
        files::remove(&lab.path("d/a")).unwrap();
        std::fs::remove_dir(lab.path("d")).unwrap();
        std::os::unix::fs::symlink(lab.temp.path(), lab.path("d")).unwrap();
        files::remove(&lab.path("b")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", lab.path("b")).unwrap();
        assert!(lab.plan(&RestoreWish::default()).iter().all(|row| matches!(row.act, RestoreAct::Blocked { .. })));
    }
}
