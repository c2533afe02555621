//! Claude Code: its transcripts as events.
//!
//! A transcript is a file of JSON lines that the host appends to; its form is internal to the host and changes between
//! releases. So nothing here relies on a field being there or of its usual type, and what is not known is passed over
//! by a name and counted. No note is thought of here.

mod agents;
pub(crate) mod assistant;
mod brief;
pub(crate) mod decision;
mod denial;
mod head;
mod hook;
mod proof;
mod queue;
mod read;
mod record;
mod result;
pub(crate) mod said;
mod stream;
mod system;
mod tabs;
mod tree;
mod user;
mod workflow;

#[cfg(test)]
mod tests;

use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "claude",
    recognise: head::recognise,
    bundle: head::bundle,
    together: head::together,
    read: read::read,
    beside: head::beside,
    hooked: Some(hook::transcripts),
};
