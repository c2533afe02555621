//! goose: its sessions as events, from its database and from the JSON lines of before.
//!
//! Both hold the same messages. A session's own row, the first line of the older files, has its title, its folder and what
//! it cost in all; newer versions count tokens by request in a table of their own.

mod session;
mod store;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::session::GooseSession;
use self::store::GooseStore;
use super::{bundles, claude};
use crate::file::jsonl::{self, Format, beginning, word};
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header, Importer, Sink};

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "goose",
    recognise,
    bundle,
    together: |path| Ok(path.parent().map(|folder| format!("goose in {}", folder.display())).into_iter().collect()),
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

/// A database and the older files beside it are read as one: the host takes these into the database and leaves them.
fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let (bases, lines): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_store(&Bundle::default(), path));
    let mut beside: BTreeMap<PathBuf, Vec<PathBuf>> =
        bases.into_iter().map(|path| (path.parent().map(Path::to_owned).unwrap_or_default(), vec![path])).collect();
    let mut alone = Vec::new();
    for path in lines {
        match path.parent().and_then(|folder| beside.get_mut(folder)) {
            Some(bundle) => bundle.push(path),
            None => alone.push(path),
        }
    }
    let alone = bundles::by_session(alone, |path| Ok((bundles::stem(path), 0, None)))?;
    let with_base = beside.into_values().map(|mut files| {
        files[1..].sort();
        Bundle::of(files)
    });
    Ok(with_base.chain(alone).collect())
}

fn is_store(bundle: &Bundle, path: &Path) -> bool {
    let mut head = [0; 16];
    let read = bundle.peek(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head));
    read.is_ok() && is_database(&head)
}

fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut known = Vec::new();
    for path in &bundle.files {
        let of = Bundle { files: vec![path.clone()], memory: bundle.memory.clone() };
        let records = if is_store(bundle, path) { Vec::new() } else { beginning(bundle, path, 20)? };
        if is_store(bundle, path) {
            known.extend(tables::read(&GooseStore, path, sink)?);
        } else if !records.iter().any(|record| is_head(record) || is_message(record)) {
            // What hooks told.
            (claude::IMPORTER.read)(&of, sink)?;
        } else if known.iter().any(|key: &StreamKey| key.session == session_of(&records, path)) {
            jsonl::leave(bundle, path, tables::TOLD, sink)?;
        } else {
            jsonl::read(GooseLines, &of, sink)?;
        }
    }
    Ok(())
}

fn session_of(records: &[Value], path: &Path) -> String {
    let named = records.first().filter(|record| is_head(record)).map_or("", |record| word(record, "/id"));
    if named.is_empty() { bundles::stem(path) } else { named.to_owned() }
}

/// Each of the older files is a session.
struct GooseLines;

impl Format for GooseLines {
    type State = GooseSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        let key = StreamKey { session: session_of(&beginning(bundle, path, 1)?, path), agent: None };
        Ok(Header { key, transcript: path.to_owned(), ..Header::default() })
    }

    fn begin(&mut self, _: &Header) -> GooseSession {
        GooseSession::default()
    }
}
