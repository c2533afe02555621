//! Kiro's command line, which was Amazon Q's: its sessions as events, from its database and from its JSON lines.
//!
//! A row of the database is a whole conversation; its entries are pairs of what a person or a tool said and what the agent
//! answered. Other tables of it hold keys and are not looked at. What the editor of that name keeps is not read.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::document::{items, member, members, told};
use crate::file::sqlite::Database;
use crate::file::tables::{HostStore, RowFormat, StoredSession};
use crate::file::value::{attachment, filled, list, moment, word};
use crate::record::session::RecordSession;
use crate::record::{self, RecordHost, has_line};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_base::Result;
use cru_session::event::{Attachment, EventKind};

/// Each file of lines is a session; one of the same name beside it describes it.
pub(super) const HOST: RecordHost = RecordHost {
    id: "kiro",
    recognise: |_, head| {
        has_line(head, |record| {
            let kind = matches!(word(record, "/kind"), "Prompt" | "AssistantMessage" | "ToolResults");
            kind && record.pointer("/data/content").is_some_and(Value::is_array)
        })
    },
    lines: |_| true,
    beside: |path| about(&record::neighbour(&path.with_extension("json"))),
    ids: &["/data/message_id"],
    times: &["created_at", "/user/timestamp", "/data/meta/timestamp"],
    tell,
    store: Some(HostStore {
        name: "data.sqlite3",
        columns: &[&[("conversations_v2", "value")], &[("conversations", "value")]],
        tables: &["conversations_v2", "conversations"],
        rows: || Box::new(KiroStore),
    }),
    ..RecordHost::PLAIN
};

/// What is said of a session as a whole; it may be another the next time.
fn about(row: &Value) -> Value {
    let model = row.get("model_info").and_then(|info| filled(info, "model_id")).or_else(|| filled(row, "model"));
    json!({
        "cwd": filled(row, ["key", "cwd"]), "title": row.get("title"), "model": model,
        "started": row.get("created_at"),
    })
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record.get("table").is_some() {
        session.head(&about(record), out);
        // What was said before it is gone from the database.
        if let Some(summary) = record.pointer("/latest_summary/0").and_then(Value::as_str) {
            let summary = Some(summary.to_owned().into());
            out.quiet(EventKind::Compaction { trigger: None, tokens_before: None, summary });
        }
        out.told = true;
        return None;
    }
    match word(record, "/kind") {
        "" if record.get("user").is_some() || record.get("assistant").is_some() => entry(session, record, out),
        "Prompt" | "AssistantMessage" | "ToolResults" => line(session, record, out),
        "" => Some("broken message"),
        kind => Some(unknown("unknown record type", kind)),
    }
}

/// An entry of the database: why something of it is left out, where it is.
fn entry(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let folder = word(record, "/user/env_context/env_state/current_working_directory");
    out.folder(&mut session.place, folder);
    let mut strange = None;
    let content = record.pointer("/user/content").and_then(Value::as_object);
    for (kind, said) in content.into_iter().flatten() {
        match kind.as_str() {
            "Prompt" | "CancelledToolUses" | "ToolUseResults" => {
                for result in list(said, "/tool_use_results") {
                    strange = answer(session, result, kind == "CancelledToolUses", out).or(strange);
                }
                let sent = images(list(record, "/user/images").len());
                session.prompt(word(said, "/prompt"), sent, out);
            }
            kind => strange = Some(unknown("unknown part", kind)),
        }
    }
    // The answer came later than what was asked.
    out.time = record.get("request_metadata").and_then(|it| moment(it, "stream_end_timestamp_ms")).or(out.time);
    for (kind, said) in record.get("assistant").and_then(Value::as_object).into_iter().flatten() {
        match kind.as_str() {
            "Response" | "ToolUse" => {
                session.reply(word(said, "/content"), out);
                for call in list(said, "/tool_uses") {
                    asked(session, word(call, "/id"), word(call, "/name"), call.get("args"), out);
                }
            }
            kind => strange = Some(unknown("unknown part", kind)),
        }
    }
    strange
}

/// A line of the files.
fn line(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let is_prompt = word(record, "/kind") == "Prompt";
    let (mut strange, mut words, mut count) = (None, Vec::new(), 0);
    for piece in list(record, "/data/content") {
        match (word(piece, "/kind"), is_prompt) {
            ("text", true) => words.push(word(piece, "/data")),
            ("text", false) => session.reply(word(piece, "/data"), out),
            ("image", true) => count += 1,
            ("toolUse", _) => {
                let call = &piece["data"];
                asked(session, word(call, "/toolUseId"), word(call, "/name"), call.get("input"), out);
            }
            ("toolResult", _) => strange = answer(session, &piece["data"], false, out).or(strange),
            (kind, _) => strange = Some(unknown("unknown part", kind)),
        }
    }
    session.prompt(&words.join("\n\n"), images(count), out);
    strange
}

