//! Frontmatter: where it stands and what it says.
//!
//! A note's properties are read with a YAML reader and never written through one: `note::edit` changes the lines of
//! one key, and `emit` writes whole blocks for notes that are new. Hostile input gives diagnostics, never a crash.

mod split;

pub use split::{Bounds, Split, split};
