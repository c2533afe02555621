//! The session: typed model, the way from a note to it and from a transcript's events to it, and the one renderer.

pub mod event;
pub mod model;
pub mod source;

pub use model::*;
