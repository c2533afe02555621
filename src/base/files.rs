//! Reading and writing files; the only writer of the program.
//!
//! A note is replaced only when the bytes on disk are still the bytes that were read, so an editor's save is never
//! overwritten. New files are made with create-new, so two processes cannot take one name.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::{Error, Result};

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::io("read", path, source))
}

/// Makes a folder and those above it.
pub fn create_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|source| Error::io("create", path, source))
}

/// Writes a new file whole; `Ok(false)` when the name is taken. Folders above are made.
pub fn create(path: &Path, bytes: &[u8]) -> Result<bool> {
    if let Some(parent) = path.parent() {
        create_dir(parent)?;
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let failed = |source| Error::io("write", path, source);
    let mut temp = temporary(dir).map_err(failed)?;
    temp.write_all(bytes).map_err(failed)?;
    match temp.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error)),
    }
}

/// Replaces a file that still holds `old`; refuses with [`Error::Changed`] when it does not. Equal bytes write nothing.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let failed = |source| Error::io("write", path, source);
    // A link inside a vault is followed, so that the note behind it is replaced and not the link itself.
    let target = fs::canonicalize(path).map_err(failed)?;
    let dir = target.parent().unwrap_or(Path::new("."));
    let mut temp = temporary(dir).map_err(failed)?;
    temp.write_all(new).map_err(failed)?;
    temp.as_file().sync_all().map_err(failed)?;
    fs::set_permissions(temp.path(), fs::metadata(&target).map_err(failed)?.permissions()).map_err(failed)?;
    if read(&target)? != old {
        return Err(Error::Changed { path: path.to_owned() });
    }
    if !exchange(temp, &target, old).map_err(failed)? {
        return Err(Error::Changed { path: path.to_owned() });
    }
    sync_dir(dir);
    Ok(())
}

/// Puts the temporary file in the place of `target`; `false` when somebody else was faster, whose text then stays.
fn exchange(temp: tempfile::NamedTempFile, target: &Path, old: &[u8]) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let swap = || renameat_with(CWD, temp.path(), CWD, target, RenameFlags::EXCHANGE);
        if swap().is_ok() {
            // What was displaced now stands under the temporary name: was it what we read?
            if fs::read(temp.path())? == old {
                return Ok(true);
            }
            swap().map_err(io::Error::from)?;
            return Ok(false);
        }
    }
    let _ = old;
    temp.persist(target).map_err(|error| error.error)?;
    Ok(true)
}

/// Makes what was created in `dir` durable.
pub fn sync_dir(dir: &Path) {
    // A folder that cannot be opened for sync (some network mounts) does not make the write wrong.
    if let Ok(handle) = fs::File::open(dir) {
        let _ = handle.sync_all();
    }
}

fn temporary(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cru-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // tempfile makes private files; a note gets what the umask leaves, like any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(dir)
}
