//! Which block of a note is meant.

use super::EditError;
use crate::{Block, BlockKind, Note};

/// A block, named by its id or by a place in it. A block inside a list or callout stands for the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// The block with this id, without `^`.
    Id(&'a str),
    /// The block that this byte of the file belongs to.
    At(usize),
}

impl Target<'_> {
    /// Index of the top-level block among the blocks of the note.
    pub(super) fn index(self, note: &Note) -> Result<usize, EditError> {
        match self {
            Self::Id(id) => position_of_id(note, id).ok_or_else(|| EditError::NoBlock(format!("^{id}"))),
            Self::At(offset) => {
                let after = note.blocks().partition_point(|block| block.span.start <= offset);
                let found = after.checked_sub(1).filter(|&at| offset <= note.blocks()[at].span.end);
                found.ok_or_else(|| EditError::NoBlock(format!("at byte {offset}")))
            }
        }
    }
}

/// The top-level block that has the id or holds a block that has it.
pub(super) fn position_of_id(note: &Note, id: &str) -> Option<usize> {
    note.blocks().iter().position(|block| {
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            if note.id(block) == Some(id) {
                return true;
            }
            open.extend(&block.children);
        }
        false
    })
}

/// Where the part of the note that the block at `index` stands in ends: the index of the next heading of a phase or
/// sub-phase, or the number of blocks.
pub fn part_end(note: &Note, index: usize) -> usize {
    let blocks = note.blocks();
    blocks.iter().skip(index + 1).position(divides).map_or(blocks.len(), |ahead| index + 1 + ahead)
}

/// Whether the block is the heading of a phase, a sub-phase or the note.
pub fn divides(block: &Block) -> bool {
    // The headings that divide a note into phases and sub-phases; deeper ones are prose.
    matches!(block.kind, BlockKind::Heading { level, .. } if level <= 3)
}

/// Whether the block is the heading of the whole note.
pub fn is_title(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading { level: 1, .. })
}
