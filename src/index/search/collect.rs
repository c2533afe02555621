//! One pass over all parts of the entries: the best hits, or how many there are.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use jiff::Timestamp;
use tantivy::columnar::Column;
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, EnableScoring, Query, TermSetQuery, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, Score, SegmentReader, TantivyError, Term};

use super::{GREATEST, Hit, Order, Search, factor};
use crate::base::Span;
use crate::index::snapshot::{NoteKey, Part, Snapshot};

/// A hit on its way: what it is compared by, and where the rest of it is. The greatest is the worst.
struct Candidate {
    score: f32,
    time: Option<i64>,
    note: u64,
    start: u64,
    evidence: Option<u64>,
    place: (usize, usize, DocId),
}

impl Candidate {
    /// The better comes first; nothing is left to the order of the index.
    fn against(&self, other: &Self) -> Ordering {
        (other.score.total_cmp(&self.score))
            .then(other.time.cmp(&self.time))
            .then(self.note.cmp(&other.note))
            .then(self.start.cmp(&other.start))
            // A step before what its transcript says, and that in its order.
            .then(self.evidence.cmp(&other.evidence))
            .then(self.place.cmp(&other.place))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.against(other)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The `wanted` best hits outside the notes `full`, best first.
pub(super) fn best(
    search: &Search<'_>,
    query: &dyn Query,
    wanted: usize,
    full: &HashSet<u64>,
) -> tantivy::Result<Vec<Hit>> {
    let mut heap: BinaryHeap<Candidate> = BinaryHeap::new();
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let by_time = search.options.order == Order::Time;
    let statistics = Statistics(search.snapshot);
    for (number, part) in search.snapshot.parts().iter().enumerate() {
        let scoring = EnableScoring::enabled_from_statistics_provider(&statistics, part.searcher());
        let weight = query.weight(scoring)?;
        for (segment, reader) in part.searcher().segment_readers().iter().enumerate() {
            let mut gate = Gate::new(search, part, full, reader)?;
            let time = reader.fast_fields().i64("time")?;
            let start = reader.fast_fields().u64("start")?;
            let evidence = reader.fast_fields().u64("evidence")?;
            let kinds = Kinds::of(reader)?;
            let mut see = |doc: DocId, score: Score| -> Score {
                let score = score * kinds.factor(doc);
                // Most cannot be among the best, and then nothing else of them needs to be read.
                let hopeless = !by_time && heap.len() == wanted && heap.peek().is_some_and(|worst| score < worst.score);
                if !hopeless && let Some(note) = gate.note(doc) {
                    let candidate = Candidate {
                        score: if by_time { 0.0 } else { score },
                        // What tells no time is as old as its session.
                        time: time.first(doc).or_else(|| gate.started(note)),
                        note,
                        start: start.first(doc).unwrap_or(0),
                        evidence: evidence.first(doc),
                        place: (number, segment, doc),
                    };
                    if heap.len() < wanted {
                        heap.push(candidate);
                    } else if let Some(mut worst) = heap.peek_mut()
                        && candidate < *worst
                    {
                        *worst = candidate;
                    }
                }
                match heap.peek() {
                    // A score below this cannot become better than the worst, whatever it is a score of.
                    Some(worst) if heap.len() == wanted && worst.score > 0.0 => worst.score / GREATEST * 0.999,
                    _ => Score::MIN,
                }
            };
            if by_time {
                scan(weight.as_ref(), reader, |doc| {
                    see(doc, 0.0);
                })?;
            } else {
                weight.for_each_pruning(Score::MIN, reader, &mut see)?;
            }
        }
    }
    heap.into_sorted_vec().iter().map(|candidate| hit(search.snapshot, candidate)).collect()
}

/// How many hits there are, and the notes that hold them. What a transcript says of a step is no hit beside the step's.
pub(super) fn all(search: &Search<'_>, query: &dyn Query) -> tantivy::Result<(u64, HashSet<u64>)> {
    let (mut hits, mut notes, none) = (0, HashSet::new(), HashSet::new());
    let mut told: HashSet<Block> = HashSet::new();
    for part in search.snapshot.parts() {
        let weight = query.weight(EnableScoring::disabled_from_searcher(part.searcher()))?;
        for reader in part.searcher().segment_readers() {
            let mut gate = Gate::new(search, part, &none, reader)?;
            let start = reader.fast_fields().u64("start")?;
            let evidence = reader.fast_fields().u64("evidence")?;
            let mut last = None;
            scan(weight.as_ref(), reader, |doc| {
                let Some(note) = gate.note(doc) else { return };
                if evidence.first(doc).is_some() {
                    told.insert((note, start.first(doc).unwrap_or(0)));
                } else {
                    hits += 1;
                }
                if last != Some(note) {
                    last = Some(note);
                    notes.insert(note);
                }
            })?;
        }
    }
    let both = own(search, query, &told)?;
    Ok((hits + (told.len() - both.len()) as u64, notes))
}

/// A block of a note: the note, and its first byte.
pub(super) type Block = (u64, u64);

/// Those of `blocks` that are hits by what stands in the note, with their kind.
pub(super) fn own(
    search: &Search<'_>,
    query: &dyn Query,
    blocks: &HashSet<Block>,
) -> tantivy::Result<HashMap<Block, String>> {
    let mut found = HashMap::new();
    if blocks.is_empty() {
        return Ok(found);
    }
    let (field, none) = (search.snapshot.fields().note, HashSet::new());
    let notes: HashSet<u64> = blocks.iter().map(|(note, _)| *note).collect();
    let notes = TermSetQuery::new(notes.into_iter().map(|note| Term::from_field_u64(field, note)));
    let query = BooleanQuery::intersection(vec![query.box_clone(), Box::new(notes)]);
    for part in search.snapshot.parts() {
        let weight = query.weight(EnableScoring::disabled_from_searcher(part.searcher()))?;
        for reader in part.searcher().segment_readers() {
            let mut gate = Gate::new(search, part, &none, reader)?;
            let start = reader.fast_fields().u64("start")?;
            let evidence = reader.fast_fields().u64("evidence")?;
            let kinds = reader.fast_fields().str("kind")?;
            scan(weight.as_ref(), reader, |doc| {
                let Some(note) = gate.note(doc).filter(|_| evidence.first(doc).is_none()) else { return };
                let block = (note, start.first(doc).unwrap_or(0));
                if blocks.contains(&block) {
                    let mut kind = String::new();
                    if let Some(kinds) = &kinds
                        && let Some(ord) = kinds.ords().first(doc)
                    {
                        let _ = kinds.ord_to_str(ord, &mut kind);
                    }
                    found.insert(block, kind);
                }
            })?;
        }
    }
    Ok(found)
}

fn scan(weight: &dyn Weight, reader: &SegmentReader, mut see: impl FnMut(DocId)) -> tantivy::Result<()> {
    weight.for_each_no_score(reader, &mut |docs| docs.iter().for_each(|doc| see(*doc)))
}

/// Which documents of a segment count. Those of one note mostly follow each other, so its answer is remembered.
struct Gate<'a> {
    search: &'a Search<'a>,
    part: &'a Part,
    full: &'a HashSet<u64>,
    reader: &'a SegmentReader,
    notes: Column<u64>,
    last: (u64, bool),
    start: (Option<u64>, Option<i64>),
}

impl<'a> Gate<'a> {
    fn new(
        search: &'a Search<'a>,
        part: &'a Part,
        full: &'a HashSet<u64>,
        reader: &'a SegmentReader,
    ) -> tantivy::Result<Self> {
        let notes = reader.fast_fields().u64("note")?;
        let mut gate = Self { search, part, full, reader, notes, last: (0, false), start: (None, None) };
        gate.last.1 = gate.counts(0);
        Ok(gate)
    }

