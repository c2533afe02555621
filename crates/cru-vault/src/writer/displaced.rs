//! Files that a write took from the note's place, kept for some minutes.
//!
//! A program that had the note open goes on writing into the file that was there: an editor in the middle of a save in
//! place, a shell's `>>`. Each displaced file keeps its identity under a name that says what it held and which text took
//! its place, so that the next contact finds out what it gained and brings that into the note.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

use crate::operations::Record;
use crate::{State, Vault};
use cru_base::files::{self, Fingerprint};

/// How long a file is kept after it was displaced, or after it last gained something.
const KEPT: SignedDuration = SignedDuration::from_mins(10);

/// How many files of one session are kept, and how many bytes of them.
const MOST: usize = 128;
const BYTES: u64 = 64 << 20;

/// Characters of a hash in a name.
const SHOWN: usize = 16;

/// A displaced file, as its name tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// Where it lies.
    pub(super) path: PathBuf,
    /// Revision of the write that displaced it.
    pub(super) revision: u64,
    /// Bytes that it held then, and their hash.
    pub(super) base_len: u64,
    base: String,
    /// Hash of the text that took its place, or of the note that it was last brought into; empty where the note has more
    /// than operations beside it.
    after: String,
    /// Whether its text went on from one that `cru` had written: nothing of it was cut off.
    pub(super) extends: bool,
    /// Whether it was displaced by a write that brought another of these files in.
    merging: bool,
    /// Seconds since 1970: when it was displaced, or last gained something.
    time: i64,
    /// Revision of the note that has what it gained; 0 where it gained nothing.
    pub(super) merged: u64,
    /// Bytes that it held when it was last looked at, their hash, and its modification time.
    pub(super) len: u64,
    hash: String,
    mtime: i64,
}

/// What a displaced file holds now.
#[derive(Clone, Debug)]
pub(super) struct Gained {
    /// Which file.
    pub(super) kept: Kept,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    mtime: i64,
}

/// How a displaced file is brought into the note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// The note has nothing but operations beside it: its text takes the place of the note, and gets what it lacks.
    Instead,
    /// These bytes are added at the end of the note.
    Tail(Vec<u8>),
    /// It would take the place of the note and is no session: a save that has just begun, or a disk that lost it. It goes to the
    /// recovery copies, and what comes of it may still take the place.
    Unfinished,
    /// It is an older save of what the note has now: it goes to the recovery copies.
    Copy,
    /// The note has it already: a process ended before that was noted.
    Known,
}

impl Kept {
    /// A file about to be displaced by the write of `record`. `text` is what it holds, with the hash of what takes its
    /// place; `records` are those before. Without its modification time, that of the new text, it is looked at whole.
    pub(super) fn new(
        mtime: Option<i64>,
        record: &Record,
        (text, after): (&[u8], &str),
        records: &[Record],
        now: Timestamp,
    ) -> Self {
        let base = short(text);
        let goes_on = |it: &Record| {
            let part = usize::try_from(it.size).ok().filter(|&size| size > 0).and_then(|size| text.get(..size));
            part.is_some_and(|part| blake3::hash(part).to_hex().as_str() == it.after)
        };
        let before = records.iter().rev().filter(|it| it.writes() && it.revision < record.revision);
        Self {
            path: PathBuf::new(),
            revision: record.revision,
            base_len: text.len() as u64,
            base: base.clone(),
            after: after.get(..SHOWN).unwrap_or_default().to_owned(),
            // How many of the newest writes a displaced text may go on from.
            extends: mtime.is_none() || before.take(4).any(goes_on),
            merging: record.merged.is_some(),
            time: now.as_second(),
            merged: 0,
            len: text.len() as u64,
            hash: base,
            mtime: mtime.unwrap_or(0),
        }
    }

    /// Where it may lie, in the order of preference: outside the vault, else inside where that is another file system.
    pub(super) fn places(&self, vault: &Vault, state: &State, key: &str) -> Vec<PathBuf> {
        let name = self.name();
        folders(vault, state, key).into_iter().map(|folder| folder.join(&name)).collect()
    }

