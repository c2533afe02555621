//! Going back to a copy: first a plan, then the writes.
//!
//! Only files of the copy are written. A file that was changed since by nobody whose change is kept anywhere is foreign and
//! stays, unless it is forced. Git's index and HEAD are never touched. No link is followed, and nothing outside of the
//! copy's root is written unless it is named.

use std::fs;
use std::path::{Component, Path, PathBuf};

use cru_base::{Error, Result, files};
use serde::Serialize;

use super::manifest::{CopiedFile, CopyManifest, StoredPath};
use super::object::{LARGEST, ObjectStore};

/// What is to become of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RestoreAct {
    /// It is gone and is written.
    Create,
    /// It has other bytes, which are known elsewhere, and is written.
    Replace,
    /// It has other permissions, and gets its own again.
    Mode,
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
    /// It lies outside of the project, and was not named.
    Outside,
}

impl RestoreAct {
    /// Whether the copy has something that is not put back.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Foreign | Self::Damaged | Self::Blocked { .. } | Self::Outside)
    }
}

/// What stands or is to stand at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    #[default]
    File,
    /// A symbolic link; its bytes are what it points to.
    Link,
    /// A folder.
    Folder,
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoreRow {
    /// As the manifest shows it.
    pub path: String,
    /// As the manifest has it.
    #[serde(skip)]
    pub at: StoredPath,
    /// Where it lies.
    #[serde(skip)]
    pub place: PathBuf,
    /// What is to be done.
    #[serde(flatten)]
    pub act: RestoreAct,
    /// What it is to be.
    #[serde(skip)]
    pub kind: EntryKind,
    /// Hash of what it is to become.
    #[serde(skip)]
    pub target: Option<String>,
    /// Its permissions then, where they are known.
    #[serde(skip)]
    pub mode: Option<u32>,
    /// Whether its owner may run it then, where no more is known.
    #[serde(skip)]
    pub executable: bool,
    /// Its bytes now, where it is replaced or removed.
    #[serde(skip)]
    pub now: Option<Vec<u8>>,
}

impl RestoreRow {
    /// Whether something is written or removed.
    pub const fn changes(&self) -> bool {
        matches!(self.act, RestoreAct::Create | RestoreAct::Replace | RestoreAct::Mode | RestoreAct::Delete)
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
    pub only: Vec<PathBuf>,
    /// Whether foreign changes are overwritten.
    pub force: bool,
    /// Whether what was made since is removed.
    pub delete_new: bool,
    /// What later steps made.
    pub made: Vec<MadeFile>,
    /// Where the files are put instead of their own places.
    pub into: Option<PathBuf>,
}

impl RestoreWish {
    fn is_meant(&self, path: &Path) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| path.starts_with(only))
    }
}

/// Plans to go back to a copy. `is_known` tells of a file's path and present bytes whether they are kept elsewhere: in a
/// copy, in git, or as what a step of the session wrote.
pub fn plan(
    manifest: &CopyManifest,
    store: &ObjectStore,
    wish: &RestoreWish,
    is_known: &dyn Fn(&Path, &[u8]) -> bool,
) -> Vec<RestoreRow> {
    let ground = Ground::new(manifest, store, wish, is_known);
    let files = manifest.files.iter().filter(|file| wish.is_meant(&file.at.real()));
    let mut rows: Vec<RestoreRow> = ground.folders();
    rows.extend(files.map(|file| ground.row(file)));
    if wish.delete_new && wish.into.is_none() {
        let known: std::collections::HashSet<PathBuf> = manifest.files.iter().map(|file| file.at.real()).collect();
        for made in &wish.made {
            let path = PathBuf::from(&made.path);
            if !wish.is_meant(&path) || known.contains(&path) {
                continue;
            }
            let at = StoredPath { path: made.path.clone(), raw: None };
            let file = CopiedFile { becomes: Some(made.hash.clone()), ..CopiedFile::missing(at) };
            rows.extend(Some(ground.row(&file)).filter(|row| row.act == RestoreAct::Delete));
        }
    }
    rows
}

