//! How often words occur in the entries that count.
//!
//! The index keeps an entry that was replaced until its segment is merged, and has those of notes that are read into
//! memory twice. If the weights of words counted them, the same notes would be found in another order by an index that
//! grew than by a fresh one. So they are left out here: an answer depends on the notes alone.

use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocId, DocSet as _, SegmentReader, TERMINATED, Term};

use super::entry::NoteKey;

/// The entries of a segment that do not count, ascending.
#[derive(Debug, Default)]
pub(super) struct Outdated(Vec<DocId>);

impl Outdated {
    /// Those that are replaced, and those of the notes `hidden`, which `field` names.
    pub(super) fn of(
        reader: &SegmentReader,
        field: Field,
        hidden: impl IntoIterator<Item = NoteKey>,
    ) -> tantivy::Result<Self> {
        let mut outdated = Vec::new();
        if let Some(alive) = reader.alive_bitset() {
            // Mostly few are dead: sixty-four are passed over at once.
            let mut set = BitSet::with_max_value_and_full(reader.max_doc());
            set.intersect_update(alive.bitset());
            for bucket in 0..reader.max_doc().div_ceil(64) {
                let mut dead = !u64::from_le_bytes(set.tinyset(bucket).into_bytes());
                while dead != 0 {
                    outdated.push(bucket * 64 + dead.trailing_zeros());
                    dead &= dead - 1;
                }
            }
            // Behind the last entry nothing is alive either.
            while outdated.last().is_some_and(|doc| *doc >= reader.max_doc()) {
                outdated.pop();
            }
        }
        let notes = reader.inverted_index(field)?;
        for key in hidden {
            let term = Term::from_field_u64(field, key.0);
            let Some(mut entries) = notes.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            while entries.doc() != TERMINATED {
                outdated.push(entries.doc());
                entries.advance();
            }
        }
        outdated.sort_unstable();
        outdated.dedup();
        Ok(Self(outdated))
    }

    /// In how many entries of the segment that count a word is.
    pub(super) fn frequency(&self, reader: &SegmentReader, term: &Term) -> tantivy::Result<u64> {
        let index = reader.inverted_index(term.field())?;
        let all = u64::from(index.doc_freq(term)?);
        if all == 0 || self.0.is_empty() {
            return Ok(all);
        }
        let Some(mut entries) = index.read_postings(term, IndexRecordOption::Basic)? else { return Ok(0) };
        let mut outdated = 0;
        for doc in &self.0 {
            // Behind it already: this one is not among them.
            if entries.doc() > *doc {
                continue;
            }
            match entries.seek(*doc) {
                TERMINATED => break,
                found => outdated += u64::from(found == *doc),
            }
        }
        Ok(all - outdated)
    }

    /// How many entries of the segment count.
    pub(super) fn count(&self, reader: &SegmentReader) -> u64 {
        u64::from(reader.max_doc()) - self.0.len() as u64
    }
}
