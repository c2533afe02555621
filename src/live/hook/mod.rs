//! What hosts' hooks tell.

mod entry;

pub use entry::{Entry, HashedFile};
