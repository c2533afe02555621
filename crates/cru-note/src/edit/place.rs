//! Putting new blocks between the blocks of a note without changing any of them.
//!
//! Markdown joins what stands too close. So the changed note is read again: the blocks that were there must be there
//! as they were, and what came between them must be the blocks that the inserted text is by itself. Where a blank
//! line is not enough, an empty comment is put between; where that is not enough either, nothing is changed.

use std::mem::discriminant;

use super::EditError;
use super::compare::{same, same_frontmatter};
use super::window;
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

/// What keeps two lists apart that a blank line would join.
pub const SEPARATOR: &str = "<!-- -->";

/// Whether a list that begins the new text goes on with a list that stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The text stays apart from what stands before.
    Never,
    /// Items go to the list before them, if one is there.
    List,
}

/// Inserts `text` between the top-level blocks `before - 1` and `before`.
pub(super) fn insert(note: &Note, before: usize, text: &str, join: Join) -> Result<Patch, EditError> {
    let text = ready(note, text)?;
    if join == Join::List
        && let Some(patch) = join_list(note, before, &text)
    {
        return Ok(patch);
    }
    let separations = [(false, false), (true, false), (false, true), (true, true)];
    let patches = separations.map(|(above, below)| between(note, before, &text, above, below));
    patches.into_iter().find(|patch| keeps_blocks(note, before, patch)).ok_or(EditError::Merge)
}

/// The text as it is to be inserted: without blank lines around, with the note's line ends. Refused when it is blank
/// or would swallow what comes after it.
pub(super) fn ready(note: &Note, text: &str) -> Result<String, EditError> {
    let text = note.split().line_end.apply(text);
    let first = text.len() - text.trim_start_matches(['\n', '\r']).len();
    let text = text[first..].trim_end();
    if text.trim().is_empty() {
        return Err(EditError::Blank);
    }
    let probe = Note::parse(format!("\n{text}\n\n# end\n"));
    if probe.blocks().first().is_some_and(|block| matches!(block.kind, BlockKind::OrphanId)) {
        // An id alone would become that of the block before it.
        return Err(EditError::Merge);
    }
    let closed = probe.blocks().last().is_some_and(|block| block.content.of(probe.text()) == "# end");
    let heading = probe.blocks().last().is_some_and(|block| matches!(block.kind, BlockKind::Heading { .. }));
    if closed && heading { Ok(text.to_owned()) } else { Err(EditError::Open) }
}

fn between(note: &Note, before: usize, text: &str, above: bool, below: bool) -> Patch {
    let end_of_line = note.split().line_end.as_str();
    let at = end_of_block(note, before);
    let mut chunk = String::new();
    if !starts_line(note, at) {
        chunk.push_str(end_of_line);
    }
    if before > 0 && !is_blank(note) {
        chunk.push_str(end_of_line);
    }
    let separator = [SEPARATOR, end_of_line, end_of_line].concat();
    if above {
        chunk.push_str(&separator);
    }
    chunk.extend([text, end_of_line]);
    if below {
        chunk.extend([end_of_line, SEPARATOR, end_of_line]);
    }
    let follows = Span::new(at, note.text().len()).of(note.text());
    if before < note.blocks().len() && !is_blank(note) && !follows.lines().next().unwrap_or("").trim().is_empty() {
        chunk.push_str(end_of_line);
    }
    Patch::insert(at, chunk)
}

/// Behind the line that ends the block before, its id's line included; the start of the body where there is none.
fn end_of_block(note: &Note, before: usize) -> usize {
    let Some(block) = before.checked_sub(1).and_then(|at| note.blocks().get(at)) else {
        return note.split().body_start;
    };
    if is_blank(note) {
        return note.split().body_start;
    }
    end_of_line(note, block.id.map_or(0, |id| id.end).max(block.content.end))
}

/// Where the line that `offset` stands in ends, its line end included.
pub fn end_of_line(note: &Note, offset: usize) -> usize {
    let rest = Span::new(offset, note.text().len()).of(note.text());
    memchr::memchr(b'\n', rest.as_bytes()).map_or(note.text().len(), |at| offset + at + 1)
}

/// Whether `offset` is where a line begins; false behind a last line without line end.
pub fn starts_line(note: &Note, offset: usize) -> bool {
    let before = Span::new(0, offset).of(note.text());
    before.is_empty() || before == "\u{feff}" || before.ends_with('\n')
}

/// Whether the body holds no block at all.
fn is_blank(note: &Note) -> bool {
    note.blocks().iter().all(|block| matches!(block.kind, BlockKind::Blank))
}

/// The text as further items of the list that ends before the block `before`.
fn join_list(note: &Note, before: usize, text: &str) -> Option<Patch> {
    let list = note.blocks().get(before.checked_sub(1)?)?;
    let alone = Note::parse(format!("\n{text}\n"));
    let ([fresh], true) = (alone.blocks(), is_list(list)) else { return None };
    if discriminant(&fresh.kind) != discriminant(&list.kind) || fresh.id.is_some() {
        return None;
    }
    let last = list.children.last()?;
    let at = end_of_line(note, last.content.end);
    let end = note.split().line_end.as_str();
    let lead = if starts_line(note, at) { "" } else { end };
    let joined = |trail: &str| Patch::insert(at, [lead, text, end, trail].concat());
    let grows = |note: &Note, new: &Note, top: usize| {
        let (Some(list), Some(grown)) = (note.blocks().get(top), new.blocks().get(top)) else { return false };
        let (old_items, all) = (list.children.len(), grown.children.len());
        same_frontmatter(note, new)
            && new.blocks().len() == note.blocks().len()
            && grown.kind == list.kind
            && all == old_items + fresh.children.len()
            && new.id(grown) == note.id(list)
            && same(note, &list.children, new, &grown.children[..old_items])
            && same(&alone, &fresh.children, new, &grown.children[old_items..])
            && same(note, &note.blocks()[..top], new, &new.blocks()[..top])
            && same(note, &note.blocks()[top + 1..], new, &new.blocks()[top + 1..])
    };
    [joined(""), joined(end)].into_iter().find(|patch| window::holds(note, before - 1, patch, grows))
}

fn is_list(block: &Block) -> bool {
    matches!(block.kind, BlockKind::List { .. })
}

/// Whether the patch, an insertion between the blocks `before - 1` and `before`, leaves all blocks as they are and
/// adds those that its text is by itself.
pub(super) fn keeps_blocks(note: &Note, before: usize, patch: &Patch) -> bool {
    let above = before.min(note.blocks().len()).saturating_sub(1);
    window::holds(note, above, patch, |note, new, top| keeps_blocks_of(note, new, top + before - above, patch))
}

/// [`keeps_blocks`] of a note, or a part of one, that is read before and after.
pub(super) fn keeps_blocks_of(note: &Note, new: &Note, before: usize, patch: &Patch) -> bool {
    let old: &[Block] = if is_blank(note) { &[] } else { note.blocks() };
    let before = before.min(old.len());
    let inserted: String = patch.edits().iter().map(|edit| edit.text.as_str()).collect();
    let alone = Note::parse(format!("\n{inserted}"));
    let fresh = alone.blocks().len();
    same_frontmatter(note, new)
        && new.blocks().len() == old.len() + fresh
        && same(note, &old[..before], new, &new.blocks()[..before])
        && same(&alone, alone.blocks(), new, &new.blocks()[before..before + fresh])
        && same(note, &old[before..], new, &new.blocks()[before + fresh..])
}
