//! A note before and after a change: the note that a patch makes, and whether two notes hold the same.

use std::mem::discriminant;

use crate::{Block, Note, Patch};

/// The note as the patch makes it.
pub(super) fn parse(note: &Note, patch: &Patch) -> Note {
    Note::parse(patch.apply(note.bytes()))
}

/// Whether two runs of blocks are of the same kinds, with the same bytes and ids.
pub fn same(one: &Note, ones: &[Block], other: &Note, others: &[Block]) -> bool {
    ones.len() == others.len()
        && ones.iter().zip(others).all(|(a, b)| {
            discriminant(&a.kind) == discriminant(&b.kind)
                && a.content.of(one.text()) == b.content.of(other.text())
                && one.id(a) == other.id(b)
        })
}

/// Whether both have the same frontmatter, but for a line end behind it.
pub fn same_frontmatter(one: &Note, other: &Note) -> bool {
    let properties = |note: &Note| note.frontmatter().map(|bounds| bounds.yaml);
    properties(one) == properties(other)
}
