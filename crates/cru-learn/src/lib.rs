//! Cases for training and evaluation, made from sessions.
//!
//! [`harvest`] reads notes and gives cases: puzzles from errors and failures, corrections from a person's words. It
//! takes nothing but what a note says, and leaves out, with a reason, what a note does not say. [`export`] gives cases
//! the shape that a trainer, an evaluation tool or a reader wants. Nothing here reads or writes files, but for a spool in
//! which texts wait for what is only known at the end.

mod aftermath;
mod budget;
pub mod card;
pub mod case;
pub mod chat;
mod claims;
mod correction;
mod deed;
mod demonstration;
pub mod document;
mod draft;
mod ending;
mod entry;
mod example;
mod excerpt;
pub mod export;
mod family;
mod fault;
mod format;
mod gap;
mod ground;
mod harvest;
mod hole;
pub mod inspect;
mod likeness;
mod line;
mod names;
mod need;
mod news;
mod origin;
mod pair;
pub mod personal;
mod pile;
mod promptfoo;
mod proof;
mod puzzle;
mod quote;
mod recall;
mod record;
mod recovery;
mod redact;
mod report;
pub mod review;
pub mod row;
mod rows;
mod shortcut;
mod shown;
mod slip;
mod split;
mod story;
mod tokens;
mod trace;
mod trail;
mod unasked;
mod whole;
mod worth;

pub use case::{Case, Edits, Fidelity, Kind, Origin, Source, Story, Turn};
pub use document::TEMPLATE;
pub use draft::{Draft, Drafter, Place};
pub use entry::{Entry, Told};
pub use export::{Export, File, Whole};
pub use family::Family;
pub use format::{Eval, Format};
pub use harvest::{Harvest, LeftOut, Reason, harvest};
pub use pile::Pile;
pub use record::Note;
pub use redact::Leak;
pub use report::Report;
pub use review::{Review, Status};
pub use row::Dialect;
pub use whole::{Call, Calls};

#[cfg(test)]
mod tests;
