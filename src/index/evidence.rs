//! What a transcript says and its note does not: the full inputs and outputs of tools.
//!
//! A note shows a result in a hundred characters; people remember a word from the middle of it. This layer knows no
//! agent and no transcript: whoever calls it hands in a supplier. Evidence is never written into a note.

use std::collections::{HashMap, HashSet};

use tantivy::tokenizer::{TokenStream as _, Tokenizer as _};

use super::entry::Entry;
use super::record::SessionRow;
use super::words::{self, Words};
use crate::note::Note;
use crate::session::Session;
use crate::vault::VaultPath;

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

/// Makes entries of a session's evidence.
#[derive(Debug)]
pub struct Steps<'a> {
    /// The entries of steps with their ids.
    known: HashMap<&'a str, Entry>,
}

impl<'a> Steps<'a> {
    /// For the steps of a note that have an id.
    pub fn of(note: &Note, session: &'a Session) -> Self {
        let steps = session.steps().filter_map(|(_, step)| Some((step.span.start, step.id.as_deref()?)));
        let ids: HashMap<usize, &str> = steps.collect();
        let entries = Entry::all(note, session).into_iter().filter(|entry| entry.kind == "step");
        let known = entries.filter_map(|entry| Some((*ids.get(&entry.span.start)?, entry)));
        Self { known: known.collect() }
    }

    /// The entry of `text`, which stands in line `line` of the transcript (of the file `source` beside it) and belongs to the
    /// step `id`. `None` where there is no such step, and where the note says every word of it already.
    pub fn entry(&self, id: &str, line: u64, source: Option<String>, text: String) -> Option<Entry> {
        let step = self.known.get(id)?;
        if is_said(&text, &step.text) {
            return None;
        }
        Some(Entry { kind: KIND.to_owned(), text, evidence: Some(line), source, ..step.clone() })
    }
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
