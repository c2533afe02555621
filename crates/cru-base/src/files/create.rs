//! New files, appended lines, and files of our own that are simply put.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::access::Access;
use super::fault;
use super::mode;
use super::place::{self, PRIVATE_DIR, Place, SHARED_DIR};
use super::regular::open_regular;
use super::staged::Staged;
use super::temp::Temp;
use crate::{Error, Result};

/// Makes a folder and those above it.
pub fn create_dir(path: &Path) -> Result<()> {
    place::folder(path, Some(SHARED_DIR)).map(drop)
}

/// Makes a folder and those above it for its owner alone; one that is there stays as it is.
pub fn create_private_dir(path: &Path) -> Result<()> {
    place::folder(path, Some(PRIVATE_DIR)).map(drop)
}

/// Like [`create`], with permissions that the file has from its first moment on.
pub fn create_as(path: &Path, bytes: &[u8], mode: u32) -> Result<bool> {
    let place = Place::making(path, SHARED_DIR)?;
    let failed = |source| Error::io("write", path, source);
    let new = Some(*blake3::hash(bytes).as_bytes());
    let mut staged = Staged::new(&place, (None, new), bytes, mode & 0o700, true).map_err(failed)?;
    mode::give(staged.file(), mode).map_err(failed)?;
    let is_made = staged.persist_new().map_err(failed)?;
    if is_made {
        place::sync(&place.dir);
    }
    Ok(is_made)
}

/// Makes a symbolic link; `Ok(false)` when the name is taken. Folders above are made.
pub fn create_link(path: &Path, target: &Path) -> Result<bool> {
    let place = Place::making(path, SHARED_DIR)?;
    let made = fault::point().and_then(|()| place.dir.make_link(target, &place.name));
    match made {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(Error::io("write", path, source)),
    }
}

/// Whether files can be made in a folder, as far as its permissions and its file system say.
pub fn is_writable(dir: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    fs::metadata(dir).is_ok_and(|metadata| !metadata.permissions().readonly())
}

/// Writes a new file whole and durable; `Ok(false)` when the name is taken. Folders above are made.
pub fn create(path: &Path, bytes: &[u8]) -> Result<bool> {
    create_with(path, bytes, true, SHARED_DIR, 0o666)
}

/// Like [`create`], for its owner alone.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<bool> {
    create_with(path, bytes, true, PRIVATE_DIR, 0o600)
}

/// Like [`create`]; the bytes may be lost with the machine's power.
pub(super) fn create_unsynced(path: &Path, bytes: &[u8]) -> Result<bool> {
    create_with(path, bytes, false, SHARED_DIR, 0o666)
}

fn create_with(path: &Path, bytes: &[u8], sync: bool, dir_mode: u32, mode: u32) -> Result<bool> {
    let place = Place::making(path, dir_mode)?;
    let failed = |source| Error::io("write", path, source);
    let new = Some(*blake3::hash(bytes).as_bytes());
    let staged = Staged::new(&place, (None, new), bytes, mode, sync).map_err(failed)?;
    let is_made = staged.persist_new().map_err(failed)?;
    if is_made && sync {
        place::sync(&place.dir);
    }
    Ok(is_made)
}

/// Writes a file of our own that no person edits (cache, state), whatever stood there, with its permissions. Folders above
/// are made.
pub fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    put_with(path, bytes, SHARED_DIR, 0o666)
}

/// Like [`put`], readable by its owner alone.
pub fn put_private(path: &Path, bytes: &[u8]) -> Result<()> {
    put_with(path, bytes, PRIVATE_DIR, 0o600)
}