/// What a plan is made of.
struct Ground<'a> {
    manifest: &'a CopyManifest,
    store: &'a ObjectStore,
    wish: &'a RestoreWish,
    is_known: &'a dyn Fn(&Path, &[u8]) -> bool,
    root: PathBuf,
    /// Whether the copy has git's own folder, and it is gone as a whole.
    is_git_gone: bool,
}

impl<'a> Ground<'a> {
    fn new(
        manifest: &'a CopyManifest,
        store: &'a ObjectStore,
        wish: &'a RestoreWish,
        is_known: &'a dyn Fn(&Path, &[u8]) -> bool,
    ) -> Self {
        let root = wish.into.clone().or_else(|| manifest.root.clone()).unwrap_or_default();
        let is_git_gone = fs::symlink_metadata(root.join(".git")).is_err();
        Self { manifest, store, wish, is_known, root, is_git_gone }
    }

    /// Where a path of the manifest is put.
    fn place(&self, at: &StoredPath) -> Option<PathBuf> {
        let place = self.manifest.place(at)?;
        let Some(into) = &self.wish.into else { return Some(place) };
        let inside = place.strip_prefix(self.manifest.root.as_deref()?).ok().map(Path::to_owned);
        // What lay outside lies there as well, by its whole path.
        let below =
            |path: &Path| path.components().filter(|part| matches!(part, Component::Normal(_))).collect::<PathBuf>();
        Some(into.join(inside.unwrap_or_else(|| Path::new("outside").join(below(&place)))))
    }

    /// Whether a path lies outside of the root and nobody named it.
    fn is_outside(&self, at: &StoredPath, place: &Path) -> bool {
        let path = at.real();
        self.wish.into.is_none()
            && !place.starts_with(&self.root)
            && (self.wish.only.is_empty()
                || !self.wish.only.iter().any(|only| only.is_absolute() && path.starts_with(only)))
    }

    /// The folders of the copy that are gone.
    fn folders(&self) -> Vec<RestoreRow> {
        let meant = self.manifest.folders.iter().filter(|folder| self.wish.is_meant(&folder.at.real()));
        let row = |folder: &super::CopiedFolder| {
            let place = self.place(&folder.at)?;
            let is_free = self.may_write(&place).is_ok() && !self.is_outside(&folder.at, &place);
            let is_gone = fs::symlink_metadata(&place).is_err();
            (is_free && is_gone).then(|| RestoreRow {
                path: format!("{}/", folder.at.path),
                at: folder.at.clone(),
                place,
                act: RestoreAct::Create,
                kind: EntryKind::Folder,
                target: None,
                mode: folder.mode,
                executable: false,
                now: None,
            })
        };
        meant.filter_map(row).collect()
    }

    fn row(&self, file: &CopiedFile) -> RestoreRow {
        let place = self.place(&file.at);
        let (act, now) = match &place {
            None => (RestoreAct::Blocked { why: "its path leads out of the project".to_owned() }, None),
            Some(place) if self.is_outside(&file.at, place) => (RestoreAct::Outside, None),
            Some(place) => self.act(file, place),
        };
        let (target, executable) = (file.hash.clone(), file.executable);
        let kind = if file.link { EntryKind::Link } else { EntryKind::File };
        let (at, path) = (file.at.clone(), file.at.path.clone());
        RestoreRow { path, at, place: place.unwrap_or_default(), act, kind, target, mode: file.mode, executable, now }
    }

