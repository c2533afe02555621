//! What only the transcript says: its best line, beside the step that it led to.
//!
//! Transcripts are read once for all their hits, and no more of them than a person waits for: where that is not enough,
//! or where a transcript is gone, a hit names the place alone.

use std::collections::{BTreeMap, BTreeSet};

use super::excerpt::Piece;
use super::output::{FoundHits, HitLine};
use super::passage::{best, line_of};
use crate::base::Lines;
use crate::index::Snapshot;
use crate::index::search::Marker;
use crate::sync::evidence::Transcripts;

/// Reads what is to be shown.
pub(super) fn quote(found: &mut FoundHits, snapshot: &Snapshot, transcripts: &Transcripts, marker: &Marker) {
    // Bytes of transcripts that are read for one answer.
    let mut left = 256 << 20;
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
