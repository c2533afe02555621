//! Adding text to a phase, after a block, or as a phase of its own.

use super::EditError;
use super::place::{Join, insert};
use super::target::{Target, part_end};
use crate::{Note, Patch};

/// Adds markdown to the end of the phase or sub-phase that `target` stands in, before the blank lines that end it.
///
/// Where its last block has no end (a fence or comment that is not closed), the text goes before that block: behind it
/// it would become part of it.
pub fn append(note: &Note, target: Target<'_>, text: &str, join: Join) -> Result<Patch, EditError> {
    let index = target.index(note)?;
    let end = part_end(note, index);
    match insert(note, end, text, join) {
        // The block that `target` names stays where it is, before the text: a heading before what belongs to it.
        Err(EditError::Merge) if end - 1 > index => insert(note, end - 1, text, Join::Never),
        result => result,
    }
}

/// Adds markdown before the first phase: behind the title and what stands below it.
pub fn append_to_preface(note: &Note, text: &str, join: Join) -> Result<Patch, EditError> {
    let title = usize::from(note.blocks().first().is_some_and(super::target::is_title));
    let first = note.blocks().iter().skip(title).position(super::target::divides);
    insert(note, first.map_or(note.blocks().len(), |at| at + title), text, join)
}

/// Adds markdown, a phase with its heading, to the end of the note. Refused with [`EditError::Merge`] when the note
/// ends in a block without end: before it the phase would take what belongs to the phase before.
pub fn append_phase(note: &Note, text: &str) -> Result<Patch, EditError> {
    insert(note, note.blocks().len(), text, Join::Never)
}

/// Inserts markdown after the top-level block that `target` names, and after the line of its id.
pub fn insert_after(note: &Note, target: Target<'_>, text: &str) -> Result<Patch, EditError> {
    insert(note, target.index(note)? + 1, text, Join::Never)
}
