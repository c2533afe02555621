//! A folder by its path, on systems that give no handles to work below: links are looked for before each step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::access::Access;

/// A folder.
#[derive(Debug)]
pub(super) struct Dir {
    /// Where it is.
    pub(super) path: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "files are made, moved and removed in this folder alone")]
impl Dir {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self { path: path.to_owned() }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn inside(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        match fs::symlink_metadata(&path)?.is_dir() {
            true => Ok(Self { path }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn make_dir(&self, name: &OsStr, _: u32) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    pub(super) fn link_target(&self, name: &OsStr) -> Option<PathBuf> {
        fs::read_link(self.path.join(name)).ok()
    }

    pub(super) fn file(&self, name: &OsStr, access: Access) -> io::Result<File> {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|it| !it.is_file()) {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut options = OpenOptions::new();
        match access {
            Access::Read | Access::Mode => options.read(true),
            Access::Append { .. } => options.append(true).create(true),
            Access::Lines => options.read(true).append(true),
            Access::Lock => options.read(true).write(true).create(true).truncate(false),
            Access::New { .. } => options.read(true).write(true).create_new(true),
        };
        options.open(path)
    }

    pub(super) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(name), to.path.join(new))
    }

    pub(super) fn rename_new(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        self.link(name, to, new)?;
        self.remove(name)
    }

    pub(super) fn exchange(&self, _: &OsStr, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn link(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        fs::hard_link(self.path.join(name), to.path.join(new))
    }

    pub(super) fn make_link(&self, _: &Path, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub(super) fn remove_all(&self, name: &OsStr) -> io::Result<()> {
        match self.inside(name) {
            Ok(inner) => fs::remove_dir_all(inner.path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            Err(_) => self.remove(name),
        }
    }

    pub(super) fn has(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.path.join(name)).is_ok()
    }

    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    pub(super) fn to_file(&self) -> io::Result<File> {
        File::open(&self.path)
    }
}
