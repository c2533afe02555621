//! Checkpoints: marks in a session, and copies of the files of that moment.
//!
//! A copy consists of a [`CopyManifest`], which names files, and of their bytes in an [`ObjectStore`] that all checkpoints
//! share. Both lie in the machine's state, never in the vault or in the user's repository.

pub mod account;
pub mod blob;
pub mod callout;
pub mod choose;
pub mod copy;
pub mod kind;
mod left_out;
pub mod listing;
pub mod manifest;
pub mod object;
pub mod points;
pub mod restore;
pub mod risk;

pub use copy::{CopyLimits, CopyWish};
pub use kind::CheckpointKind;
pub use manifest::{CopiedFile, CopiedFolder, CopyManifest, CopyShelf, KeptRef, KeptRefs, LeftOut, StoredPath};
pub use object::ObjectStore;
