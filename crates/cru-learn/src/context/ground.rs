//! Where in a session stands what an answer needs: the lines that it quotes or tells again, and the files that it names.
//!
//! All texts of a session, or of a case, are looked through once and stand under numbers in their order. Then each line
//! is found in next to no time, however long the session is.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use serde_json::Value;

use crate::case::call::Call;
use crate::case::entry::{Entry, Told};
use crate::context::excerpt::Wants;
use crate::context::quote::{self, Quotes};
use crate::context::trace;

/// Lines of what is written anew that must stand in one text before it is what they were taken from.
const TAKEN: usize = 3;

/// Texts that are taken back for one piece of an edit.
const HOLDERS: usize = 4;

/// Texts that are taken back in all: a row holds no more.
const PLACES: usize = 64;

/// Parts of lines that are looked for.
const PARTS: usize = 32;

/// Lines and names of files of texts, by the numbers of the texts.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    lines: Vec<(u64, u32)>,
    names: Vec<(u64, u32)>,
}

/// What is there anyway when a call is looked at.
struct Surroundings<'a> {
    /// The number of the text that the answer follows.
    before: u32,
    /// Texts that are kept.
    kept: &'a [Range<u32>],
    /// What the answer has seen or written itself.
    seen: &'a Seen,
    /// What of it it has written.
    written: &'a Seen,
}

/// What an answer needs of what came before.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    /// The texts that hold it, besides those that are kept anyway.
    pub(crate) places: BTreeSet<u32>,
    /// What must stay of texts that are cut.
    pub(crate) wants: Wants,
    /// Lines that it writes and that stood somewhere before.
    pub(crate) recalled: HashSet<u64>,
}

impl Ground {
    /// Looks through one more text.
    pub(crate) fn add(&mut self, place: u32, text: &str) {
        self.lines.extend(text.lines().flat_map(trace::keys).map(|key| (key, place)));
        self.names.extend(trace::names(text).map(|key| (key, place)));
    }

    /// Looks through what was done.
    pub(crate) fn add_entry(&mut self, place: u32, entry: &Entry) {
        texts(entry, &mut |text| self.add(place, text));
    }

    /// Ends the looking.
    pub(crate) fn finish(&mut self) {
        for list in [&mut self.lines, &mut self.names] {
            list.sort_unstable();
            list.dedup();
        }
    }

    /// What an answer of these entries needs of the texts before number `before`. What stands in the `kept` ones is there
    /// anyway.
    pub(crate) fn needed(&self, answer: &[Entry], before: u32, kept: &[Range<u32>]) -> Needed {
        let mut needed = Needed::default();
        // What the answer has seen or written itself, and what of it it has written.
        let (mut seen, mut written) = (Seen::default(), Seen::default());
        for entry in answer {
            if let Some(call) = entry.whole() {
                let quotes = quote::of(&call.name, &call.arguments);
                let known = Surroundings { before, kept, seen: &seen, written: &written };
                self.quoted(&quotes, &known, &mut needed);
                self.taken(&quotes, &known, &mut needed);
                self.named(&quotes, &known, &mut needed);
                call.arguments.values().for_each(|value| texts_of(value, &mut |text| written.add(text)));
            }
            texts(entry, &mut |text| seen.add(text));
        }
        needed
    }

    /// The texts that hold the pieces of files that a call quotes.
    fn quoted(&self, quotes: &Quotes<'_>, known: &Surroundings<'_>, needed: &mut Needed) {
        let Surroundings { before, seen, written, .. } = *known;
        for piece in &quotes.old {
            let mut lines = telling(piece);
            lines.retain(|line| !written.lines.contains(line));
            needed.wants.lines.extend(&lines);
            lines.retain(|line| !seen.lines.contains(line));
            // An edit may begin and end in the middle of a line.
            for line in piece.first().into_iter().chain(piece.last()).filter(|line| trace::says_something(line)) {
                let stood = trace::key(line)
                    .is_none_or(|key| !lines.contains(&key) || last_before(&self.lines, key, before).is_some());
                if !stood && needed.wants.parts.len() < PARTS {
                    needed.wants.parts.insert(trace::squashed(line));
                }
            }
            Self::take(&self.lines, lines, known, (1, HOLDERS), needed);
        }
    }

