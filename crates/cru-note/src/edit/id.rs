//! Giving a block an id.

use super::EditError;
use super::compare::{parse, same, same_frontmatter};
use super::place::{end_of_line, starts_line};
use super::target::position_of_id;
use crate::id::is_id;
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

/// Gives a block of `note` the id: a top-level block or an item of its lists, nested ones too.
///
/// Paragraphs, headings and items get it at the end of their line, everything else on a line of its own with blank
/// lines around. An empty patch when the block has this id already.
pub fn add_id(note: &Note, block: &Block, id: &str) -> Result<Patch, EditError> {
    match note.id(block) {
        Some(old) if old == id => return Ok(Patch::default()),
        Some(old) => return Err(EditError::HasId(old.to_owned())),
        None if !is_id(id) => return Err(EditError::BadId(id.to_owned())),
        None if position_of_id(note, id).is_some() => return Err(EditError::IdTaken(id.to_owned())),
        None => {}
    }
    let top = note.blocks().partition_point(|it| it.span.start <= block.span.start).checked_sub(1);
    let top = top.ok_or(EditError::NoPlace)?;
    let patch = match &block.kind {
        BlockKind::Heading { text, .. } | BlockKind::ListItem { text, .. } => behind(note, *text, id)?,
        BlockKind::Paragraph => behind(note, block.content, id)?,
        BlockKind::Callout { .. }
        | BlockKind::Quote
        | BlockKind::Fence { .. }
        | BlockKind::Code
        | BlockKind::Table
        | BlockKind::List { .. } => below(note, block, id),
        BlockKind::Html
        | BlockKind::Rule
        | BlockKind::Comment { .. }
        | BlockKind::Footnote
        | BlockKind::OrphanId
        | BlockKind::Definition
        | BlockKind::Blank
        | BlockKind::Opaque => return Err(EditError::NoPlace),
    };
    let new = parse(note, &patch);
    let kept = new.blocks().len() == note.blocks().len()
        && same_frontmatter(note, &new)
        && same(note, &note.blocks()[..top], &new, &new.blocks()[..top])
        && same(note, &note.blocks()[top + 1..], &new, &new.blocks()[top + 1..]);
    if kept && has_id(&new, block, id) { Ok(patch) } else { Err(EditError::Merge) }
}

/// Behind the text, before blanks that end its line.
fn behind(note: &Note, text: Span, id: &str) -> Result<Patch, EditError> {
    let content = text.of(note.text()).trim_end();
    if content.is_empty() {
        Err(EditError::NoPlace)
    } else {
        Ok(Patch::insert(text.start + content.len(), format!(" ^{id}")))
    }
}

/// On a line of its own.
fn below(note: &Note, block: &Block, id: &str) -> Patch {
    let end = note.split().line_end.as_str();
    let at = end_of_line(note, block.content.end);
    let lead = if starts_line(note, at) { "" } else { end };
    let rest = Span::new(at, note.text().len()).of(note.text());
    let blank_follows = rest.lines().next().is_none_or(|line| line.trim().is_empty());
    Patch::insert(at, [lead, end, "^", id, end, if blank_follows { "" } else { end }].concat())
}

/// Whether the block of the old note, which starts at the same byte, has the id and its kind in the new one.
fn has_id(new: &Note, block: &Block, id: &str) -> bool {
    let mut open: Vec<&Block> = new.blocks().iter().collect();
    while let Some(candidate) = open.pop() {
        let here = candidate.span.start == block.span.start
            && std::mem::discriminant(&candidate.kind) == std::mem::discriminant(&block.kind);
        if here && new.id(candidate) == Some(id) {
            return true;
        }
        open.extend(&candidate.children);
    }
    false
}
