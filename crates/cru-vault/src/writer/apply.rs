//! Deeds on their way into a text, with what they change.

use std::rc::Rc;

use super::heal::Todo;
use crate::operations::WrittenOperation;
use cru_note::Note;
use cru_session::op::{self, Done, Mode, Op, Outcome, between};

/// A text with operations applied.
#[derive(Debug)]
pub(super) struct Text {
    /// The text.
    pub(super) bytes: Vec<u8>,
    /// What was done, in order.
    pub(super) written_ops: Vec<WrittenOperation>,
    /// What became of each.
    pub(super) done: Vec<Done>,
    /// The text, where it is read already.
    note: Option<Rc<Note>>,
}

/// Why an operation could not be applied.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// An operation has no place.
    #[error("{0}")]
    Edit(#[from] cru_note::edit::EditError),
    /// A person has edited what was to be taken back.
    #[error("r{0} cannot be undone: {1}")]
    Undo(u64, op::UndoError),
}

/// The hash of the body that an operation replaces whole, where it is of that kind.
fn body(todo: &Todo) -> Option<&str> {
    match &todo.written_op.op {
        Some(Op::Body { old, .. }) => Some(old),
        _ => None,
    }
}

impl Text {
    /// Of these bytes, with nothing done.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, written_ops: Vec::new(), done: Vec::new(), note: None }
    }

    /// Spares reading the text once more; `note` has its very bytes.
    pub(super) fn know(&mut self, note: Rc<Note>) {
        debug_assert_eq!(note.bytes(), self.bytes);
        self.note = Some(note);
    }

    /// Does these in order; operations of one mode go together.
    pub(super) fn run(&mut self, todo: &[Todo]) -> Result<(), Refusal> {
        let mut rest = todo;
        while let Some(next) = rest.first() {
            if next.written_op.undo.is_some() {
                self.undo(next)?;
                rest = &rest[1..];
                continue;
            }
            if self.is_other_body(next) {
                let first = next.written_op.first;
                let count = rest.iter().take_while(|it| it.written_op.first == first).count();
                self.leave(&rest[..count]);
                rest = &rest[count..];
                continue;
            }
            let same = |it: &&Todo| it.written_op.undo.is_none() && it.mode == next.mode && body(it).is_none();
            let count = 1 + rest[1..].iter().take_while(same).count();
            self.ops(&rest[..count])?;
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Whether this would write a note anew, once more, whose body is another one now. The properties that were written
    /// with that body tell of it alone.
    fn is_other_body(&self, todo: &Todo) -> bool {
        let Some(old) = body(todo).filter(|_| todo.mode == Mode::Again) else { return false };
        let hash =
            self.note.as_deref().map_or_else(|| op::body_hash(&Note::parse(self.bytes.as_slice())), op::body_hash);
        hash != old
    }

    /// Counts these as done; nothing happens.
    fn leave(&mut self, todo: &[Todo]) {
        for it in todo {
            self.written_ops.push(WrittenOperation { again: true, ..it.written_op.clone() });
            self.done.push(Done { outcome: Outcome::Gone, edits: Vec::new() });
        }
    }

    fn ops(&mut self, todo: &[Todo]) -> Result<(), Refusal> {
        let Some(mode) = todo.first().map(|first| first.mode) else { return Ok(()) };
        let ops: Vec<Op> = todo.iter().filter_map(|it| it.written_op.op.clone()).collect();
        let applied = match &self.note {
            Some(note) => op::apply_to(note, &ops, mode),
            None => op::apply(&self.bytes, &ops, mode),
        };
        let applied = applied.map_err(|(_, error)| error)?;
        let withs = todo.iter().filter(|it| it.written_op.op.is_some());
        for (it, done) in withs.zip(applied.done) {
            let mut written_op = WrittenOperation { again: mode == Mode::Again, ..it.written_op.clone() };
            // What was there already stays known by the bytes it was written with.
            if !done.edits.is_empty() {
                written_op.changes.clone_from(&done.edits);
            }
            self.written_ops.push(written_op);
            self.done.push(done);
        }
        self.put(applied.bytes);
        Ok(())
    }

    fn put(&mut self, bytes: Vec<u8>) {
        self.note = self.note.take().filter(|note| note.bytes() == bytes);
        self.bytes = bytes;
    }

    /// What a person has edited since stays, when it is undone once more.
    fn undo(&mut self, todo: &Todo) -> Result<(), Refusal> {
        let Some(undo) = &todo.written_op.undo else { return Ok(()) };
        let mut written_op = WrittenOperation { again: todo.mode == Mode::Again, ..todo.written_op.clone() };
        let outcome = match op::undo(&self.bytes, &undo.changes) {
            Ok(bytes) => {
                written_op.changes = between(&self.bytes, &bytes);
                self.put(bytes);
                Outcome::Done
            }
            Err(_) if todo.mode == Mode::Again => Outcome::Gone,
            Err(error) => return Err(Refusal::Undo(undo.revision, error)),
        };
        self.done.push(Done { outcome, edits: written_op.changes.clone() });
        self.written_ops.push(written_op);
        Ok(())
    }
}
