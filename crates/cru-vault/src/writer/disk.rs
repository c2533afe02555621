//! A note's text as it stands on disk, and what it says of who wrote it.

use super::cursor;
use crate::operations::Record;
use cru_base::files::Fingerprint;
use cru_session::cursor::Cursor;

/// How many looks must find a text unchanged that lacks its end.
const LOOKS_UNCHANGED: u32 = 4;

/// What stands on disk.
#[derive(Clone)]
pub(super) struct Disk {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// Their hash.
    pub(super) hash: String,
    /// What the note says of its revision.
    pub(super) cursor: Option<Cursor>,
    /// What the file system said of it.
    pub(super) fingerprint: Fingerprint,
}

impl Disk {
    pub(super) fn of(bytes: Vec<u8>, fingerprint: Fingerprint) -> Self {
        Self { hash: hash(&bytes), cursor: cursor::read(&bytes), bytes, fingerprint }
    }

    /// Another text in the same place.
    pub(super) fn with(&self, bytes: &[u8]) -> Self {
        Self::of(bytes.to_vec(), self.fingerprint)
    }

    /// The newest revision of the state `me` that it has.
    pub(super) fn revision(&self, me: &str) -> Option<u64> {
        self.cursor.as_ref().map(|cursor| cursor.revision_of(me))
    }

    /// Whether another state has written to it what the newest record of this one did not know.
    pub(super) fn is_foreign(&self, newest: Option<&Record>, me: &str) -> bool {
        let known = newest.and_then(|newest| Cursor::parse(newest.cursor.as_deref()?));
        let known = |name: &str| known.as_ref().map_or(0, |known| known.written_by(name));
        let writers = self.cursor.iter().flat_map(|cursor| &cursor.writers);
        writers.filter(|(name, _)| name != me).any(|(name, revision)| *revision > known(name))
    }

    /// How many further looks must find it unchanged before it counts as whole.
    pub(super) fn looks_wanted(&self, newest: Option<&Record>) -> u32 {
        let is_ours = newest.is_some_and(|newest| self.hash == newest.after || self.hash == newest.before);
        let is_shorter = newest.is_some_and(|newest| (self.bytes.len() as u64) < newest.size);
        let lacks_end = !self.bytes.is_empty() && !self.bytes.ends_with(b"\n");
        match (is_shorter, lacks_end) {
            _ if is_ours => 0,
            (true, true) => LOOKS_UNCHANGED,
            (true, false) => LOOKS_UNCHANGED / 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
}

/// The hash of a text, as records and bases keep it.
pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
