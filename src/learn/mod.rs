//! Cases for training and evaluation, made from sessions.
//!
//! [`harvest`] reads notes and gives cases: puzzles from errors and failures, corrections from a person's words. It
//! takes nothing but what a note says, and leaves out, with a reason, what a note does not say. [`export`] gives cases
//! the shape that a trainer, an evaluation tool or a reader wants. Nothing here reads or writes files.

pub mod case;
mod correction;
mod cue;
mod entry;
mod harvest;
mod puzzle;
mod record;
mod recovery;
mod slip;
mod trail;

pub use case::{Case, Kind, Origin, Source, Story, Turn};
pub use entry::{Entry, Told};
pub use harvest::{Harvest, LeftOut, Reason, harvest};
pub use record::Note;
