//! One pass over all parts of the entries: the best hits, or how many there are.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::atomic::{self, AtomicU32};

use jiff::Timestamp;
use rayon::prelude::*;
use tantivy::query::{BooleanQuery, EnableScoring, Query, TermSetQuery, Weight};
use tantivy::{DocId, Score, SegmentReader, TantivyError, Term};

use super::statistics::Statistics;
use super::{GREATEST, Hit, Order, Search, factor, worth};
use crate::columns::Columns;
use crate::entry::NoteKey;
use crate::snapshot::{Part, Snapshot};
use cru_base::Span;

/// A hit on its way: what it is compared by, and where the rest of it is. The greatest is the worst.
struct Candidate {
    score: f32,
    time: Option<i64>,
    note: u64,
    start: u64,
    evidence: Option<u64>,
    hash: u64,
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
            .then(self.hash.cmp(&other.hash))
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

/// A segment of a part, and the query prepared for it.
struct Segment<'a> {
    part: &'a Part,
    place: (usize, usize),
    reader: &'a SegmentReader,
    columns: &'a Columns,
    weight: &'a dyn Weight,
}

/// What `see` makes of all segments of all parts, on all threads.
fn segments<T: Send>(
    search: &Search<'_>,
    query: &dyn Query,
    scoring: bool,
    see: impl Fn(&Segment<'_>) -> tantivy::Result<T> + Sync,
) -> tantivy::Result<Vec<T>> {
    let statistics = Statistics(search.snapshot);
    let parts = search.snapshot.parts();
    let weight = |part: &Part| {
        let searcher = part.searcher();
        query.weight(if scoring {
            EnableScoring::enabled_from_statistics_provider(&statistics, searcher)
        } else {
            EnableScoring::disabled_from_searcher(searcher)
        })
    };
    let weights = parts.iter().map(weight).collect::<tantivy::Result<Vec<_>>>()?;
    let places = parts
        .iter()
        .enumerate()
        .flat_map(|(number, part)| (0..part.searcher().segment_readers().len()).map(move |segment| (number, segment)));
    let segment = |place: (usize, usize)| {
        let part = &parts[place.0];
        let (reader, columns) = (&part.searcher().segment_readers()[place.1], part.columns(place.1)?);
        see(&Segment { part, place, reader, columns, weight: weights[place.0].as_ref() })
    };
    places.collect::<Vec<_>>().into_par_iter().map(segment).collect()
}

/// The `wanted` best hits outside the notes `full`, best first.
pub(super) fn best(
    search: &Search<'_>,
    query: &dyn Query,
    wanted: usize,
    full: &HashSet<u64>,
) -> tantivy::Result<Vec<Hit>> {
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let by_time = search.options.order == Order::Time;
    let bar = Bar::default();
    let found = segments(search, query, !by_time, |segment| {
        let columns = segment.columns;
        let mut heap: BinaryHeap<Candidate> = BinaryHeap::new();
        let mut gate = Gate::new(search, segment, full);
        let factors: Vec<f32> = columns.kinds.iter().map(|kind| factor(kind)).collect();
        let mut see = |doc: DocId, score: Score| -> Score {
            let score = score * columns.kind(doc).and_then(|kind| factors.get(kind)).copied().unwrap_or(1.0);
            let score = without_last_bits(score);
            // Most cannot be among the best, and then nothing else of them needs to be read.
            let least = bar.get();
            if (by_time || score >= least)
                && let Some(note) = gate.note(doc)
            {
                let candidate = Candidate {
                    score: if by_time { 0.0 } else { score },
                    // What tells no time is as old as its session.
                    time: columns.time.first(doc).or_else(|| gate.started(note)),
                    note,
                    start: columns.start.first(doc).unwrap_or(0),
                    evidence: columns.evidence.first(doc),
                    hash: columns.hash.first(doc).unwrap_or(0),
                    place: (segment.place.0, segment.place.1, doc),
                };
                if heap.len() < wanted {
                    heap.push(candidate);
                } else if let Some(mut worst) = heap.peek_mut()
                    && candidate < *worst
                {
                    *worst = candidate;
                }
                if heap.len() == wanted {
                    heap.peek().inspect(|worst| bar.raise(worst.score));
                }
            }
            // A score below this cannot become one of the best, whatever it is a score of.
            if least > 0.0 { least / GREATEST * 0.999 } else { Score::MIN }
        };
        if by_time {
            scan(segment, |doc| {
                see(doc, 0.0);
            })?;
        } else {
            segment.weight.for_each_pruning(Score::MIN, segment.reader, &mut see)?;
        }
        Ok(heap.into_vec())
    })?;
    let mut best: Vec<Candidate> = found.into_iter().flatten().collect();
    best.sort_unstable();
    best.truncate(wanted);
    best.iter().map(|candidate| hit(search.snapshot, candidate)).collect()
}

/// A score to about five digits. The weights of several words are summed in an order that depends on the segment, which
/// the last bits of the sum show.
fn without_last_bits(score: f32) -> f32 {
    const BITS: u32 = 6;
    f32::from_bits(score.to_bits().saturating_add(1 << (BITS - 1)) & (u32::MAX << BITS))
}

/// The least score that can be among the best: as many as are wanted have it already. All threads share it.
#[derive(Default)]
struct Bar(AtomicU32);

impl Bar {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(atomic::Ordering::Relaxed))
    }

    /// Scores are not negative, so their bits are ordered as they are.
    fn raise(&self, score: f32) {
        if score > 0.0 {
            self.0.fetch_max(score.to_bits(), atomic::Ordering::Relaxed);
        }
    }
}

