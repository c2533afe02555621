//! Transcripts into the notes of a vault.
//!
//! [`import`] brings in the transcripts of one agent, [`hooked`] one session whose host has hooks, and [`flush`] what was
//! logged beside them. All read through [`read`], decide in `plan` which notes are new, and bring notes that exist up to
//! date in `grow`. [`evidence`] reads a transcript again for a note: for the index, one step, or a quoted line.
//!
//! Knows no agent and no command; what is written depends on the transcripts and the vault alone.

pub mod evidence;
pub mod flush;
mod grow;
pub mod hooked;
pub mod import;
pub mod merge;
mod plan;
pub mod read;
#[cfg(test)]
mod tests;

pub use plan::choice::{Choice, Project};
pub use plan::imported::forget;
