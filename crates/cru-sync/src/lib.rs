//! Transcripts into the notes of a vault.
//!
//! [`import`] brings in the transcripts of one agent, [`hooked`] one session whose host has hooks, and [`flush`] what was
//! logged beside them. All read through [`read`], decide in `plan` which notes are new, and bring notes that exist up to
//! date in `grow`. [`evidence`] reads a transcript again for a note: for the index, one step, or a quoted line. [`projects`] writes the lists in project notes, [`untold`] ends sessions whose host crashed, [`rename`] gives a session another
//! title, [`top`] what an accepted reading says of it in its summary, [`memories`] what other programs remember.
//!
//! A module uses those before it alone: `existing` and `ids`, `read`, `report`, `plan`, `grow` and `evidence`, `import`,
//! `hooked`, `untold`, `flush`.
//!
//! Knows no agent and no command; what is written depends on the transcripts and the vault alone.

pub mod archive;
#[cfg(test)]
mod edited;
pub mod evidence;
mod existing;
pub mod flush;
mod grow;
pub mod hooked;
mod ids;
pub mod import;
pub mod memories;
pub mod merge;
mod plan;
pub mod projects;
pub mod read;
pub mod rename;
pub mod report;
#[cfg(test)]
mod tests;
pub mod top;
pub mod untold;

pub use plan::choice::{Choice, Project};
pub use plan::imported::forget;
