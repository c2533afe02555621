//! Cursor's agent: its transcripts as events.
//!
//! A transcript is a file of JSON lines, each a message of a person or of the agent. It has no ids and, but for rare
//! versions, no answers of tools: who a file belongs to is told by its place, and a call whose answer is not recorded is
//! neither a success nor a failure. Newer versions put the time before a person's words; title, model and times stand in
//! the host's own folder of chats, too.
//!
//! The window keeps its sessions in a database, with the answers of tools, and tells those better that both have.

mod chat;
mod format;
mod session;
mod stamp;
mod window;

#[cfg(test)]
mod tests;

use self::window::STORE;
use crate::file::jsonl;
use crate::file::sqlite::is_database;
use crate::record::session::RecordSession;
use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "cursor",
    recognise: |path, head| {
        if is_database(head) { STORE.is_own(path) } else { format::recognise(path, head) }
    },
    bundle: |files| STORE.bundle(files, &format::session, &format::bundle),
    together: |path| Ok(STORE.together(path, &format::session)),
    read: |bundle, sink| {
        let begin = |key, begun| RecordSession::begun(&window::HOST, key, begun);
        let rest = STORE.read_first(bundle, &format::session, &begin, sink)?;
        jsonl::read(format::Cursor::default(), &rest, sink)
    },
    beside: format::beside,
    hooked: None,
};