    /// The texts from which a call takes lines that it writes: a few lines in one text before are no chance.
    fn taken(&self, quotes: &Quotes<'_>, known: &Surroundings<'_>, needed: &mut Needed) {
        let Surroundings { before, seen, written, .. } = *known;
        let quoted: HashSet<u64> = quotes.old.iter().flatten().filter_map(|line| trace::key(line)).collect();
        let lines = quotes.new.iter().filter(|line| trace::says_something(line)).filter_map(|line| trace::key(line));
        let lines: BTreeSet<u64> =
            lines.filter(|line| !quoted.contains(line) && !written.lines.contains(line)).collect();
        let (own, mut rest): (Vec<u64>, Vec<u64>) = lines.into_iter().partition(|line| seen.lines.contains(line));
        if own.len() >= TAKEN {
            needed.recall(&own);
        }
        let unseen = rest.clone();
        for _ in 0..HOLDERS {
            let Some((_, held)) = Self::fullest(&self.lines, &mut rest, before).filter(|(_, held)| held.len() >= TAKEN)
            else {
                break;
            };
            needed.recall(&held);
        }
        Self::take(&self.lines, unseen, known, (TAKEN, HOLDERS), needed);
    }

    /// The texts that first told of files that a call opens or changes.
    fn named(&self, quotes: &Quotes<'_>, known: &Surroundings<'_>, needed: &mut Needed) {
        let names: Vec<u64> = quotes.names.iter().flat_map(|text| trace::names(text)).collect();
        for name in names.into_iter().filter(|name| !known.seen.names.contains(name)) {
            needed.wants.names.insert(name);
            Self::take(&self.names, vec![name], known, (1, 1), needed);
        }
    }

    /// Takes the texts that hold most of these keys, one after the other: each holds at least so many of them.
    fn take(
        list: &[(u64, u32)],
        mut keys: Vec<u64>,
        &Surroundings { before, kept, .. }: &Surroundings<'_>,
        (least, most): (usize, usize),
        needed: &mut Needed,
    ) {
        let there = |key: &u64| {
            kept.iter().any(|range| within(list, *key, range))
                || needed.places.range(..before).any(|place| within(list, *key, &(*place..place + 1)))
        };
        keys.retain(|key| !there(key));
        keys.sort_unstable();
        keys.dedup();
        for _ in 0..most {
            let fullest = Self::fullest(list, &mut keys, before);
            let full = needed.places.len() >= PLACES;
            let Some((place, _)) = fullest.filter(|(_, held)| !full && held.len() >= least) else { return };
            needed.places.insert(place);
        }
    }

    /// The text that holds most of these keys, of those that hold one of them last; takes its keys from them.
    fn fullest(list: &[(u64, u32)], keys: &mut Vec<u64>, before: u32) -> Option<(u32, Vec<u64>)> {
        let mut found: BTreeMap<u32, usize> = BTreeMap::new();
        for place in keys.iter().filter_map(|key| last_before(list, *key, before)) {
            *found.entry(place).or_default() += 1;
        }
        let (&place, _) = found.iter().max_by_key(|(place, count)| (**count, **place))?;
        let held = |key: &u64| within(list, *key, &(place..place + 1));
        let held = keys.extract_if(.., |key| held(key)).collect();
        Some((place, held))
    }
}

impl Needed {
    /// Lines that stood somewhere before.
    fn recall(&mut self, lines: &[u64]) {
        self.recalled.extend(lines);
        self.wants.lines.extend(lines);
    }
}

/// The number of the last text before `before` that has a key.
fn last_before(list: &[(u64, u32)], key: u64, before: u32) -> Option<u32> {
    let at = list.partition_point(|it| *it < (key, before));
    list.get(at.checked_sub(1)?).filter(|(other, _)| *other == key).map(|(_, place)| *place)
}

/// Whether a text of these numbers has a key.
fn within(list: &[(u64, u32)], key: u64, places: &Range<u32>) -> bool {
    last_before(list, key, places.end).is_some_and(|place| place >= places.start)
}

