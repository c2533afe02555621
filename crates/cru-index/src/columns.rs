//! What stands beside the words of each entry, ready to be looked up by document.
//!
//! To open a column costs more than to ask it, so each segment's are opened once and kept.

use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, SegmentReader};

/// The columns of a segment.
pub(super) struct Columns {
    /// Key of the note.
    pub(super) note: Column<u64>,
    /// When, in seconds since 1970.
    pub(super) time: Column<i64>,
    /// First byte in the note.
    pub(super) start: Column<u64>,
    /// Byte behind the last one.
    pub(super) end: Column<u64>,
    /// Line of the transcript.
    pub(super) evidence: Column<u64>,
    /// Hash of all that the entry is made of.
    pub(super) hash: Column<u64>,
    /// The kinds there are, by their numbers.
    pub(super) kinds: Vec<String>,
    kind: Option<Column<u64>>,
    source: Option<StrColumn>,
}

impl Columns {
    /// Opens those of a segment.
    pub(super) fn of(reader: &SegmentReader) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let kind = fast.str("kind")?;
        let mut kinds = Vec::new();
        if let Some(column) = &kind {
            for number in 0..column.num_terms() as u64 {
                let mut name = String::new();
                column.ord_to_str(number, &mut name)?;
                kinds.push(name);
            }
        }
        Ok(Self {
            note: fast.u64("note")?,
            time: fast.i64("time")?,
            start: fast.u64("start")?,
            end: fast.u64("end")?,
            evidence: fast.u64("evidence")?,
            hash: fast.u64("hash")?,
            kinds,
            kind: kind.map(|column| column.ords().clone()),
            source: fast.str("source")?,
        })
    }

    /// Number of the kind of an entry.
    pub(super) fn kind(&self, doc: DocId) -> Option<usize> {
        usize::try_from(self.kind.as_ref()?.first(doc)?).ok()
    }

    /// The kind of an entry.
    pub(super) fn kind_name(&self, doc: DocId) -> &str {
        self.kind(doc).and_then(|number| self.kinds.get(number)).map_or("", String::as_str)
    }

    /// The file beside the transcript that the evidence stands in.
    pub(super) fn source(&self, doc: DocId) -> Option<String> {
        let column = self.source.as_ref()?;
        let mut name = String::new();
        column.ord_to_str(column.ords().first(doc)?, &mut name).ok()?;
        Some(name)
    }
}