fn images(count: usize) -> Vec<Attachment<'static>> {
    (0..count).map(|_| attachment("image", "")).collect()
}

fn asked(session: &mut RecordSession, id: &str, tool: &str, input: Option<&Value>, out: &mut Out<'_>) {
    let mut input = input.cloned().unwrap_or_default();
    // A reading of several files names them one by one.
    if let Some(path) = input.pointer("/operations/0/path").cloned() {
        input["path"] = path;
    }
    session.call(id, tool, &input, out);
}

/// Why an answer is left out, where it is.
fn answer(session: &mut RecordSession, result: &Value, is_cancelled: bool, out: &mut Out<'_>) -> Option<&'static str> {
    let id = filled(result, ["tool_use_id", "toolUseId"]).unwrap_or_default();
    let (mut words, mut exit) = (Vec::new(), None);
    for piece in list(result, "/content") {
        let text = filled(piece, ["Text", "data"]).map(str::to_owned);
        let object = piece.get("Json").or_else(|| piece.get("data")).filter(|it| it.is_object());
        let Some(object) = object else {
            words.extend(text);
            continue;
        };
        let status = object.get("exit_status");
        exit = status.and_then(|code| code.as_i64().or_else(|| code.as_str()?.parse().ok())).or(exit);
        let printed: Vec<&str> = ["stdout", "stderr"].iter().filter_map(|key| filled(object, key)).collect();
        words.push(if status.is_some() { printed.join("\n") } else { object.to_string() });
    }
    let exit = exit.and_then(|code| i32::try_from(code).ok());
    let output: Cow<'_, str> = words.join("\n").into();
    let failed = word(result, "/status").eq_ignore_ascii_case("error");
    session.answer(id, Answer { output, failed, denied: is_cancelled, exit, ..Answer::default() }, out)
}

/// The tables, the newest first, and the order in which a later row counts.
const TABLES: [(&str, &str); 2] =
    [("conversations_v2", "ORDER BY created_at, updated_at, key"), ("conversations", "ORDER BY key")];

/// What of a document is about the whole conversation.
const FIELDS: [&str; 3] = ["model", "model_info", "latest_summary"];

struct KiroStore;

impl RowFormat for KiroStore {
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let mut sessions: Vec<StoredSession> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (table, order) in TABLES {
            let columns = "key, conversation_id, value, created_at, updated_at";
            base.each(table, columns, order, &[], &mut |mut row| {
                let document = members(word(&row, "/value"));
                let id =
                    told(&document, &["conversation_id"]).unwrap_or_else(|| word(&row, "/conversation_id").to_owned());
                let of = |name: &str| Some((name.to_owned(), member(&document, name)?.value()?));
                let fields: Vec<(String, Value)> = FIELDS.into_iter().filter_map(of).collect();
                if let Some(row) = row.as_object_mut() {
                    row.remove("value");
                    row.insert("table".to_owned(), table.into());
                    row.extend(fields);
                }
                // One conversation may stand under several folders: the latest row counts, of the newest table.
                let session = StoredSession { id: id.clone(), row, ..StoredSession::default() };
                match known.get(&id).and_then(|at| sessions.get_mut(*at)) {
                    Some(there) if there.row["table"] == table && is_later(&session.row, &there.row) => {
                        *there = session;
                    }
                    Some(_) => {}
                    None => {
                        known.insert(id, sessions.len());
                        sessions.push(session);
                    }
                }
            })?;
        }
        Ok(sessions)
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        let (table, key) = (word(&session.row, "/table"), word(&session.row, "/key"));
        let id = word(&session.row, "/conversation_id");
        let rows = match id {
            "" => base.rows(table, "value", "WHERE key = ?1", &[key])?,
            id => base.rows(table, "value", "WHERE key = ?1 AND conversation_id = ?2", &[key, id])?,
        };
        let text = rows.first().map_or("", |row| word(row, "/value"));
        let document = members(text);
        let history = member(&document, "history");
        for entry in history.map(|list| items(list.text)).iter().flatten() {
            each(entry.value().unwrap_or_default());
        }
        // A document that ends in the middle.
        if !history.is_some_and(|list| list.whole) {
            each(Value::Null);
        }
        Ok(())
    }

    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        Cow::Owned(json!([record.pointer("/user/content"), record.get("assistant")]))
    }
}

fn is_later(row: &Value, other: &Value) -> bool {
    let of = |row: &Value| row.get("updated_at").and_then(Value::as_i64);
    of(row) >= of(other)
}
