//! Frontmatter: where it stands and what it says.
//!
//! A note's properties are read with a YAML reader and never written through one: `note::edit` changes the lines of
//! one key, and [`emit`] spells the block of a note that is new. Hostile input gives diagnostics, never a crash.

pub(crate) mod emit;
pub(crate) mod key;
mod privacy;
mod read;
mod remark;
mod spell;
pub(crate) mod split;
mod tree;
mod value;

pub use emit::emit;
pub use privacy::{NO_MCP, is_tag};
pub use read::{Entry, Values, read};
pub use split::{Bounds, Split, split};
pub use value::{Mapping, Number, Value};
