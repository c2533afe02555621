//! One bundle of files read: the drafts of its streams and the account of its records.

pub mod alone;
pub(crate) mod bundle;
pub(crate) mod heard;
pub mod hook_facts;
pub(crate) mod legible;
pub(crate) mod reading;

pub use bundle::{CallPlace, FileAccount};
pub use heard::Heard;
