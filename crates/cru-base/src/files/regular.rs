//! Reading a file that somebody else named, which may be anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

use crate::{Error, Result};

/// The bytes of a regular file of at most `max` bytes; `None` for anything else, and for one that changes meanwhile.
///
/// Links are followed. A pipe, a socket or a device is not opened, and if one takes the place of the file at that
/// moment, opening it does not wait.
pub fn read_regular(path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
    let failed = |source| Error::io("read", path, source);
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if is_no_file(&error) => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.len() > max {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    // One byte more than it should have tells whether it grew; a file of the system may say 0 and have no end.
    let read = file.take(metadata.len() + 1).read_to_end(&mut bytes);
    match read {
        Ok(count) if count as u64 == metadata.len() => Ok(Some(bytes)),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Opens a regular file; an error for anything else. Links are followed. A pipe, a socket or a device is not opened, and
/// if one takes the place of the file at that moment, opening it does not wait.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, NO_FILE);
    if !fs::metadata(path)?.is_file() {
        return Err(no_file());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(no_file()) }
}

/// What is said of what stands where a regular file should.
const NO_FILE: &str = "it is no regular file";

fn is_no_file(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}
