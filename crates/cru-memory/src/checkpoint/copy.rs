//! Copying files into the store, by worth and within limits.
//!
//! First what is at risk: what git says is changed, then what it does not know, then what it ignores, with half of the time
//! and room that is left. Then what git has not, and at last what is at risk and git has as well. Within each small
//! files come before large ones, and new ones before old ones.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cru_base::files;

use super::blob::blob_id;
use super::choose::{IndexEntry, IndexState, Likeness, modified};
use super::left_out::by_folder;
use super::manifest::{CopiedFile, CopiedFolder, CopyManifest, LeftOut, StoredPath};
use super::object::{LARGEST, ObjectStore};
use super::risk::WorktreeRisk;

/// Rows of files that were left out which a manifest holds; more are counted.
const MOST_ROWS: usize = 200;

/// Files that one copy looks at.
const MOST_FILES: usize = 50_000;

/// Folders whose permissions are kept.
const MOST_FOLDERS: usize = 10_000;

/// How long files that are left out are counted.
const COUNTING: Duration = Duration::from_millis(40);

/// Files up to these sizes come before larger ones.
const SMALL: [u64; 2] = [64 << 10, 1 << 20];

/// How much is copied.
#[derive(Clone, Copy, Debug)]
pub struct CopyLimits {
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files.
    pub total: u64,
    /// When it must be over.
    pub until: Option<Instant>,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { file: LARGEST, total: 256 << 20, until: None }
    }
}

/// What is to be copied.
#[derive(Clone, Debug, Default)]
pub struct CopyWish {
    /// The folder that paths are relative to.
    pub root: PathBuf,
    /// Files and folders that are at risk. Of a folder all files are meant.
    pub named: Vec<PathBuf>,
    /// What git's working copy may lose.
    pub worktree: Option<WorktreeRisk>,
    /// What git says of the working copy at the root; without it nobody knows what else is worth a copy.
    pub index: Option<IndexState>,
    /// Further files, at no risk.
    pub files: Vec<PathBuf>,
    /// Whether nothing else than what is at risk is copied.
    pub only_at_risk: bool,
}

/// What a copy found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyOutcome {
    /// Files and links at risk that git has not: copied, or left out.
    pub at_risk: u64,
}

/// How much a file is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Changed,
    Untracked,
    Ignored,
    OtherChanged,
    OtherUntracked,
    /// At risk, and git has its bytes.
    Known,
}

impl Worth {
    const fn is_untracked(self) -> bool {
        matches!(self, Self::Untracked | Self::Ignored | Self::OtherUntracked)
    }
}

/// A file that may be copied.
#[derive(Clone, Debug)]
struct Candidate {
    path: PathBuf,
    worth: Worth,
    metadata: Metadata,
    /// The id that git has, where the bytes decide whether it is changed.
    unless: Option<String>,
    /// Levels below the root; what lies near it is worth more where git says nothing.
    depth: usize,
}

impl Candidate {
    fn order(&self) -> (Worth, usize, usize, i128) {
        let size = self.metadata.len();
        let class = SMALL.iter().filter(|limit| size > **limit).count();
        (self.worth, self.depth, class, -modified(&self.metadata).unwrap_or(0))
    }
}

/// Copies files and notes them in `manifest`. What does not fit is noted as left out, never an error.
pub fn copy(wish: &CopyWish, limits: &CopyLimits, store: &ObjectStore, manifest: &mut CopyManifest) -> CopyOutcome {
    manifest.root = Some(wish.root.clone());
    let mut copier = Copier::new(wish, limits, store);
    copier.collect_index();
    copier.run(Worth::Changed, limits.until, limits.total);
    copier.collect_named(half(limits.until));
    copier.run(Worth::Untracked, limits.until, limits.total);
    // What is ignored can mostly be made again, and is much.
    let until = half(limits.until);
    copier.collect_ignored(until);
    copier.run(Worth::Ignored, until, copier.bytes + (limits.total.saturating_sub(copier.bytes)) / 2);
    copier.run(Worth::OtherUntracked, limits.until, limits.total);
    copier.run(Worth::Known, limits.until, limits.total);
    let at_risk = copier.at_risk;
    copier.finish(manifest);
    CopyOutcome { at_risk }
}

