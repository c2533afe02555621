//! The journal of a session: events that are not yet in its note, one JSON line each.
//!
//! Appending is one write under a shared lock and no more, so that a hook costs little; it survives the end of the
//! process. Lines are consumed by position, and a file is removed only when all of it is consumed and nobody appends.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::base::{Error, Result, files};

/// How far a journal was consumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Which file of that name: a journal that was removed and begun again has another.
    pub generation: String,
    /// Bytes.
    pub end: u64,
}

/// A line.
#[derive(Clone, Debug, Deserialize)]
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

impl Journal {
    /// The journal in this file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event; its id.
    pub fn append(&self, event: &impl Serialize, now: Timestamp) -> Result<String> {
        #[derive(Serialize)]
        struct Line<'a, T> {
            id: &'a str,
            time: Timestamp,
            event: &'a T,
        }
        let id = format!("{:x}-{:x}", now.as_nanosecond(), std::process::id());
        let line = serde_json::to_string(&Line { id: &id, time: now, event });
        let line = line.map_err(|error| Error::usage(format!("an event that cannot be written: {error}")))?;
        files::append(&self.path, format!("{line}\n").as_bytes())?;
        Ok(id)
    }

    /// The lines behind `from`; all of them where it is of another generation.
    pub fn read(&self, _from: Option<&Mark>) -> Result<Read> {
        let bytes = match files::read(&self.path) {
            Err(_) if !self.path.exists() => return Ok(Read::default()),
            bytes => bytes?,
        };
        let entries = bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        Ok(Read { entries, mark: Mark { generation: String::new(), end: bytes.len() as u64 }, odd: 0 })
    }
}
