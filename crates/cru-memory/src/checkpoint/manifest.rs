//! What a copy holds: a file in the machine's state for each checkpoint.

use std::path::{Path, PathBuf};

use cru_base::{Error, Result, files};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::kind::{CheckpointKind, id_of};

/// Bytes of the largest manifest that is read.
const LARGEST: u64 = 16 << 20;

/// So many checkpoints of one session in one second have ids of their own.
const MOST_A_SECOND: u32 = 100;

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFile {
    /// Relative to the manifest's root with `/`, or absolute where it lies outside.
    pub path: String,
    /// BLAKE3 of its bytes; `None` where there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Bytes.
    #[serde(default)]
    pub size: u64,
    /// Whether its owner may run it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// Whether git did not know it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untracked: bool,
    /// The hash of what a restore puts in the place of a file that was not there: it may go again while it is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<String>,
}

/// A file that was not copied, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// As in [`CopiedFile::path`].
    pub path: String,
    /// `larger than 8 MiB`, `a symbolic link`.
    pub why: String,
}

/// What a checkpoint holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyManifest {
    /// `cp-20261116-101212`.
    pub id: String,
    /// When.
    pub time: Timestamp,
    /// Why.
    pub kind: CheckpointKind,
    /// In words; may be empty.
    #[serde(default)]
    pub title: String,
    /// What its callout says beside: what the work waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The folder that paths are relative to, absolute; `None` where no files were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// The first digits of the commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The files, by path.
    #[serde(default)]
    pub files: Vec<CopiedFile>,
    /// What was not copied, by path.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// How many more were not copied, once the time was up; their names are not known.
    #[serde(default)]
    pub more_left_out: u64,
    /// Whether its callout is to be written into the note, and is not yet.
    #[serde(default)]
    pub unwritten: bool,
    /// The name of the machine.
    #[serde(default)]
    pub host: String,
}

impl CopyManifest {
    /// Whether it has a copy of at least one file.
    pub fn has_copy(&self) -> bool {
        self.files.iter().any(|file| file.hash.is_some())
    }

    /// Bytes of its files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Where a file of it lies.
    pub fn place(&self, file: &CopiedFile) -> Option<PathBuf> {
        let path = Path::new(&file.path);
        if path.is_absolute() { Some(path.to_owned()) } else { Some(self.root.as_deref()?.join(path)) }
    }
}

/// The manifests of a session, and where they lie.
#[derive(Clone, Debug)]
pub struct CopyShelf {
    dir: PathBuf,
}

impl CopyShelf {
    /// Those of the session with a key, in a machine's state.
    pub fn of(state: &Path, key: &str) -> Self {
        Self { dir: state.join("checkpoints").join(key) }
    }

    /// The keys of all sessions with manifests.
    pub fn keys(state: &Path) -> Vec<String> {
        let folders = std::fs::read_dir(state.join("checkpoints")).into_iter().flatten().flatten();
        let mut keys: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        keys.sort();
        keys
    }

    /// Keeps a manifest under an id of its own, which is that of its time, or goes on from it.
    pub fn add(&self, manifest: &mut CopyManifest) -> Result<()> {
        let id = id_of(manifest.time);
        for number in 1..=MOST_A_SECOND {
            manifest.id = if number == 1 { id.clone() } else { format!("{id}-{number}") };
            let bytes = serde_json::to_vec(manifest).map_err(|error| Error::internal("encode a checkpoint", error))?;
            if files::create_private(&self.path(&manifest.id), &bytes)? {
                return Ok(());
            }
        }
        Err(Error::usage(format!("there are {MOST_A_SECOND} checkpoints of this second")))
    }

    /// Writes a manifest that is there anew.
    pub fn put(&self, manifest: &CopyManifest) -> Result<()> {
        let bytes = serde_json::to_vec(manifest).map_err(|error| Error::internal("encode a checkpoint", error))?;
        files::put_private(&self.path(&manifest.id), &bytes)
    }

    /// All manifests, oldest first, and the ids of those that cannot be read.
    pub fn all(&self) -> (Vec<CopyManifest>, Vec<String>) {
        let (mut read, mut odd) = (Vec::new(), Vec::new());
        let names = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        for name in names.filter_map(|entry| entry.file_name().into_string().ok()) {
            let Some(id) = name.strip_suffix(".json") else { continue };
            match self.read(id) {
                Some(manifest) => read.push(manifest),
                None => odd.push(id.to_owned()),
            }
        }
        read.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        odd.sort();
        (read, odd)
    }

    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.dir).map_or(true, |mut names| names.next().is_none())
    }

    /// A manifest by its id.
    pub fn read(&self, id: &str) -> Option<CopyManifest> {
        let bytes = files::read_regular(&self.path(id), LARGEST).ok()??;
        serde_json::from_slice(&bytes).ok().filter(|manifest: &CopyManifest| manifest.id == id)
    }

    /// Removes a manifest; its objects stay.
    pub fn remove(&self, id: &str) -> Result<bool> {
        files::remove(&self.path(id))
    }

    fn path(&self, id: &str) -> PathBuf {
        // An id comes from a person or a note: nothing in it leads elsewhere.
        let plain: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(80).collect();
        self.dir.join(format!("{plain}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_second_differ() {
        let temp = tempfile::tempdir().unwrap();
        let shelf = CopyShelf::of(temp.path(), "s");
        let time = "2026-11-16T10:12:12Z".parse().unwrap();
        let mut ids = Vec::new();
        for _ in 0..3 {
            let mut manifest = CopyManifest { time, ..CopyManifest::default() };
            shelf.add(&mut manifest).unwrap();
            ids.push(manifest.id);
        }
        assert_eq!(ids, ["cp-20261116-101212", "cp-20261116-101212-2", "cp-20261116-101212-3"]);
        files::put_private(&shelf.path("cp-odd"), b"{").unwrap();
        let (read, odd) = shelf.all();
        assert_eq!((read.len(), odd), (3, vec!["cp-odd".to_owned()]));
        assert_eq!(CopyShelf::keys(temp.path()), ["s"]);
        assert!(shelf.read("../../x").is_none());
    }
}
