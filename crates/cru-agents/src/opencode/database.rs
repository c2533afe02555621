//! The database, `opencode.db`: rows of sessions, messages and parts, one message at a time.
//!
//! Version 2 keeps sessions in `session_v2` and messages in `session_message`, and leaves the tables of before beside them.
//!
//! The program may have it open. Nothing of it is changed and no file is made beside it: without a log it is read as a
//! file that does not change, and it is asked at the end whether that was so; with one, a copy of both is read.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::kept::{OpenCodeMessage, item};
use super::newer::{self as version2, KeptMessage};
use super::session::{header, session_of, tell};
use crate::file::sqlite::{Database, holds, opened};
use crate::file::value::{self, word};
use cru_base::{Error, Result};
use cru_session::source::{Account, Sink};

/// Whether a database has the tables that are read. One whose tables stand in its log still is known by its name.
pub(super) fn is_own(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    has_tables(path) || name.starts_with("opencode") || name == "kilo.db"
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
            for (id, last) in opened(path, &TABLES, latest)? {
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
fn latest(base: &Database<'_>) -> Result<Vec<(String, i64)>> {
    let mut found = Vec::new();
    for table in ["message", "session_message"] {
        base.each(table, "session_id, time_created", "ORDER BY session_id, time_created", &[], &mut |row| {
            found.push((word(&row, "session_id").to_owned(), row["time_created"].as_i64().unwrap_or(0)));
        })?;
    }
    found.dedup_by(|later, earlier| {
        let is_same = later.0 == earlier.0;
        earlier.1 = if is_same { later.1 } else { earlier.1 };
        is_same
    });
    Ok(found)
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
    let tables: Vec<&str> = SESSIONS.into_iter().filter(|table| base.has_table(table)).collect();
    if tables.is_empty() {
        return Err(Error::io("read", path, io::Error::other("it has no table of sessions")));
    }
    let mut rows = Vec::new();
    for table in tables {
        rows.extend(base.rows(table, "id, parent_id, time_created", "", &[])?);
    }
    rows.sort_by_cached_key(|row| (row["time_created"].as_i64(), cell(row, "id")));
    // Both tables may have it.
    let mut parents: HashMap<String, String> = HashMap::new();
    for row in rows.iter().filter(|row| !cell(row, "parent_id").is_empty()) {
        parents.entry(cell(row, "id")).or_insert_with(|| cell(row, "parent_id"));
    }
    let mut seen = HashSet::new();
    let sessions: Vec<String> = rows.iter().map(|row| cell(row, "id")).filter(|id| seen.insert(id.clone())).collect();
    for (at, id) in sessions.iter().enumerate() {
        if !wanted(id) {
            account.skip("session of which another database knows more");
            continue;
        }
        let mut session = session_of(info(base, id)?, id);
        let above = session.parent.as_ref().and_then(|parent| parents.get(parent)).cloned();
        let (mut rows, told_again) = version2::chosen(older(base, id)?, newer(base, id)?);
        if session.parent.is_none() {
            session.parent = origin(base, &sessions[..at], &session.row["time"]["created"], &rows)?;
        }
        if let Some(origin) = session.parent.as_ref().filter(|_| session.agent.is_none()) {
            let (own, copied) = version2::own(rows, &[older(base, origin)?, newer(base, origin)?].concat());
            account.skip_all(copied.len() as u64, "message of the session that it was forked from");
            rows = own;
        }
        for row in &told_again {
            account.skip_all(1 + parts_of(base, row), "second form of a message");
        }
        let header = header(&session, path, above);
        tell(&session, header, &rows, |row| is_agent(base, row), |row| message(base, row), sink, account)?;
    }
    Ok(())
}

/// Where a fork of before has its messages from, which it does not say: they keep their times, so the copies are older than
/// the fork. Of the sessions that began before it, the first that has the last copy is meant.
fn origin(base: &Database<'_>, before: &[String], began: &Value, rows: &[KeptMessage]) -> Result<Option<String>> {
    let is_copy = |row: &&KeptMessage| row.kind.is_none() && began.as_i64().is_some_and(|began| row.created < began);
    let Some(copy) = rows.iter().rfind(is_copy) else { return Ok(None) };
    let having = base.rows("message", "session_id", "WHERE time_created = ?1", &[&copy.created.to_string()])?;
    let having: Vec<String> = having.iter().map(|row| cell(row, "session_id")).collect();
    Ok(before.iter().find(|id| having.contains(id)).cloned())
}

/// What stands in a cell that names something; some versions write numbers.
fn cell(row: &Value, column: &str) -> String {
    match &row[column] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A session's row, as an export writes it. A column that a version does not have says nothing.
fn info(base: &Database<'_>, id: &str) -> Result<Value> {
    const NAMES: &str =
        "parent_id, fork_session_id, directory, title, version, agent, revert, time_created, time_updated";
    let mut rows = Vec::new();
    for table in SESSIONS {
        rows.extend(base.rows(table, NAMES, "WHERE id = ?1", &[id])?);
    }
    let get = |column: &str| rows.iter().find_map(|row| row.get(column)).cloned();
    let mut info = Map::new();
    info.insert("id".to_owned(), id.into());
    let names = ["directory", "title", "version", "agent"].map(|name| (name, name));
    let names = names.into_iter().chain([("parent_id", "parentID"), ("fork_session_id", "forkedFrom")]);
    info.extend(names.filter_map(|(column, name)| Some((name.to_owned(), get(column)?))));
    let undone = get("revert").and_then(|value| value::read(value.as_str()?.as_bytes()));
    info.extend(undone.map(|undone| ("revert".to_owned(), undone)));
    info.insert("time".to_owned(), json!({ "created": get("time_created"), "updated": get("time_updated") }));
    Ok(Value::Object(info))
}

/// The messages of a session in the form of before.
fn older(base: &Database<'_>, session: &str) -> Result<Vec<KeptMessage>> {
    messages(base, "message", "ORDER BY time_created, id", session)
}

/// The messages of a session in the form of version 2. Its first versions have no numbers.
fn newer(base: &Database<'_>, session: &str) -> Result<Vec<KeptMessage>> {
    let is_numbered = base.has_column("session_message", "seq");
    let order = if is_numbered { "ORDER BY seq, time_created, id" } else { "ORDER BY time_created, id" };
    messages(base, "session_message", order, session)
}

fn messages(base: &Database<'_>, table: &str, order: &str, session: &str) -> Result<Vec<KeptMessage>> {
    let kind = if table == "message" { "" } else { "type" };
    let rows =
        base.rows(table, "id, time_created, type, seq", &format!("WHERE session_id = ?1 {order}"), &[session])?;
    let message = |row: &Value| KeptMessage {
        id: cell(row, "id"),
        created: row["time_created"].as_i64().unwrap_or(0),
        kind: (!kind.is_empty()).then(|| cell(row, kind)),
        number: row["seq"].as_i64(),
    };
    Ok(rows.iter().map(message).collect())
}

/// How many parts a message has in the form of before.
fn parts_of(base: &Database<'_>, message: &KeptMessage) -> u64 {
    let count = |id| base.number("SELECT count(*) FROM part WHERE message_id = ?1", &[id]);
    let count = Some(message.id.as_str()).filter(|_| message.kind.is_none()).and_then(count);
    count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
}

fn message(base: &Database<'_>, row: &KeptMessage) -> Result<OpenCodeMessage> {
    let id = row.id.as_str();
    let data = |row: &Value| cell(row, "data").into_bytes();
    let of = |table: &str| {
        let rows = base.rows(table, "data", "WHERE id = ?1", &[id])?;
        Ok::<_, Error>(rows.first().map(data).unwrap_or_default())
    };
    if let Some(kind) = &row.kind {
        return Ok(version2::message(id, kind, Some(row.created), &of("session_message")?));
    }
    let parts = base.rows("part", "id, data", "WHERE message_id = ?1 ORDER BY id", &[id])?;
    let parts = parts.iter().map(|part| item(&data(part), &cell(part, "id"))).collect();
    Ok(OpenCodeMessage { info: item(&of("message")?, id), parts })
}

fn is_agent(base: &Database<'_>, row: &KeptMessage) -> Result<bool> {
    if let Some(kind) = &row.kind {
        return Ok(kind == "assistant");
    }
    Ok(message(base, row)?.info.is_ok_and(|info| word(&info, "role") == "assistant"))
}

/// Rows that belong to nothing that was read, or say again what was.
fn others(base: &Database<'_>, account: &mut Account) {
    let mut count = |query: &str, reason: &'static str| account.skip_all(base.count(query), reason);
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
