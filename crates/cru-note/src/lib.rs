//! Markdown text ⇄ blocks with byte ranges; edits as patches on the bytes.
//!
//! Reading is total and linear: any bytes give a [`Note`], and what is odd becomes a diagnostic.

pub mod block;
mod builder;
mod comment;
pub mod edit;
pub mod frontmatter;
pub mod heading;
pub mod hidden;
pub mod id;
pub mod link;
pub mod nested;
pub mod patch;

mod callout;
mod cursor;
mod depth;
mod inline;
mod leaf;
mod line_end;
mod marker;
mod parse;
mod parts;
mod prescan;
mod table;
mod tag;
mod tree;
mod unquote;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use block::{Block, BlockKind, Inline, InlineKind};
pub use line_end::LineEnd;
pub use marker::list_item;
pub use parse::Note;
#[doc(hidden)]
pub use parse::counted;
pub use patch::{Edit, Patch};
pub use unquote::Unquoted;