/// How many hits there are, and the notes that hold them. What a transcript says of a step is no hit beside the step's.
pub(super) fn all(search: &Search<'_>, query: &dyn Query) -> tantivy::Result<(u64, HashSet<u64>)> {
    let none = HashSet::new();
    let found = segments(search, query, false, |segment| {
        let (mut hits, mut notes, mut told) = (0, HashSet::new(), HashSet::<Block>::new());
        let mut gate = Gate::new(search, segment, &none);
        let mut last = None;
        scan(segment, |doc| {
            let Some(note) = gate.note(doc) else { return };
            if segment.columns.evidence.first(doc).is_some() {
                told.insert((note, segment.columns.start.first(doc).unwrap_or(0)));
            } else {
                hits += 1;
            }
            if last != Some(note) {
                last = Some(note);
                notes.insert(note);
            }
        })?;
        Ok((hits, notes, told))
    })?;
    let (mut hits, mut notes, mut told) = (0, HashSet::new(), HashSet::new());
    for (more, of, by) in found {
        hits += more;
        notes.extend(of);
        told.extend(by);
    }
    let both = own(search, query, &told)?;
    Ok((hits + (told.len() - both.len()) as u64, notes))
}

/// The entries of each note that are found, each counted by what it is worth for the session as a whole ([`worth`]).
pub(super) fn entries_by_note(search: &Search<'_>, query: &dyn Query) -> tantivy::Result<HashMap<u64, f32>> {
    let none = HashSet::new();
    let found = segments(search, query, false, |segment| {
        let columns = segment.columns;
        let worths: Vec<f32> = columns.kinds.iter().map(|kind| worth(kind)).collect();
        let mut counts: HashMap<u64, f32> = HashMap::new();
        let mut gate = Gate::new(search, segment, &none);
        scan(segment, |doc| {
            let worth = columns.kind(doc).and_then(|kind| worths.get(kind)).copied().unwrap_or(1.0);
            if worth > 0.0
                && let Some(note) = gate.note(doc)
            {
                *counts.entry(note).or_default() += worth;
            }
        })?;
        Ok(counts)
    })?;
    let mut counts: HashMap<u64, f32> = HashMap::new();
    for (note, count) in found.into_iter().flatten() {
        *counts.entry(note).or_default() += count;
    }
    Ok(counts)
}

