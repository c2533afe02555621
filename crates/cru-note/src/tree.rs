//! What the parse of a body gives: blocks that cover it, and the places in which inlines stand.

use super::block::{Block, Inline};
use cru_base::{Diagnostic, Span};

/// What the parse of a body gives.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tree {
    /// Top-level blocks, which cover the body.
    pub(super) blocks: Vec<Block>,
    /// Texts in which inlines may stand, in order.
    pub(super) texts: Vec<Span>,
    /// Code spans, inline HTML, destinations: places inside texts where nothing is an inline of ours; in order.
    pub(super) opaque: Vec<Span>,
    /// `[text](dest)`, in order.
    pub(super) links: Vec<Inline>,
    /// What is odd.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether it defines what counts in the whole note: labels of links, footnotes.
    pub(super) defines: bool,
}

impl Tree {
    /// Several of them, one behind the other.
    pub(super) fn join(parts: Vec<Self>) -> Self {
        let room = |len: fn(&Self) -> usize| parts.iter().map(len).sum();
        let mut whole = Self {
            blocks: Vec::with_capacity(room(|part| part.blocks.len())),
            texts: Vec::with_capacity(room(|part| part.texts.len())),
            opaque: Vec::with_capacity(room(|part| part.opaque.len())),
            ..Self::default()
        };
        for part in parts {
            whole.blocks.extend(part.blocks);
            whole.texts.extend(part.texts);
            whole.opaque.extend(part.opaque);
            whole.links.extend(part.links);
            whole.diagnostics.extend(part.diagnostics);
            whole.defines |= part.defines;
        }
        whole
    }
}