/// Half of the time that is left: where files are looked for, the other half is for the copy.
fn half(until: Option<Instant>) -> Option<Instant> {
    let now = Instant::now();
    until.map(|until| now + until.saturating_duration_since(now) / 2)
}

struct Copier<'a> {
    wish: &'a CopyWish,
    limits: &'a CopyLimits,
    store: &'a ObjectStore,
    /// Entries of the index by absolute path.
    tracked: HashMap<PathBuf, &'a IndexEntry>,
    /// What git does not know and does not ignore.
    untracked: HashSet<PathBuf>,
    /// Ignored folders that lie within what is at risk.
    ignored: Vec<PathBuf>,
    waiting: Vec<Candidate>,
    seen: HashSet<PathBuf>,
    files: Vec<CopiedFile>,
    folders: BTreeSet<PathBuf>,
    left: Vec<LeftOut>,
    /// Folders that nobody looked into.
    unseen: Vec<PathBuf>,
    bytes: u64,
    looked: usize,
    at_risk: u64,
}

impl<'a> Copier<'a> {
    fn new(wish: &'a CopyWish, limits: &'a CopyLimits, store: &'a ObjectStore) -> Self {
        let entries = wish.index.iter().flat_map(|index| &index.entries);
        let untracked = wish.index.iter().flat_map(|index| &index.untracked);
        Self {
            wish,
            limits,
            store,
            tracked: entries.map(|entry| (wish.root.join(&entry.path), entry)).collect(),
            untracked: untracked.map(|path| wish.root.join(path)).collect(),
            ignored: Vec::new(),
            waiting: Vec::new(),
            seen: HashSet::new(),
            files: Vec::new(),
            folders: BTreeSet::new(),
            left: Vec::new(),
            unseen: Vec::new(),
            bytes: 0,
            looked: 0,
            at_risk: 0,
        }
    }

    /// Whether a path is, or lies below, one that is named.
    fn is_named(&self, path: &Path) -> bool {
        self.wish.named.iter().any(|named| path.starts_with(named))
    }

    /// Whether git's working copy may lose it.
    fn is_in_worktree(&self, path: &Path, of: impl Fn(&WorktreeRisk) -> bool) -> bool {
        self.wish.worktree.as_ref().is_some_and(|risk| {
            of(risk) && (risk.paths.is_empty() || risk.paths.iter().any(|named| path.starts_with(named)))
        })
    }

