//! Lines at the end of a file: of many processes at once, or durable.
//!
//! A line begins with its line end instead of ending with it. What a killed writer or a full disk left half written
//! is then a line of its own, whoever writes next, without a look at the file and without a moment in between; and a
//! line of JSON tells by itself whether it is whole.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;

use super::access::Access;
use super::fault;
use super::mode::take_from_others;
use super::place::{self, PRIVATE_DIR, Place};
use crate::{Error, Result};

/// Appends a line with one write, while others may do the same. The file and its folders are for their owner alone. A
/// file that is new, or empty, begins with the line
/// `head`. Folders above are made; the bytes survive the end of the process, not that of the machine.
pub fn append_line(path: &Path, line: &[u8], head: &dyn Fn() -> String) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let line = [b"\n", line].concat();
    // How often a file that was removed between opening and locking is opened again.
    for _ in 0..100 {
        let (_, mut file) = open(path)?;
        shared(&file).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if is_removed(&metadata) {
            continue;
        }
        take_from_others(&file);
        if metadata.len() > 0 {
            return fault::write(&mut file, &line).map_err(failed);
        }
        // Whoever is first writes the head; the lock is let go and taken, so all is looked at anew.
        exclusive(&file).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if is_removed(&metadata) {
            continue;
        }
        let line = if metadata.len() == 0 { [head().as_bytes(), &line].concat() } else { line.clone() };
        return fault::write(&mut file, &line).map_err(failed);
    }
    Err(failed(io::Error::other("it is removed all the time")))
}

/// Appends a line that is on disk when this returns. Only for the one process that may write the file: a line that
/// could not be written whole is taken back.
pub fn append_durable(path: &Path, line: &[u8]) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let (place, mut file) = open(path)?;
    take_from_others(&file);
    let before = file.metadata().map_err(failed)?.len();
    let line = if before == 0 { line.to_vec() } else { [b"\n", line].concat() };
    if let Err(error) = fault::write(&mut file, &line) {
        let _ = file.set_len(before);
        return Err(failed(error));
    }
    fault::point().and_then(|()| file.sync_data()).map_err(failed)?;
    if before == 0 {
        place::sync(&place.dir);
    }
    Ok(())
}

/// Makes what others appended durable; a file that is not there is nothing.
pub fn sync(path: &Path) -> Result<()> {
    let Some(place) = Place::existing(path)? else { return Ok(()) };
    match place.open(Access::Read) {
        Ok(file) => fault::point().and_then(|()| file.sync_data()).map_err(|source| Error::io("write", path, source)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::io("read", path, source)),
    }
}

/// Removes a file of lines if nobody is about to append and `done` agrees, which is given its end (at most `last`
/// bytes) and its size.
pub fn remove_lines(path: &Path, last: u64, done: &dyn Fn(&mut File, &[u8], u64) -> bool) -> Result<bool> {
    let Some(place) = Place::existing(path)? else { return Ok(false) };
    let mut file = match place.open(Access::Lines) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(Error::io("read", path, source)),
    };
    let failed = |source| Error::io("remove", path, source);
    match file.try_lock() {
        Ok(()) => {}
        // Also where files cannot be locked: then nobody can know that nobody appends.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(false),
    }
    let metadata = file.metadata().map_err(failed)?;
    if is_removed(&metadata) {
        return Ok(false);
    }
    let size = metadata.len();
    let end = read_at(&mut file, size.saturating_sub(last), last).map_err(failed)?;
    if !done(&mut file, &end, size) {
        return Ok(false);
    }
    fault::point().and_then(|()| place.dir.remove(&place.name)).map_err(failed)?;
    Ok(true)
}

/// At most `most` bytes of a file from `start` on.
pub fn read_at(file: &mut File, start: u64, most: u64) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens for appending; the folders are made where they are missing.
fn open(path: &Path) -> Result<(Place, File)> {
    let failed = |source| Error::io("write", path, source);
    fault::point().map_err(failed)?;
    let place = Place::making(path, PRIVATE_DIR)?;
    let file = place.open(Access::Append { mode: 0o600 }).map_err(failed)?;
    Ok((place, file))
}

fn shared(file: &File) -> io::Result<()> {
    fault::point()?;
    unless_unsupported(file.lock_shared())
}

fn exclusive(file: &File) -> io::Result<()> {
    fault::point()?;
    unless_unsupported(file.lock())
}

/// A line that is written without a lock is better than none: only the removal of the file must know who writes.
pub(super) fn unless_unsupported(locked: io::Result<()>) -> io::Result<()> {
    match locked {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        locked => locked,
    }
}

#[cfg(unix)]
pub(super) fn is_removed(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink() == 0
}

#[cfg(not(unix))]
pub(super) fn is_removed(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{read, remove};

    #[test]
    fn the_first_line_has_a_head_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.jsonl");
        append_line(&path, b"1", &|| "head".to_owned()).unwrap();
        append_line(&path, b"2", &|| unreachable!("only a new file has one")).unwrap();
        assert_eq!(read(&path).unwrap(), b"head\n1\n2");
    }

    #[test]
    fn what_was_torn_stays_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        append_durable(&path, b"{\"a\":1}").unwrap();
        super::super::append(&path, b"\n{\"torn").unwrap();
        append_durable(&path, b"{\"b\":2}").unwrap();
        assert_eq!(read(&path).unwrap(), b"{\"a\":1}\n{\"torn\n{\"b\":2}");
    }

    #[test]
    fn nothing_is_removed_while_somebody_appends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        append_line(&path, b"1", &String::new).unwrap();
        let held = File::open(&path).unwrap();
        held.lock_shared().unwrap();
        assert!(!remove_lines(&path, 10, &|_, _, _| true).unwrap());
        drop(held);
        assert!(!remove_lines(&path, 10, &|_, end, size| end.is_empty() || size == 0).unwrap());
        assert!(remove_lines(&path, 10, &|_, end, size| end == b"\n1" && size == 2).unwrap());
        assert!(!remove_lines(&path, 10, &|_, _, _| true).unwrap());
        assert!(!remove(&path).unwrap());
    }

    #[test]
    fn no_line_is_lost_between_writers_and_a_remover() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let seen = std::sync::Mutex::new(Vec::new());
        let take = |_: &mut File, end: &[u8], _: u64| {
            let lines = String::from_utf8(end.to_vec()).unwrap();
            seen.lock().unwrap().extend(lines.lines().filter(|line| !line.is_empty()).map(str::to_owned));
            true
        };
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..200 {
                        append_line(path, format!("{writer} {number}").as_bytes(), &|| String::new()).unwrap();
                    }
                });
            }
            for _ in 0..400 {
                remove_lines(&path, u64::MAX, &take).unwrap();
            }
        });
        remove_lines(&path, u64::MAX, &take).unwrap();
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen.len(), 800);
        for writer in 0..4 {
            let own: Vec<_> = seen.iter().filter_map(|line| line.strip_prefix(&format!("{writer} "))).collect();
            assert_eq!(own, (0..200).map(|number| number.to_string()).collect::<Vec<_>>());
        }
    }
}
