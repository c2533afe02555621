//! The transcripts behind notes: where they are, the copies kept of them, and what they say of a step or a line.

mod files;
pub(crate) mod keep;
mod quote;
pub mod step;
pub mod store;
pub mod transcripts;

pub use step::{Missing, Whole};
pub use store::Store;
pub use transcripts::Transcripts;
