//! Cursor's agent: its transcripts as events.
//!
//! A transcript is a file of JSON lines, each a message of a person or of the agent. It has no ids and, but for rare
//! versions, no answers of tools: who a file belongs to is told by its place, and a call whose answer is not recorded is
//! neither a success nor a failure. Newer versions put the time before a person's words; title, model and times stand in
//! the host's own folder of chats, too.

mod chat;
mod format;
mod recognise;
mod said;
mod session;
mod stamp;

#[cfg(test)]
mod tests;

use crate::file::jsonl;
use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "cursor",
    recognise: recognise::recognise,
    bundle: format::bundle,
    together: format::together,
    read: |bundle, sink| jsonl::read(format::Cursor::default(), bundle, sink),
    beside: format::beside,
    hooked: None,
};
