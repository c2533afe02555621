//! What a session leaves behind, and the way back to it.
//!
//! Pure but for reading and writing the files that a caller names: git, the clock and the terminal belong to commands.
//! `checkpoint` keeps three things apart: a mark in the account, the state that was open, and a copy of files.
//! `review` is the inbox of what waits for a person, and the page on which they decide;
//! `summary` is the account of a day, a week or a topic; `prune` finds what may be removed on request.

pub mod checkpoint;
pub mod event;
pub mod prune;
pub mod review;
pub mod summary;
