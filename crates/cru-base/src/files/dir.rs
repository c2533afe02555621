//! A folder that is held open: what happens in it happens there, whatever takes the place of its path meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::access::Access;

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct Dir {
    handle: OwnedFd,
    /// Where it was when it was opened, for messages.
    pub(super) path: PathBuf,
}

impl Dir {
    /// Opens a folder whose path is trusted: links are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Opens a folder in it; no link is followed.
    pub(super) fn inside(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
        Ok(Self { handle, path: self.path.join(name) })
    }

    /// Makes a folder in it.
    pub(super) fn make_dir(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.handle, name, bits(mode))?)
    }

    /// Where a link in it leads; `None` where that is none, or nothing.
    pub(super) fn link_target(&self, name: &OsStr) -> Option<PathBuf> {
        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new()).ok()?;
        Some(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    /// Opens a regular file in it: no link is followed, and a pipe or device that stands there is not waited for.
    pub(super) fn file(&self, name: &OsStr, access: Access) -> io::Result<File> {
        let (how, mode) = match access {
            Access::Read | Access::Mode => (OFlags::RDONLY, 0),
            Access::Append { mode } => (OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE, mode),
            Access::Lines => (OFlags::RDWR | OFlags::APPEND, 0),
            Access::Lock => (OFlags::RDWR | OFlags::CREATE, 0o600),
            Access::New { mode } => (OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode),
        };
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.handle, name, flags, bits(mode)) {
            Ok(handle) => File::from(handle),
            Err(Errno::LOOP | Errno::MLINK) => return Err(io::Error::other("it is a symbolic link")),
            Err(Errno::NXIO | Errno::OPNOTSUPP) => return Err(io::Error::other("it is no regular file")),
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        if metadata.nlink() > 1 && !matches!(access, Access::Read) {
            return Err(io::Error::other("it is also the file of another name (a hard link)"));
        }
        Ok(file)
    }

    /// Moves an entry of it to a name in another, over whatever has that name.
    pub(super) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, name, &to.handle, new)?)
    }

    /// Moves an entry of it to a name in another that nothing has.
    pub(super) fn rename_new(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        match rustix::fs::renameat_with(&self.handle, name, &to.handle, new, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
        self.link(name, to, new)?;
        self.remove(name)
    }

    /// Exchanges two of its entries in one step; an error of kind `Unsupported` where the system cannot.
    pub(super) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        match rustix::fs::renameat_with(&self.handle, one, &self.handle, other, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
        let _ = (one, other);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file of it a second name.
    pub(super) fn link(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.handle, name, &to.handle, new, AtFlags::empty())?)
    }

    /// Makes a link in it.
    pub(super) fn make_link(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.handle, name)?)
    }

    /// Removes a file or link of it.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Removes a folder of it with all that is in it; what links lead to stays.
    pub(super) fn remove_all(&self, name: &OsStr) -> io::Result<()> {
        let inner = match self.inside(name) {
            Ok(inner) => inner,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            // A link, or no folder at all.
            Err(_) => return self.remove(name),
        };
        for name in inner.names()? {
            inner.remove_all(&name)?;
        }
        Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Whether something has a name in it.
    pub(super) fn has(&self, name: &OsStr) -> bool {
        rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The names in it.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    /// Makes what was made in it durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.handle)?)
    }

    /// A handle of it that can be locked.
    pub(super) fn to_file(&self) -> io::Result<File> {
        Ok(File::from(self.handle.try_clone()?))
    }
}

fn bits(mode: u32) -> Mode {
    #[allow(clippy::useless_conversion, reason = "it has other widths on other systems")]
    Mode::from_raw_mode((mode & 0o7777).try_into().unwrap_or_default())
}
