//! Cases for training and evaluation, made from sessions.
//!
//! [`harvest`] reads notes and gives cases: puzzles from errors and failures, corrections from a person's words. It
//! takes nothing but what a note says, and leaves out, with a reason, what a note does not say. [`export`] gives cases
//! the shape that a trainer, an evaluation tool or a reader wants. Nothing here reads or writes files.

mod budget;
pub mod card;
pub mod case;
pub mod chat;
mod correction;
pub mod document;
mod entry;
pub mod export;
mod family;
mod harvest;
pub mod inspect;
mod puzzle;
mod record;
mod recovery;
pub mod row;
mod slip;
mod trail;

pub use case::{Case, Kind, Origin, Source, Story, Turn};
pub use document::TEMPLATE;
pub use entry::{Entry, Told};
pub use export::{Export, File, Format};
pub use family::Family;
pub use harvest::{Harvest, LeftOut, Reason, harvest};
pub use record::Note;

#[cfg(test)]
mod tests;