    fn act(&self, file: &CopiedFile, place: &Path) -> (RestoreAct, Option<Vec<u8>>) {
        let blocked = |why: &str| (RestoreAct::Blocked { why: why.to_owned() }, None);
        let present = match self.may_write(place) {
            Ok(()) => present(place),
            Err(why) => return blocked(why),
        };
        match (&file.hash, present) {
            (_, Present::Blocked(why)) => blocked(why),
            (None, Present::Nothing) => (RestoreAct::Same, None),
            (None, Present::Link(bytes) | Present::File(bytes, _)) => {
                let hash = ObjectStore::name(&bytes);
                let is_ours = file.becomes.as_deref().is_some_and(|made| made.len() >= 8 && hash.starts_with(made));
                if is_ours && self.wish.delete_new {
                    (RestoreAct::Delete, Some(bytes))
                } else {
                    (RestoreAct::New, None)
                }
            }
            (Some(hash), Present::Link(bytes)) if file.link && ObjectStore::name(&bytes) == *hash => {
                (RestoreAct::Same, None)
            }
            (Some(hash), Present::File(bytes, mode)) if !file.link && ObjectStore::name(&bytes) == *hash => {
                match (file.mode, mode) {
                    (Some(was), Some(is)) if was & 0o777 != is & 0o777 => (RestoreAct::Mode, Some(bytes)),
                    _ => (RestoreAct::Same, None),
                }
            }
            (Some(hash), _) if self.store.get(hash).is_none() => (RestoreAct::Damaged, None),
            (Some(_), Present::Nothing) => (RestoreAct::Create, None),
            (Some(_), Present::Link(_)) => blocked("a link stands there"),
            (Some(_), Present::File(..)) if file.link => blocked("a file stands where a link was"),
            (Some(_), Present::File(..)) if self.wish.into.is_some() => blocked("a file stands there"),
            (Some(_), Present::File(..)) if is_gits_own(place) => blocked("it is git's own"),
            (Some(_), Present::File(bytes, _)) if self.wish.force || (self.is_known)(&file.at.real(), &bytes) => {
                (RestoreAct::Replace, Some(bytes))
            }
            (Some(_), Present::File(..)) => (RestoreAct::Foreign, None),
        }
    }

    /// Whether a path may be written: what lies above it are folders, none of them a link.
    fn may_write(&self, place: &Path) -> std::result::Result<(), &'static str> {
        // In git's own folder only what was there comes back: the whole, or hooks and what a person wrote beside them.
        let inside = place.strip_prefix(&self.root).unwrap_or(place);
        let parts: Vec<&std::ffi::OsStr> = inside.components().map(Component::as_os_str).collect();
        if let Some(at) = parts.iter().position(|part| *part == ".git") {
            let is_persons =
                parts.get(at + 1).is_some_and(|part| *part == "hooks" || *part == "info") && parts.len() > at + 2;
            let is_whole = if at == 0 {
                self.is_git_gone
            } else {
                fs::symlink_metadata(self.root.join(parts[..=at].iter().collect::<PathBuf>())).is_err()
            };
            if !is_persons && !is_whole {
                return Err("it is git's own");
            }
        }
        above_is_plain(place, &self.root)
    }
}

/// Whether the folders above a path are no links and no files: those below the root, or all where it lies outside.
fn above_is_plain(place: &Path, root: &Path) -> std::result::Result<(), &'static str> {
    for dir in place.ancestors().skip(1).take_while(|dir| *dir != root) {
        match fs::symlink_metadata(dir) {
            Ok(metadata) if metadata.is_symlink() => return Err("a folder above it is a link"),
            Ok(metadata) if !metadata.is_dir() => return Err("a file stands where its folder was"),
            _ => {}
        }
    }
    Ok(())
}

