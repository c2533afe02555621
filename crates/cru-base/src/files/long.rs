//! Files that are written piece by piece, because they are too long to be held in memory.
//!
//! For files that a program makes anew each time. What stands there is known by its hash: a file that says something
//! else by now is not replaced, and a reader sees the old file or the new one, never a half.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use super::fault;
use super::intention::Keep;
use super::mode;
use super::place::{self, Place, SHARED_DIR};
use super::regular::open_regular;
use super::staged::Staged;
use crate::{Error, Result};

/// What a file says: equal digests are equal bytes.
pub type Digest = [u8; 32];

/// The digest of a file; `None` where there is none.
pub fn digest(path: &Path) -> Result<Option<Digest>> {
    digest_of(open_regular(path)).map_err(|source| Error::io("read", path, source))
}

/// The digest of a file that was opened, if there is one.
pub(super) fn digest_of(opened: io::Result<File>) -> io::Result<Option<Digest>> {
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut hasher = blake3::Hasher::new();
    // Bytes that are read at once.
    let mut block = vec![0; 256 * 1024];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(Some(hasher.finalize().into())),
            read => hasher.update(&block[..read]),
        };
    }
}

/// At most `most` bytes from the beginning of a file.
pub fn beginning(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::io("read", path, source);
    let mut bytes = Vec::new();
    open_regular(path).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// A file in the making, beside the place where it will stand. Dropping it takes it away.
#[derive(Debug)]
pub struct Long {
    staged: Staged,
    hasher: blake3::Hasher,
    place: Place,
}

impl Long {
    /// For `path`; a link is followed. Folders above are made.
    pub fn new(path: &Path) -> Result<Self> {
        let failed = |source| Error::io("write", path, source);
        let made = Place::making(path, SHARED_DIR)?;
        let place = if made.is_link() { Place::followed(path)? } else { made };
        let old = place.open(super::access::Access::Read).and_then(|file| file.metadata()).ok();
        let narrow = old.as_ref().map_or(0o666, mode::beside);
        let mut staged = Staged::new(&place, (None, None), &[], narrow, false).map_err(failed)?;
        if let Some(old) = old {
            fault::point().and_then(|()| mode::keep(staged.file(), &old)).map_err(failed)?;
        }
        Ok(Self { staged, hasher: blake3::Hasher::new(), place })
    }

    /// Goes on with these bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        let file = self.staged.file();
        let written = fault::write_point(file, bytes).and_then(|()| file.write_all(bytes));
        written.map_err(|source| Error::io("write", self.place.path(), source))
    }

    /// Puts it in its place, durable, if what stands there still has the digest `old`; [`Error::Changed`] if not.
    pub fn settle(self, old: Option<Digest>) -> Result<()> {
        let Self { mut staged, hasher, place } = self;
        let failed = |source| Error::io("write", place.path(), source);
        staged.sync().map_err(failed)?;
        let settled = match old {
            Some(old) => staged.replace(old, hasher.finalize().into(), &Keep::default()),
            None => staged.persist_new(),
        };
        if settled.map_err(failed)? {
            place::sync(&place.dir);
            Ok(())
        } else {
            Err(Error::Changed { path: place.path() })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn long(path: &Path, pieces: &[&str]) -> Long {
        let mut long = Long::new(path).unwrap();
        for piece in pieces {
            long.write(piece.as_bytes()).unwrap();
        }
        long
    }

    #[test]
    fn pieces_become_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.jsonl");
        assert_eq!(digest(&path).unwrap(), None);
        long(&path, &["one\n", "two\n"]).settle(None).unwrap();
        assert_eq!((fs::read(&path).unwrap(), beginning(&path, 3).unwrap()), (b"one\ntwo\n".to_vec(), b"one".to_vec()));
        let old = digest(&path).unwrap();
        assert_eq!(old, Some(blake3::hash(b"one\ntwo\n").into()));
        long(&path, &["three\n"]).settle(old).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three\n");
        assert_eq!(fs::read_dir(dir.path().join("a")).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn what_changed_meanwhile_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("b.jsonl");
        let ours = long(&path, &["ours"]);
        super::super::put(&path, b"theirs").unwrap();
        assert!(matches!(ours.settle(None), Err(Error::Changed { .. })));
        assert!(matches!(long(&path, &["ours"]).settle(Some([0; 32])), Err(Error::Changed { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
