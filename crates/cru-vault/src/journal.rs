//! The journal of a session: events that are not yet in its note, one JSON line each.
//!
//! Appending is one write under a shared lock and no more, so that a hook costs little; it survives the end of the
//! process. Lines are consumed by position, and a file is removed only when all of it is consumed and nobody appends.
//! The first line names the generation of the file: a mark means nothing in a file that was begun anew. What is in a
//! line is anybody's: a line that is no entry is counted and passed over.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use cru_base::{Error, Result, files};

/// How much of a file is looked at for its last line when it may be removed; an entry that is longer keeps it.
const LAST: u64 = 1024 * 1024;

/// How far a journal was consumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Which file of that name: a journal that was removed and begun again has another.
    pub generation: String,
    /// Bytes.
    pub end: u64,
}

/// A line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Unique.
    pub id: String,
    /// When it was written.
    pub time: Timestamp,
    /// What.
    pub event: Box<RawValue>,
}

/// Lines behind a mark.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// Whole lines, in order.
    pub entries: Vec<Entry>,
    /// Where they end.
    pub mark: Mark,
    /// Lines that are no entries and were passed over.
    pub odd: usize,
}

/// A session's journal.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct JournalHead {
    journal: u32,
    generation: String,
}

impl Journal {
    /// The journal in this file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event; its id. After an error the event may be there or not, but never in part.
    pub fn append(&self, event: &impl Serialize, now: Timestamp) -> Result<String> {
        #[derive(Serialize)]
        struct Line<'a, T> {
            id: &'a str,
            time: Timestamp,
            event: &'a T,
        }
        let id = unique(now);
        let line = serde_json::to_string(&Line { id: &id, time: now, event });
        let line = line.map_err(|error| Error::internal("encode an event", error))?;
        files::append_line(&self.path, line.as_bytes(), &|| {
            let head = JournalHead { journal: 1, generation: unique(now) };
            serde_json::to_string(&head).unwrap_or_default()
        })?;
        Ok(id)
    }

    /// Appends an entry of another journal as it is, with its id and its time.
    pub fn append_again(&self, entry: &Entry) -> Result<()> {
        let line = serde_json::to_string(entry).map_err(|error| Error::internal("encode an event", error))?;
        files::append_line(&self.path, line.as_bytes(), &|| {
            let head = JournalHead { journal: 1, generation: unique(entry.time) };
            serde_json::to_string(&head).unwrap_or_default()
        })
    }

    /// Removes the file if nothing stands behind `mark`; whether it did.
    pub fn remove_if_at(&self, mark: &Mark) -> Result<bool> {
        files::remove_lines(&self.path, LAST, &|file, _, size| {
            size == mark.end && generation(file).is_ok_and(|(generation, _)| generation == mark.generation)
        })
    }

    /// Moves the whole file to the end of `rest` if no whole entry stands behind `mark`; whether it did. What cannot be read is
    /// kept there.
    pub fn set_aside_if_at(&self, mark: &Mark, rest: &Path) -> Result<bool> {
        files::remove_lines(&self.path, LAST, &|file, _, _| {
            let is_of = generation(file).is_ok_and(|(generation, _)| generation == mark.generation);
            let tail = files::read_at(file, mark.end, u64::MAX);
            is_of
                && tail.is_ok_and(|tail| lines(&tail).0.is_empty())
                && files::read_at(file, 0, u64::MAX).is_ok_and(|all| files::append(rest, &all).is_ok())
        })
    }

    /// The lines behind `from`; all of them where it is of another generation.
    pub fn read(&self, from: Option<&Mark>) -> Result<Read> {
        let failed = |source| Error::io("read", &self.path, source);
        let mut file = match files::open_regular(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Read { mark: from.cloned().unwrap_or_default(), ..Read::default() });
            }
            file => file.map_err(failed)?,
        };
        let (generation, head) = generation(&mut file).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        // A file that is shorter than the mark lost its end with the machine's power: nothing is new in it.
        let start = from.filter(|mark| mark.generation == generation).map_or(head, |mark| mark.end.min(size));
        let bytes = files::read_at(&mut file, start, u64::MAX).map_err(failed)?;
        let (entries, consumed, odd) = lines(&bytes);
        Ok(Read { entries, mark: Mark { generation, end: start + consumed as u64 }, odd })
    }

    /// Removes the file if all of it is consumed (`mark`) and its newest entry is at least that old; whether it did.
    /// Who appends in this moment keeps it.
    pub fn compact(&self, mark: &Mark, older_than: SignedDuration, now: Timestamp) -> Result<bool> {
        // Mostly something is new in it, and then its end need not be read.
        if std::fs::metadata(&self.path).is_ok_and(|it| it.len() != mark.end) {
            return Ok(false);
        }
        files::remove_lines(&self.path, LAST, &|file, end, size| {
            let newest = || {
                let last = end.rsplit(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
                let entry: Entry = serde_json::from_slice(last).ok()?;
                Some(now.duration_since(entry.time) >= older_than)
            };
            size == mark.end
                && generation(file).is_ok_and(|(generation, _)| generation == mark.generation)
                && newest().unwrap_or(false)
        })
    }
}

