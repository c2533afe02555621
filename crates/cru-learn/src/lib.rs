//! Cases for training and evaluation, made from sessions.
//!
//! [`extract`] reads notes and gives cases: puzzles from errors and failures, corrections from a person's words. It
//! takes nothing but what a note says, and leaves out, with a reason, what a note does not say. [`export`] gives cases
//! the shape that a trainer, an evaluation tool or a reader wants. Nothing here reads or writes files, but for a spool in
//! which texts wait for what is only known at the end.
//!
//! - `case`: what a case is, and what is known of the things done in it.
//! - `find`: where cases stand in a session.
//! - `fault`: what the record shows to be wrong with an answer.
//! - `context`: what an answer needs of what came before, and how long texts are cut.
//! - `hygiene`: what must not leave the vault.
//! - [`review`]: case notes, and what a person made of them.
//! - `rows`: a case as a conversation and as rows of training data.
//! - [`export`]: all rows of an export: sides of a split, duplicates, files.

mod case;
mod context;
pub mod export;
mod fault;
mod find;
mod hygiene;
pub mod review;
mod rows;

pub use case::call::{Call, Calls};
pub use case::entry::{Entry, Told};
pub use case::family::Family;
pub use case::left_out::{LeftOut, Reason};
pub use case::note::Note;
pub use case::worth::Grade;
pub use case::{
    Case, CaseUses, Correction, Demonstration, Edits, Evidence, Fidelity, Kind, Origin, Puzzle, Source, Story, Turn,
};
pub use export::draft::{Draft, Drafter, Place};
pub use export::format::{Eval, Format};
pub use export::pile::Pile;
pub use export::report::Report;
pub use export::{Export, File, Whole};
pub use find::typed::{FaultPlaces, TypedCase, is_proof, typed, untyped};
pub use find::{Extraction, extract};
pub use hygiene::Leak;
pub use review::Review;
pub use review::document::TEMPLATE;

pub use cru_session::ReviewStatus;
pub use rows::row::{Dialect, Table};
pub use rows::template::ChatTemplate;

#[cfg(test)]
mod tests;