    fn name(&self) -> String {
        let dash = |hash: &str| if hash.is_empty() { "-".to_owned() } else { hash.to_owned() };
        format!(
            "r{}_{}_{}_{}_{}{}_{}_{}_{}_{}_{}",
            self.revision,
            self.base_len,
            self.base,
            dash(&self.after),
            if self.extends { "e" } else { "-" },
            if self.merging { "m" } else { "-" },
            self.time,
            self.merged,
            self.len,
            self.hash,
            self.mtime
        )
    }

    fn parse(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_owned();
        let parts: Vec<&str> = name.split('_').collect();
        let [revision, base_len, base, after, flags, time, merged, len, hash, mtime] = parts.as_slice() else {
            return None;
        };
        Some(Self {
            revision: revision.strip_prefix('r')?.parse().ok()?,
            base_len: base_len.parse().ok()?,
            base: (*base).to_owned(),
            after: after.trim_start_matches('-').to_owned(),
            extends: flags.starts_with('e'),
            merging: flags.ends_with('m'),
            time: time.parse().ok()?,
            merged: merged.parse().ok()?,
            len: len.parse().ok()?,
            hash: (*hash).to_owned(),
            mtime: mtime.parse().ok()?,
            path,
        })
    }

    /// What it holds, where that is not what it held when it was last looked at. A file that is still written to is left
    /// for a later look.
    fn gained(&self) -> Option<Gained> {
        let Fingerprint { size, mtime, .. } = files::fingerprint(&self.path).ok()?;
        if (size, mtime) == (self.len, self.mtime) {
            return None;
        }
        let stable = files::read_stable(&self.path).ok()?;
        let gained = Gained { kept: self.clone(), mtime: stable.fingerprint.mtime, bytes: stable.bytes };
        (short(&gained.bytes) != self.hash).then_some(gained)
    }

    /// Whether it could be read whole, and holds what it held when it was last looked at.
    fn is_unchanged(&self) -> bool {
        files::read_stable(&self.path).is_ok_and(|it| short(&it.bytes) == self.hash)
    }

    pub(super) fn is_old(&self, now: Timestamp) -> bool {
        // A clock that was put back makes nothing younger.
        now.as_second().abs_diff(self.time) > KEPT.as_secs().unsigned_abs()
    }
}

impl Gained {
    /// What is to be done with it, for the note `disk` with that revision.
    pub(super) fn merge(&self, disk: &[u8], revision: Option<u64>, records: &[Record], all: &[Kept]) -> Merge {
        let kept = &self.kept;
        let told = |record: &&Record| record.merged.as_ref().is_some_and(|merged| *merged == self.mark());
        let done = records.iter().rev().find(told);
        if done.is_some_and(|done| revision.is_some_and(|revision| revision >= done.revision)) {
            return Merge::Known;
        }
        if is_derived(kept, &short(disk), records, all) {
            return if self.is_session() { Merge::Instead } else { Merge::Unfinished };
        }
        let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        // A note that was saved from a buffer of the time before lacks what was brought in then.
        let lost = kept.merged > 0 && revision.is_none_or(|revision| revision < kept.merged);
        let (start, hash) = if lost { (kept.base_len, &kept.base) } else { (kept.len, &kept.hash) };
        let goes_on = self.bytes.get(..len(start)).is_some_and(|part| short(part) == *hash);
        if !goes_on {
            return Merge::Copy;
        }
        // A line that was written in two parts stands whole.
        let line = memchr::memrchr(b'\n', &self.bytes[..len(start)]).map_or(0, |at| at + 1);
        let tail = &self.bytes[line..];
        let certain = kept.extends && !lost;
        if tail.is_empty() || (!certain && mostly_in(tail, disk)) { Merge::Copy } else { Merge::Tail(tail.to_vec()) }
    }

    /// Whether it holds the text of a session.
    fn is_session(&self) -> bool {
        let text = std::str::from_utf8(&self.bytes).ok().filter(|text| !text.contains('\0'));
        text.is_some_and(|text| cru_session::read::meta(text).0.is_session())
    }

    /// Names this state of this file in a record.
    pub(super) fn mark(&self) -> String {
        format!("r{}-{}-{}", self.kept.revision, self.kept.base, short(&self.bytes))
    }

