//! What calls and answers say, kept while a transcript is read, so that note and index come of one reading.
//!
//! The index wants the full inputs and outputs of tools, the note does not. An import collects them on its way, up to a
//! bound of memory; what is beyond it, or has changed since, is read again when the index asks for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::read::legible::{legible, readable};
use cru_base::files::{self, Fingerprint};
use cru_session::event::{Event, EventKind, StreamKey};
use cru_session::fold::{Fold, Options};
use cru_session::source::{Header, Sink};

/// What an import heard of the streams that it read.
#[derive(Debug)]
pub struct Heard {
    limit: usize,
    bytes: AtomicUsize,
    /// The words of each stream, and its bundle's files as they were before it was read.
    #[expect(clippy::type_complexity, reason = "words with files, as the doc says; named once")]
    streams: Mutex<HashMap<String, (StreamWords, Arc<Vec<(PathBuf, Fingerprint)>>)>>,
}

impl Heard {
    /// Keeps `limit` bytes of each input and output.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, bytes: AtomicUsize::new(0), streams: Mutex::default() }
    }

    /// Bytes that are kept of each input and output.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// Keeps the words of a stream that was read from `files`, where there is room.
    pub(crate) fn keep(&self, key: &StreamKey, files: &Arc<Vec<(PathBuf, Fingerprint)>>, words: StreamWords) {
        let size = words.told.iter().map(|told| told.text.text.len() + size_of::<HeardText>()).sum();
        // Bytes that an import keeps for the index.
        if self.bytes.fetch_add(size, Ordering::Relaxed) + size > (256 << 20) {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            return;
        }
        let kept = (words, Arc::clone(files));
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_string(), kept);
    }

    /// Gives out the words of a stream where they were read from all of `wanted` and none of these has changed.
    pub(crate) fn take(&self, key: &str, wanted: &[PathBuf]) -> Option<StreamWords> {
        let (words, known) = self.streams.lock().unwrap_or_else(PoisonError::into_inner).remove(key)?;
        let is_same = |path: &PathBuf| {
            let then = known.iter().find(|(other, _)| other == path).map(|(_, then)| *then);
            then.is_some() && then == files::fingerprint(path).ok()
        };
        wanted.iter().all(is_same).then_some(words)
    }
}

/// What the calls and answers of one stream say, and the fold of its calls, by which its steps are numbered.
#[derive(Debug)]
pub(crate) struct StreamWords {
    pub(crate) fold: Fold,
    pub(crate) told: Vec<HeardText>,
    limit: usize,
}

/// What a call or an answer says.
#[derive(Debug)]
pub(crate) struct HeardText {
    pub(crate) call: String,
    /// Of the transcript, from 1.
    pub(crate) line: u64,
    pub(crate) file: Option<Arc<PathBuf>>,
    pub(crate) text: ToldText,
}

/// The text of a call or an answer: a long one is cut and free of secrets, a short one is neither yet.
#[derive(Debug)]
pub(crate) struct ToldText {
    text: String,
    is_readable: bool,
}

impl ToldText {
    fn of(text: &str, limit: usize) -> Self {
        let text = legible(text);
        if text.len() <= limit {
            return Self { text: text.into_owned(), is_readable: false };
        }
        // Cut first, half of a secret would be left.
        Self { text: readable(&text, limit), is_readable: true }
    }

    /// Without secrets and data, at most `limit` bytes.
    pub(crate) fn readable(self, limit: usize) -> String {
        if self.is_readable { self.text } else { readable(&self.text, limit) }
    }
}

impl StreamWords {
    /// Of a stream that begins.
    pub(crate) fn new(header: Header, host: &'static str, limit: usize) -> Self {
        Self { fold: Fold::new(header, host, Options::default()), told: Vec::new(), limit }
    }

    /// Hears an event that stands in this line of a file.
    pub(crate) fn event(&mut self, event: &Event<'_>, file: Option<&Arc<PathBuf>>, line: u64) {
        let (call, text) = match &event.kind {
            EventKind::Call(call) => {
                let mut text = String::new();
                if !call.args.is_empty() && call.input.is_null() {
                    text.push_str(&call.args);
                }
                input(&call.input, 0, &mut text);
                // What else a session tells makes no step and costs most of the time.
                self.fold.event(event.clone());
                (&call.id, ToldText::of(&text, self.limit))
            }
            EventKind::Result(result) => (&result.call, ToldText::of(&result.output, self.limit)),
            _ => return,
        };
        if !text.text.trim().is_empty() {
            self.told.push(HeardText { call: call.clone().into_owned(), line, file: file.cloned(), text });
        }
    }
}

/// The line of a transcript that is being read.
#[derive(Debug, Default)]
pub(crate) struct LineNow {
    pub(crate) file: Option<Arc<PathBuf>>,
    pub(crate) line: u64,
}

impl LineNow {
    /// Goes on to a line.
    pub(crate) fn set(&mut self, path: &Path, line: u64) {
        self.line = line;
        if self.file.as_ref().is_none_or(|file| file.as_path() != path) {
            self.file = Some(Arc::new(path.to_owned()));
        }
    }
}

/// Hears one stream of a bundle.
pub(crate) struct OneStream<'a> {
    pub(crate) wanted: &'a str,
    pub(crate) host: &'static str,
    pub(crate) limit: usize,
    pub(crate) now: LineNow,
    pub(crate) words: Option<(StreamKey, StreamWords)>,
}

impl Sink for OneStream<'_> {
    fn wants(&self, key: &StreamKey) -> bool {
        key.to_string() == self.wanted
    }

    fn open(&mut self, header: Header) {
        if self.words.is_none() && header.key.to_string() == self.wanted {
            self.words = Some((header.key.clone(), StreamWords::new(header, self.host, self.limit)));
        }
    }

    fn line(&mut self, path: &Path, line: u64) {
        self.now.set(path, line);
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        if let Some((_, words)) = self.words.as_mut().filter(|(own, _)| own == key) {
            words.event(&event, self.now.file.as_ref(), self.now.line);
        }
    }
}

/// What a call was given, one value a line. The names of the arguments themselves are always the same and say nothing.
fn input(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Number(number) => {
            out.push_str(&number.to_string());
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| input(item, depth + 1, out)),
        Value::Object(map) => {
            for (name, value) in map {
                if depth > 0 {
                    out.push_str(name);
                    out.push_str(": ");
                }
                input(value, depth + 1, out);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_their_values() {
        let mut out = String::new();
        input(&serde_json::json!({"path": "a.rs", "edits": [{"old": "x", "n": 3}], "all": true}), 0, &mut out);
        assert_eq!(out, "a.rs\nold: x\nn: 3\n");
    }
}
