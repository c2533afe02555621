//! Which files of a working copy git has not.
//!
//! Git is asked for its index only: its own comparison could start a program that the repository names. A file whose
//! size, times and number are those of the index is the same; of any other the bytes decide.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What git says of a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexState {
    /// The entries of the index.
    pub entries: Vec<IndexEntry>,
    /// When the index was written, in nanoseconds since 1970.
    pub written: i128,
    /// Paths whose entry in the index differs from HEAD.
    pub staged: HashSet<PathBuf>,
    /// Paths that git does not know and does not ignore; a repository of its own ends with `/`.
    pub untracked: Vec<PathBuf>,
    /// Paths that git ignores, a folder as one; where they are asked for.
    pub ignored: Vec<PathBuf>,
}

/// An entry of git's index, as `git ls-files -z --stage --debug` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// From the top of the working copy.
    pub path: PathBuf,
    /// The id of its bytes.
    pub id: String,
    /// Change time of the file when it was added, in nanoseconds since 1970.
    pub ctime: i128,
    /// Modification time then.
    pub mtime: i128,
    /// The file's number then, as git keeps it: in 32 bits.
    pub inode: u64,
    /// Its size then, in 32 bits.
    pub size: u64,
}

/// How a file compares with git's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It is what git has.
    Same,
    /// Its bytes decide.
    Unsure,
    /// It is not.
    Changed,
}

impl IndexState {
    /// Compares the file of an entry, by its metadata.
    pub fn likeness(&self, entry: &IndexEntry, metadata: &fs::Metadata) -> Likeness {
        if self.staged.contains(&entry.path) || metadata.len() & 0xffff_ffff != entry.size {
            return Likeness::Changed;
        }
        let is_same = modified(metadata) == Some(entry.mtime)
            && identity(metadata).is_none_or(|it| it == (entry.ctime, entry.inode))
            // Changed in the moment in which the index was written: the time says nothing.
            && entry.mtime < self.written;
        if is_same { Likeness::Same } else { Likeness::Unsure }
    }
}

/// Reads what `git ls-files -z --stage --debug` prints. What cannot be read has time 0, so that its file is looked at.
pub fn index_entries(bytes: &[u8]) -> Vec<IndexEntry> {
    let mut entries: Vec<IndexEntry> = Vec::new();
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let head = &rest[..end];
        rest = &rest[end + 1..];
        let (facts, path) = match head.iter().position(|byte| *byte == b'\t') {
            Some(tab) => (String::from_utf8_lossy(&head[..tab]).into_owned(), &head[tab + 1..]),
            None => (String::new(), head),
        };
        let id = facts.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut entry = IndexEntry { path: path_of(path), id, ..IndexEntry::default() };
        // The facts stand on lines that begin with two blanks.
        while rest.starts_with(b"  ") {
            let line = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let text = String::from_utf8_lossy(&rest[..line]).into_owned();
            rest = &rest[line..];
            let time = |text: &str| {
                let (seconds, nanos) = text.trim().split_once(':').unwrap_or((text.trim(), "0"));
                let seconds: i128 = seconds.trim().parse().unwrap_or(0);
                seconds * 1_000_000_000 + nanos.trim().parse::<i128>().unwrap_or(0)
            };
            let number = |text: &str| text.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or(0);
            let text = text.trim();
            if let Some(text) = text.strip_prefix("ctime:") {
                entry.ctime = time(text);
            } else if let Some(text) = text.strip_prefix("mtime:") {
                entry.mtime = time(text);
            } else if let Some((_, inode)) = text.split_once("ino:") {
                entry.inode = number(inode);
            } else if let Some(text) = text.strip_prefix("size:") {
                entry.size = number(text);
            }
        }
        if !entry.path.as_os_str().is_empty() {
            entries.push(entry);
        }
    }
    entries
}

/// Paths that git prints with `-z`.
pub fn paths(bytes: &[u8]) -> Vec<PathBuf> {
    bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(path_of).collect()
}

/// A path of git's bytes.
pub fn path_of(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)).to_owned();
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Modification time in nanoseconds since 1970.
pub fn modified(metadata: &fs::Metadata) -> Option<i128> {
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i128::try_from(since.as_nanos()).ok()
}

/// Change time and number of a file, where the system has them.
#[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "other systems have none"))]
fn identity(metadata: &fs::Metadata) -> Option<(i128, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let ctime = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
        Some((ctime, metadata.ino() & 0xffff_ffff))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_git_prints() {
        let text = b"100644 abc 0\ta b.txt\0  ctime: 1700000000:5\n  mtime: 1700000001:7\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: 12\tflags: 0\n100644 d 0\tc\0  mtime: x\n";
        let entries = index_entries(text);
        assert_eq!(entries.len(), 2);
        let first = IndexEntry {
            path: "a b.txt".into(),
            id: "abc".into(),
            ctime: 1_700_000_000_000_000_005,
            mtime: 1_700_000_001_000_000_007,
            inode: 2,
            size: 12,
        };
        assert_eq!(entries[0], first);
        assert_eq!((entries[1].mtime, entries[1].path.to_str()), (0, Some("c")));
        assert_eq!(paths(b"a\0b c\0"), [PathBuf::from("a"), PathBuf::from("b c")]);
    }

    #[test]
    fn times_alone_never_say_that_a_file_changed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("f");
        cru_base::files::create(&path, b"text").unwrap();
        let metadata = fs::metadata(&path).unwrap();
        let (ctime, inode) = identity(&metadata).unwrap_or_default();
        let mtime = modified(&metadata).unwrap();
        let same = IndexEntry { path: "f".into(), id: String::new(), ctime, mtime, inode, size: 4 };
        let index = IndexState { written: mtime + 1, ..IndexState::default() };
        assert_eq!(index.likeness(&same, &metadata), Likeness::Same);
        assert_eq!(index.likeness(&IndexEntry { mtime: 5, ..same.clone() }, &metadata), Likeness::Unsure);
        assert_eq!(index.likeness(&IndexEntry { size: 3, ..same.clone() }, &metadata), Likeness::Changed);
        let racy = IndexState { written: mtime, ..IndexState::default() };
        assert_eq!(racy.likeness(&same, &metadata), Likeness::Unsure);
        let staged = IndexState { staged: HashSet::from(["f".into()]), ..index.clone() };
        assert_eq!(staged.likeness(&same, &metadata), Likeness::Changed);
        #[cfg(unix)]
        assert_eq!(
            index.likeness(&IndexEntry { ctime: 1, ..same }, &metadata),
            Likeness::Unsure,
            "its time was set back"
        );
    }

    proptest! {
        #[test]
        fn total(bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(b'\n'), Just(b' '), Just(b'\t'), any::<u8>()], 0..200)) {
            let _ = index_entries(&bytes);
        }
    }
}
