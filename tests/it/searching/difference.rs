//! Whether two snapshots would answer alike.
//!
//! Compares what every answer is made of: the rows of the sessions, their records, and the entries that count, each with
//! its kind, place and hash. How the entries are spread over parts and segments, and what is hidden there, does not
//! matter. The order of rows does.

use std::collections::BTreeMap;
use std::fmt;

use cru::index::{NoteKey, Snapshot};
use cru::vault::VaultPath;

/// One thing in which two snapshots differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The note, as far as it is known.
    pub(crate) path: String,
    /// What differs.
    pub(crate) what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// An entry without its words: note, kind (by its place in a list), first byte, end, hash.
type Mark = (NoteKey, u16, u64, u64, Option<u64>);

/// All in which `one` and `other` differ, by path; nothing when they answer alike.
pub(crate) fn between(one: &Snapshot, other: &Snapshot) -> Vec<Difference> {
    let mut found = Vec::new();
    rows(one, other, &mut found);
    records(one, other, &mut found);
    entries(one, other, &mut found);
    found.sort_by(|a, b| (&a.path, &a.what).cmp(&(&b.path, &b.what)));
    found
}

fn rows(one: &Snapshot, other: &Snapshot, found: &mut Vec<Difference>) {
    let mut left: BTreeMap<&str, _> = other.sessions().iter().map(|row| (row.path.as_str(), row)).collect();
    let mut add = |path: &str, what: &str| found.push(Difference { path: path.to_owned(), what: what.to_owned() });
    for row in one.sessions() {
        match left.remove(row.path.as_str()) {
            Some(same) if same == row => {}
            Some(_) => add(&row.path, "its row differs"),
            None => add(&row.path, "only the first knows it"),
        }
        let key = VaultPath::new(&*row.path).map(|path| NoteKey::of(&path));
        if key.and_then(|key| one.session(key)).is_none_or(|by_key| by_key.path != row.path) {
            add(&row.path, "its key does not lead to its row");
        }
    }
    for path in left.keys() {
        add(path, "only the second knows it");
    }
    if !one.sessions().is_sorted_by(|a, b| a.path < b.path) {
        add("", "the first is not sorted by path");
    }
}

fn records(one: &Snapshot, other: &Snapshot, found: &mut Vec<Difference>) {
    let mut left: BTreeMap<String, _> =
        other.records(|_| true).into_iter().map(|record| (record.session.path.clone(), record)).collect();
    for record in one.records(|_| true) {
        let path = record.session.path.clone();
        // That one of them lacks it is told by the rows, unless its rows promise more than its records hold.
        if left.remove(&path).is_none_or(|same| same != record) {
            found.push(Difference { path, what: "its record differs".to_owned() });
        }
    }
    found.extend(left.into_keys().map(|path| Difference { path, what: "its record differs".to_owned() }));
}

fn entries(one: &Snapshot, other: &Snapshot, found: &mut Vec<Difference>) {
    let mut kinds = Vec::new();
    let (first, second) = (marks(one, &mut kinds), marks(other, &mut kinds));
    let mut told: BTreeMap<NoteKey, [Vec<String>; 2]> = BTreeMap::new();
    let (mut a, mut b) = (first.iter().peekable(), second.iter().peekable());
    loop {
        // Both are sorted: the smaller one is missing on the other side.
        let (mark, side) = match (a.peek(), b.peek()) {
            (None, None) => break,
            (Some(x), Some(y)) if x == y => {
                a.next();
                b.next();
                continue;
            }
            (Some(x), Some(y)) if x > y => (**y, 1),
            (Some(x), _) => (**x, 0),
            (None, Some(y)) => (**y, 1),
        };
        if side == 0 {
            a.next()
        } else {
            b.next()
        };
        let (key, kind, start, end, _) = mark;
        let kind = kinds.get(usize::from(kind)).map_or("", String::as_str);
        told.entry(key).or_default()[side].push(format!("{kind} {start}..{end}"));
    }
    for (key, sides) in told {
        let row = one.session(key).or_else(|| other.session(key));
        for (side, name) in sides.iter().zip(["first", "second"]) {
            let Some(example) = side.first() else { continue };
            let what = format!("{} of its entries only in the {name}, {example}", side.len());
            found.push(Difference { path: row.map(|row| row.path.clone()).unwrap_or_default(), what });
        }
    }
}

/// The entries of a snapshot that count, sorted.
fn marks(snapshot: &Snapshot, kinds: &mut Vec<String>) -> Vec<Mark> {
    let mut marks = Vec::new();
    for part in snapshot.parts() {
        for segment in part.searcher().segment_readers() {
            let fast = segment.fast_fields();
            let (notes, starts) = (fast.u64("note").unwrap(), fast.u64("start").unwrap());
            let (ends, hashes) = (fast.u64("end").unwrap(), fast.u64("hash").unwrap());
            let names = fast.str("kind").unwrap();
            let mut name = String::new();
            for doc in segment.doc_ids_alive() {
                // A document without a place is no entry.
                let (Some(note), Some(start)) = (notes.first(doc), starts.first(doc)) else { continue };
                let key = NoteKey(note);
                if snapshot.session(key).is_none() || !part.counts(key) {
                    continue;
                }
                name.clear();
                if let Some((names, term)) =
                    names.as_ref().and_then(|names| Some((names, names.term_ords(doc).next()?)))
                {
                    names.ord_to_str(term, &mut name).unwrap();
                }
                let kind = kinds.iter().position(|kind| *kind == name).unwrap_or_else(|| {
                    kinds.push(name.clone());
                    kinds.len() - 1
                });
                let kind = u16::try_from(kind).unwrap_or(u16::MAX);
                marks.push((key, kind, start, ends.first(doc).unwrap_or_default(), hashes.first(doc)));
            }
        }
    }
    marks.sort_unstable();
    marks
}
