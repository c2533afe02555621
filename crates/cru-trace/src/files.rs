//! Files as claims ask for them: of this moment, or of a commit.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::verdict::UnknownReason;

/// Bytes of a file that is looked at.
pub const LARGEST_FILE: u64 = 8 << 20;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// All of it.
    Bytes(Vec<u8>),
    /// There is none.
    Gone,
    /// It cannot be told.
    Unknown(UnknownReason),
}

/// By what a file is known again without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970 of the last change.
    pub changed: i128,
    /// Its inode; 0 where the system has none.
    pub inode: u64,
}

/// Gives files. Pure functions of claims take one of these.
pub trait ReadFiles {
    /// The file `path` (names joined by `/`) of the project at `root`.
    fn read(&self, root: &Path, path: &str) -> FileState;

    /// Its stamp; `None` where answers about it may not be kept.
    fn stamp(&self, root: &Path, path: &str) -> Option<FileStamp> {
        let _ = (root, path);
        None
    }

    /// What a file that is gone is called now.
    fn renamed(&self, root: &Path, path: &str) -> Option<String> {
        let _ = (root, path);
        None
    }
}

/// The files as they are on disk. Links that lead out of the project are not followed. Renames are not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl DiskFiles {
    /// The real place of a file, where it lies in the project.
    fn place(root: &Path, path: &str) -> Result<PathBuf, FileState> {
        let gone = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FileState::Gone,
            _ => FileState::Unknown(UnknownReason::Unreadable),
        };
        let real = root.join(path).canonicalize().map_err(gone)?;
        let root = root.canonicalize().map_err(gone)?;
        if real.starts_with(&root) { Ok(real) } else { Err(FileState::Unknown(UnknownReason::Outside)) }
    }
}

impl ReadFiles for DiskFiles {
    fn read(&self, root: &Path, path: &str) -> FileState {
        let unreadable = FileState::Unknown(UnknownReason::Unreadable);
        let place = match Self::place(root, path) {
            Ok(place) => place,
            Err(state) => return state,
        };
        let Ok(metadata) = std::fs::metadata(&place) else { return FileState::Gone };
        if !metadata.is_file() || metadata.len() > LARGEST_FILE {
            return unreadable;
        }
        let mut bytes = Vec::new();
        let read =
            cru_base::files::open_regular(&place).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) if bytes.len() as u64 <= LARGEST_FILE => FileState::Bytes(bytes),
            _ => unreadable,
        }
    }

    fn stamp(&self, root: &Path, path: &str) -> Option<FileStamp> {
        let metadata = std::fs::metadata(Self::place(root, path).ok()?).ok().filter(std::fs::Metadata::is_file)?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Some(FileStamp { size: metadata.len(), changed: i128::try_from(changed.as_nanos()).ok()?, inode })
    }
}

/// What a file is called now, by the names that files were given: it may have been renamed more than once. A circle of
/// names ends.
pub fn newest_name<S: BuildHasher>(names: &HashMap<String, String, S>, path: &str) -> Option<String> {
    let mut name = names.get(path)?;
    for _ in 0..32 {
        match names.get(name) {
            Some(next) if next != path => name = next,
            _ => break,
        }
    }
    Some(name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_followed() {
        let names =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
        let once: HashMap<String, String> = names(&[("a", "b"), ("b", "c"), ("x", "y"), ("y", "x")]);
        assert_eq!(newest_name(&once, "a").as_deref(), Some("c"));
        assert_eq!(newest_name(&once, "x").as_deref(), Some("y"), "a circle");
        assert_eq!(newest_name(&once, "c"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        cru_base::files::put(&temp.path().join("secret"), b"x").unwrap();
        cru_base::files::put(&root.join("a"), b"a").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("out")).unwrap();
        std::os::unix::fs::symlink("a", root.join("in")).unwrap();
        assert_eq!(DiskFiles.read(&root, "out"), FileState::Unknown(UnknownReason::Outside));
        assert_eq!(DiskFiles.read(&root, "in"), FileState::Bytes(b"a".to_vec()));
        assert_eq!(DiskFiles.read(&root, "none"), FileState::Gone);
        assert_eq!(DiskFiles.read(&root, "a/b"), FileState::Gone);
        assert_eq!(DiskFiles.read(&root, "src"), FileState::Unknown(UnknownReason::Unreadable));
        assert_eq!(DiskFiles.stamp(&root, "out"), None);
    }
}
