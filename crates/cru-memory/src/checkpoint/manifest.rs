//! What a copy holds: a file in the machine's state for each checkpoint.

use std::path::{Component, Path, PathBuf};

use cru_base::{Error, Result, files};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use cru_session::mask::Masks;

use super::kind::{CheckpointKind, id_of};

/// So many checkpoints of one session in one second have ids of their own.
const MOST_A_SECOND: u32 = 100;

/// A path as a manifest holds it: to be shown, and where that is not all of it, its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPath {
    /// Relative to the manifest's root with `/`, or absolute where it lies outside; secrets are masked.
    pub path: String,
    /// Its bytes in hexadecimal digits, where `path` has others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl StoredPath {
    /// A path, relative to `root` where it lies there.
    pub fn of(path: &Path, root: &Path) -> Self {
        let short = path.strip_prefix(root).unwrap_or(path);
        let plain = short.to_str().map(|text| if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() });
        let shown = Masks::unnumbered().text(&short.to_string_lossy()).into_owned();
        match plain {
            Some(plain) if plain == shown => Self { path: plain, raw: None },
            _ => Self { path: shown, raw: Some(hex(short.as_os_str().as_encoded_bytes())) },
        }
    }

    /// The path itself.
    pub fn real(&self) -> PathBuf {
        let bytes = self.raw.as_deref().and_then(unhex);
        #[cfg(unix)]
        if let Some(bytes) = bytes {
            use std::os::unix::ffi::OsStringExt as _;
            return std::ffi::OsString::from_vec(bytes).into();
        }
        #[cfg(not(unix))]
        if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            return text.into();
        }
        PathBuf::from(&self.path)
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// A file as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFile {
    /// Where it was.
    #[serde(flatten)]
    pub at: StoredPath,
    /// BLAKE3 of its bytes, or of what it points to where it is a link; `None` where there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Bytes.
    #[serde(default)]
    pub size: u64,
    /// Its permissions, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Whether its owner may run it, where its permissions are not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// Whether it is a symbolic link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// Whether git did not know it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untracked: bool,
    /// The hash of what a restore puts in the place of a file that was not there: it may go again while it is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<String>,
}

impl CopiedFile {
    /// One that was not there.
    pub fn missing(at: StoredPath) -> Self {
        Self { at, ..Self::default() }
    }

    /// Its path, to be shown.
    pub fn path(&self) -> &str {
        &self.at.path
    }
}

/// A folder as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFolder {
    /// Where it was.
    #[serde(flatten)]
    pub at: StoredPath,
    /// Its permissions, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// A name of git, and the commit or object that it led to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRef {
    /// `refs/heads/x`; of a stash its title.
    pub name: String,
    /// The whole id.
    pub id: String,
}

/// What git kept under names that a command takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptRefs {
    /// Branches, tags and others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<KeptRef>,
    /// Stashes, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stashes: Vec<KeptRef>,
    /// Commits that only the reflog leads to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// Parts of a pack with the objects that only these lead to, as objects of the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pack: Vec<String>,
}

impl KeptRefs {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty() && self.stashes.is_empty() && self.commits.is_empty()
    }
}

/// Files that were not copied, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// A file, or the folder of several; as in [`StoredPath::path`].
    pub path: String,
    /// `larger than 8 MiB`, `the time was up`.
    pub why: String,
    /// How many files; 0 where they were not counted.
    #[serde(default = "one")]
    pub count: u64,
    /// Their bytes.
    #[serde(default)]
    pub size: u64,
}

const fn one() -> u64 {
    1
}

impl LeftOut {
    /// Something of which no size is known.
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), why: why.into(), count: 1, size: 0 }
    }

    /// In words: `node_modules/: 4210 files, 38 MiB (the time was up)`.
    pub fn words(&self) -> String {
        let size = match self.size {
            size if size >= 1 << 20 => format!("{} MiB", size >> 20),
            size if size >= 1 << 10 => format!("{} KiB", size >> 10),
            size => format!("{size} B"),
        };
        match self.count {
            0 => self.why.clone(),
            1 => self.why.clone(),
            count => format!("{count} files, {size}; {}", self.why),
        }
    }
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
    /// Folders that files lay in, and those that went, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<CopiedFolder>,
    /// Names of git that the command takes away.
    #[serde(default, skip_serializing_if = "KeptRefs::is_empty")]
    pub refs: KeptRefs,
    /// The checkpoint that a restore was of, before which this one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restores: Option<String>,
    /// What was not copied, by path.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// How many more were not copied.
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
    /// Whether there is something to go back to: the copy of a file, or a name of git.
    pub fn has_copy(&self) -> bool {
        self.files.iter().any(|file| file.hash.is_some()) || !self.refs.is_empty()
    }

    /// Whether a restore made it, to be taken back. Those of earlier versions say so in their title alone.
    pub fn is_of_restore(&self) -> bool {
        let says_so = self.kind == CheckpointKind::Manual && self.title.starts_with("before restore of cp-");
        self.restores.is_some() || says_so
    }

    /// Bytes of its files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Objects of the store that it needs.
    pub fn objects(&self) -> impl Iterator<Item = &String> {
        self.files.iter().filter_map(|file| file.hash.as_ref()).chain(&self.refs.pack)
    }

    /// Where a path of it lies; `None` for one that leads out of its root by `..`.
    pub fn place(&self, at: &StoredPath) -> Option<PathBuf> {
        let path = at.real();
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::RootDir | Component::Prefix(_));
        if path.as_os_str().is_empty() || !path.components().all(is_plain) {
            return None;
        }
        if path.is_absolute() { Some(path) } else { Some(self.root.as_deref()?.join(path)) }
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
        let folders = folders.filter(|entry| entry.path().is_dir());
        let mut keys: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        keys.sort();
        keys
    }

    /// Keeps a manifest under an id that no other of this machine has: that of its time, or one that goes on from it.
    pub fn add(&self, manifest: &mut CopyManifest) -> Result<()> {
        let all = self.dir.parent().map(Path::to_owned).unwrap_or_default();
        let _lock = files::lock(&all.join("ids.lock"))?;
        let id = id_of(manifest.time);
        for number in 1..=MOST_A_SECOND {
            let id = if number == 1 { id.clone() } else { format!("{id}-{number}") };
            let is_taken = || {
                let shelves = std::fs::read_dir(&all).into_iter().flatten().flatten();
                shelves.into_iter().any(|shelf| shelf.path().join(format!("{id}.json")).exists())
            };
            if manifest.id == id || is_taken() {
                continue;
            }
            let kept = CopyManifest { id, ..manifest.clone() };
            let bytes = serde_json::to_vec(&kept).map_err(|error| Error::internal("encode a checkpoint", error))?;
            if files::create_private(&self.path(&kept.id), &bytes)? {
                *manifest = kept;
                return Ok(());
            }
        }
        Err(Error::usage(format!("there are {MOST_A_SECOND} checkpoints of this second")))
    }

    /// Gives a manifest another id, where the note has one of somebody else under it.
    pub fn rename(&self, manifest: &mut CopyManifest) -> Result<()> {
        let old = manifest.id.clone();
        self.add(manifest)?;
        self.remove(&old).map(drop)
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
        // Bytes of the largest manifest that is read.
        let bytes = files::read_regular(&self.path(id), 16 << 20).ok()??;
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
