//! A session while the work happens: what is logged and what hosts' hooks tell, on its way into the note, and the pack
//! that a session is taken up again with.
//!
//! Names no importer and no command; writes through [`cru_vault::Writer`] and [`cru_vault::Journal`] alone.

pub mod entry;
pub mod file;
pub mod git;
pub mod hook;
pub mod log;
pub mod open;
pub mod policy;
pub mod queue;
pub mod resume;
pub mod start;
pub mod status;
pub mod turn;
