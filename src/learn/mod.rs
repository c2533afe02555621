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
mod demonstration;
pub mod document;
mod entry;
mod example;
pub mod export;
mod family;
mod harvest;
pub mod inspect;
mod likeness;
pub mod personal;
mod promptfoo;
mod puzzle;
mod record;
mod recovery;
mod redact;
mod report;
pub mod review;
pub mod row;
mod slip;
mod split;
mod tokens;
mod trail;
mod whole;

pub use case::{Case, Edits, Fidelity, Kind, Origin, Source, Story, Turn};
pub use document::TEMPLATE;
pub use entry::{Entry, Told};
pub use export::{Eval, Export, File, Format};
pub use family::Family;
pub use harvest::{Harvest, LeftOut, Reason, harvest};
pub use record::Note;
pub use redact::{Leak, leaks};
pub use report::Report;
pub use review::{Review, Status};
pub use row::Dialect;
pub use whole::{Call, Calls};

#[cfg(test)]
mod tests;
