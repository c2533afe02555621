//! One process at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::access::Access;
use super::place::{Place, SHARED_DIR};
use crate::{Error, Result};

/// A held lock; dropping it, or the end of the process, lets it go.
///
/// The lock file stays: to remove it would let a third process lock another file of the same name.
#[derive(Debug)]
#[must_use = "the lock is let go when this is dropped"]
pub struct Lock {
    _file: File,
}

/// Takes the lock `path`, waiting for whoever holds it. The file and its folders are made.
pub fn lock(path: &Path) -> Result<Lock> {
    let file = open(path)?;
    file.lock().map_err(|source| Error::io("lock", path, source))?;
    Ok(Lock { _file: file })
}

/// Takes the lock `path`; `None` when somebody holds it.
pub fn try_lock(path: &Path) -> Result<Option<Lock>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(Error::io("lock", path, source)),
    }
}

fn open(path: &Path) -> Result<File> {
    let place = Place::making(path, SHARED_DIR)?;
    place.open(Access::Lock).map_err(|source| Error::io("lock", path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("locks/a");
        let held = lock(&path).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(held);
        assert!(try_lock(&path).unwrap().is_some());
    }
}
