//! Hermes: its sessions as events, from its database and from the files beside it.
//!
//! The database, the JSON documents and the JSON lines hold the same messages, with calls as functions; where
//! several have a session, the database tells it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::bundles;
use crate::call::tools::Answer;
use crate::file::document::{member, members, told};
use crate::file::sqlite::Database;
use crate::file::tables::{Begun, HostStore, RowFormat, StoredSession};
use crate::file::value::{self, attachment, dollars, filled, list, word};
use crate::record::session::RecordSession;
use crate::record::{self, EachSession, RecordHost, has_line};
use crate::stream::out::Out;
use crate::unknown::unknown;
use crate::wrapper::{self, Means};
use cru_base::Result;
use cru_session::event::Attachment;

pub(super) const HOST: RecordHost = RecordHost {
    id: "hermes",
    recognise: |path, head| {
        if is_document(path) {
            let head = String::from_utf8_lossy(head);
            let head = members(&head);
            return ["session_id", "session_start", "platform"].iter().all(|name| member(&head, name).is_some());
        }
        has_line(head, |record| word(record, "/role") == "session_meta")
    },
    session: |path| {
        // `session_<id>.json`, `<id>.jsonl`.
        let (stem, is_document) = (bundles::stem(path), is_document(path));
        let id = stem.strip_prefix("session_").filter(|_| is_document);
        (id.unwrap_or(&stem).to_owned(), u64::from(is_document))
    },
    // Lines have a time for each message.
    passes: |bundle, path| {
        let is_told = is_document(path) && bundle.files.iter().any(|path| !is_document(path));
        is_told.then_some("session that other lines tell")
    },
    lines: |path| !is_document(path),
    document,
    times: &["timestamp", "started_at", "session_start"],
    tell,
    store: Some(HostStore {
        name: "state.db",
        columns: &[&[("messages", "session_id"), ("messages", "tool_calls"), ("messages", "finish_reason")]],
        tables: &["sessions", "messages", "session_model_usage"],
        rows: || Box::new(HermesStore),
    }),
    ..RecordHost::PLAIN
};

/// Whether a file is a document; else it holds lines.
fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

/// How content that is a list begins in the database.
const LIST: &str = "\u{0}json:";

/// How the host begins a prompt that a person gave with a skill, and what stands before their own words.
const SKILL: [&str; 2] = ["[SYSTEM: The user has invoked the \"", "[IMPORTANT: The user has invoked the \""];
const INSTRUCTION: &str = "The user has provided the following instruction alongside the skill invocation: ";

/// The older documents: what is said of the session in all is their first record.
fn document(path: &Path, whole: &str, each: &mut EachSession<'_>) {
    let root = members(whole);
    let of = |name: &str| Some((name.to_owned(), member(&root, name)?.value()?));
    let row: Value =
        ["session_id", "model", "platform", "session_start", "title", "cwd"].into_iter().filter_map(of).collect();
    let id = told(&root, &["session_id"]).unwrap_or_else(|| (HOST.session)(path).0);
    let messages = member(&root, "messages").map(|list| record::values(list.text)).unwrap_or_default();
    each(record::header(path, id, None), Value::Null, std::iter::once(Ok(row)).chain(messages).collect());
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let is = |key: &str, wanted: u64| record.get(key).and_then(Value::as_u64) == Some(wanted);
    if is("active", 0) && !is("compacted", 1) {
        return Some("message that was taken back");
    }
    let (text, sent) = said(record);
    match word(record, "/role") {
        role if record.get("role").is_none() || role == "session_meta" => {
            session.head(&about(record), out);
            out.told = true;
            None
        }
        "user" | "assistant" if wrapper::means(HOST.id, &text) == Some(Means::Summary) => {
            let summary = text.split_once(']').map_or(&*text, |(_, rest)| rest);
            session.compact(None, summary.trim_start_matches(':').trim(), out)
        }
        "user" => session.prompt(&skill(&text).unwrap_or(text), sent, out),
        "assistant" => {
            session.think(filled(record, ["reasoning", "reasoning_content"]).unwrap_or_default(), out);
            session.reply(&text, out);
            let read = filled(record, "tool_calls").and_then(|calls| value::read(calls.as_bytes()));
            let calls =
                read.as_ref().and_then(Value::as_array).map_or_else(|| list(record, "/tool_calls"), Vec::as_slice);
            for call in calls {
                let tool = filled(call, ["/function/name", "/name"]);
                let given =
                    ["/function/arguments", "/arguments", "/input"].iter().find_map(|place| call.pointer(place));
                session.call(word(call, "/id"), tool.unwrap_or("tool"), given.unwrap_or(&Value::Null), out);
            }
            None
        }
        "tool" => answer(session, record, &text, sent, out),
        "system" => Some("system prompt"),
        role => Some(unknown("unknown role", role)),
    }
}

/// The words of a message, and the pictures that were sent along.
fn said(record: &Value) -> (Cow<'_, str>, Vec<Attachment<'static>>) {
    let text = word(record, "/content");
    let parts = text.strip_prefix(LIST).and_then(|list| value::read(list.as_bytes()));
    let parts = parts.as_ref().or_else(|| record.get("content")).and_then(Value::as_array);
    let Some(parts) = parts else { return (Cow::Borrowed(text), Vec::new()) };
    let words: Vec<&str> = parts.iter().filter_map(|part| filled(part, "text")).collect();
    let is_image = |part: &&Value| word(part, "/type").contains("image");
    let images = parts.iter().filter(is_image).map(|part| attachment("", word(part, "/image_url/url")));
    (Cow::Owned(words.join("\n\n")), images.collect())
}

