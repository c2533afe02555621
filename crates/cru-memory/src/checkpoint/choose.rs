//! Which files of a working copy a checkpoint needs: what git has not.
//!
//! Git is asked for its index only. Whether a file differs from it is told by size and time, as git itself does first;
//! git's own comparison could start a program that the repository names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that is to be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it lies, absolute.
    pub path: PathBuf,
    /// Whether git does not know it.
    pub untracked: bool,
}

/// What git says of a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexState {
    /// The entries of the index.
    pub entries: Vec<IndexEntry>,
    /// When the index was written, in nanoseconds since 1970.
    pub written: i128,
    /// Paths whose entry in the index differs from HEAD.
    pub staged: Vec<String>,
    /// Paths that git does not know and does not ignore.
    pub untracked: Vec<String>,
    /// Paths that git ignores, where they are asked for.
    pub ignored: Vec<String>,
}

/// An entry of git's index, as `git ls-files -z --debug` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// From the top of the working copy.
    pub path: String,
    /// Modification time of the file when it was added, in nanoseconds since 1970.
    pub mtime: i128,
    /// Its size then, as git keeps it: in 32 bits.
    pub size: u64,
}

/// Reads what `git ls-files -z --debug` prints. What cannot be read has time 0, so that its file counts as changed.
pub fn index_entries(bytes: &[u8]) -> Vec<IndexEntry> {
    let mut entries = Vec::new();
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let path = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let mut entry = IndexEntry { path, ..IndexEntry::default() };
        // The facts stand on lines that begin with two blanks.
        while rest.starts_with(b"  ") {
            let line = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let text = String::from_utf8_lossy(&rest[..line]).into_owned();
            rest = &rest[line..];
            if let Some(time) = text.trim().strip_prefix("mtime:") {
                let (seconds, nanos) = time.trim().split_once(':').unwrap_or((time.trim(), "0"));
                let seconds: i128 = seconds.trim().parse().unwrap_or(0);
                entry.mtime = seconds * 1_000_000_000 + nanos.trim().parse::<i128>().unwrap_or(0);
            } else if let Some(size) = text.trim().strip_prefix("size:") {
                entry.size = size.split_whitespace().next().and_then(|size| size.parse().ok()).unwrap_or(0);
            }
        }
        if !entry.path.is_empty() {
            entries.push(entry);
        }
    }
    entries
}

/// Paths that git prints with `-z`.
pub fn paths(bytes: &[u8]) -> Vec<String> {
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.filter_map(|word| std::str::from_utf8(word).ok()).map(str::to_owned).collect()
}

/// The files that differ from what git has, each once: changed, staged, untracked, ignored; and the paths of tracked files
/// that are gone.
pub fn changed(top: &Path, index: &IndexState) -> (Vec<Wanted>, Vec<String>) {
    let (mut wanted, mut gone) = (Vec::new(), Vec::new());
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let staged: HashSet<&str> = index.staged.iter().map(String::as_str).collect();
    for entry in &index.entries {
        let path = top.join(&entry.path);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(metadata) => {
                let is_same = modified(&metadata) == Some(entry.mtime)
                    && metadata.len() & 0xffff_ffff == entry.size
                    // Changed in the moment in which the index was written: the time says nothing.
                    && entry.mtime < index.written;
                if (!is_same || staged.contains(entry.path.as_str())) && seen.insert(path.clone()) {
                    wanted.push(Wanted { path, untracked: false });
                }
            }
            Err(_) => gone.push(entry.path.clone()),
        }
    }
    for path in index.untracked.iter().chain(&index.ignored) {
        let path = top.join(path);
        if seen.insert(path.clone()) {
            wanted.push(Wanted { path, untracked: true });
        }
    }
    (wanted, gone)
}

/// Modification time in nanoseconds since 1970.
pub fn modified(metadata: &fs::Metadata) -> Option<i128> {
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i128::try_from(since.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_git_prints() {
        let text = b"a b.txt\0  ctime: 1700000000:5\n  mtime: 1700000001:7\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: 12\tflags: 0\nc\0  mtime: x\n";
        let entries = index_entries(text);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0], IndexEntry { path: "a b.txt".into(), mtime: 1_700_000_001_000_000_007, size: 12 });
        assert_eq!(entries[1].mtime, 0);
        assert_eq!(paths(b"a\0b c\0\xff\0"), ["a", "b c"]);
    }

    #[test]
    fn files_that_differ() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["same", "longer", "staged", "new", "racy"] {
            cru_base::files::create(&temp.path().join(name), b"text").unwrap();
        }
        let time = |name: &str| modified(&fs::metadata(temp.path().join(name)).unwrap()).unwrap();
        let entry = |name: &str, size| IndexEntry { path: name.into(), mtime: time(name), size };
        let gone = IndexEntry { path: "gone".into(), ..IndexEntry::default() };
        let index = IndexState {
            entries: vec![entry("same", 4), entry("longer", 3), entry("staged", 4), gone, entry("racy", 4)],
            written: time("racy"),
            staged: vec!["staged".into()],
            untracked: vec!["new".into()],
            ignored: Vec::new(),
        };
        let names = |index: &IndexState| -> Vec<String> {
            let (wanted, _) = changed(temp.path(), index);
            wanted.iter().map(|it| it.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(&index), ["longer", "staged", "racy", "new"]);
        assert_eq!(changed(temp.path(), &index).1, ["gone"]);
        let later = IndexState { written: i128::MAX, ..index };
        assert_eq!(names(&later), ["longer", "staged", "new"]);
    }

    proptest! {
        #[test]
        fn total(bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(b'\n'), Just(b' '), any::<u8>()], 0..200)) {
            let _ = index_entries(&bytes);
        }
    }
}
