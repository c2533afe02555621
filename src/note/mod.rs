//! Markdown text ⇄ blocks with byte ranges; edits as patches on the bytes.

pub mod block;
pub mod frontmatter;
mod line_end;

pub use block::{Block, BlockKind, Inline, InlineKind};
pub use line_end::LineEnd;
