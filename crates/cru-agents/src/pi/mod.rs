//! pi: its sessions as events, with those of the programs that write the same format (`OpenClaw`, oh-my-pi).
//!
//! A session is a file of JSON lines: a header, then entries that form a tree by the ids of their parents. A person who
//! goes back leaves a branch behind in the same file; one who forks gets a new file that begins with a copy. Nothing
//! here relies on a field being there or of its usual type, and what is not known is passed over by a name and counted.

mod assistant;
mod below;
mod head;
mod result;
mod said;
mod session;

#[cfg(test)]
mod tests;

use crate::bundles;
use crate::file::jsonl;
use crate::record::RecordHost;
use cru_session::source::{Bundle, Importer};

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "pi",
    recognise: head::recognise,
    bundle: |files| {
        bundles::by_session(files, |path| {
            head::PiHead::read(&Bundle::default(), path).map(|it| (it.session, (), it.time))
        })
    },
    together: head::together,
    read: |bundle, sink| jsonl::read(session::Pi::default(), bundle, sink),
    beside: bundles::alone,
    hooked: None,
};

/// The name of its rows, and where the id and the time of an entry stand.
static HOST: RecordHost =
    RecordHost { id: IMPORTER.id, ids: &["id"], times: &["timestamp", "/message/timestamp"], ..RecordHost::PLAIN };

/// Why records are left out, where more than one place says so.
mod reason {
    /// Nothing that says anything.
    pub(super) const EMPTY: &str = "empty message";
    /// A fork begins with the entries of the session it came from.
    pub(super) const COPIED: &str = "copied from another session";
}
