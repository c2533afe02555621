//! What a transcript says and its note does not: the full inputs and outputs of tools.
//!
//! A note shows a result in a hundred characters; people remember a word from the middle of it. This layer knows no
//! agent and no transcript: whoever calls it hands in a supplier. Evidence is never written into a note.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use tantivy::tokenizer::{TokenStream as _, Tokenizer as _};

use super::entry::Entry;
use super::record::SessionRow;
use super::words::{self, Words};
use cru_note::Note;
use cru_session::Session;
use cru_vault::VaultPath;

/// The kind of its entries.
pub const KIND: &str = "evidence";

/// Gives the evidence of notes.
pub trait Evidence: Sync {
    /// What the transcript of a session is known by; another value means that it is to be read again. `None` where there
    /// is none, so that there is no evidence either.
    fn fingerprint(&self, row: &SessionRow) -> Option<u64>;

    /// Bytes that are read for it.
    fn size(&self, row: &SessionRow) -> u64;

    /// The evidence of one note, in the order of its steps; nothing where the transcript cannot be read.
    fn entries(&self, path: &VaultPath, note: &Note, session: &Session) -> Vec<Entry>;
}

/// The kind of a callout that tells which steps a phase does not show, by their ids.
const LEFT_OUT: &str = "left-out";

/// Makes entries of a session's evidence.
#[derive(Debug)]
pub struct Steps<'a> {
    /// The entries of steps with their ids.
    known: HashMap<&'a str, Entry>,
    /// The entries that stand for several steps, with the first and the last of each run of them.
    left_out: Vec<(RangeInclusive<u64>, Entry)>,
}

impl<'a> Steps<'a> {
    /// For the steps of a note that have an id.
    pub fn of(note: &Note, session: &'a Session) -> Self {
        let steps = session.steps().filter_map(|(_, step)| Some((step.span.start, step.id.as_deref()?)));
        let ids: HashMap<usize, &str> = steps.collect();
        let mut steps = Self { known: HashMap::new(), left_out: Vec::new() };
        for entry in Entry::all(note, session) {
            if entry.kind == LEFT_OUT {
                steps.left_out.extend(runs(&entry.text).map(|run| (run, entry.clone())));
            } else if let Some(id) = ids.get(&entry.span.start).filter(|_| entry.kind == "step") {
                steps.known.insert(id, entry);
            }
        }
        steps
    }

    /// The entry that tells of the step `id`.
    fn of_step(&self, id: &str) -> Option<&Entry> {
        self.known.get(id).or_else(|| {
            let number = number(id)?;
            self.left_out.iter().find(|(run, _)| run.contains(&number)).map(|(_, entry)| entry)
        })
    }

    /// The entry of `text`, which stands in line `line` of the transcript (of the file `source` beside it) and belongs
    /// to the step `id`, or to the callout that stands for it. `None` where there is neither, and where the note says
    /// every word of it already.
    pub fn entry(&self, id: &str, line: u64, source: Option<String>, text: String) -> Option<Entry> {
        let step = self.of_step(id)?;
        if is_said(&text, &step.text) {
            return None;
        }
        Some(Entry { kind: KIND.to_owned(), text, evidence: Some(line), source, ..step.clone() })
    }
}

/// The runs of steps that a text names: `n-001 … n-003, n-006`.
fn runs(text: &str) -> impl Iterator<Item = RangeInclusive<u64>> {
    let mut words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty()).peekable();
    std::iter::from_fn(move || {
        let first = words.find_map(number)?;
        let is_run = words.next_if(|word| *word == "…").is_some();
        let last = words.next_if(|word| is_run && number(word).is_some()).and_then(number);
        Some(first..=last.unwrap_or(first))
    })
}

/// 14 of `n-014`.
fn number(id: &str) -> Option<u64> {
    id.strip_prefix("n-")?.parse().ok()
}

/// Whether every word of `text` is one of `told`.
fn is_said(text: &str, told: &str) -> bool {
    let told: HashSet<String> = words::cut(told).into_iter().map(|word| word.text).collect();
    let mut words = Words::default();
    let mut stream = words.token_stream(text);
    while stream.advance() {
        if !told.contains(&stream.token().text) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_steps_are_read() {
        let told = |text: &str| runs(text).map(|run| (*run.start(), *run.end())).collect::<Vec<_>>();
        assert_eq!(told("> n-001 … n-003, n-006, n-008, n-009\n> At: 2025"), [(1, 3), (6, 6), (8, 8), (9, 9)]);
        assert_eq!(told("n-1000 …"), [(1000, 1000)]);
        assert_eq!(told("… n-002 … my n-004 n-x"), [(2, 2), (4, 4)]);
        assert_eq!(told("nothing"), []);
    }
}
