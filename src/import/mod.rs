//! Agents' transcripts as events: one file and one row for each agent.
//!
//! Knows agents and nothing of notes. Which agent wrote a file is told by its content, never by its place. Nothing
//! here writes, and no file is read that is not a transcript or stands beside one.

mod claude;
mod find;
mod lines;

pub use find::{Found, find};

use crate::session::source::Importer;

/// All importers; a file belongs to the first that recognises it.
pub static IMPORTERS: &[Importer] = &[claude::IMPORTER];

/// The importer of that name.
pub fn importer(id: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.id == id || importer.host == id)
}
