//! The database, `opencode.db`: rows of sessions, messages and parts, one message at a time.
//!
//! Version 2 keeps sessions in `session_v2` and messages in `session_message`, and leaves the tables of before beside them.
//!
//! The program may have it open. Nothing of it is changed and no file is made beside it: without a log it is read as a
//! file that does not change, and it is asked at the end whether that was so; with one, a copy of both is read.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value, json};

use super::kept::{self, KeptMessage};
use super::newer;
use super::store::{OpenCodeHead, OpenCodeItem, OpenCodeMessage, Store, tell};
use crate::file::sqlite::{Database, bytes, holds, number, opened, word};
use crate::file::value::text;
use cru_base::{Error, Result};
use cru_session::source::{Account, Sink};

/// Whether a database has the tables that are read. One whose tables stand in its log still is known by its name.
pub(super) fn is_own(path: &Path) -> bool {
    has_tables(path) || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode"))
}

/// Whether a database can be read and has the tables that are read.
pub(super) fn has_tables(path: &Path) -> bool {
    holds(path, "", &|base| {
        let has = |name| base.has_table(name);
        (has("session") && has("message") && has("part")) || (has("session_message") && SESSIONS.into_iter().any(has))
    })
}

/// The tables of sessions; what the first says of one counts.
const SESSIONS: [&str; 2] = ["session_v2", "session"];

/// What is read.
const TABLES: [&str; 6] = ["session", "session_v2", "message", "part", "todo", "session_message"];

/// Reads the sessions of databases, each from the one that knows most of it: where it went on last.
pub(super) fn read_all(paths: &[&Path], sink: &mut dyn Sink) -> Result<()> {
    let mut newest: HashMap<String, (i64, usize)> = HashMap::new();
    if paths.len() > 1 {
        for (index, path) in paths.iter().enumerate() {
            for (id, last) in opened(path, &TABLES, |base| Ok(latest(base)))? {
                let known = newest.entry(id).or_insert((last, index));
                *known = if last > known.0 { (last, index) } else { *known };
            }
        }
    }
    for (index, path) in paths.iter().enumerate() {
        read(path, &|id| newest.get(id).is_none_or(|(_, at)| *at == index), sink)?;
    }
    Ok(())
}

/// The sessions of a database, and when each went on last.
fn latest(base: &Database<'_>) -> Vec<(String, i64)> {
    let of = |table: &str| {
        let query = format!("SELECT session_id, max(time_created) FROM {table} GROUP BY session_id");
        let Ok(mut rows) = base.base.prepare(&query) else { return Vec::new() };
        let rows = rows.query_map([], |row| Ok((word(row, 0), number(row, 1).unwrap_or(0))));
        rows.map(|rows| rows.filter_map(std::result::Result::ok).collect()).unwrap_or_default()
    };
    [of("message"), of("session_message")].concat()
}

/// Reads the sessions that are wanted from this database.
fn read(path: &Path, wanted: &dyn Fn(&str) -> bool, sink: &mut dyn Sink) -> Result<()> {
    let account = opened(path, &TABLES, |base| {
        let mut account = Account::default();
        sessions(base, path, wanted, sink, &mut account)?;
        others(base, &mut account);
        Ok(account)
    })?;
    sink.account(path, account);
    Ok(())
}

fn sessions(
    base: &Database<'_>,
    path: &Path,
    wanted: &dyn Fn(&str) -> bool,
    sink: &mut dyn Sink,
    account: &mut Account,
) -> Result<()> {
    let failed = |error: rusqlite::Error| Error::io("read", path, io::Error::other(error));
    let tables = SESSIONS.into_iter().filter(|table| base.has_table(table));
    let ids = tables.map(|table| format!("SELECT id, parent_id, time_created FROM {table}")).collect::<Vec<_>>();
    if ids.is_empty() {
        return Err(Error::io("read", path, io::Error::other("it has no table of sessions")));
    }
    let ids = format!("{} ORDER BY time_created, id", ids.join(" UNION "));
    let mut parents: HashMap<String, String> = HashMap::new();
    let mut sessions: Vec<String> = Vec::new();
    let mut rows = base.base.prepare(&ids).map_err(failed)?;
    let mut rows = rows.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let (id, parent) = (word(row, 0), word(row, 1));
        // Both tables may have it.
        if !parent.is_empty() {
            parents.entry(id.clone()).or_insert(parent);
        }
        sessions.push(id);
    }
    let mut seen = HashSet::new();
    sessions.retain(|id| seen.insert(id.clone()));
    let messages = Messages::of(base);
    for id in sessions {
        if !wanted(&id) {
            account.skip("session of which another database knows more");
            continue;
        }
        let info = info(base, &id);
        let mut head = OpenCodeHead::of(info, &id);
        head.above = head.origin().and_then(|parent| parents.get(parent)).cloned();
        let (mut rows, told_again) = kept::chosen(messages.older(&id), messages.newer(&id));
        if let Some(origin) = &head.forked {
            let (own, copied) = kept::own(rows, &messages.newer(origin));
            for _ in copied {
                account.skip("message of the session that it was forked from");
            }
            rows = own;
        }
        for row in &told_again {
            account.skip("second form of a message");
            for _ in 0..messages.parts_of(row) {
                account.skip("second form of a message");
            }
        }
        tell(&head, &mut DatabaseMessages { base, path, rows }, path, sink, account)?;
    }
    Ok(())
}

