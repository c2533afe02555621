//! Markdown text ⇄ blocks with byte ranges; edits as patches on the bytes.

pub mod block;

pub use block::{Block, BlockKind, Inline, InlineKind};
