//! A file that is made beside the one whose place it will take.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::sync::Arc;

use super::access::Access;
use super::dir::Dir;
use super::fault;
use super::place::Place;

/// Beginning and end of the names of temporary files that are given by chance.
const PREFIX: &str = ".cru-";
const SUFFIX: &str = ".tmp";

/// A temporary file in a folder that is held open. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Temp {
    place: Place,
    file: File,
    is_there: bool,
}

impl Temp {
    /// One with these bytes and, as far as the umask leaves them, these permissions; with a name of chance unless it is
    /// given.
    pub(super) fn filled(dir: &Arc<Dir>, bytes: &[u8], mode: u32, sync: bool, name: Option<&str>) -> io::Result<Self> {
        fault::point()?;
        let mut temp = Self::new(dir, mode, name)?;
        fault::write_point(&mut temp.file, bytes)?;
        temp.file.write_all(bytes)?;
        if sync {
            fault::point()?;
            temp.file.sync_all()?;
        }
        Ok(temp)
    }

    fn new(dir: &Arc<Dir>, mode: u32, name: Option<&str>) -> io::Result<Self> {
        let make = |name: OsString| {
            let place = Place { dir: dir.clone(), name };
            let file = place.open(Access::New { mode })?;
            Ok(Self { place, file, is_there: true })
        };
        if let Some(name) = name {
            return make(name.into());
        }
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        // How many names are tried.
        let made = (0..(1 << 10)).map(|_| make(name_of_chance())).find(|made| !made.as_ref().is_err_and(is_taken));
        made.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
    }

    /// The file that was made.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The same, to write more.
    pub(super) fn file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts it in the place of `name` in the same folder, whatever has it.
    pub(super) fn persist(mut self, name: &OsStr) -> io::Result<()> {
        self.place.dir.rename(&self.place.name, &self.place.dir, name)?;
        self.is_there = false;
        Ok(())
    }

    /// Gives it a name in the same folder that nothing has; an error of kind `AlreadyExists` where it is taken.
    pub(super) fn persist_new(mut self, name: &OsStr) -> io::Result<()> {
        self.place.dir.rename_new(&self.place.name, &self.place.dir, name)?;
        self.is_there = false;
        Ok(())
    }

    /// Leaves what has its name now.
    pub(super) fn keep(mut self) {
        self.is_there = false;
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if self.is_there {
            // One that cannot be removed is only in the way.
            let _ = self.place.dir.remove(&self.place.name);
        }
    }
}

fn name_of_chance() -> OsString {
    format!("{PREFIX}{}{SUFFIX}", chance()).into()
}

/// Letters and digits of chance.
pub(super) fn chance() -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    // Each state has keys of chance.
    let mut chance = RandomState::new().build_hasher();
    chance.write_u32(std::process::id());
    let mut chance = chance.finish();
    let mut letter = || {
        let letter = LETTERS[usize::try_from(chance % 36).unwrap_or_default()];
        chance /= 36;
        char::from(letter)
    };
    // Letters and digits of chance in such a name.
    (0..6).map(|_| letter()).collect()
}