    /// Notes that it is in the note of `revision`, whose bytes are `after` where it has nothing but operations beside it.
    pub(super) fn done(&self, revision: u64, after: Option<&[u8]>, now: Timestamp) {
        let kept = Kept {
            merged: revision,
            after: after.map(short).unwrap_or_default(),
            time: now.as_second(),
            len: self.bytes.len() as u64,
            hash: short(&self.bytes),
            mtime: self.mtime,
            ..self.kept.clone()
        };
        // One that cannot be renamed is looked at again, and found to be known.
        let _ = files::rename(&self.kept.path, &self.kept.path.with_file_name(kept.name()));
    }
}

/// The displaced files of a session, oldest first.
pub(super) fn all(vault: &Vault, state: &State, key: &str) -> Vec<Kept> {
    let mut all: Vec<Kept> = Vec::new();
    for folder in folders(vault, state, key) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        all.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
                .filter_map(|entry| Kept::parse(entry.path())),
        );
    }
    all.sort_by(|a, b| (a.revision, a.time, &a.path).cmp(&(b.revision, b.time, &b.path)));
    all
}

/// Whether one of them has, or may have, something the note does not: for who has not read the note yet.
pub(super) fn may_gain(all: &[Kept]) -> bool {
    all.iter().any(|kept| kept.merged > 0 || kept.gained().is_some())
}

/// The first of them that has something the note may not have. `revision` is that of the note.
pub(super) fn gained(all: &[Kept], revision: Option<u64>) -> Option<Gained> {
    all.iter().find_map(|kept| {
        let lost = kept.merged > 0 && revision.is_none_or(|revision| revision < kept.merged);
        if !lost {
            return kept.gained();
        }
        let stable = files::read_stable(&kept.path).ok()?;
        Some(Gained { kept: kept.clone(), mtime: stable.fingerprint.mtime, bytes: stable.bytes })
    })
}

/// Removes the files that are old or too many and are known to have gained nothing since they were last looked at. One
/// that cannot be read, or is written to in this moment, stays.
pub(super) fn tidy(all: &[Kept], now: Timestamp) {
    let (mut count, mut bytes) = (0, 0);
    // Those that gained something have a writer: they stay before all others.
    let mut order: Vec<&Kept> = all.iter().collect();
    order.sort_by_key(|kept| std::cmp::Reverse((kept.merged > 0, kept.time, kept.revision)));
    for kept in order {
        count += 1;
        bytes += kept.len;
        let surplus = count > MOST || (bytes > BYTES && count > 1);
        if (surplus || kept.is_old(now)) && kept.is_unchanged() {
            let _ = files::remove(&kept.path);
        }
    }
}

/// Whether nothing but operations came to the note since this file was displaced: each text is what the next write was
/// made of, up to the one that stands there now.
fn is_derived(kept: &Kept, disk: &str, records: &[Record], all: &[Kept]) -> bool {
    let cut = |hash: &str| hash.get(..SHOWN).unwrap_or(hash).to_owned();
    let mut links: HashMap<String, String> = HashMap::new();
    for record in records.iter().filter(|record| record.writes() && record.merged.is_none()) {
        links.insert(cut(&record.before), cut(&record.after));
    }
    for it in all.iter().filter(|it| !it.merging && it.merged == 0 && !it.after.is_empty()) {
        links.insert(it.base.clone(), it.after.clone());
    }
    let mut seen = HashSet::new();
    let mut at = kept.after.clone();
    while !at.is_empty() && seen.insert(at.clone()) {
        if at == disk {
            return true;
        }
        at = links.get(&at).cloned().unwrap_or_default();
    }
    false
}

/// Whether most lines of a text stand in another.
fn mostly_in(part: &[u8], whole: &[u8]) -> bool {
    let known: HashSet<&[u8]> = lines(whole).collect();
    let (count, there) =
        lines(part).fold((0, 0), |(count, there), line| (count + 1, there + usize::from(known.contains(line))));
    there * 2 >= count
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

fn folders(vault: &Vault, state: &State, key: &str) -> [PathBuf; 2] {
    [state.displaced(key), state.displaced_inside(vault.root()).join(key)]
}

fn short(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..SHOWN].to_owned()
}
