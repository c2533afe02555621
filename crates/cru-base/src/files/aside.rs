//! Copies of files that another program may be writing, in a folder of our own that goes away again.
//!
//! A database and its log must be of one moment: the copy is made again where the database changed meanwhile, and given
//! up after a few tries. The files themselves are only read.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use super::regular::open_regular;
use crate::{Error, Result};

/// How a database looks from outside: it changes with every change of the file, and when its log begins anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    len: u64,
    changed: Option<SystemTime>,
    log: Vec<u8>,
}

impl Stamp {
    /// As the file and its log are now.
    pub fn of(path: &Path) -> Result<Self> {
        const HEADER: u64 = 32;
        let metadata = fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        let mut log = Vec::new();
        // Without a log there is nothing to see of it.
        if let Ok(file) = open_regular(&beside(path, "-wal")) {
            file.take(HEADER).read_to_end(&mut log).map_err(|source| Error::io("read", path, source))?;
        }
        Ok(Self { len: metadata.len(), changed: metadata.modified().ok(), log })
    }
}

/// A copy of a database with its log.
#[derive(Debug)]
pub struct Aside {
    dir: TempDir,
}

impl Aside {
    /// Copies a database, where it has a log that must be read with it; `None` where the file is all there is.
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let failed = |source| Error::io("copy", path, source);
        let logs = ["-wal", "-journal"].map(|end| (end, beside(path, end)));
        let is_full = |log: &Path| fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0);
        if !logs.iter().any(|(_, log)| is_full(log)) {
            return Ok(None);
        }
        for _ in 0..5 {
            let before = Stamp::of(path)?;
            let dir = tempfile::Builder::new().prefix("cru-").tempdir().map_err(failed)?;
            let aside = Self { dir };
            copy(path, &aside.path()).map_err(failed)?;
            for (end, log) in &logs {
                match copy(log, &beside(&aside.path(), end)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                    _ => {}
                }
            }
            if Stamp::of(path)? == before {
                return Ok(Some(aside));
            }
        }
        Err(failed(io::Error::other("it changes all the time; run it again")))
    }

    /// The copy.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("copy.db")
    }
}

/// Copies the bytes of a regular file into a new one for its owner alone.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::copy(&mut open_regular(from)?, &mut options.open(to)?).map(drop)
}

/// The file of the same name with an end put to it.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{create, read};

    #[test]
    fn a_copy_goes_away_again() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.db");
        create(&path, b"base").unwrap();
        assert!(Aside::of(&path).unwrap().is_none());
        create(&temp.path().join("a.db-wal"), b"log").unwrap();
        let aside = Aside::of(&path).unwrap().unwrap();
        let copy = aside.path();
        assert_eq!((read(&copy).unwrap(), read(&beside(&copy, "-wal")).unwrap()), (b"base".to_vec(), b"log".to_vec()));
        drop(aside);
        assert!(!copy.exists());
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_log_that_begins_anew_is_another_moment() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.db");
        create(&path, b"base").unwrap();
        let before = Stamp::of(&path).unwrap();
        assert_eq!(Stamp::of(&path).unwrap(), before);
        create(&temp.path().join("a.db-wal"), b"log").unwrap();
        assert_ne!(Stamp::of(&path).unwrap(), before);
    }
}