/// The blocks that are found in these notes, those of transcripts left out.
pub(super) fn blocks_of(
    search: &Search<'_>,
    query: &dyn Query,
    notes: &HashSet<u64>,
) -> tantivy::Result<HashSet<Block>> {
    let (field, none) = (search.snapshot.fields().note, HashSet::new());
    let terms = TermSetQuery::new(notes.iter().map(|note| Term::from_field_u64(field, *note)));
    let query = BooleanQuery::intersection(vec![query.box_clone(), Box::new(terms)]);
    let found = segments(search, &query, false, |segment| {
        let (mut found, mut gate) = (Vec::new(), Gate::new(search, segment, &none));
        let columns = segment.columns;
        scan(segment, |doc| {
            if columns.evidence.first(doc).is_none()
                && let Some(note) = gate.note(doc)
            {
                found.push((note, columns.start.first(doc).unwrap_or(0)));
            }
        })?;
        Ok(found)
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// A block of a note: the note, and its first byte.
pub(super) type Block = (u64, u64);

/// Those of `blocks` that are hits by what stands in the note, with their kind.
pub(super) fn own(
    search: &Search<'_>,
    query: &dyn Query,
    blocks: &HashSet<Block>,
) -> tantivy::Result<HashMap<Block, String>> {
    if blocks.is_empty() {
        return Ok(HashMap::new());
    }
    let (field, none) = (search.snapshot.fields().note, HashSet::new());
    let notes: HashSet<u64> = blocks.iter().map(|(note, _)| *note).collect();
    let notes = TermSetQuery::new(notes.into_iter().map(|note| Term::from_field_u64(field, note)));
    let query = BooleanQuery::intersection(vec![query.box_clone(), Box::new(notes)]);
    let found = segments(search, &query, false, |segment| {
        let (mut found, mut gate) = (Vec::new(), Gate::new(search, segment, &none));
        let columns = segment.columns;
        scan(segment, |doc| {
            let Some(note) = gate.note(doc).filter(|_| columns.evidence.first(doc).is_none()) else { return };
            let block = (note, columns.start.first(doc).unwrap_or(0));
            if blocks.contains(&block) {
                found.push((block, columns.kind_name(doc).to_owned()));
            }
        })?;
        Ok(found)
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn scan(segment: &Segment<'_>, mut see: impl FnMut(DocId)) -> tantivy::Result<()> {
    segment.weight.for_each_no_score(segment.reader, &mut |docs| docs.iter().for_each(|doc| see(*doc)))
}

/// Which documents of a segment count. Those of one note mostly follow each other, so its answer is remembered.
struct Gate<'a> {
    search: &'a Search<'a>,
    segment: &'a Segment<'a>,
    full: &'a HashSet<u64>,
    last: (u64, bool),
    start: (Option<u64>, Option<i64>),
}

impl<'a> Gate<'a> {
    fn new(search: &'a Search<'a>, segment: &'a Segment<'a>, full: &'a HashSet<u64>) -> Self {
        let mut gate = Self { search, segment, full, last: (0, false), start: (None, None) };
        gate.last.1 = gate.counts(0);
        gate
    }

    /// The note of a document that counts.
    fn note(&mut self, doc: DocId) -> Option<u64> {
        if self.segment.reader.alive_bitset().is_some_and(|alive| !alive.is_alive(doc)) {
            return None;
        }
        let note = self.segment.columns.note.first(doc)?;
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
        let (search, part) = (self.search, self.segment.part);
        search.allows(note) && !self.full.contains(&note) && part.counts(key) && search.snapshot.has(key)
    }
}

/// The rest of a hit.
fn hit(snapshot: &Snapshot, candidate: &Candidate) -> tantivy::Result<Hit> {
    let (part, segment, doc) = candidate.place;
    let gone = || TantivyError::InternalError("a part of the index went away".to_owned());
    let columns = snapshot.parts().get(part).ok_or_else(gone)?.columns(segment)?;
    let at = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    Ok(Hit {
        key: NoteKey(candidate.note),
        kind: columns.kind_name(doc).to_owned(),
        span: Span::new(at(candidate.start), at(columns.end.first(doc).unwrap_or(0))),
        score: candidate.score,
        time: candidate.time.and_then(|second| Timestamp::from_second(second).ok()),
        evidence: candidate.evidence,
        source: columns.source(doc),
    })
}
