//! Operations on their way into a text, and what became of each.

use super::Op;
use super::change::Change;
use super::draft::TextDraft;
use super::presence::Presence;
use cru_note::edit::EditError;

/// Why operations are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// For the first time.
    First,
    /// To a text that may hold them already (saved from an old buffer): what is there is left.
    Again,
}

/// What became of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It stands where it should.
    Done,
    /// Its place was gone; it stands at the end of the phase or note.
    Moved,
    /// It was there already.
    Present,
    /// A person has changed the same; theirs stays and ours is a callout.
    Conflict,
    /// A person has deleted what it was to change.
    Gone,
}

/// One operation, applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What became of it.
    pub outcome: Outcome,
    /// The bytes it changed; those of all operations one after the other lead from the old text to the new one.
    pub edits: Vec<Change>,
}

/// Operations on their way into a text.
pub(super) struct Run<'a> {
    pub(super) draft: TextDraft,
    pub(super) ops: &'a [Op],
    pub(super) mode: Mode,
    /// What stood there, and what was added since; only for operations that are applied again.
    pub(super) presence: Option<Presence>,
    pub(super) done: Vec<Done>,
}

impl<'a> Run<'a> {
    pub(super) fn new(mut draft: TextDraft, ops: &'a [Op], mode: Mode) -> Self {
        let presence = (mode == Mode::Again).then(|| Presence::of(draft.note(), ops));
        Self { draft, ops, mode, presence, done: Vec::with_capacity(ops.len()) }
    }

    /// Adds what of `text` is to be added.
    pub(super) fn add(
        &mut self,
        index: usize,
        text: &str,
        kept: usize,
        put: impl FnOnce(&mut TextDraft, &str) -> Result<Outcome, EditError>,
    ) -> Result<Outcome, EditError> {
        match self.wanted(index, text, kept) {
            Some(text) => put(&mut self.draft, &text),
            None => Ok(Outcome::Present),
        }
    }

    /// What of `text` is to be added; from then on it counts as there.
    pub(super) fn wanted(&mut self, index: usize, text: &str, kept: usize) -> Option<String> {
        if text.trim().is_empty() {
            return None;
        }
        let Some(presence) = &mut self.presence else { return Some(text.to_owned()) };
        let text = presence.missing(text, index, kept)?;
        presence.add(&text);
        Some(text)
    }

    /// What later operations make of a text that was to be written.
    pub(super) fn later_texts(&self, text: &str, index: usize) -> Vec<String> {
        if self.mode == Mode::First {
            return Vec::new();
        }
        self.presence.as_ref().map(|presence| presence.later_texts(text, index)).unwrap_or_default()
    }
}
