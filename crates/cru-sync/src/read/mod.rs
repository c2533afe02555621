//! One bundle of files read: the drafts of its streams and the account of its records.

pub(crate) mod bundle;
pub(crate) mod heard;
pub mod hook_facts;
pub(crate) mod legible;
pub(crate) mod reading;

pub use heard::Heard;
