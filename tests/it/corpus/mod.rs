//! All real transcripts at hand as one vault, and what must hold for it whatever stands in them.
//!
//! The transcripts are no part of the project: they are looked for in `../shared/transcripts` or where
//! `CRU_TEST_TRANSCRIPTS` says, and every test says so and passes where they are missing. What a test expects it counts
//! itself from the raw lines, without the importer.

mod account;
mod edit;
mod family;
mod form;
mod raw;
mod rerun;
mod token;
mod usage;
mod words;
mod world;
