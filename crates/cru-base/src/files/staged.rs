//! A file in the making beside its place.

use std::fs::File;
use std::io;

use super::access::Access;
use super::exchange::{Pair, lock_folder};
use super::fault;
use super::intention::{Intention, Keep};
use super::long::{Digest, digest_of};
use super::place::{self, Place};
use super::sweep;
use super::temp::Temp;

/// A temporary file that the journal names. Dropping it takes it away.
#[derive(Debug)]
pub(super) struct Staged {
    // The order matters: the intention goes when the file is gone.
    temp: Temp,
    intention: Intention,
    target: Place,
}

impl Staged {
    /// One beside `target`, with these bytes and permissions. Digests are given where they are known.
    pub(super) fn new(
        target: &Place,
        (old, new): (Option<Digest>, Option<Digest>),
        bytes: &[u8],
        mode: u32,
        sync: bool,
    ) -> io::Result<Self> {
        sweep::tidy(&target.dir);
        let intention = Intention::begin(target, old, new)?;
        let temp = Temp::filled(&target.dir, bytes, mode, sync, intention.temp().to_str())?;
        Ok(Self { temp, intention, target: target.clone() })
    }

    pub(super) fn file(&mut self) -> &mut File {
        self.temp.file_mut()
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        fault::point()?;
        self.temp.file().sync_all()
    }

    /// Gives it its name, if nothing has that.
    pub(super) fn persist_new(self) -> io::Result<bool> {
        // What is bound last is dropped first.
        let Self { intention: _intention, temp, target } = self;
        fault::point()?;
        match temp.persist_new(&target.name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts it in its place, durable, if what stands there still has the digest `old`; `false` where somebody was faster.
    pub(super) fn replace(self, old: Digest, new: Digest, keep: &Keep) -> io::Result<bool> {
        let Self { mut intention, temp, target } = self;
        intention.ready(Some(old), Some(new), keep)?;
        let _folder = lock_folder(&target.dir);
        fault::point()?;
        if digest_of(target.open(Access::Read))? != Some(old) {
            return Ok(false);
        }
        let pair = Pair { dir: &target.dir, temp: intention.temp(), target: &target.name };
        let replaced = pair.exchange(old, new, keep);
        if !matches!(replaced, Ok(false)) {
            // What is under its name now, if anything is, may be the text of somebody.
            temp.keep();
        }
        if replaced.is_ok() {
            place::sync(&target.dir);
        }
        replaced
    }
}
