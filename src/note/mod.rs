//! Markdown text ⇄ blocks with byte ranges; edits as patches on the bytes.

pub mod block;
pub mod edit;
pub mod frontmatter;
mod line_end;
pub mod patch;

pub use block::{Block, BlockKind, Inline, InlineKind};
pub use line_end::LineEnd;
pub use patch::{Edit, Patch};
