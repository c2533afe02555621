//! The session: typed model, the way from a note to it and from a transcript's events to it, and the one renderer.

mod activity;
pub mod agent_table;
pub mod attempt;
pub mod boundary;
pub mod callout;
pub mod conflict;
pub mod correction;
pub mod cursor;
pub mod delta;
pub mod detail;
pub mod escape;
pub mod event;
pub mod evidence_patch;
mod field;
pub mod file_ref;
pub mod fix;
pub mod fold;
pub mod line_anchor;
pub mod mask;
pub mod model;
pub mod op;
pub mod open;
pub mod public;
pub mod read;
pub mod recovery;
pub mod render;
mod review_status;
#[cfg(test)]
mod round_trip;
pub mod seal;
pub mod source;
pub mod step_line;
pub mod task_line;
pub mod time;
pub mod usage;
pub mod words;

pub use activity::active_ms;
pub use line_anchor::LineAnchor;
pub use model::*;
pub use public::Public;
pub use review_status::ReviewStatus;
