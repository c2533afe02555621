//! What was consumed of one stream: how many records, the last of them, and the hash over their bytes.
//!
//! The cursor of a note is made of it, so every importer counts and hashes in the same way. Knows no record's meaning.

use cru_session::cursor::record_key;
use cru_session::source::{Bounds, Consumed};

/// Why records are left out that stand behind a call which still waits for its answer: a later reading takes them.
pub(crate) const LATER: &str = "not read yet: behind a running call";

/// The records of one stream as they are taken in.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    bounds: Bounds,
    marked: Option<String>,
    /// Records after which no call waited for its answer.
    settled: u64,
    records: u64,
    last: Option<String>,
    /// Where the record that is looked for stands, and how many have its id.
    located: ((u64, u64), u32),
    hasher: blake3::Hasher,
    /// Bytes that are not hashed yet: the hash is several times faster on large pieces.
    unhashed: Vec<u8>,
}

impl Intake {
    /// For a stream of which so much is wanted.
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    /// Whether all that is wanted was consumed.
    pub(crate) fn is_full(&self) -> bool {
        self.bounds.until.is_some_and(|until| self.records >= until)
    }

    /// Takes in a record's bytes; its number. `waiting`: before it some call waits for its answer.
    pub(crate) fn consume(&mut self, line: &[u8], id: &str, waiting: bool) -> u64 {
        const PIECE: usize = 64 << 10;
        if !waiting {
            self.settled = self.records;
        }
        if line.len() >= PIECE {
            self.hasher.update(&self.unhashed);
            self.hasher.update(line);
            self.unhashed.clear();
        } else {
            self.unhashed.extend_from_slice(line);
        }
        self.unhashed.push(b'\n');
        if self.unhashed.len() >= PIECE {
            self.hasher.update(&self.unhashed);
            self.unhashed.clear();
        }
        self.records += 1;
        if self.bounds.mark == Some(self.records) {
            self.hasher.update(&self.unhashed);
            self.unhashed.clear();
            self.marked = Some(self.hasher.finalize().to_hex().to_string());
        }
        if !id.is_empty() {
            if self.bounds.last.is_some() && record_key(id) == self.bounds.last {
                self.located = ((self.records, self.records), self.located.1.saturating_add(1));
            }
        } else if self.located.1 > 0 && self.located.0.1 + 1 == self.records {
            self.located.0.1 = self.records;
        }
        if !id.is_empty() {
            let last = self.last.get_or_insert_default();
            last.clear();
            last.push_str(id);
        }
        self.records
    }

    /// How many records were consumed.
    pub(crate) const fn records(&self) -> u64 {
        self.records
    }

    /// What was consumed. `waiting`: at the end some call waits for its answer.
    pub(crate) fn consumed(&self, waiting: bool) -> Consumed {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.unhashed);
        Consumed {
            records: self.records,
            last: self.last.clone(),
            hash: hasher.finalize().to_hex().to_string(),
            marked: self.marked.clone(),
            located: (self.located.1 == 1).then_some(self.located.0),
            before_end: None,
            open: waiting.then_some(self.settled + 1),
        }
    }
}