/// The lines of a piece that say something by themselves, else all.
pub(crate) fn telling(piece: &[&str]) -> Vec<u64> {
    let mut lines: Vec<u64> =
        piece.iter().filter(|line| trace::says_something(line)).filter_map(|line| trace::key(line)).collect();
    if lines.is_empty() {
        lines.extend(piece.iter().filter_map(|line| trace::key(line)));
    }
    lines
}

/// Lines and names that stand somewhere.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) lines: HashSet<u64>,
    pub(crate) names: HashSet<u64>,
}

impl Seen {
    /// Looks through one more text.
    pub(crate) fn add(&mut self, text: &str) {
        self.lines.extend(text.lines().flat_map(trace::keys));
        self.names.extend(trace::names(text));
    }
}

/// Every text of something done.
pub(crate) fn texts(entry: &Entry, each: &mut dyn FnMut(&str)) {
    match (&entry.told, entry.whole()) {
        (_, Some(call)) => texts_of_call(call, each),
        (Told::Step { call, result, .. }, None) => {
            each(call);
            each(result);
        }
        (Told::Prose(text) | Told::Remark(text), None) => each(text),
    }
}

fn texts_of_call(call: &Call, each: &mut dyn FnMut(&str)) {
    call.arguments.values().for_each(|value| texts_of(value, each));
    each(call.output.as_deref().unwrap_or_default());
}

/// Every text in a value.
pub(crate) fn texts_of(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, each)),
        Value::Object(map) => map.values().for_each(|value| texts_of(value, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(input: Value, output: &str) -> Entry {
        let whole = Call::new("Edit", input, Some(output)).map(Box::new);
        Entry {
            block: None,
            told: Told::Step {
                call: String::new(),
                result: String::new(),
                failed: false,
                whole,
                facts: Box::default(),
            },
        }
    }

    /// The numbers of the texts that an answer needs of these.
    fn needed(texts: &[&str], kept: &[Range<u32>], answer: &[Entry]) -> Vec<u32> {
        let mut ground = Ground::default();
        for (number, text) in (0..).zip(texts) {
            ground.add(number, text);
        }
        ground.finish();
        let before = u32::try_from(texts.len()).unwrap();
        ground.needed(answer, before, kept).places.into_iter().collect()
    }

    const SAILS: &str = "the mainsail is set\nthe foresail is set\nthe topsail is furled";

    #[test]
    fn quoted_lines_are_taken_from_where_they_stood_last() {
        let edit = [call(json!({ "path": "x", "old_string": SAILS, "new_string": "y z" }), "done")];
        assert_eq!(needed(&[SAILS, "nothing", SAILS, "nothing"], &[], &edit), [2]);
        let first = std::slice::from_ref(&(0..1));
        assert_eq!(needed(&[SAILS, "nothing", SAILS], first, &edit), [0; 0], "shown anyway");
        let read = call(json!({ "path": "x", "limit": 1, "offset": 2 }), SAILS);
        assert_eq!(needed(&[SAILS], &[], &[vec![read], edit.to_vec()].concat()), [0; 0], "the answer looks itself");
    }

    #[test]
    fn lines_told_again_are_more_than_a_chance() {
        let write = |text: &str| [call(json!({ "path": "x", "content": text }), "done")];
        assert_eq!(needed(&[SAILS], &[], &write(&format!("a new line of text\n{SAILS}"))), [0]);
        assert_eq!(needed(&[SAILS], &[], &write("the mainsail is set\nthe foresail is set")), [0; 0]);
    }

    #[test]
    fn files_are_known_from_where_they_were_named() {
        let open = [call(json!({ "path": "docs/keel.md", "limit": 9, "offset": 9 }), "nothing")];
        assert_eq!(needed(&["look at docs/keel.md", "nothing"], &[], &open), [0]);
        let list = call(json!({ "path": "docs", "limit": 9, "offset": 0 }), "keel.md\nmast.md");
        assert_eq!(needed(&["look at docs/keel.md"], &[], &[vec![list], open.to_vec()].concat()), [0; 0]);
    }
}