/// Which file this is, and where its entries begin. One without a head, torn or written by others, is known by its
/// first line.
fn generation(file: &mut File) -> io::Result<(String, u64)> {
    // How much of a file may be its first line.
    let start = files::read_at(file, 0, 4096)?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<JournalHead>(line) {
        Ok(head) => Ok((head.generation, line.len() as u64)),
        Err(_) => Ok((blake3::hash(line).to_hex()[..16].to_owned(), 0)),
    }
}

/// The entries among lines, how many bytes they take, and how many lines are none. A last line that is not whole may
/// be one that is being written: it is left for later.
#[doc(hidden)]
pub fn lines(bytes: &[u8]) -> (Vec<Entry>, usize, usize) {
    let (mut entries, mut consumed, mut odd, mut at) = (Vec::new(), 0, 0, 0);
    for line in bytes.split(|&byte| byte == b'\n') {
        let end = at + line.len();
        at = end + 1;
        if line.trim_ascii().is_empty() {
            // A line end behind the last line belongs to it.
            consumed = if end < bytes.len() { end } else { consumed.max(end) };
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(entry) => entries.push(entry),
            Err(_) if end == bytes.len() => break,
            Err(_) => odd += 1,
        }
        consumed = end;
    }
    (entries, consumed, odd)
}

/// A name that no other entry has: a clock may jump back, many threads may write at one time, and process ids return.
fn unique(now: Timestamp) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static CHANCE: OnceLock<u32> = OnceLock::new();
    let chance = CHANCE.get_or_init(chance);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}-{chance:x}-{count:x}", now.as_nanosecond(), std::process::id())
}

