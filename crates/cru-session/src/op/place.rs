//! Where a text goes: the end of a phase or of the preface, or behind a block.
//!
//! A phase's own blocks end where its first sub-phase begins. A block without end (a fence that is not closed) stays
//! last: behind it the text would become part of it.

use super::draft::TextDraft;
use super::list::{self, Opening};
use crate::read;
use cru_base::Span;
use cru_note::edit::{self, EditError, Join, Target, divides, is_title, part_end};
use cru_note::{BlockKind, Note, Patch};

/// Between which top-level blocks a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Index of the block that follows.
    pub(super) before: usize,
    /// No text goes before this one.
    pub(super) floor: usize,
    /// Whether the phase that was asked for is gone.
    pub(super) moved: bool,
}

impl Spot {
    /// The end of a phase; of the last one without `phase` or where it is gone; of the preface where there is none.
    pub(super) fn of(note: &Note, phase: Option<&str>) -> Self {
        let phases = read::phases(note);
        let found = phase.and_then(|id| {
            let exact = phases.iter().find(|it| it.id == id);
            exact.or_else(|| phases.iter().find(|it| it.id.eq_ignore_ascii_case(id)))
        });
        let moved = phase.is_some() && found.is_none();
        let heading = found.or(phases.last()).and_then(|phase| position(note, phase.heading_span));
        match heading {
            Some(index) => Self { before: part_end(note, index), floor: index + 1, moved },
            None => Self { moved, ..Self::preface(note) },
        }
    }

    /// The end of what stands before the first phase.
    pub(super) fn preface(note: &Note) -> Self {
        let title = usize::from(note.blocks().first().is_some_and(is_title));
        let first = note.blocks().iter().skip(title).position(divides);
        Self { before: first.map_or(note.blocks().len(), |at| at + title), floor: title, moved: false }
    }
}

/// Index of the top-level block that starts where `span` does.
fn position(note: &Note, span: Span) -> Option<usize> {
    note.blocks().binary_search_by_key(&span.start, |block| block.content.start).ok()
}

/// Puts `text` at `spot`; steps that it begins with go on with the list of steps that ends there.
pub(super) fn put(draft: &mut TextDraft, spot: Spot, text: &str) -> Result<(), EditError> {
    let opening = list::opening(text);
    match put_before(draft, spot.before, text, opening.as_ref()) {
        Err(EditError::Merge) if spot.before > spot.floor => put_before(draft, spot.before - 1, text, opening.as_ref()),
        result => result,
    }
}

fn put_before(draft: &mut TextDraft, before: usize, text: &str, opening: Option<&Opening>) -> Result<(), EditError> {
    if let Some(opening) = opening
        && let Some(top) = before.checked_sub(1)
        && let Some(last) = draft.note().blocks().get(top).and_then(|block| block.children.len().checked_sub(1))
        && join(draft, top, last, opening)?
    {
        return Ok(());
    }
    let patch = insert(draft.note(), before, &list::with_header(text))?;
    draft.apply(&patch);
    Ok(())
}

/// Puts the steps of `opening` behind an item of the list at `top`, and the rest of the text behind the list; `false`
/// where it is no list of steps.
pub(super) fn join(draft: &mut TextDraft, top: usize, item: usize, opening: &Opening) -> Result<bool, EditError> {
    let Some(patch) = list::insert(draft.note(), top, item, opening) else { return Ok(false) };
    if opening.rest.is_empty() {
        draft.apply(&patch);
        return Ok(true);
    }
    // The rest first fails or not on the text as it is, so that nothing is done by half.
    let mut trial = TextDraft::new(&patch.apply(draft.bytes()));
    let rest = insert(trial.note(), top + 1, &opening.rest)?;
    draft.apply(&patch);
    draft.apply(&rest);
    Ok(true)
}

/// The patch that inserts `text` between the blocks `before - 1` and `before`.
pub(super) fn insert(note: &Note, before: usize, text: &str) -> Result<Patch, EditError> {
    let blank = |index: usize| note.blocks().get(index).is_none_or(|block| matches!(block.kind, BlockKind::Blank));
    match before.checked_sub(1).filter(|&above| !blank(above)) {
        Some(above) => edit::insert_after(note, Target::At(note.blocks()[above].content.start), text),
        None => edit::append_to_preface(note, text, Join::Never),
    }
}
