//! What the record itself shows to be wrong with an answer, although it has one.
//!
//! Facts of commands and patches alone: what was switched off, what was taken out again, what two answers share. Whether
//! words of an answer are true is asked of a reading or a person.

pub(crate) mod aftermath;
pub(crate) mod pair;
pub(crate) mod shortcut;
