//! Which notes the index knows, as they were when it read them.
//!
//! A small file that every question reads: enough to tell what changed without opening a note, and where a session's row
//! stands. It belongs to one commit of the entries, by its generation.

use serde::{Deserialize, Serialize};

use super::record::SCHEMA;
use super::schema::VERSION;
use cru_base::files::Fingerprint;
use cru_base::hash::short;

const MAGIC: &[u8; 8] = b"cruindex";

/// A file that was changed so shortly before it was read may have been changed once more without looking different.
pub(super) const SLACK: i64 = 2_000_000_000;

/// All notes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The commit that it belongs to; later ones have larger numbers.
    pub(super) generation: u64,
    /// Number of the file that its rows stand in.
    pub(super) rows: u64,
    /// Hash of tantivy's own list of its files, as of that commit.
    pub(super) meta: [u8; 16],
    /// Sorted by path.
    pub(super) notes: Vec<Seen>,
}

/// A note as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Its path in the vault.
    pub(super) path: String,
    /// What the file system said.
    pub(super) fingerprint: Fingerprint,
    /// Hash of its bytes.
    pub(super) hash: [u8; 16],
    /// When it was looked at, by the clock of the file system, in nanoseconds.
    pub(super) checked: i64,
    /// What the evidence was known by that its entries were made of; `None` where there was none.
    pub(super) evidence: Option<u64>,
    /// Where its row stands; `None` where it is no session.
    pub(super) row: Option<Place>,
    /// Where the list of places of its record's tables stands, likewise.
    pub(super) tables: Option<Place>,
}

/// A range of the file of rows, or of that of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    /// First byte.
    pub(super) at: u64,
    /// Bytes.
    pub(super) len: u32,
    /// Their checksum.
    pub(super) sum: u32,
}

/// What a look at a file's fingerprint tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It is the file that was read.
    Same,
    /// Only its bytes can tell.
    Doubtful,
}

impl Seen {
    /// What a fingerprint tells.
    pub(super) fn look(&self, now: &Fingerprint) -> Look {
        let racy = now.mtime.saturating_add(SLACK) >= self.checked;
        if self.fingerprint == *now && !racy { Look::Same } else { Look::Doubtful }
    }
}

/// The hash that a manifest holds.
pub(super) fn hash(bytes: &[u8]) -> [u8; 16] {
    short(&blake3::hash(bytes))
}

/// The checksum of what stands at a place: it tells damage, and takes a tenth of the time of a hash, which is as long as to decode a
/// row.
pub(super) fn row_sum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Why a manifest cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Of another version.
    Outdated,
    /// Not what was written.
    Damaged,
}

impl Manifest {
    /// As bytes: magic, versions, hash of what follows, and that.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let body = postcard::to_allocvec(self).ok()?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(SCHEMA.to_le_bytes());
        bytes.extend(hash(&body));
        bytes.extend(body);
        Some(bytes)
    }

    /// Reads what [`Manifest::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Unfit> {
        let (magic, rest) = bytes.split_at_checked(MAGIC.len()).ok_or(Unfit::Damaged)?;
        let (versions, rest) = rest.split_at_checked(8).ok_or(Unfit::Damaged)?;
        let (sum, body) = rest.split_at_checked(16).ok_or(Unfit::Damaged)?;
        if magic != MAGIC {
            return Err(Unfit::Damaged);
        }
        if versions[..4] != VERSION.to_le_bytes() || versions[4..] != SCHEMA.to_le_bytes() {
            return Err(Unfit::Outdated);
        }
        if hash(body) != sum {
            return Err(Unfit::Damaged);
        }
        postcard::from_bytes(body).map_err(|_| Unfit::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let fingerprint = Fingerprint { size: 10, mtime: 5_000_000_000, inode: 7 };
        let row = Some(Place { at: 0, len: 20, sum: 5 });
        let seen = Seen {
            path: "sessions/a.md".into(),
            fingerprint,
            hash: hash(b"a"),
            checked: 9_000_000_000,
            evidence: Some(1),
            row,
            tables: row,
        };
        Manifest { generation: 3, rows: 2, meta: [1; 16], notes: vec![seen] }
    }

    #[test]
    fn reads_what_it_wrote_and_nothing_else() {
        let bytes = manifest().encode().unwrap();
        assert_eq!(Manifest::decode(&bytes), Ok(manifest()));
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(Manifest::decode(&other).is_err(), "byte {at}");
            assert!(Manifest::decode(&bytes[..at]).is_err());
        }
        let mut newer = bytes;
        newer[8] += 1;
        assert_eq!(Manifest::decode(&newer), Err(Unfit::Outdated));
    }

    #[test]
    fn a_file_that_was_just_changed_is_doubtful() {
        let seen = &manifest().notes[0];
        let now = seen.fingerprint;
        assert_eq!(seen.look(&now), Look::Same);
        assert_eq!(seen.look(&Fingerprint { size: 11, ..now }), Look::Doubtful);
        assert_eq!(seen.look(&Fingerprint { inode: 8, ..now }), Look::Doubtful);
        let racy = Seen { checked: 6_500_000_000, ..seen.clone() };
        assert_eq!(racy.look(&now), Look::Doubtful);
    }
}
