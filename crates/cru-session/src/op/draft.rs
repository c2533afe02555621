//! The text that operations change, and the changes made to it.
//!
//! It is read when somebody asks for its blocks and kept until the next change, so that operations that need no blocks
//! cost no reading.

use std::borrow::Cow;
use std::rc::Rc;

use super::change::Change;
use super::lines::between;
use cru_note::{Note, Patch};

/// A text in the making.
#[derive(Clone, Debug)]
pub(super) struct TextDraft {
    bytes: Vec<u8>,
    note: Option<Rc<Note>>,
    changes: Vec<Change>,
}

impl TextDraft {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), note: None, changes: Vec::new() }
    }

    /// Of a text that is read already.
    pub(super) fn of(note: &Rc<Note>) -> Self {
        Self { bytes: note.bytes().to_vec(), note: Some(Rc::clone(note)), changes: Vec::new() }
    }

    /// Its blocks.
    pub(super) fn note(&mut self) -> &Note {
        self.note.get_or_insert_with(|| Rc::new(Note::parse(self.bytes.clone())))
    }

    /// Its text, bytes that are no text as `?`.
    pub(super) fn text(&mut self) -> Cow<'_, str> {
        if std::str::from_utf8(&self.bytes).is_err() {
            return Cow::Borrowed(self.note().text());
        }
        String::from_utf8_lossy(&self.bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn apply(&mut self, patch: &Patch) {
        if patch.is_empty() {
            return;
        }
        let (changes, bytes) = Change::of(patch, &self.bytes);
        self.bytes = bytes;
        self.note = None;
        for change in changes {
            match self.changes.last_mut() {
                // Text right behind text is one insertion.
                Some(last) if change.removed.is_empty() && change.at == last.at + last.inserted.len() => {
                    last.inserted.extend(change.inserted);
                }
                _ => self.changes.push(change),
            }
        }
    }

    /// Another text in the place of this one.
    pub(super) fn become_text(&mut self, bytes: Vec<u8>) {
        self.changes.extend(between(&self.bytes, &bytes));
        (self.bytes, self.note) = (bytes, None);
    }

    /// The changes since this was last asked.
    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