enum Present {
    Nothing,
    File(Vec<u8>, Option<u32>),
    Link(Vec<u8>),
    Blocked(&'static str),
}

/// What stands at a path.
fn present(place: &Path) -> Present {
    let Ok(metadata) = fs::symlink_metadata(place) else { return Present::Nothing };
    if metadata.is_symlink() {
        let target = fs::read_link(place).map(|target| target.as_os_str().as_encoded_bytes().to_vec());
        return target.map_or(Present::Blocked("a link stands there"), Present::Link);
    }
    if metadata.is_dir() {
        return Present::Blocked("a folder stands there");
    }
    match files::read_regular(place, LARGEST) {
        Ok(Some(bytes)) => Present::File(bytes, files::mode(&metadata)),
        _ => Present::Blocked("it is too large or cannot be read"),
    }
}

/// Whether a path lies in a `.git` folder.
fn is_gits_own(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// The copy of what a plan overwrites and removes, and of what it makes: a restore of it takes the plan back.
pub fn before(rows: &[RestoreRow], store: &ObjectStore, manifest: &mut CopyManifest) -> Result<()> {
    for row in rows.iter().filter(|row| row.changes() && row.kind != EntryKind::Folder) {
        let mut file = CopiedFile { becomes: row.target.clone(), ..CopiedFile::missing(row.at.clone()) };
        if let Some(bytes) = &row.now {
            let metadata = fs::symlink_metadata(&row.place).map_err(|source| Error::io("read", &row.place, source))?;
            file.hash = Some(store.put(bytes)?);
            file.size = bytes.len() as u64;
            file.mode = files::mode(&metadata);
        }
        manifest.files.push(file);
    }
    Ok(())
}

/// Carries out a row; [`Error::Changed`] where the file is no longer as it was planned for. `root`: the folder below which
/// no link is followed.
pub fn apply(row: &RestoreRow, store: &ObjectStore, root: &Path) -> Result<()> {
    let changed = || Error::Changed { path: row.place.clone() };
    let bytes = || {
        let name = row.target.as_deref().unwrap_or_default();
        store.get(name).ok_or_else(|| Error::usage(format!("the copy of {} is damaged", row.path)))
    };
    if !row.changes() {
        return Ok(());
    }
    // Once more: somebody may have put a link there since.
    above_is_plain(&row.place, root).map_err(|_| changed())?;
    let is_plain = || fs::symlink_metadata(&row.place).is_ok_and(|it| it.is_file());
    match (&row.act, &row.now, row.kind) {
        (RestoreAct::Create, _, EntryKind::Folder) => {
            files::create_dir(&row.place)?;
            row.mode.map_or(Ok(()), |mode| files::set_mode(&row.place, mode | 0o700))
        }
        (RestoreAct::Create, _, kind) => {
            if let Some(dir) = row.place.parent() {
                files::create_dir(dir)?;
            }
            let mode = row.mode.unwrap_or(if row.executable { 0o755 } else { 0o644 });
            let made = match kind {
                EntryKind::Link => files::create_link(&row.place, &super::choose::path_of(&bytes()?))?,
                _ => files::create_as(&row.place, &bytes()?, mode)?,
            };
            if made { Ok(()) } else { Err(changed()) }
        }
        (RestoreAct::Replace, Some(now), _) if is_plain() => {
            files::replace(&row.place, now, &bytes()?)?;
            match row.mode {
                Some(mode) => files::set_mode(&row.place, mode),
                None => files::set_executable(&row.place, row.executable),
            }
        }
        (RestoreAct::Mode, _, _) if is_plain() => row.mode.map_or(Ok(()), |mode| files::set_mode(&row.place, mode)),
        (RestoreAct::Delete, Some(now), _) if matches!(present(&row.place), Present::Link(it) if it == *now) => {
            files::remove(&row.place).map(drop)
        }
        (RestoreAct::Delete, Some(now), _) => match files::read_regular(&row.place, LARGEST)? {
            Some(bytes) if bytes == *now && is_plain() => files::remove_unchanged(&row.place, now),
            _ => Err(changed()),
        },
        _ => Err(changed()),
    }
}

/// Gives folders that a restore made their own permissions, once their files are in them.
pub fn close_folders(rows: &[RestoreRow]) {
    for row in rows.iter().rev().filter(|row| row.kind == EntryKind::Folder && row.changes()) {
        if let Some(mode) = row.mode.filter(|mode| mode & 0o700 != 0o700) {
            // One that cannot be closed is its owner's alone.
            let _ = files::set_mode(&row.place, mode);
        }
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
            if path.is_empty() { self.temp.path().join("work") } else { self.temp.path().join("work").join(path) }
        }

        fn put(&self, path: &str, text: &str) {
            files::put(&self.path(path), text.as_bytes()).unwrap();
        }

        fn plan(&self, wish: &RestoreWish) -> Vec<RestoreRow> {
            plan(&self.manifest, &self.store, wish, &|_: &Path, bytes: &[u8]| {
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
        let forced = RestoreWish { force: true, only: vec![PathBuf::from("c")], ..RestoreWish::default() };
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
            apply(row, &lab.store, &lab.path("")).unwrap();
        }
        assert_eq!(
            (files::read(&lab.path("a")).unwrap(), files::read(&lab.path("b")).unwrap()),
            (b"1".into(), b"2".into())
        );
        lab.manifest = back;
        assert_eq!(lab.acts(&RestoreWish::default())[0].1, RestoreAct::New, "nothing is deleted unasked");
        let rows = lab.plan(&RestoreWish { delete_new: true, ..RestoreWish::default() });
        for row in &rows {
            apply(row, &lab.store, &lab.path("")).unwrap();
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

    #[cfg(unix)]
    #[test]
    fn modes_links_and_empty_folders_come_back() {
        let lab = Lab::new(&[("d/key", "1"), ("d/run", "2")]);
        files::set_mode(&lab.path("d/key"), 0o600).unwrap();
        files::set_mode(&lab.path("d/run"), 0o755).unwrap();
        files::create_dir(&lab.path("d/empty")).unwrap();
        std::os::unix::fs::symlink("key", lab.path("d/link")).unwrap();
        files::set_mode(&lab.path("d"), 0o700).unwrap();
        let mut manifest = CopyManifest::default();
        let wish = CopyWish { root: lab.path(""), named: vec![lab.path("d")], ..CopyWish::default() };
        copy(&wish, &CopyLimits::default(), &lab.store, &mut manifest);
        files::remove_derived(&lab.path("d")).unwrap();
        let lab = Lab { manifest, ..lab };
        let rows = lab.plan(&RestoreWish::default());
        let mut back = CopyManifest { root: Some(lab.path("")), ..CopyManifest::default() };
        before(&rows, &lab.store, &mut back).unwrap();
        let apply_all = |rows: &[RestoreRow]| {
            for row in rows {
                apply(row, &lab.store, &lab.path("")).unwrap();
            }
        };
        apply_all(&rows);
        close_folders(&rows);
        let mode = |path: &str| files::mode(&fs::symlink_metadata(lab.path(path)).unwrap()).unwrap() & 0o777;
        assert_eq!((mode("d"), mode("d/key"), mode("d/run")), (0o700, 0o600, 0o755));
        assert!(lab.path("d/empty").is_dir());
        assert_eq!(fs::read_link(lab.path("d/link")).unwrap(), Path::new("key"));
        files::set_mode(&lab.path("d/key"), 0o644).unwrap();
        assert!(lab.acts(&RestoreWish::default()).contains(&("d/key".to_owned(), RestoreAct::Mode)));
        // Taking it back takes the link away, not what it leads to, and no link that somebody made since.
        let undo = RestoreWish { delete_new: true, ..RestoreWish::default() };
        let taken = plan(&back, &lab.store, &undo, &|_, _| true);
        assert!(taken.iter().any(|row| row.path == "d/link" && row.act == RestoreAct::Delete), "{taken:?}");
        let link: Vec<RestoreRow> = taken.into_iter().filter(|row| row.path == "d/link").collect();
        apply_all(&link);
        assert!(fs::symlink_metadata(lab.path("d/link")).is_err() && lab.path("d/key").is_file());
        std::os::unix::fs::symlink("run", lab.path("d/link")).unwrap();
        let again = plan(&back, &lab.store, &undo, &|_, _| true);
        assert!(again.iter().all(|row| row.path != "d/link" || row.act == RestoreAct::New));
    }

    #[test]
    fn nothing_leads_out_of_the_project() {
        let mut lab = Lab::new(&[("a", "1")]);
        let (outside, hash) = (lab.temp.path().join("outside"), lab.manifest.files[0].hash.clone());
        let file = |path: &str| CopiedFile {
            hash: hash.clone(),
            ..CopiedFile::missing(StoredPath { path: path.into(), raw: None })
        };
        lab.manifest.files =
            vec![file("../outside"), file(outside.to_str().unwrap()), file("x/../../outside"), file(".git/config")];
        files::create_dir(&lab.path(".git")).unwrap();
        let acts: Vec<RestoreAct> = lab.acts(&RestoreWish::default()).into_iter().map(|(_, act)| act).collect();
        assert!(acts.iter().all(RestoreAct::is_refusal), "{acts:?}");
        let named = RestoreWish { only: vec![outside.clone()], ..RestoreWish::default() };
        assert_eq!(lab.acts(&named), [(outside.to_str().unwrap().to_owned(), RestoreAct::Create)]);
        let into =
            RestoreWish { into: Some(lab.temp.path().join("into")), only: vec![outside], ..RestoreWish::default() };
        assert!(lab.plan(&into).iter().all(|row| row.place.starts_with(lab.temp.path().join("into/outside"))));
    }
}