/// A session's row, as an export writes it. A column that a version does not have says nothing; names of columns are
/// never asked for, for those of a damaged file are no text.
fn info(base: &Database<'_>, id: &str) -> Value {
    let read = |row: &Row<'_>| {
        Ok(match row.get_ref(0)? {
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
            _ => Value::Null,
        })
    };
    let get = |column: &str| -> Option<Value> {
        let of = |table: &str| {
            let query = format!("SELECT {table}.{column} FROM {table} WHERE {table}.id = ?1");
            base.base.query_row(&query, [id], read).ok().filter(|value| !value.is_null())
        };
        SESSIONS.into_iter().find_map(of)
    };
    let mut info = Map::new();
    info.insert("id".to_owned(), id.into());
    for (column, name) in [
        ("parent_id", "parentID"),
        ("fork_session_id", "forkedFrom"),
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

/// The rows of messages.
struct Messages<'b> {
    base: &'b Database<'b>,
}

impl<'b> Messages<'b> {
    const fn of(base: &'b Database<'b>) -> Self {
        Self { base }
    }

    /// The messages of a session in the form of before.
    fn older(&self, session: &str) -> Vec<KeptMessage> {
        let read = "SELECT id, time_created FROM message WHERE session_id = ?1 ORDER BY time_created, id";
        self.rows(read, session, |row| KeptMessage {
            id: word(row, 0),
            created: number(row, 1).unwrap_or(0),
            kind: None,
            number: None,
        })
    }

    /// The messages of a session in the form of version 2.
    fn newer(&self, session: &str) -> Vec<KeptMessage> {
        let of = |number: &str| {
            let read = format!(
                "SELECT id, time_created, type, {number} FROM session_message WHERE session_id = ?1 ORDER BY 4, 2, 1"
            );
            self.rows(&read, session, |row| KeptMessage {
                id: word(row, 0),
                created: self::number(row, 1).unwrap_or(0),
                kind: Some(word(row, 2)),
                number: self::number(row, 3),
            })
        };
        // The first versions have no numbers.
        let numbered = of("session_message.seq");
        if numbered.is_empty() { of("NULL") } else { numbered }
    }

    fn rows(&self, read: &str, session: &str, of: impl Fn(&Row<'_>) -> KeptMessage) -> Vec<KeptMessage> {
        // A table that is not there has no rows.
        let Ok(mut rows) = self.base.base.prepare(read) else { return Vec::new() };
        let rows = rows.query_map([session], |row| Ok(of(row)));
        rows.map(|rows| rows.filter_map(std::result::Result::ok).collect()).unwrap_or_default()
    }

    /// How many parts a message has in the form of before.
    fn parts_of(&self, message: &KeptMessage) -> i64 {
        let count = "SELECT count(*) FROM part WHERE message_id = ?1";
        match message.kind {
            None => self.base.base.query_row(count, [&message.id], |row| row.get(0)).unwrap_or(0),
            Some(_) => 0,
        }
    }
}

struct DatabaseMessages<'b> {
    base: &'b Database<'b>,
    path: &'b Path,
    rows: Vec<KeptMessage>,
}

impl DatabaseMessages<'_> {
    fn read(&self, row: &KeptMessage) -> rusqlite::Result<OpenCodeMessage> {
        let id = &row.id;
        if let Some(kind) = &row.kind {
            let query = "SELECT data FROM session_message WHERE id = ?1";
            let read = |it: &Row<'_>| Ok(newer::message(id, kind, Some(row.created), bytes(it, 0)));
            return self.base.base.query_row(query, [id], read);
        }
        let query = "SELECT data FROM message WHERE id = ?1";
        let info = self.base.base.query_row(query, [id], |row| Ok(OpenCodeItem::of(bytes(row, 0), id)))?;
        let mut parts = self.base.base.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
        let parts = parts.query_map([id], |row| Ok(OpenCodeItem::of(bytes(row, 1), &word(row, 0))))?;
        Ok(OpenCodeMessage { info, parts: parts.collect::<rusqlite::Result<_>>()? })
    }
}

impl Store for DatabaseMessages<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn message(&mut self, index: usize) -> Result<OpenCodeMessage> {
        let Some(row) = self.rows.get(index) else {
            return Ok(OpenCodeMessage { info: OpenCodeItem::of(b"", ""), parts: Vec::new() });
        };
        self.read(row).map_err(|error| Error::io("read", self.path, io::Error::other(error)))
    }

    fn is_agent(&mut self, index: usize) -> Result<bool> {
        if let Some(kind) = self.rows.get(index).and_then(|row| row.kind.as_deref()) {
            return Ok(kind == "assistant");
        }
        let item = self.message(index)?.info;
        Ok(matches!(item.content, super::store::OpenCodeContent::Whole(info) if text(&info, "role") == "assistant"))
    }
}

/// Rows that belong to nothing that was read, or say again what was.
fn others(base: &Database<'_>, account: &mut Account) {
    let mut count = |query: &str, reason: &'static str| {
        for _ in 0..base.count(query) {
            account.skip(reason);
        }
    };
    let none_of = |table: &str| {
        let known = SESSIONS.into_iter().filter(|table| base.has_table(table));
        let known: Vec<String> = known.map(|known| format!("SELECT id FROM {known}")).collect();
        format!("SELECT count(*) FROM {table} WHERE session_id NOT IN ({})", known.join(" UNION "))
    };
    count(&none_of("message"), "message of no session");
    count(&none_of("session_message"), "message of no session");
    count("SELECT count(*) FROM part WHERE message_id NOT IN (SELECT id FROM message)", "part of no message");
    count("SELECT count(*) FROM todo", "task list, as the calls told it");
}
