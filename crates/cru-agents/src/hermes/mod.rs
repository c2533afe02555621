//! Hermes: its sessions as events, from its database and from the files beside it.
//!
//! The database, the JSON documents and the JSON lines hold the same messages, with calls as functions; where
//! several have a session, the database tells it.

mod session;
mod store;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::Value;

use self::store::HermesStore;
use super::bundles;
use crate::file::document::{self, items, member, members, told};
use crate::file::jsonl::{self, word};
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use crate::record::session::RecordSession;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Importer, Sink};

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

/// The same for the lines.
fn session_of(path: &Path) -> (String, u64) {
    (session(path), 0)
}

fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut rest = tables::read_first(&HermesStore, bundle, &session, sink)?;
    // Lines have a time for each message.
    let is_told = rest.files.iter().any(|path| !is_document(path));
    for path in rest.files.iter().filter(|path| is_document(path)) {
        if is_told {
            jsonl::leave(&rest, path, "session that other lines tell", sink)?;
        } else {
            read_document(&rest, path, sink)?;
        }
    }
    rest.files.retain(|path| !is_document(path));
    jsonl::read(&session::HOST, &rest, sink)
}

fn read_document(bundle: &Bundle, path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let text = document::read_json(bundle, path)?.unwrap_or_default();
    let root = members(&text);
    let of = |name: &str| Some((name.to_owned(), member(&root, name)?.value()?));
    let row: Value =
        ["session_id", "model", "platform", "session_start", "title", "cwd"].into_iter().filter_map(of).collect();
    let id = told(&root, &["session_id"]).unwrap_or_else(|| session(path));
    let messages = member(&root, "messages").map(|list| items(list.text)).unwrap_or_default();
    let messages = messages.iter().map(|piece| piece.value().ok_or_else(|| piece.trouble()));
    let key = StreamKey { session: id, agent: None };
    let header = Header { key, transcript: path.to_owned(), ..Header::default() };
    let state = RecordSession::new(&session::HOST, header.key.clone(), Value::Null);
    let mut account = Account::default();
    tables::tell(header, state, std::iter::once(Ok(row)).chain(messages), &mut account, sink);
    sink.account(path, account);
    Ok(())
}
