//! Hermes: its sessions as events, from its database and from the files beside it.
//!
//! The database, the JSON documents and the JSON lines hold the same messages, with calls as functions; where
//! several have a session, the database tells it.

mod session;
mod store;

#[cfg(test)]
mod tests;

use std::path::Path;

use self::store::HermesStore;
use super::bundles;
use crate::file::document::{member, members};
use crate::file::jsonl;
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use crate::file::value::word;
use cru_base::Result;
use cru_session::source::{Bundle, Importer, Sink};

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "hermes",
    recognise,
    bundle: |files| {
        let alone = |files| bundles::by_session(files, |path| Ok((session(path), is_document(path), None)));
        tables::bundle(&HermesStore, files, &session, &alone)
    },
    together: |path| Ok(tables::together(&HermesStore, path, &session)),
    read,
    beside: bundles::alone,
    hooked: None,
};

fn recognise(path: &Path, head: &[u8]) -> bool {
    if is_database(head) {
        let columns = ["session_id", "tool_calls", "finish_reason"];
        return holds(path, "state.db", &|base| columns.iter().all(|column| base.has_column("messages", column)));
    }
    if is_document(path) {
        let head = String::from_utf8_lossy(head);
        let head = members(&head);
        return ["session_id", "session_start", "platform"].iter().all(|name| member(&head, name).is_some());
    }
    jsonl::head(head, 20).any(|record| word(&record, "/role") == "session_meta")
}

/// Whether a file is a document; else it holds lines.
fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

/// `session_<id>.json`, `<id>.jsonl`.
fn session(path: &Path) -> String {
    let stem = bundles::stem(path);
    stem.strip_prefix("session_").filter(|_| is_document(path)).map_or_else(|| stem.clone(), str::to_owned)
}

/// A database first, then what it does not tell.
fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    session::HOST.read(&tables::read_first(&HermesStore, bundle, &session, sink)?, sink)
}
