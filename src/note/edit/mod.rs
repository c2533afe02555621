//! Changes to a note, each as a [`Patch`](super::Patch) of the bytes it must change and no other.
//!
//! Every function looks at the text it is given and nothing else; where a change cannot be made without losing or
//! moving something, it says so in an [`EditError`] and makes none.

mod error;
mod item;
mod property;

pub use error::EditError;
pub use property::{remove_key, set_key, set_keys};

#[cfg(test)]
mod tests;
