//! The database, `opencode.db`: rows of sessions, messages and parts, one message at a time.
//!
//! The program may have it open. Nothing of it is changed and no file is made beside it: without a log it is read as a
//! file that does not change, and it is asked at the end whether that was so; with one, a copy of both is read.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

use super::store::{OpenCodeHead, OpenCodeItem, OpenCodeMessage, Store, tell};
use crate::file::sqlite::{are_tables, copied, in_place};
use crate::file::value::text;
use cru_base::files::{Aside, Stamp};
use cru_base::{Error, Result};
use cru_session::source::{Account, Sink};

/// Whether a database has the tables that are read. One whose tables stand in its log still is known by its name.
pub(super) fn is_own(path: &Path) -> bool {
    let tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'message', 'part')";
    let found = in_place(path).and_then(|base| base.query_row(tables, [], |row| row.get::<_, i64>(0)));
    match found {
        Ok(3) => true,
        _ => path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode")),
    }
}

/// Reads all sessions.
pub(super) fn read(path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let before = Stamp::of(path)?;
    let aside = Aside::of(path)?;
    let failed = |error: rusqlite::Error| Error::io("read", path, io::Error::other(error));
    let base = match &aside {
        Some(copy) => copied(&copy.path()),
        None => in_place(path),
    };
    let base = base.map_err(failed)?;
    if !are_tables(&base, &["session", "message", "part", "todo", "session_message"]) {
        return Err(Error::io("read", path, io::Error::other("it has a view in the place of a table")));
    }
    let mut account = Account::default();
    sessions(&base, path, sink, &mut account)?;
    others(&base, &mut account);
    if aside.is_none() && Stamp::of(path)? != before {
        return Err(Error::io("read", path, io::Error::other("it changed meanwhile; run it again")));
    }
    sink.account(path, account);
    Ok(())
}

fn sessions(base: &Connection, path: &Path, sink: &mut dyn Sink, account: &mut Account) -> Result<()> {
    let failed = |error: rusqlite::Error| Error::io("read", path, io::Error::other(error));
    let mut parents: HashMap<String, String> = HashMap::new();
    let mut ids = Vec::new();
    let mut rows = base.prepare("SELECT id, parent_id FROM session ORDER BY time_created, id").map_err(failed)?;
    let mut rows = rows.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let id = word(row, 0);
        let parent = word(row, 1);
        if !parent.is_empty() {
            parents.insert(id.clone(), parent);
        }
        ids.push(id);
    }
    for id in ids {
        let info = info(base, &id);
        let mut head = OpenCodeHead::of(info, &id);
        head.above = head.parent.as_ref().and_then(|parent| parents.get(parent)).cloned();
        let ids = message_ids(base, &id).map_err(failed)?;
        tell(&head, &mut DatabaseMessages { base, path, ids }, path, sink, account)?;
    }
    Ok(())
}

/// A session's row, as an export writes it. A column that a version does not have says nothing; names of columns are
/// never asked for, for those of a damaged file are no text.
fn info(base: &Connection, id: &str) -> Value {
    let get = |column: &str| -> Option<Value> {
        let query = format!("SELECT session.{column} FROM session WHERE session.id = ?1");
        let read = |row: &Row<'_>| {
            Ok(match row.get_ref(0)? {
                ValueRef::Integer(number) => Value::from(number),
                ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
                _ => Value::Null,
            })
        };
        base.query_row(&query, [id], read).ok()
    };
    let mut info = Map::new();
    info.insert("id".to_owned(), id.into());
    for (column, name) in [
        ("parent_id", "parentID"),
        ("directory", "directory"),
        ("title", "title"),
        ("version", "version"),
        ("agent", "agent"),
    ] {
        info.extend(get(column).map(|value| (name.to_owned(), value)));
    }
    let undone = get("revert").and_then(|value| serde_json::from_str(value.as_str()?).ok());
    info.extend(undone.map(|undone: Value| ("revert".to_owned(), undone)));
    info.insert("time".to_owned(), json!({ "created": get("time_created"), "updated": get("time_updated") }));
    Value::Object(info)
}

fn message_ids(base: &Connection, session: &str) -> rusqlite::Result<Vec<String>> {
    let mut rows = base.prepare("SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let ids = rows.query_map([session], |row| Ok(word(row, 0)))?;
    ids.collect()
}

struct DatabaseMessages<'b> {
    base: &'b Connection,
    path: &'b Path,
    ids: Vec<String>,
}

impl DatabaseMessages<'_> {
    fn failed(&self, error: rusqlite::Error) -> Error {
        Error::io("read", self.path, io::Error::other(error))
    }

    fn row(&self, index: usize) -> rusqlite::Result<OpenCodeItem> {
        let id = self.ids.get(index).map_or("", String::as_str);
        self.base
            .query_row("SELECT data FROM message WHERE id = ?1", [id], |row| Ok(OpenCodeItem::of(bytes(row, 0), id)))
    }

    fn parts(&self, index: usize) -> rusqlite::Result<Vec<OpenCodeItem>> {
        let id = self.ids.get(index).map_or("", String::as_str);
        let mut rows = self.base.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
        let parts = rows.query_map([id], |row| Ok(OpenCodeItem::of(bytes(row, 1), &word(row, 0))))?;
        parts.collect()
    }
}

impl Store for DatabaseMessages<'_> {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn message(&mut self, index: usize) -> Result<OpenCodeMessage> {
        let info = self.row(index).map_err(|error| self.failed(error))?;
        let parts = self.parts(index).map_err(|error| self.failed(error))?;
        Ok(OpenCodeMessage { info, parts })
    }

    fn is_agent(&mut self, index: usize) -> Result<bool> {
        let item = self.row(index).map_err(|error| self.failed(error))?;
        Ok(matches!(item.content, super::store::OpenCodeContent::Whole(info) if text(&info, "role") == "assistant"))
    }
}

/// Rows that belong to nothing that was read, or say again what was.
fn others(base: &Connection, account: &mut Account) {
    let mut count = |query: &str, reason: &'static str| {
        // A table that is not there has no rows.
        let rows = base.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap_or(0);
        for _ in 0..rows {
            account.skip(reason);
        }
    };
    count("SELECT count(*) FROM message WHERE session_id NOT IN (SELECT id FROM session)", "message of no session");
    count("SELECT count(*) FROM part WHERE message_id NOT IN (SELECT id FROM message)", "part of no message");
    count("SELECT count(*) FROM todo", "task list, as the calls told it");
    count("SELECT count(*) FROM session_message", "second form of a message");
}

fn bytes<'r>(row: &'r Row<'_>, index: usize) -> &'r [u8] {
    match row.get_ref(index) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes,
        _ => b"",
    }
}

fn word(row: &Row<'_>, index: usize) -> String {
    match row.get_ref(index) {
        Ok(ValueRef::Integer(number)) => number.to_string(),
        _ => String::from_utf8_lossy(bytes(row, index)).into_owned(),
    }
}