fn put_with(path: &Path, bytes: &[u8], dir_mode: u32, mode: u32) -> Result<()> {
    let place = Place::making(path, dir_mode)?;
    let failed = |source| Error::io("write", path, source);
    let old = place.open(Access::Read).and_then(|file| file.metadata()).ok();
    let narrow = old.as_ref().map_or(mode, |old| mode & mode::beside(old));
    let temp = Temp::filled(&place.dir, bytes, narrow, false, None).map_err(failed)?;
    if let Some(old) = old.filter(|_| mode != 0o600) {
        mode::keep(temp.file(), &old).map_err(failed)?;
    }
    fault::point().map_err(failed)?;
    temp.persist(&place.name).map_err(failed)
}

/// Appends to a file with one write, so that lines of several processes do not mix. Folders above are made; the
/// bytes survive the end of the process, not that of the machine.
pub fn append(path: &Path, bytes: &[u8]) -> Result<()> {
    let place = Place::making(path, SHARED_DIR)?;
    let file = place.open(Access::Append { mode: 0o666 });
    file.and_then(|mut file| file.write_all(bytes)).map_err(|source| Error::io("write", path, source))
}

/// Like [`append`], readable by its owner alone.
pub fn append_private(path: &Path, bytes: &[u8]) -> Result<()> {
    open_append_private(path)?.write_all(bytes).map_err(|source| Error::io("write", path, source))
}

/// A file that is only appended to, for another program to write its log to; readable by its owner alone. Folders above
/// are made.
pub fn open_append_private(path: &Path) -> Result<fs::File> {
    let place = Place::making(path, PRIVATE_DIR)?;
    let file = place.open(Access::Append { mode: 0o600 }).map_err(|source| Error::io("write", path, source))?;
    mode::take_from_others(&file);
    Ok(file)
}

/// Copies a file with its permissions, and a link as a link, over whatever is there; makes the folders above it. For
/// copies of our own: they are not made durable.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let place = Place::making(to, SHARED_DIR)?;
    let copied = (|| {
        if fs::symlink_metadata(from)?.is_symlink() {
            let _ = place.dir.remove(&place.name);
            return place.dir.make_link(&fs::read_link(from)?, &place.name);
        }
        let mut file = open_regular(from)?;
        let metadata = file.metadata()?;
        let mut temp = Temp::filled(&place.dir, &[], mode::beside(&metadata), false, None)?;
        io::copy(&mut file, temp.file_mut())?;
        mode::keep(temp.file(), &metadata)?;
        temp.persist(&place.name)
    })();
    copied.map_err(|source| Error::io("copy", from, source))
}

/// Removes a file of our own; `Ok(false)` when there is none. A link is removed itself.
pub fn remove(path: &Path) -> Result<bool> {
    let Some(place) = Place::existing(path)? else { return Ok(false) };
    match fault::point().and_then(|()| place.dir.remove(&place.name)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::io("remove", path, source)),
    }
}

/// Removes a folder of derived files with all that is in it; nothing where there is none. What links in it lead to stays.
pub fn remove_derived(dir: &Path) -> Result<()> {
    let Some(place) = Place::existing(dir)? else { return Ok(()) };
    match place.dir.remove_all(&place.name) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", dir, source)),
        _ => Ok(()),
    }
}

/// Makes what was created in `dir` durable.
pub fn sync_dir(dir: &Path) {
    if let Ok(dir) = place::folder(dir, None) {
        place::sync(&dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::read;

    #[test]
    fn a_name_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.md");
        assert!(create(&path, b"one").unwrap());
        assert!(!create(&path, b"two").unwrap());
        assert_eq!(read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(dir.path().join("a")).unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_takes_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        std::os::unix::fs::symlink("/nowhere/x", &path).unwrap();
        assert!(!create(&path, b"one").unwrap());
    }

    #[test]
    fn puts_appends_removes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/x");
        append(&path, b"a\n").unwrap();
        append(&path, b"b\n").unwrap();
        assert_eq!(read(&path).unwrap(), b"a\nb\n");
        put(&path, b"c").unwrap();
        assert_eq!(read(&path).unwrap(), b"c");
        assert!(remove(&path).unwrap());
        assert!(!remove(&path).unwrap());
    }
}
