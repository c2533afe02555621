//! The operation log of a session: every write of its note, before it happens.
//!
//! A record is on disk before the note is touched, so it is the moment a write is decided: what the note then lacks, by
//! its revision, is applied again at the next contact. Records are only ever added, by whoever holds the session's
//! lock; a torn last line is nothing. A write needs the newest few, so the file is read from its end; all of it is
//! read only to undo and to list.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::journal::Mark;
use cru_base::{Error, Result, files};
use cru_session::op::{Change, Op};

/// How much of the end of a log is read at first.
const FIRST: u64 = 64 * 1024;

/// One write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Revision of the note that it makes; that of the record before, when the note was not to be changed.
    pub revision: u64,
    /// When.
    pub time: Timestamp,
    /// What it was for, `log decision`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The note's path in the vault then.
    pub note: String,
    /// What was done, in order: first what was applied again, then what is new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<WrittenOperation>,
    /// How far the journals are consumed, all of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub consumed: BTreeMap<String, Mark>,
    /// Block ids that this write gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub made: BTreeMap<String, String>,
    /// What was last generated of the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// Revision of the base before that, which is kept too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_before: Option<u64>,
    /// `cru_cursor` as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Revision that stood in the note it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// Hash of the note it was made for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// Hash of the note it makes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
    /// Bytes of the note it makes; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub size: u64,
    /// Lines of seals for what it puts into the note and takes out of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seals: String,
    /// Which displaced file it brought in, and in which state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(size: &u64) -> bool {
    *size == 0
}

/// The part of a record that says which entries it wrote.
#[derive(Clone, Debug, Deserialize)]
pub struct Given {
    /// [`Record::revision`].
    pub revision: u64,
    /// [`Record::made`].
    #[serde(default)]
    pub made: BTreeMap<String, String>,
}

/// A base on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The revision it is named by.
    pub revision: u64,
    /// Hash of its text.
    pub hash: String,
}

/// One operation or undoing, as it was last applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenOperation {
    /// Unique in the log; stays when it is applied again.
    pub id: String,
    /// The first revision that had it.
    pub first: u64,
    /// The operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Or what is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
    /// Whether it was applied to a text that might have had it already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// What is taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The write that was undone.
    pub revision: u64,
    /// Ids of its operations.
    pub of: Vec<String>,
    /// What they had changed.
    pub changes: Vec<Change>,
}

impl Record {
    /// Whether it was to change the note.
    pub fn writes(&self) -> bool {
        !self.after.is_empty()
    }

    /// What it did for the first time.
    pub fn new_operations(&self) -> impl Iterator<Item = &WrittenOperation> {
        self.ops.iter().filter(|written_op| written_op.first == self.revision)
    }
}

/// The log in a file, which need not exist.
#[derive(Clone, Debug)]
pub struct Operations {
    path: PathBuf,
}

impl Operations {
    /// The log in this file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Adds a record; it is on disk when this returns. Only under the session's lock.
    pub fn append(&self, record: &Record) -> Result<()> {
        let line = serde_json::to_vec(record);
        let line = line.map_err(|error| Error::internal("encode the record of a write", error))?;
        files::append_durable(&self.path, &line)
    }

    /// The newest record.
    pub fn newest(&self) -> Result<Option<Record>> {
        Ok(self.tail(|_| true)?.pop())
    }

    /// The newest records, oldest first, from one that is `enough` on, or all.
    pub fn tail(&self, enough: impl Fn(&Record) -> bool) -> Result<Vec<Record>> {
        self.end(FIRST, enough)
    }

    /// What the newest records gave ids to. Where `entry` is not among them, more than these few are not looked at.
    pub fn given(&self, entry: &str) -> Result<Vec<Given>> {
        let few = self.end(FIRST / 4, |_: &Given| true)?;
        let found = few.iter().any(|given| given.made.contains_key(entry));
        if found { Ok(few) } else { self.end(FIRST, |_| true) }
    }

    fn end<T: DeserializeOwned>(&self, first: u64, enough: impl Fn(&T) -> bool) -> Result<Vec<T>> {
        let failed = |source| Error::io("read", &self.path, source);
        let mut file = match files::open_regular(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(failed)?,
        };
        let size = file.metadata().map_err(failed)?.len();
        let mut window = first;
        loop {
            let start = size.saturating_sub(window);
            let bytes = files::read_at(&mut file, start, size - start).map_err(failed)?;
            let records = records(&bytes, start == 0);
            if start == 0 || records.iter().any(&enough) {
                return Ok(records);
            }
            // Each window is four times the last, so that all of them together cost little more than the largest.
            window = window.saturating_mul(4);
        }
    }

    /// All records, oldest first.
    pub fn all(&self) -> Result<Vec<Record>> {
        self.tail(|_| false)
    }
}

/// The whole records in a part of a log; its first line counts only when the part is the beginning.
fn records<T: DeserializeOwned>(bytes: &[u8], beginning: bool) -> Vec<T> {
    let lines = bytes.split(|&byte| byte == b'\n').skip(usize::from(!beginning));
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(revision: u64, size: usize) -> Record {
        let op = Op::Preface { text: "x".repeat(size) };
        let written_op = WrittenOperation {
            id: format!("{revision}.0"),
            first: revision,
            op: Some(op),
            ..WrittenOperation::default()
        };
        Record {
            revision,
            time: Timestamp::UNIX_EPOCH,
            note: "a.md".to_owned(),
            ops: vec![written_op],
            ..Record::default()
        }
    }

    fn revisions(records: &[Record]) -> Vec<u64> {
        records.iter().map(|record| record.revision).collect()
    }

    #[test]
    fn the_end_is_read_as_far_as_needed() {
        let dir = tempfile::tempdir().unwrap();
        let log = Operations::at(dir.path().join("operations/a.jsonl"));
        assert!(log.newest().unwrap().is_none());
        for revision in 1..=400 {
            log.append(&record(revision, if revision == 300 { 300_000 } else { 1000 })).unwrap();
        }
        assert_eq!(log.newest().unwrap().unwrap().revision, 400);
        let tail = log.tail(|record| record.revision <= 398).unwrap();
        assert!(tail.len() >= 3 && tail.len() < 100, "{}", tail.len());
        assert_eq!(revisions(&tail), (401 - tail.len() as u64..=400).collect::<Vec<_>>());
        assert_eq!(revisions(&log.tail(|record| record.revision <= 10).unwrap()).last(), Some(&400));
        assert_eq!(revisions(&log.all().unwrap()), (1..=400).collect::<Vec<_>>());
    }

    #[test]
    fn torn_lines_are_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let log = Operations::at(&path);
        log.append(&record(1, 1)).unwrap();
        files::append(&path, b"\n{\"revision\":2,\"ti").unwrap();
        assert_eq!(revisions(&log.all().unwrap()), [1]);
        log.append(&record(2, 1)).unwrap();
        files::append(&path, b"\n\xff\0\0\0").unwrap();
        assert_eq!(revisions(&log.all().unwrap()), [1, 2]);
        assert_eq!(log.newest().unwrap().unwrap(), record(2, 1));
    }
}
