//! What only the transcript says: its best line, beside the step that it led to.
//!
//! Transcripts are read once for all their hits, and no more of them than a person waits for: where that is not enough,
//! or where a transcript is gone, a hit names the place alone.

use std::collections::{BTreeMap, BTreeSet};

use super::excerpt::Piece;
use super::output::{Found, Line};
use super::passage::{best, line_of};
use crate::base::Lines;
use crate::commands::import::transcript::Transcripts;
use crate::index::search::Marker;
use crate::index::{SessionRow, Snapshot};

/// Bytes of transcripts that are read for one answer.
const MOST: u64 = 256 << 20;

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) transcript: String,
    /// From 1.
    pub(super) line: u64,
    /// What was looked for in it; nothing where it cannot be read.
    pub(super) pieces: Vec<Piece>,
}

impl Told {
    /// The place alone.
    pub(super) fn of(row: &SessionRow, line: u64) -> Option<Self> {
        Some(Self { transcript: row.transcript.clone()?, line, pieces: Vec::new() })
    }
}

/// Reads what is to be shown.
pub(super) fn quote(found: &mut Found, snapshot: &Snapshot, transcripts: &Transcripts, marker: &Marker) {
    let mut left = MOST;
    for group in &mut found.groups {
        let hits = || group.hits.iter().filter_map(|hit: &Line| hit.told.as_ref());
        let wanted: BTreeSet<u64> = hits().map(|told| told.line).collect();
        let Some(row) = snapshot.session(group.key).filter(|_| !wanted.is_empty()) else { continue };
        let quotes: BTreeMap<u64, String> = transcripts.quotes(row, &wanted, &mut left);
        for told in group.hits.iter_mut().filter_map(|hit| hit.told.as_mut()) {
            let Some(text) = quotes.get(&told.line) else { continue };
            let lines = Lines::of(text);
            let line = best(text, &lines, (1, usize::MAX), marker).and_then(|line| line_of(text, &lines, line));
            told.pieces = line.map(|line| Piece::cut(line, &marker.marks(line).spans)).unwrap_or_default();
        }
    }
}
