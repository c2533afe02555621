//! RLM: the state that it kept beside a host's transcripts, as events.
//!
//! One session is spread over several files: its state, its context (messages, outputs, memory), a log of files, copies
//! of the context made before it was shortened, summaries of its runs. They are read together. Files are never changed,
//! and a time that nobody knew stays unknown.

mod context;
mod file;
mod head;
mod read;
mod touch;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "rlm",
    recognise: file::recognise,
    bundle: file::bundle,
    together: file::together,
    read: read::read,
    beside: bundles::alone,
    hooked: None,
};
