//! A session while the work happens: what is logged and what hosts' hooks tell, on its way into the note, and the pack
//! that a session is taken up again with.
//!
//! Names no importer and no command; writes through [`crate::vault::Writer`] and [`crate::vault::Journal`] alone.

pub mod hook;
