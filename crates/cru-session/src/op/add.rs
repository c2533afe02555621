//! Operations that add: to a phase, behind a block, to the preface, a phase of its own.

use super::draft::TextDraft;
use super::list;
use super::place::{self, Spot};
use super::run::Outcome;
use super::unit::Unit;
use cru_note::edit::{self, EditError};
use cru_note::{Block, Note};

/// At the end of a phase.
pub(super) fn append(draft: &mut TextDraft, phase: Option<&str>, text: &str) -> Result<Outcome, EditError> {
    let spot = Spot::of(draft.note(), phase);
    place::put(draft, spot, text)?;
    Ok(if spot.moved { Outcome::Moved } else { Outcome::Done })
}

/// Below the title.
pub(super) fn preface(draft: &mut TextDraft, text: &str) -> Result<Outcome, EditError> {
    let spot = Spot::preface(draft.note());
    place::put(draft, spot, text)?;
    Ok(Outcome::Done)
}

/// At the end of the note.
pub(super) fn phase(draft: &mut TextDraft, text: &str) -> Result<Outcome, EditError> {
    let patch = edit::append_phase(draft.note(), text)?;
    draft.apply(&patch);
    Ok(Outcome::Done)
}

/// Behind the block with the id `block`.
pub(super) fn insert_after(
    draft: &mut TextDraft,
    block: &str,
    phase: Option<&str>,
    text: &str,
) -> Result<Outcome, EditError> {
    if let Some((top, item)) = find(draft.note(), block)
        && behind(draft, top, item, text)?
    {
        return Ok(Outcome::Done);
    }
    append(draft, phase, text)?;
    Ok(Outcome::Moved)
}

/// Behind a piece of the note.
pub(super) fn insert_behind(draft: &mut TextDraft, unit: Unit, text: &str) -> Result<bool, EditError> {
    behind(draft, unit.top, unit.item, text)
}

/// Behind the top-level block `top`; steps, where it is a list of steps, behind its item `item`. `false` where nothing
/// can stand there.
fn behind(draft: &mut TextDraft, top: usize, item: Option<usize>, text: &str) -> Result<bool, EditError> {
    if let Some(item) = item
        && let Some(opening) = list::opening(text)
        && place::join(draft, top, item, &opening)?
    {
        return Ok(true);
    }
    match place::insert(draft.note(), top + 1, &list::with_header(text)) {
        Ok(patch) => {
            draft.apply(&patch);
            Ok(true)
        }
        Err(EditError::Merge) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The top-level block that has the id or holds it, and the item that does.
fn find(note: &Note, id: &str) -> Option<(usize, Option<usize>)> {
    let found = |exact: bool| {
        note.blocks().iter().enumerate().find_map(|(top, block)| {
            let item = block.children.iter().position(|child| holds(note, child, id, exact));
            (item.is_some() || is(note, block, id, exact)).then_some((top, item))
        })
    };
    found(true).or_else(|| found(false))
}

fn holds(note: &Note, block: &Block, id: &str, exact: bool) -> bool {
    let mut open = vec![block];
    while let Some(block) = open.pop() {
        if is(note, block, id, exact) {
            return true;
        }
        open.extend(&block.children);
    }
    false
}

fn is(note: &Note, block: &Block, id: &str, exact: bool) -> bool {
    note.id(block).is_some_and(|own| own == id || !exact && own.eq_ignore_ascii_case(id))
}
