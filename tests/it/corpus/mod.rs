//! All transcripts of Claude Code in a set as one vault, and what must hold for it whatever stands in them.
//!
//! What a test expects it counts itself from the raw lines, without the importer.

mod account;
mod edit;
mod family;
mod form;
mod raw;
mod rerun;
mod token;
mod top;
mod usage;
mod words;
mod world;