/// A number of chance.
pub(crate) fn chance() -> u32 {
    // The upper half of the hash of nothing under random keys.
    u32::try_from(RandomState::new().build_hasher().finish() >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    struct World {
        _dir: tempfile::TempDir,
        journal: Journal,
    }

    fn world() -> World {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::at(dir.path().join("journal/a.jsonl"));
        World { _dir: dir, journal }
    }

    fn events(read: &Read) -> Vec<&str> {
        read.entries.iter().map(|entry| entry.event.get()).collect()
    }

    #[test]
    fn what_is_behind_the_mark_is_new() {
        let World { journal, _dir } = world();
        assert!(journal.read(None).unwrap().entries.is_empty());
        journal.append(&1, NOW).unwrap();
        journal.append(&"two\nlines", NOW).unwrap();
        let first = journal.read(None).unwrap();
        assert_eq!(events(&first), ["1", r#""two\nlines""#]);
        assert!(journal.read(Some(&first.mark)).unwrap().entries.is_empty());
        journal.append(&json!({"three": 3}), NOW).unwrap();
        let second = journal.read(Some(&first.mark)).unwrap();
        assert_eq!(events(&second), [r#"{"three":3}"#]);
        assert_eq!(second.mark.end, std::fs::metadata(journal.path()).unwrap().len());
    }

    #[test]
    fn a_torn_line_takes_no_other_with_it() {
        let World { journal, _dir } = world();
        journal.append(&1, NOW).unwrap();
        let before = journal.read(None).unwrap().mark;
        files::append(journal.path(), b"\n{\"id\":\"x\",\"time\":\"1970-01-01T00:00:00Z\",\"ev").unwrap();
        let torn = journal.read(None).unwrap();
        assert_eq!((torn.entries.len(), torn.odd, &torn.mark), (1, 0, &before), "it may still be growing");
        journal.append(&2, NOW).unwrap();
        let read = journal.read(Some(&before)).unwrap();
        assert_eq!((events(&read), read.odd), (vec!["2"], 1));
        assert!(journal.read(Some(&read.mark)).unwrap().entries.is_empty());
    }

    #[test]
    fn lines_of_others_are_passed_over() {
        let World { journal, _dir } = world();
        files::append(journal.path(), b"\xff\xfe\n\n[1]\n{\"id\":1}\n").unwrap();
        journal.append(&1, NOW).unwrap();
        files::append(journal.path(), b"\n\n").unwrap();
        let read = journal.read(None).unwrap();
        assert_eq!((events(&read), read.odd), (vec!["1"], 3));
        journal.append(&2, NOW).unwrap();
        assert_eq!(events(&journal.read(Some(&read.mark)).unwrap()), ["2"]);
    }

    #[test]
    fn it_is_removed_when_consumed_and_old() {
        let World { journal, _dir } = world();
        let ten = SignedDuration::from_mins(10);
        let later = NOW + SignedDuration::from_mins(11);
        journal.append(&1, NOW).unwrap();
        let first = journal.read(None).unwrap().mark;
        assert!(!journal.compact(&first, ten, NOW + SignedDuration::from_mins(9)).unwrap());
        assert!(!journal.compact(&first, ten, NOW - SignedDuration::from_hours(9)).unwrap(), "the clock jumped back");
        journal.append(&2, NOW).unwrap();
        assert!(!journal.compact(&first, ten, later).unwrap(), "something is new");
        let all = journal.read(None).unwrap().mark;
        assert!(!journal.compact(&Mark { generation: "x".into(), ..all.clone() }, ten, later).unwrap());
        assert!(journal.compact(&all, ten, later).unwrap());
        assert_eq!(journal.read(Some(&all)).unwrap().mark, all);
        journal.append(&3, later).unwrap();
        assert_eq!(events(&journal.read(Some(&all)).unwrap()), ["3"], "another generation is read from its start");
    }

    #[test]
    fn many_threads_give_many_ids() {
        let World { journal, _dir } = world();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let journal = &journal;
                scope.spawn(move || (0..50).for_each(|number| drop(journal.append(&number, NOW).unwrap())));
            }
        });
        let read = journal.read(None).unwrap();
        assert_eq!((read.entries.len(), read.odd), (200, 0));
        assert_eq!(read.entries.iter().map(|entry| &entry.id).collect::<HashSet<_>>().len(), 200);
    }

    proptest! {
        /// However a journal is cut, every entry that is whole is read once, whatever the marks in between.
        #[test]
        fn reading_in_parts_is_reading_whole(pieces in prop::collection::vec(prop_oneof![
            Just("\n{\"id\":\"a\",\"time\":\"1970-01-01T00:00:00Z\",\"event\":1}"), Just("\n{\"id\":"), Just("\n"),
            Just("\n\n"), Just("\n[]"), Just("\n\u{e9}"),
        ], 0..12)) {
            let World { journal, _dir } = world();
            let mut mark = None;
            let mut seen = 0;
            for piece in &pieces {
                files::append(journal.path(), piece.as_bytes()).unwrap();
                let read = journal.read(mark.as_ref()).unwrap();
                seen += read.entries.len();
                mark = Some(read.mark);
            }
            prop_assert_eq!(seen, pieces.iter().filter(|piece| piece.contains("event")).count());
        }
    }
}
