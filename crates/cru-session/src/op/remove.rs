//! Taking a block or a step out of a note.

use super::unit::{Unit, has_header};
use cru_base::Span;
use cru_note::edit::{EditError, end_of_line, same, same_frontmatter};
use cru_note::{Note, Patch};

/// The patch that takes a piece out, with the line of its id and the blank lines behind it, or the one above it where it
/// is the last of the note; everything else must come out as it was.
pub(super) fn unit(note: &Note, unit: Unit) -> Result<Patch, EditError> {
    let blocks = note.blocks();
    let list = blocks.get(unit.top).filter(|_| unit.item.is_some());
    match (unit.item, list) {
        (Some(item), Some(list)) if list.children.len() > 1 => {
            let start = start_of_line(note, unit.span.start);
            let patch = Patch::replace(Span::new(start, end_of_line(note, unit.span.end)), "");
            let after = Note::parse(patch.apply(note.bytes()));
            let new = after.blocks().get(unit.top).map(|list| list.children.as_slice()).unwrap_or_default();
            let kept = after.blocks().len() == blocks.len()
                && new.len() + 1 == list.children.len()
                && same(note, &list.children[..item], &after, &new[..item])
                && same(note, &list.children[item + 1..], &after, &new[item..])
                && rest_is_kept(note, &after, unit.top, unit.top + 1, unit.top + 1);
            if kept { Ok(patch) } else { Err(EditError::Merge) }
        }
        // The last step takes the line above the steps with it.
        (Some(_), _) if has_header(note, unit.top) => blocks_out(note, unit.top - 1, unit.top + 1),
        _ => blocks_out(note, unit.top, unit.top + 1),
    }
}

/// As [`unit`], for a whole block.
pub(super) fn block(note: &Note, top: usize) -> Result<Patch, EditError> {
    blocks_out(note, top, top + 1)
}

/// As [`unit`], for the blocks `from..to`.
pub(super) fn blocks(note: &Note, from: usize, to: usize) -> Result<Patch, EditError> {
    blocks_out(note, from, to)
}

/// Takes the blocks `from..to` out. Where the blocks around them would become one, an empty comment stays between.
fn blocks_out(note: &Note, from: usize, to: usize) -> Result<Patch, EditError> {
    let blocks = note.blocks();
    let eol = note.split().line_end.as_str();
    let start = blocks[from].span.start.max(note.split().body_start);
    let start = start_of_line(note, blocks[from].content.start).max(start);
    let end = blocks[to - 1].span.end;
    let separator = ["<!-- -->", eol, eol].concat();
    let span = Span::new(start, end);
    let last = (to == blocks.len()).then(|| last(note, span)).flatten();
    let plain = [(span, "", 0), (span, separator.as_str(), 1)];
    for (span, text, more) in last.map(|span| (span, "", 0)).into_iter().chain(plain) {
        let patch = Patch::replace(span, text);
        let after = Note::parse(patch.apply(note.bytes()));
        let left = blocks.len() - (to - from) + more;
        let count = after.blocks().len();
        if (count == left || left == 0) && rest_is_kept(note, &after, from, to, from + more) {
            return Ok(patch);
        }
    }
    Err(EditError::Merge)
}

/// The lines of the last blocks of a note with the blank line above them, and without those behind.
fn last(note: &Note, span: Span) -> Option<Span> {
    let text = note.text();
    let above = start_of_line(note, span.start.checked_sub(1)?);
    let blank = text.get(above..span.start).is_some_and(|line| line.trim().is_empty());
    let end = span.start + span.of(text).trim_end().len();
    (blank && above > note.split().body_start).then(|| Span::new(above, end_of_line(note, end)))
}

/// Whether the blocks before `from` and from `to` on are as they were, the latter from `behind` on.
fn rest_is_kept(note: &Note, after: &Note, from: usize, to: usize, behind: usize) -> bool {
    let (old, new) = (note.blocks(), after.blocks());
    same_frontmatter(note, after)
        && new.get(..from).is_some_and(|new_head| same(note, &old[..from], after, new_head))
        && new.get(behind..).is_some_and(|tail| old.len() == to && from == 0 || same(note, &old[to..], after, tail))
}

fn start_of_line(note: &Note, offset: usize) -> usize {
    let head = &note.text().as_bytes()[..offset];
    memchr::memrchr(b'\n', head).map_or(note.split().body_start, |at| at + 1)
}
