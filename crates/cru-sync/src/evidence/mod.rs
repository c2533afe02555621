//! The transcripts behind notes: where they are, the copies kept of them, what they say of a step or a line, and what
//! is kept of what their steps wrote.

mod files;
pub(crate) mod keep;
pub mod patches;
mod quote;
pub mod step;
pub mod store;
pub mod transcripts;

pub use step::{Missing, Whole};
pub use store::Store;
pub use transcripts::Transcripts;
