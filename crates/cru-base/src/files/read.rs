//! Reading, and telling whether a file is still the one that was read.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::regular::open_regular;
use crate::{Error, Result};

/// How often a file that is being written is looked at, and for how long between the looks (doubled each time).
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(10);

/// How many reads must agree on a file that looks cut.
const AGREED: u32 = 5;

/// What the file system says of a file: a hint that it is unchanged, never a proof that it changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime: i64,
    /// Number of the file on its volume; 0 where there is none.
    pub inode: u64,
}

impl Fingerprint {
    /// That of a file whose metadata is at hand.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (mtime, inode) = {
            use std::os::unix::fs::MetadataExt as _;
            let mtime = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
            (mtime, metadata.ino())
        };
        #[cfg(not(unix))]
        let (mtime, inode) = {
            let since = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            (since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0), 0)
        };
        Self { size: metadata.len(), mtime, inode }
    }
}

/// A file's bytes, read while nobody wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stable {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What the file system said before and after.
    pub fingerprint: Fingerprint,
}

/// Reads a whole regular file. Links are followed; what is no file (a pipe, a device) is an error and not waited for.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::io("read", path, source);
    let mut file = open_regular(path).map_err(failed)?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    // Bytes that are made room for at once.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default().min(64 << 20));
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// [`read`]; `None` where there is nothing.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match read(path) {
        Err(_) if !path.exists() => Ok(None),
        read => read.map(Some),
    }
}

/// [`read`], of what is text; `None` where it is not, or cannot be read.
pub fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read(path).ok()?).ok()
}

/// The longest note that is read, bytes: of a longer one no command answers, since it would take all memory.
pub const LARGEST_NOTE: u64 = 64 << 20;

/// Reads a note: a regular file that is not longer than [`LARGEST_NOTE`].
pub fn read_note(path: &Path) -> Result<Vec<u8>> {
    if fingerprint(path)?.size > LARGEST_NOTE {
        let message = format!("it is longer than {} MiB, the most that is read of a note", LARGEST_NOTE >> 20);
        let error = Error::io("read", path, std::io::Error::new(std::io::ErrorKind::FileTooLarge, message));
        return Err(
            error.with_hint("move parts of it into other notes; nothing of it is changed, and what is logged waits")
        );
    }
    read(path)
}

/// Reads all of what a person named on the command line: a file, a pipe, a terminal.
pub fn read_given(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::io("read", path, source))
}

/// What the file system says of the file behind `path`.
pub fn fingerprint(path: &Path) -> Result<Fingerprint> {
    fs::metadata(path).map(|it| Fingerprint::of(&it)).map_err(|source| Error::io("read", path, source))
}

/// Reads a note that is to be changed, while no editor is in the middle of saving it.
///
/// A read counts when the file looks the same before and after. A file that is empty, or cut before the end of its
/// frontmatter, or of whole pages, looks like a save in place that has only begun: it counts when several reads agree,
/// over a time in which a save goes on. [`Error::Changed`] when it does not settle.
pub fn read_stable(path: &Path) -> Result<Stable> {
    let (mut suspect, mut agreed) = (Vec::new(), 0);
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE * (1 << (attempt - 1)));
        }
        let before = fingerprint(path)?;
        let bytes = read_note(path)?;
        let after = fingerprint(path)?;
        if before != after || bytes.len() as u64 != after.size {
            agreed = 0;
            continue;
        }
        agreed = if agreed > 0 && suspect == bytes { agreed + 1 } else { 1 };
        if !looks_cut(&bytes) || agreed == AGREED {
            return Ok(Stable { bytes, fingerprint: after });
        }
        suspect = bytes;
    }
    Err(Error::Changed { path: path.to_owned() })
}

/// Systems and programs write a long text in pieces of this size or a multiple of it (bytes).
const PAGE: usize = 4096;

/// Whether this is how a note looks that is written to in this moment. Of notes that nobody writes to, one in as many as
/// a page has bytes looks so too, and is waited for in vain.
fn looks_cut(bytes: &[u8]) -> bool {
    if bytes.len().is_multiple_of(PAGE) {
        return true;
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    text.is_empty() || (text.starts_with(b"---") && memchr::memmem::find(text, b"\n---").is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::create;

    #[test]
    fn reads_what_is_settled() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("a", "text"), ("b", ""), ("c", "---\na: 1\n"), ("d", "---\n---\nbody")] {
            let path = dir.path().join(name);
            create(&path, text.as_bytes()).unwrap();
            let stable = read_stable(&path).unwrap();
            assert_eq!(stable.bytes, text.as_bytes());
            assert_eq!(stable.fingerprint, fingerprint(&path).unwrap());
        }
        assert!(read_stable(&dir.path().join("none")).is_err());
    }

    #[test]
    fn knows_a_cut_note() {
        assert!(looks_cut(b"") && looks_cut(b"---\ntitle: x") && looks_cut(b"\xef\xbb\xbf"));
        assert!(looks_cut(&[b'a'; 2 * PAGE]) && !looks_cut(&[b'a'; 2 * PAGE - 1]));
        assert!(!looks_cut(b"text") && !looks_cut(b"---\n---") && !looks_cut(b"---\r\na: 1\r\n---\r\n"));
    }

    #[test]
    fn a_fingerprint_changes_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        create(&path, b"one").unwrap();
        let first = fingerprint(&path).unwrap();
        super::super::replace(&path, b"one", b"two").unwrap();
        assert_ne!(fingerprint(&path).unwrap(), first, "same size, another file");
    }
}