    /// What git has not, and what it has of the files that are named.
    fn collect_index(&mut self) {
        let Some(index) = &self.wish.index else {
            for path in &self.wish.files {
                self.add(path, Worth::OtherUntracked, None);
            }
            return;
        };
        for entry in &index.entries {
            let path = self.wish.root.join(&entry.path);
            let metadata = match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => continue,
                Ok(metadata) => metadata,
                Err(_) => {
                    if !self.wish.only_at_risk {
                        self.files.push(CopiedFile::missing(StoredPath::of(&path, &self.wish.root)));
                    }
                    continue;
                }
            };
            let is_named = self.is_named(&path);
            let is_at_risk = is_named || self.is_in_worktree(&path, |risk| risk.changed);
            match index.likeness(entry, &metadata) {
                Likeness::Same if is_named => self.add(&path, Worth::Known, None),
                Likeness::Same => {}
                likeness => {
                    let unless = (likeness == Likeness::Unsure).then(|| entry.id.clone());
                    self.add(&path, if is_at_risk { Worth::Changed } else { Worth::OtherChanged }, unless);
                }
            }
        }
        for path in &index.untracked {
            let path = self.wish.root.join(path);
            let is_at_risk = self.is_named(&path) || self.is_in_worktree(&path, |risk| risk.untracked);
            self.add(&path, if is_at_risk { Worth::Untracked } else { Worth::OtherUntracked }, None);
        }
        for path in &index.ignored {
            let path = self.wish.root.join(path);
            if self.is_in_worktree(&path, |risk| risk.ignored) {
                self.ignored.push(path);
            }
        }
    }

    /// The files of what is named, but for folders that git ignores.
    fn collect_named(&mut self, until: Option<Instant>) {
        let ignored: HashSet<PathBuf> = self
            .wish
            .index
            .iter()
            .flat_map(|index| &index.ignored)
            .map(|path| clean(&self.wish.root.join(path)))
            .collect();
        let mut open: VecDeque<PathBuf> = self.wish.named.iter().cloned().collect();
        while let Some(path) = open.pop_front() {
            if ignored.contains(&path) {
                self.ignored.push(path);
                continue;
            }
            self.visit(path, &mut open, until);
        }
    }

    /// The files of ignored folders, until a time.
    fn collect_ignored(&mut self, until: Option<Instant>) {
        let mut open: VecDeque<PathBuf> = std::mem::take(&mut self.ignored).into();
        let until = half(until);
        while let Some(path) = open.pop_front() {
            let path = clean(&path);
            self.visit(path, &mut open, until);
        }
    }

    /// Adds a file, or opens a folder.
    fn visit(&mut self, path: PathBuf, open: &mut VecDeque<PathBuf>, until: Option<Instant>) {
        let Ok(metadata) = fs::symlink_metadata(&path) else { return };
        if !metadata.is_dir() {
            let worth = match (&self.wish.index, self.tracked.contains_key(&path)) {
                // Those were looked at.
                (_, true) => return,
                (Some(_), false) if !self.untracked.contains(&path) && path.starts_with(&self.wish.root) => {
                    Worth::Ignored
                }
                _ => Worth::Untracked,
            };
            return self.add(&path, worth, None);
        }
        if self.is_over(until) {
            return self.unseen.push(path);
        }
        self.folders.insert(path.clone());
        let mut names: Vec<PathBuf> =
            fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        names.sort_unstable();
        open.extend(names);
    }

    fn is_over(&self, until: Option<Instant>) -> bool {
        self.looked >= MOST_FILES || until.is_some_and(|until| Instant::now() >= until)
    }

    fn add(&mut self, path: &Path, worth: Worth, unless: Option<String>) {
        let path = clean(path);
        if self.wish.only_at_risk && matches!(worth, Worth::OtherChanged | Worth::OtherUntracked)
            || !self.seen.insert(path.clone())
        {
            return;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else { return };
        let below = path.strip_prefix(&self.wish.root).unwrap_or(&path);
        let depth = if self.wish.index.is_some() { 0 } else { below.components().count() };
        self.waiting.push(Candidate { path, worth, metadata, unless, depth });
    }

    /// Copies what is worth at least so much, until a time and up to a number of bytes of all files.
    fn run(&mut self, worth: Worth, until: Option<Instant>, total: u64) {
        let (mut now, later): (Vec<Candidate>, Vec<Candidate>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|candidate| candidate.worth <= worth);
        self.waiting = later;
        now.sort_by_key(Candidate::order);
        for candidate in now {
            self.file(candidate, until, total);
        }
    }

    fn file(&mut self, candidate: Candidate, until: Option<Instant>, total: u64) {
        let (path, metadata) = (candidate.path.as_path(), &candidate.metadata);
        let is_at_risk = candidate.worth <= Worth::Ignored && candidate.unless.is_none();
        self.at_risk += u64::from(is_at_risk);
        if self.is_over(until) {
            return self.leave(path, metadata, "the time was up");
        }
        self.looked += 1;
        if metadata.is_dir() {
            return self.leave(path, metadata, "a repository of its own");
        }
        if !metadata.is_file() && !metadata.is_symlink() {
            return self.leave(path, metadata, "no regular file");
        }
        if metadata.len() > self.limits.file {
            self.at_risk += u64::from(candidate.worth == Worth::Changed && !is_at_risk);
            return self.leave(path, metadata, &format!("larger than {} MiB", self.limits.file >> 20));
        }
        if self.bytes + metadata.len() > total {
            return self.leave(path, metadata, &format!("more than {} MiB together", self.limits.total >> 20));
        }
        let bytes = if metadata.is_symlink() {
            fs::read_link(path).ok().map(|target| target.as_os_str().as_encoded_bytes().to_vec())
        } else {
            files::read_regular(path, self.limits.file).ok().flatten()
        };
        let Some(bytes) = bytes else { return self.leave(path, metadata, "it cannot be read") };
        if candidate.unless.as_ref().is_some_and(|id| blob_id(&bytes, id) == *id) {
            // Its time alone is another: git has it.
            if self.is_named(path) {
                self.waiting.push(Candidate { worth: Worth::Known, unless: None, ..candidate });
            }
            return;
        }
        self.at_risk += u64::from(candidate.worth == Worth::Changed && !is_at_risk);
        let size = bytes.len() as u64;
        match self.store.put(&bytes) {
            Ok(hash) => {
                self.bytes += size;
                self.note_folders(path);
                self.files.push(CopiedFile {
                    at: StoredPath::of(path, &self.wish.root),
                    hash: Some(hash),
                    size,
                    mode: files::mode(metadata).filter(|_| !metadata.is_symlink()),
                    executable: false,
                    link: metadata.is_symlink(),
                    untracked: candidate.worth.is_untracked(),
                    becomes: None,
                });
            }
            Err(error) => self.leave(path, metadata, &format!("it cannot be kept: {error}")),
        }
    }

    /// Notes the folders of a file within the root: where they go, they come back with their permissions.
    fn note_folders(&mut self, path: &Path) {
        let above =
            path.ancestors().skip(1).take_while(|dir| dir.starts_with(&self.wish.root) && *dir != self.wish.root);
        for dir in above {
            if !self.folders.insert(dir.to_owned()) {
                break;
            }
        }
    }

    fn leave(&mut self, path: &Path, metadata: &Metadata, why: &str) {
        let path = StoredPath::of(path, &self.wish.root).path;
        self.left.push(LeftOut { path, why: why.to_owned(), count: 1, size: metadata.len() });
    }

    fn finish(mut self, manifest: &mut CopyManifest) {
        let until = Instant::now() + COUNTING;
        for dir in std::mem::take(&mut self.unseen) {
            let path = format!("{}/", StoredPath::of(&dir, &self.wish.root).path);
            let (count, size) = counted(&dir, until).unwrap_or_default();
            self.left.push(LeftOut { path, why: "the time was up".to_owned(), count, size });
        }
        manifest.files.append(&mut self.files);
        manifest.files.sort_by(|a, b| a.at.path.cmp(&b.at.path));
        manifest.files.dedup_by(|a, b| a.at == b.at);
        let folders = self.folders.iter().take(MOST_FOLDERS).filter_map(|dir| {
            let metadata = fs::symlink_metadata(dir).ok()?;
            Some(CopiedFolder { at: StoredPath::of(dir, &self.wish.root), mode: files::mode(&metadata) })
        });
        manifest.folders.extend(folders);
        let mut left = by_folder(self.left);
        let more = left.split_off(left.len().min(MOST_ROWS));
        manifest.more_left_out += more.iter().map(|it| it.count.max(1)).sum::<u64>();
        manifest.left_out.append(&mut left);
        manifest.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// A path without a `/` behind it.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Files below a folder and their bytes; `None` where that takes too long.
fn counted(dir: &Path, until: Instant) -> Option<(u64, u64)> {
    let (mut count, mut size) = (0, 0);
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        if Instant::now() >= until {
            return None;
        }
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => {
                    count += 1;
                    size += metadata.len();
                }
                Err(_) => {}
            }
        }
    }
    Some((count, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, bytes: &[u8]) {
        files::create(&root.join(path), bytes).unwrap();
    }

    fn wish(root: &Path, named: &[&str]) -> CopyWish {
        CopyWish { root: root.to_owned(), named: named.iter().map(|it| root.join(it)).collect(), ..CopyWish::default() }
    }

    fn names(manifest: &CopyManifest) -> Vec<&str> {
        manifest.files.iter().map(CopiedFile::path).collect()
    }

    #[test]
    fn folders_are_copied_whole() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for (path, text) in [("d/a", "1"), ("d/sub/b", "2"), ("d/same", "1"), ("c", "3")] {
            put(root, path, text.as_bytes());
        }
        let store = ObjectStore::of(&root.join("state"));
        let mut manifest = CopyManifest::default();
        let mut wish = wish(root, &["d", "d/a"]);
        let gone = IndexEntry { path: "was".into(), ..IndexEntry::default() };
        wish.index = Some(IndexState { entries: vec![gone], untracked: vec!["c".into()], ..IndexState::default() });
        copy(&wish, &CopyLimits::default(), &store, &mut manifest);
        assert_eq!(names(&manifest), ["c", "d/a", "d/same", "d/sub/b", "was"]);
        assert_eq!(store.all().len(), 3, "equal bytes are kept once");
        assert!(manifest.files[4].hash.is_none() && manifest.has_copy());
        let folders: Vec<&str> = manifest.folders.iter().map(|it| it.at.path.as_str()).collect();
        assert_eq!(folders, ["d", "d/sub"]);
    }

    #[test]
    fn limits_name_what_they_leave_out() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for number in 0..300 {
            put(root, &format!("d/{number:03}"), &[1; 100]);
        }
        put(root, "d/large", &[0; 2000]);
        let store = ObjectStore::of(&root.join("state"));
        let copied = |limits: CopyLimits| {
            let mut manifest = CopyManifest::default();
            copy(&wish(root, &["d"]), &limits, &store, &mut manifest);
            let left: Vec<(String, u64, u64)> =
                manifest.left_out.into_iter().map(|it| (it.path, it.count, it.size)).collect();
            (manifest.files.len(), left)
        };
        let limits = CopyLimits { file: 1000, total: 20_000, until: None };
        let large = ("d/large".to_owned(), 1, 2000);
        assert_eq!(copied(limits), (200, vec![("d/".to_owned(), 100, 10_000), large]));
        let over = CopyLimits { until: Some(Instant::now()), ..limits };
        assert_eq!(copied(over), (0, vec![("d/".to_owned(), 301, 32_000)]), "the folder is counted");
    }

    #[test]
    fn what_is_worth_more_comes_first() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let sizes =
            [("changed", 4), ("untracked", 300), ("ignored/x", 5), ("ignored/y", 700), ("other", 5), ("known", 5)];
        for (path, size) in sizes {
            put(root, path, &vec![b'x'; size]);
        }
        // Equal bytes and another time: git has it.
        put(root, "touched", b"xxxxx");
        let entry = |path: &str, id: String, size| IndexEntry { path: path.into(), id, size, ..IndexEntry::default() };
        let id = |size: usize| blob_id(&vec![b'x'; size], "");
        let index = IndexState {
            entries: vec![entry("changed", id(9), 4), entry("touched", id(5), 5), entry("known", id(5), 5)],
            untracked: vec!["untracked".into(), "other".into()],
            ignored: vec!["ignored/".into()],
            ..IndexState::default()
        };
        let store = ObjectStore::of(&root.join("state"));
        let kept = |total| {
            let mut manifest = CopyManifest::default();
            let mut wish = wish(root, &["changed", "untracked", "ignored", "known"]);
            wish.index = Some(index.clone());
            let outcome = copy(&wish, &CopyLimits { total, ..CopyLimits::default() }, &store, &mut manifest);
            (names(&manifest).join(" "), outcome.at_risk)
        };
        assert_eq!(kept(20).0, "changed ignored/x known other", "one that is too large does not stop those behind it");
        assert_eq!(kept(320).0, "changed ignored/x known other untracked");
        assert_eq!(kept(4000), ("changed ignored/x ignored/y known other untracked".to_owned(), 4));
    }

    #[cfg(unix)]
    #[test]
    fn modes_links_and_odd_names_are_kept() {
        use std::os::unix::ffi::OsStrExt as _;
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        put(root, "d/key", b"1");
        files::set_mode(&root.join("d/key"), 0o600).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("d/link")).unwrap();
        let odd = std::ffi::OsStr::from_bytes(b"d/\xff\xfe");
        put(root, "d/tmp", b"odd");
        files::rename(&root.join("d/tmp"), &root.join(odd)).unwrap();
        let store = ObjectStore::of(&root.join("state"));
        let mut manifest = CopyManifest::default();
        copy(&wish(root, &["d"]), &CopyLimits::default(), &store, &mut manifest);
        let of = |path: &Path| manifest.files.iter().find(|file| file.at.real() == path).unwrap();
        assert_eq!(of(Path::new("d/key")).mode, Some(0o600));
        let link = of(Path::new("d/link"));
        assert!(link.link && store.get(link.hash.as_ref().unwrap()).unwrap() == b"nowhere");
        assert_eq!(store.get(of(Path::new(odd)).hash.as_ref().unwrap()).unwrap(), b"odd");
        let text = serde_json::to_string(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<CopyManifest>(&text).unwrap(), manifest);
    }
}