    /// The note of a document that counts.
    fn note(&mut self, doc: DocId) -> Option<u64> {
        if self.reader.alive_bitset().is_some_and(|alive| !alive.is_alive(doc)) {
            return None;
        }
        let note = self.notes.first(doc)?;
        if note != self.last.0 {
            self.last = (note, self.counts(note));
        }
        self.last.1.then_some(note)
    }

    /// When the session of a note began.
    fn started(&mut self, note: u64) -> Option<i64> {
        let (known, started) = self.start;
        if known == Some(note) {
            return started;
        }
        let row = self.search.snapshot.session(NoteKey(note));
        let started = row.and_then(|row| row.started).map(Timestamp::as_second);
        self.start = (Some(note), started);
        started
    }

    fn counts(&self, note: u64) -> bool {
        let key = NoteKey(note);
        self.search.allows(note) && !self.full.contains(&note) && self.part.counts(key) && self.search.snapshot.has(key)
    }
}

/// The factors of the kinds that a segment knows.
struct Kinds {
    ords: Option<Column<u64>>,
    factors: Vec<f32>,
}

impl Kinds {
    fn of(reader: &SegmentReader) -> tantivy::Result<Self> {
        let Some(column) = reader.fast_fields().str("kind")? else {
            return Ok(Self { ords: None, factors: Vec::new() });
        };
        let mut factors = Vec::new();
        let mut name = String::new();
        for ord in 0..column.num_terms() as u64 {
            name.clear();
            column.ord_to_str(ord, &mut name)?;
            factors.push(factor(&name));
        }
        Ok(Self { ords: Some(column.ords().clone()), factors })
    }

    fn factor(&self, doc: DocId) -> f32 {
        let ord = self.ords.as_ref().and_then(|ords| ords.first(doc)).and_then(|ord| usize::try_from(ord).ok());
        ord.and_then(|ord| self.factors.get(ord)).copied().unwrap_or(1.0)
    }
}

/// The rest of a hit.
fn hit(snapshot: &Snapshot, candidate: &Candidate) -> tantivy::Result<Hit> {
    let (part, segment, doc) = candidate.place;
    let gone = || TantivyError::InternalError("a part of the index went away".to_owned());
    let reader = snapshot.parts().get(part).and_then(|part| part.searcher().segment_readers().get(segment));
    let fast = reader.ok_or_else(gone)?.fast_fields();
    let mut kind = String::new();
    if let Some(column) = fast.str("kind")?
        && let Some(ord) = column.ords().first(doc)
    {
        column.ord_to_str(ord, &mut kind)?;
    }
    let mut source = None;
    if let Some(column) = fast.str("source")?
        && let Some(ord) = column.ords().first(doc)
    {
        column.ord_to_str(ord, source.get_or_insert_with(String::new))?;
    }
    let at = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    Ok(Hit {
        key: NoteKey(candidate.note),
        kind,
        span: Span::new(at(candidate.start), at(fast.u64("end")?.first(doc).unwrap_or(0))),
        score: candidate.score,
        time: candidate.time.and_then(|second| Timestamp::from_second(second).ok()),
        evidence: candidate.evidence,
        source,
    })
}

/// Figures over all parts, so that a score means the same in each.
struct Statistics<'a>(&'a Snapshot);

impl Statistics<'_> {
    fn sum(&self, of: impl Fn(&Part) -> tantivy::Result<u64>) -> tantivy::Result<u64> {
        self.0.parts().iter().map(of).sum()
    }
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.sum(|part| part.searcher().total_num_tokens(field))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.sum(|part| part.searcher().total_num_docs())
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.sum(|part| Bm25StatisticsProvider::doc_freq(part.searcher(), term))
    }
}
