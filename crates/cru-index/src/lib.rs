//! A derived index over the notes of a vault: what answers lists, queries and searches without reading every note.
//!
//! The notes are the truth. The index may be deleted, outdated or damaged at any time: it is brought up to date, or made
//! anew, by whoever asks next, and an answer never depends on whether it was fresh. Only this layer names tantivy.
//!
//! Two things are kept. A *record* of each session holds its metadata, its totals and its rows (phases, steps,
//! decisions …); the records answer lists, queries and figures. An *entry* for each block that a person would want as a
//! hit holds its words; the entries answer searches.

mod changes;
pub mod check;
mod columns;
mod disk;
pub mod entry;
pub mod evidence;
mod frequency;
pub mod kept;
mod manifest;
pub mod query;
pub mod record;
mod refresh;
mod rows;
pub mod schema;
pub mod search;
pub mod snapshot;
pub mod table;
mod tables;
pub mod toon;
pub mod touch;
pub mod update;
pub mod words;

#[cfg(test)]
mod tests;

pub use entry::{Entry, NoteKey};
pub use evidence::Evidence;
pub use query::Query;
pub use record::{ModelUsage, Record, SessionRow, Table, ToolUse};
pub use refresh::{Refreshed, prepare};
pub use snapshot::{LastSnapshots, Part, Snapshot};
pub use update::{Options, Sources};
