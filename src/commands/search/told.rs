//! What only the transcript says: its best line, beside the step that it led to.
//!
//! Transcripts are read once for all their hits, and no more of them than a person waits for: where that is not enough,
//! or where a transcript is gone, a hit names the place alone.

use std::collections::{BTreeMap, BTreeSet};

use super::excerpt::Piece;
use super::output::{FoundHits, HitLine};
use super::passage::{best, line_of};
use crate::base::Lines;
use crate::index::search::Marker;
use crate::index::{SessionRow, Snapshot};
use crate::sync::evidence::Transcripts;

/// Bytes of transcripts that are read for one answer.
const MOST: u64 = 256 << 20;

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TranscriptLine {
    pub(super) transcript: String,
    /// From 1.
    pub(super) line: u64,
    /// Its file, where it is not the note's transcript.
    source: Option<String>,
    /// What was looked for in it; nothing where it cannot be read.
    pub(super) pieces: Vec<Piece>,
}

impl TranscriptLine {
    /// The place alone.
    pub(super) fn of(row: &SessionRow, line: u64, source: Option<String>) -> Option<Self> {
        let named = row.transcript.as_deref()?;
        let transcript = source.as_deref().map_or_else(|| named.to_owned(), |source| beside(named, source));
        Some(Self { transcript, line, source, pieces: Vec::new() })
    }
}

/// The file `name` in the folder of `path`.
fn beside(path: &str, name: &str) -> String {
    let folder = path.rfind(['/', '\\']).map_or("", |at| &path[..=at]);
    format!("{folder}{name}")
}

/// Reads what is to be shown.
pub(super) fn quote(found: &mut FoundHits, snapshot: &Snapshot, transcripts: &Transcripts, marker: &Marker) {
    let mut left = MOST;
    for group in &mut found.groups {
        let Some(row) = snapshot.session(group.key) else { continue };
        let mut wanted: BTreeMap<Option<String>, BTreeSet<u64>> = BTreeMap::new();
        for told in group.hits.iter().filter_map(|hit: &HitLine| hit.told.as_ref()) {
            wanted.entry(told.source.clone()).or_default().insert(told.line);
        }
        for (source, wanted) in wanted {
            let quotes: BTreeMap<u64, String> = transcripts.quotes(row, source.as_deref(), &wanted, &mut left);
            let told = group.hits.iter_mut().filter_map(|hit| hit.told.as_mut());
            for told in told.filter(|told| told.source == source) {
                let Some(text) = quotes.get(&told.line) else { continue };
                let lines = Lines::of(text);
                let line = best(text, &lines, (1, usize::MAX), marker).and_then(|line| line_of(text, &lines, line));
                told.pieces = line.map(|line| Piece::cut(line, &marker.marks(line).spans)).unwrap_or_default();
            }
        }
    }
}
