//! goose: its sessions as events, from its database and from the JSON lines of before.
//!
//! Both hold the same messages. A session's own row, the first line of the older files, has its title, its folder and what
//! it cost in all; newer versions count tokens by request in a table of their own.

mod session;
mod store;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::Value;

use self::store::GooseStore;
use super::{bundles, claude};
use crate::file::jsonl::{self, beginning};
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use crate::file::value::word;
use cru_base::Result;
use cru_session::source::{Bundle, Importer, Sink};

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "goose",
    recognise,
    bundle,
    together: |path| Ok(tables::together(&GooseStore, path, &session)),
    read,
    beside: bundles::alone,
    hooked: claude::IMPORTER.hooked,
};

fn recognise(path: &Path, head: &[u8]) -> bool {
    if is_database(head) {
        return holds(path, "sessions.db", &|base| {
            base.has_column("messages", "content_json") && base.has_column("sessions", "working_dir")
        });
    }
    jsonl::head(head, 20).any(|record| is_head(&record) || is_message(&record))
}

/// Whether a line describes a session.
fn is_head(record: &Value) -> bool {
    record.get("working_dir").is_some_and(Value::is_string) && record.get("message_count").is_some_and(Value::is_number)
}

fn is_message(record: &Value) -> bool {
    let content =
        record.get("content").is_some_and(Value::is_array) && record.get("created").is_some_and(Value::is_i64);
    content && matches!(word(record, "/role"), "user" | "assistant") && record.get("type").is_none()
}

fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let alone = |files| bundles::by_session(files, |path| Ok((session(path), 0, None)));
    tables::bundle(&GooseStore, files, &session, &alone)
}

fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    session::HOST.read(&tables::read_first(&GooseStore, bundle, &session, sink)?, sink)
}

/// The session of one of the older files: the host takes these into the database, and leaves them.
fn session(path: &Path) -> String {
    session_of(&beginning(&Bundle::default(), path, 1).unwrap_or_default(), path)
}

fn session_of(records: &[Value], path: &Path) -> String {
    let named = records.first().filter(|record| is_head(record)).map_or("", |record| word(record, "/id"));
    if named.is_empty() { bundles::stem(path) } else { named.to_owned() }
}
