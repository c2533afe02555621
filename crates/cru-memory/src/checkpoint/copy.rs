//! Copying files into the store, within limits.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cru_base::files;

use super::choose::Wanted;
use super::manifest::{CopiedFile, CopyManifest, LeftOut};
use super::object::{LARGEST, ObjectStore};

/// Names of files that were left out which a manifest holds; more are counted.
const MOST_NAMES: usize = 200;

/// Files that one copy looks at.
const MOST_FILES: usize = 50_000;

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
    /// Files and folders that come first, whether git knows them or not. Of a folder all files are meant, but for git's own.
    pub named: Vec<PathBuf>,
    /// Files that git knows: of those that are named they are not new.
    pub tracked: HashSet<PathBuf>,
    /// Files that come next.
    pub files: Vec<Wanted>,
    /// Files that are not there, as paths relative to the root.
    pub gone: Vec<String>,
}

/// Copies files and notes them in `manifest`. What does not fit is noted as left out, never an error.
pub fn copy(wish: &CopyWish, limits: &CopyLimits, store: &ObjectStore, manifest: &mut CopyManifest) {
    manifest.root = Some(wish.root.clone());
    let mut copier = Copier { wish, limits, store, manifest, seen: HashSet::new(), bytes: 0, looked: 0 };
    for path in &wish.named {
        copier.add(path);
    }
    for file in &wish.files {
        copier.file(&file.path, file.untracked);
    }
    let mut found: HashSet<String> = copier.manifest.files.iter().map(|file| file.path.clone()).collect();
    for path in &wish.gone {
        if found.insert(path.clone()) {
            copier.manifest.files.push(CopiedFile { path: path.clone(), ..CopiedFile::default() });
        }
    }
    manifest.files.sort_by(|a, b| a.path.cmp(&b.path));
    manifest.left_out.sort_by(|a, b| a.path.cmp(&b.path));
}

impl Default for CopiedFile {
    /// A file that is not there.
    fn default() -> Self {
        Self { path: String::new(), hash: None, size: 0, executable: false, untracked: false, becomes: None }
    }
}

struct Copier<'a> {
    wish: &'a CopyWish,
    limits: &'a CopyLimits,
    store: &'a ObjectStore,
    manifest: &'a mut CopyManifest,
    seen: HashSet<PathBuf>,
    bytes: u64,
    looked: usize,
}

impl Copier<'_> {
    fn is_over(&self) -> bool {
        self.looked >= MOST_FILES || self.limits.until.is_some_and(|until| Instant::now() >= until)
    }

    /// A file, or all files of a folder.
    fn add(&mut self, path: &Path) {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
            if !is_folder {
                let untracked = !self.wish.tracked.contains(&path);
                self.file(&path, untracked);
                continue;
            }
            if path.file_name().is_some_and(|name| name == ".git") {
                self.leave(&path, "git's own files");
                continue;
            }
            if self.is_over() {
                self.leave(&path, "the time was up");
                continue;
            }
            let mut names: Vec<PathBuf> =
                fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            names.sort_unstable_by(|a, b| b.cmp(a));
            open.append(&mut names);
        }
    }

    fn file(&mut self, path: &Path, untracked: bool) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        if self.is_over() {
            return self.leave(path, "the time was up");
        }
        self.looked += 1;
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        if metadata.is_symlink() {
            return self.leave(path, "a symbolic link");
        }
        if !metadata.is_file() {
            return self.leave(path, if metadata.is_dir() { "a repository of its own" } else { "no regular file" });
        }
        if metadata.len() > self.limits.file {
            return self.leave(path, &format!("larger than {} MiB", self.limits.file >> 20));
        }
        if self.bytes + metadata.len() > self.limits.total {
            return self.leave(path, &format!("more than {} MiB together", self.limits.total >> 20));
        }
        let Ok(Some(bytes)) = files::read_regular(path, self.limits.file) else {
            return self.leave(path, "it cannot be read");
        };
        let size = bytes.len() as u64;
        match self.store.put(&bytes) {
            Ok(hash) => {
                self.bytes += size;
                let path = self.relative(path);
                let executable = files::is_executable(&metadata);
                self.manifest.files.push(CopiedFile {
                    path,
                    hash: Some(hash),
                    size,
                    executable,
                    untracked,
                    becomes: None,
                });
            }
            Err(error) => self.leave(path, &format!("it cannot be kept: {error}")),
        }
    }

    fn leave(&mut self, path: &Path, why: &str) {
        if self.manifest.left_out.len() >= MOST_NAMES {
            self.manifest.more_left_out += 1;
            return;
        }
        let path = self.relative(path);
        self.manifest.left_out.push(LeftOut { path, why: why.to_owned() });
    }

    fn relative(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.wish.root).unwrap_or(path);
        short.to_string_lossy().replace('\\', "/")
    }
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

    #[test]
    fn folders_are_copied_whole_but_for_git() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for (path, text) in [("d/a", "1"), ("d/sub/b", "2"), ("d/.git/HEAD", "ref"), ("d/same", "1"), ("c", "3")] {
            put(root, path, text.as_bytes());
        }
        let store = ObjectStore::of(&root.join("state"));
        let mut manifest = CopyManifest::default();
        let mut wish = wish(root, &["d", "d/a"]);
        wish.gone = vec!["was".into()];
        wish.files = vec![Wanted { path: root.join("c"), untracked: false }];
        copy(&wish, &CopyLimits::default(), &store, &mut manifest);
        let names: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["c", "d/a", "d/same", "d/sub/b", "was"]);
        assert_eq!(store.all().len(), 3, "equal bytes are kept once");
        assert_eq!(manifest.left_out, [LeftOut { path: "d/.git".into(), why: "git's own files".into() }]);
        assert!(manifest.files[4].hash.is_none() && manifest.has_copy());
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
            (manifest.files.len(), manifest.left_out.len(), manifest.more_left_out)
        };
        let limits = CopyLimits { file: 1000, total: 20_000, until: None };
        assert_eq!(copied(limits), (200, 101, 0));
        assert_eq!(copied(CopyLimits { total: 100, ..limits }), (1, 200, 100));
        assert_eq!(copied(CopyLimits { until: Some(Instant::now()), ..limits }), (0, 1, 0), "the folder is named");
    }
}
