//! Answers about files that have not changed since they were searched.
//!
//! A file is known again by path, size, time of change and inode. An answer about a file that was changed less than two
//! seconds before it was searched is not kept: it may have been changed again within the grain of its time.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::files::FileStamp;
use crate::text::{Sighting, Spot};
use cru_base::{Result, files};

/// Raised when answers mean something else.
const VERSION: u32 = 1;

/// Nanoseconds within which a file may change twice and show one time.
const GRAIN: i128 = 2_000_000_000;

/// Files of which answers are kept, and answers for each.
const MOST_FILES: usize = 50_000;
const MOST_ANSWERS: usize = 4_096;

/// The answers of one vault.
#[derive(Debug, Default)]
pub struct AnswerCache {
    files: HashMap<String, KnownFile>,
    changed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KnownFile {
    stamp: FileStamp,
    answers: BTreeMap<String, Sighting>,
}

impl AnswerCache {
    /// Reads them; none where there are none or they cannot be read.
    pub fn read(path: &Path) -> Self {
        let bytes = files::read(path).unwrap_or_default();
        let body =
            bytes.split_at_checked(blake3::OUT_LEN).filter(|(sum, body)| *blake3::hash(body).as_bytes() == **sum);
        let read: Option<(u32, HashMap<String, KnownFile>)> =
            body.and_then(|(_, body)| postcard::from_bytes(body).ok());
        let files = read.filter(|(version, _)| *version == VERSION).map(|(_, files)| files).unwrap_or_default();
        Self { files, changed: false }
    }

    /// Writes them where something is new.
    pub fn write(&self, path: &Path) -> Result<()> {
        if !self.changed {
            return Ok(());
        }
        let bytes = postcard::to_allocvec(&(VERSION, &self.files)).unwrap_or_default();
        files::put_private(path, &[blake3::hash(&bytes).as_bytes().as_slice(), &bytes].concat())
    }

    /// The answer about a spot of a file.
    pub(crate) fn answer(&self, file: &str, stamp: FileStamp, spot: &Spot) -> Option<Sighting> {
        let known = self.files.get(file).filter(|known| known.stamp == stamp)?;
        known.answers.get(&key(spot)).copied()
    }

    /// Keeps an answer that was found `now`.
    pub(crate) fn keep(&mut self, file: &str, stamp: FileStamp, spot: &Spot, sighting: Sighting, now: Timestamp) {
        if stamp.changed + GRAIN > now.as_nanosecond()
            || self.files.len() >= MOST_FILES && !self.files.contains_key(file)
        {
            return;
        }
        let empty = || KnownFile { stamp, answers: BTreeMap::new() };
        let known = self.files.entry(file.to_owned()).or_insert_with(empty);
        if known.stamp != stamp {
            *known = empty();
        }
        if known.answers.len() < MOST_ANSWERS {
            known.answers.insert(key(spot), sighting);
            self.changed = true;
        }
    }
}

fn key(spot: &Spot) -> String {
    match spot {
        Spot::Whole(hash) => hash.clone(),
        Spot::Lines { first: Some(first), count, hash } => format!("{first}+{count}@{hash}"),
        Spot::Lines { first: None, count, hash } => format!("~{count}@{hash}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_no_answers() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("cache/files");
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let old = now.as_nanosecond() - 5_000_000_000;
        let stamp = FileStamp { size: 3, changed: old, inode: 7 };
        let spot = Spot::Lines { first: Some(2), count: 1, hash: "00112233".into() };
        let mut cache = AnswerCache::read(&path);
        cache.keep("/w/a.rs", stamp, &spot, Sighting::At(4), now);
        cache.write(&path).unwrap();
        let whole = cru_base::files::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            cru_base::files::put(&path, &damaged).unwrap();
            assert_eq!(AnswerCache::read(&path).answer("/w/a.rs", stamp, &spot), None, "byte {at}");
        }
        cru_base::files::put(&path, &whole).unwrap();
        let mut cache = AnswerCache::read(&path);
        assert_eq!(cache.answer("/w/a.rs", stamp, &spot), Some(Sighting::At(4)));
        let other = FileStamp { inode: 8, ..stamp };
        assert_eq!(cache.answer("/w/a.rs", other, &spot), None);
        let racy = FileStamp { changed: now.as_nanosecond() - 1_000_000_000, ..stamp };
        cache.keep("/w/b.rs", racy, &spot, Sighting::InPlace, now);
        assert_eq!(cache.answer("/w/b.rs", racy, &spot), None, "it may be changed again in the same moment");
        files::put(&path, b"damaged").unwrap();
        assert_eq!(AnswerCache::read(&path).answer("/w/a.rs", stamp, &spot), None);
    }
}
