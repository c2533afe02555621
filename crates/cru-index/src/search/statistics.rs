//! The figures that relevance is worked out of: how often words occur in the entries of all parts that count.

use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{SegmentReader, Term};

use crate::frequency::Outdated;
use crate::snapshot::{Part, Snapshot};

/// How many words an entry is taken to have on average: about what it is in the vaults of real sessions. It is not
/// counted, since an index only estimates it once entries were replaced; a longer entry still weighs less.
const LENGTH: u64 = 40;

/// Figures over all parts, so that a score means the same in each.
pub(super) struct Statistics<'a>(pub(super) &'a Snapshot);

impl Statistics<'_> {
    fn sum(&self, of: impl Fn(&Outdated, &SegmentReader) -> tantivy::Result<u64>) -> tantivy::Result<u64> {
        let segments = |part: &'_ Part| -> tantivy::Result<u64> {
            let readers = part.searcher().segment_readers().iter().enumerate();
            readers.map(|(number, reader)| of(part.outdated(number)?, reader)).sum()
        };
        self.0.parts().iter().map(segments).sum()
    }
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.total_num_docs()?.saturating_mul(LENGTH))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.sum(|outdated, reader| Ok(outdated.count(reader)))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.sum(|outdated, reader| outdated.frequency(reader, term))
    }
}