/// What is said of the session as a whole; it may be another the next time.
fn about(row: &Value) -> Value {
    let own = [row.clone()];
    let rows = if list(row, "/used").is_empty() { &own[..] } else { list(row, "/used") };
    let used: Vec<Value> = rows
        .iter()
        .map(|used| {
            let model = filled(used, "model").or_else(|| filled(row, "model"));
            json!({"model": model, "input": used["input_tokens"], "output": used["output_tokens"],
                "cache_read": used["cache_read_tokens"], "cache_write": used["cache_write_tokens"]})
        })
        .collect();
    let cost = |row: &Value| dollars(row, ["actual_cost_usd", "estimated_cost_usd"]);
    let source = filled(row, ["source", "platform"]);
    json!({
        "cwd": row["cwd"], "branch": row["git_branch"], "title": row["title"], "model": row["model"], "used": used,
        "more": source.map(|source| json!({ "source": source })),
        "cost": cost(row).or_else(|| Some(rows.iter().filter_map(cost).sum())),
    })
}

/// What a person said with a skill.
fn skill(text: &str) -> Option<Cow<'static, str>> {
    let skill = SKILL.iter().find_map(|head| text.strip_prefix(head))?;
    let asked = skill.split_once(INSTRUCTION).map_or("", |(_, rest)| rest);
    let asked = asked.split("\n\n[Runtime note:").next().unwrap_or_default();
    Some(format!("/{} {}", skill.split('"').next()?, asked.trim()).into())
}

fn answer(
    session: &mut RecordSession,
    record: &Value,
    text: &str,
    attachments: Vec<Attachment<'static>>,
    out: &mut Out<'_>,
) -> Option<&'static str> {
    let result = value::read(text.as_bytes()).filter(Value::is_object).unwrap_or_default();
    let exit = value::exit(&result, "exit_code");
    let error = filled(&result, "error");
    let failed = error.is_some() || result["success"] == false || text.starts_with("Error executing tool");
    let words = filled(&result, ["output", "content", "result", "message", "diff"]);
    let words = words.filter(|_| error.is_none()).or(error);
    // What a shell printed may be nothing.
    let is_silent = words.is_none() && result.get("output").is_some_and(Value::is_string);
    let output = if is_silent { "" } else { words.unwrap_or(text) };
    let diff = filled(&result, "diff").unwrap_or_default();
    let answer = Answer { output: output.into(), diff, failed, exit, attachments, ..Answer::default() };
    session.answer(word(record, "/tool_call_id"), answer, out)
}

/// Columns of sessions.
const SESSION: &str = "id, source, model, parent_session_id, started_at, end_reason, title, cwd, git_branch, input_tokens, \
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, estimated_cost_usd, actual_cost_usd";

/// Columns of messages.
const MESSAGE: &str = "role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason, reasoning, reasoning_content, \
    active, compacted";

/// Columns of what a model took.
const USED: &str = "model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, estimated_cost_usd, \
    actual_cost_usd";

/// How a session ended that goes on in another one; of any other the next one is a sub-agent.
const GOES_ON: &[&str] = &["compression", "branched"];

struct HermesStore;

impl RowFormat for HermesStore {
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let rows = base.rows("sessions", SESSION, "ORDER BY started_at, id", &[])?;
        let ended: HashMap<String, String> =
            (rows.iter()).map(|row| (word(row, "/id").to_owned(), word(row, "/end_reason").to_owned())).collect();
        let known: HashSet<String> = ended.keys().cloned().collect();
        let session = |row: Value| {
            let goes_on = |parent: &&str| ended.get(*parent).is_some_and(|why| GOES_ON.contains(&why.as_str()));
            let agent = filled(&row, "parent_session_id").filter(|parent| !goes_on(parent)).map(|_| "delegate");
            StoredSession::of(row, "parent_session_id", agent, "")
        };
        let mut sessions: Vec<_> = rows.into_iter().map(session).collect();
        // Messages may stand alone.
        let rest = base.rows("messages", "session_id", "GROUP BY session_id ORDER BY min(timestamp)", &[])?;
        let rest = rest.iter().map(|row| word(row, "/session_id")).filter(|id| !id.is_empty() && !known.contains(*id));
        sessions.extend(rest.map(|id| StoredSession {
            id: id.to_owned(),
            row: json!({ "id": id }),
            ..StoredSession::default()
        }));
        for session in &mut sessions {
            let used =
                base.rows("session_model_usage", USED, "WHERE session_id = ?1 ORDER BY model", &[&session.id])?;
            session.row["used"] = used.into();
        }
        Ok(sessions)
    }

    fn begin(&self, base: &Database<'_>, _: &StoredSession, started: &[&StoredSession]) -> Result<Begun> {
        let mut begun = Begun::default();
        for child in started {
            let first = "WHERE session_id = ?1 AND role = 'user' ORDER BY id LIMIT 1";
            let asked = base.rows("messages", "content", first, &[&child.id])?;
            begun.asked.push((child.key(), asked.first().map_or("", |row| word(row, "/content")).to_owned()));
        }
        Ok(begun)
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        base.each("messages", MESSAGE, "WHERE session_id = ?1 ORDER BY id", &[&session.id], each)
    }

    /// A compaction and a step back change whether the agent still sees a message.
    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        let of = |key: &str| record.get(key);
        Cow::Owned(json!([of("role"), of("content"), of("tool_calls"), of("tool_call_id"), of("timestamp")]))
    }
}
