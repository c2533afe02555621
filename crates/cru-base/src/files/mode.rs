//! Permissions: those of a file that takes another's place, and who may read what is ours.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use super::access::Access;
use super::place::Place;
use crate::{Error, Result};

/// Permissions for a file that will take the place of another, until it has the other's own: never wider than those, not
/// even for a moment, and its owner can write it.
pub(super) fn beside(old: &Metadata) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(old) & 0o700 | 0o600;
    #[cfg(not(unix))]
    {
        let _ = old;
        0o600
    }
}

/// Gives a new file the permissions of the one whose place it takes and, where allowed, its owner.
pub(super) fn keep(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let own = new.metadata().map(|it| (it.uid(), it.gid()));
        if own.is_ok_and(|own| own != (old.uid(), old.gid())) {
            // Only allowed to some; a note that changes its owner is still the right note.
            let _ = std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    new.set_permissions(old.permissions())
}

/// Takes a file or folder of our own from everybody but its owner, where an older version made it for all.
pub fn make_private(path: &Path) {
    let Ok(Some(place)) = Place::existing(path) else { return };
    let folder = || place.dir.inside(&place.name).and_then(|dir| dir.to_file());
    if let Ok(file) = folder().or_else(|_| place.open(Access::Mode)) {
        take_from_others(&file);
    }
}

/// [`make_private`] of what is open.
pub(super) fn take_from_others(file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        if let Ok(mode) = file.metadata().map(|it| it.mode())
            && mode & 0o077 != 0
        {
            // Somebody else's stays theirs; nothing depends on it.
            let _ = file.set_permissions(fs::Permissions::from_mode(mode & 0o700));
        }
    }
    #[cfg(not(unix))]
    let _ = file;
}

/// Whether others than its owner may read a file or folder.
pub fn is_shared(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|it| std::os::unix::fs::MetadataExt::mode(&it) & 0o077 != 0);
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Whether its owner may run a file.
pub fn is_executable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(metadata) & 0o100 != 0;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Lets those run a file who may read it, or nobody.
pub fn set_executable(path: &Path, executable: bool) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let failed = |source| Error::io("write", path, source);
        let file = Place::of(path)?.open(Access::Mode).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode() & 0o777;
        let run = (mode & 0o444) >> 2;
        let wanted = if executable { mode | run } else { mode & !0o111 };
        if wanted != mode {
            file.set_permissions(fs::Permissions::from_mode(wanted)).map_err(failed)?;
        }
    }
    #[cfg(not(unix))]
    let _ = (path, executable, Access::Mode);
    Ok(())
}

/// The permissions of a file or folder, where the system has such.
pub fn mode(metadata: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::mode(metadata) & 0o7777);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// Gives a file or folder permissions: those of its owner, its group and others, and no more.
pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let place = Place::of(path)?;
    let folder = place.dir.inside(&place.name).and_then(|dir| dir.to_file());
    let file = folder.or_else(|_| place.open(Access::Mode)).map_err(failed)?;
    give(&file, mode).map_err(failed)
}

/// [`set_mode`] of what is open.
pub(super) fn give(file: &File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        super::fault::point()?;
        file.set_permissions(fs::Permissions::from_mode(mode & 0o777))?;
    }
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}
