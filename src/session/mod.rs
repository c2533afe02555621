//! The session: typed model, the way from a note to it and from a transcript's events to it, and the one renderer.

pub mod attempt;
pub mod callout;
pub mod correction;
pub mod cursor;
pub mod event;
pub mod fold;
pub mod model;
pub mod read;
pub mod source;
pub mod time;
pub mod usage;

pub use model::*;
