//! A text as the pieces that operations speak of: top-level blocks, and the steps of a list one by one.
//!
//! Both sides are cut alike, a note and a rendered text, so that "this block stands there" is one comparison.

use std::borrow::Cow;

use crate::{read, step_line};
use cru_base::Span;
use cru_note::{Block, BlockKind, Note};

/// A piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Index of the top-level block.
    pub(crate) top: usize,
    /// Index of the item, where it is a step in a list.
    pub(crate) item: Option<usize>,
    /// Its bytes, without a line of its own for the id.
    pub(crate) span: Span,
    /// Its id.
    pub(crate) id: Option<Span>,
}

impl Unit {
    /// What it says, line ends `\n`.
    pub(crate) fn text<'a>(&self, note: &'a Note) -> Cow<'a, str> {
        normal(self.span.of(note.text()))
    }

    pub(crate) fn id<'a>(&self, note: &'a Note) -> Option<&'a str> {
        self.id.map(|id| id.of(note.text()))
    }

    /// The id, where it stands on a line of its own.
    pub(crate) fn own_line<'a>(&self, note: &'a Note) -> Option<&'a str> {
        self.id.filter(|id| id.start >= self.span.end).map(|id| id.of(note.text()))
    }

    /// With the line of its id.
    pub(crate) fn whole(&self) -> Span {
        Span::new(self.span.start, self.id.map_or(0, |id| id.end).max(self.span.end))
    }

    /// The block.
    pub(crate) fn block<'a>(&self, note: &'a Note) -> Option<&'a Block> {
        let top = note.blocks().get(self.top)?;
        self.item.map_or(Some(top), |item| top.children.get(item))
    }
}

/// The text with line ends `\n`.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A rendered text, read by itself; a first line of dashes is no frontmatter.
pub(crate) fn alone(text: &str) -> Note {
    Note::parse(format!("\n{}\n", normal(text).trim_matches('\n')))
}

/// All pieces in order. Lines above runs of steps count only with `headers`.
pub(crate) fn units(note: &Note, headers: bool) -> Vec<Unit> {
    let mut units = Vec::new();
    for (top, block) in note.blocks().iter().enumerate() {
        let plain = Unit { top, item: None, span: block.content, id: block.id };
        match &block.kind {
            BlockKind::List { .. } if holds_steps(note, top) => {
                let items = block.children.iter().enumerate();
                units.extend(items.map(|(index, item)| Unit {
                    top,
                    item: Some(index),
                    span: item.content,
                    id: item.id,
                }));
            }
            BlockKind::Blank => {}
            BlockKind::Paragraph if !headers && is_header(note, block) && is_list(note.blocks().get(top + 1)) => {}
            _ => units.push(plain),
        }
    }
    units
}

/// Whether the reader finds steps in the list at `top`.
pub(crate) fn holds_steps(note: &Note, top: usize) -> bool {
    let Some(list) = note.blocks().get(top) else { return false };
    let BlockKind::List { ordered } = list.kind else { return false };
    let header = has_header(note, top);
    (header || !ordered) && list.children.iter().any(|item| is_step(note, item, header))
}

/// Whether the line above runs of steps stands above the block at `top`.
pub(crate) fn has_header(note: &Note, top: usize) -> bool {
    top.checked_sub(1).and_then(|above| note.blocks().get(above)).is_some_and(|block| is_header(note, block))
}

/// Whether the block is the line above a run of steps.
pub(crate) fn is_header(note: &Note, block: &Block) -> bool {
    matches!(block.kind, BlockKind::Paragraph) && read::is_header(block.content.of(note.text()))
}

/// Whether the item is a step to the reader.
pub(crate) fn is_step(note: &Note, item: &Block, header: bool) -> bool {
    matches!(item.kind, BlockKind::ListItem { text, .. } if step_line::is_step(text.of(note.text()), header))
}

fn is_list(block: Option<&Block>) -> bool {
    block.is_some_and(|block| matches!(block.kind, BlockKind::List { .. }))
}
