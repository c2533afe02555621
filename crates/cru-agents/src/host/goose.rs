//! goose: its sessions as events, from its database and from the JSON lines of before.
//!
//! Both hold the same messages. A session's own row, the first line of the older files, has its title, its folder and what
//! it cost in all; newer versions count tokens by request in a table of their own.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::bundles;
use crate::call::tools::Answer;
use crate::file::jsonl::beginning;
use crate::file::sqlite::Database;
use crate::file::tables::{Begun, HostStore, RowFormat, StoredSession};
use crate::file::value::{self, attachment, dollars, filled, flag, list, number, trimmed, usage_with_cache, word};
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::record::{RecordHost, has_line};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_base::Result;
use cru_session::event::{Attachment, EventKind, Usage};
use cru_session::source::{Account, Bundle};

/// Each of the older files is a session.
pub(super) const HOST: RecordHost = RecordHost {
    id: "goose",
    recognise: |_, head| has_line(head, |record| is_head(record) || is_message(record)),
    lines: |_| true,
    session,
    ids: &["message_id", "id"],
    times: &["created_timestamp", "created", "timestamp", "created_at"],
    tell,
    store: Some(HostStore {
        name: "sessions.db",
        columns: &[&[("messages", "content_json"), ("sessions", "working_dir")]],
        tables: &["sessions", "messages", "usage_ledger"],
        rows: || Box::new(GooseStore),
    }),
    // Others are what hooks told.
    hooked: true,
    ..RecordHost::PLAIN
};

/// Whether a line describes a session.
fn is_head(record: &Value) -> bool {
    record.get("working_dir").is_some_and(Value::is_string) && record.get("message_count").is_some_and(Value::is_number)
}

fn is_message(record: &Value) -> bool {
    let content =
        record.get("content").is_some_and(Value::is_array) && record.get("created").is_some_and(Value::is_i64);
    content && matches!(word(record, "/role"), "user" | "assistant") && record.get("type").is_none()
}

/// The session of one of the older files: the host takes these into the database, and leaves them.
fn session(path: &Path) -> (String, u64) {
    let records = beginning(&Bundle::default(), path, 1).unwrap_or_default();
    let named = records.first().filter(|record| is_head(record)).map_or("", |record| word(record, "/id"));
    (if named.is_empty() { bundles::stem(path) } else { named.to_owned() }, 0)
}

/// Names that the host gives before it has one.
const NO_TITLE: &[&str] = &["New session", "New Session", "New Chat", "CLI Session", "ACP Session"];

/// A message with its parts, wherever they stand.
fn content(record: &Value) -> Value {
    match filled(record, "content_json").and_then(|text| value::read(text.as_bytes())) {
        Some(parts) => json!({ "content": parts }),
        None => json!({ "content": record.get("content") }),
    }
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record.get("working_dir").is_some() {
        about(session, record, out);
        return None;
    }
    let message = content(record);
    let Some(parts) = message.get("content").and_then(Value::as_array) else { return Some("broken message") };
    let seen = filled(record, "metadata_json").and_then(|text| value::read(text.as_bytes()));
    let seen = seen.as_ref().or_else(|| record.get("metadata")).unwrap_or(&Value::Null);
    let is = |key: &str| seen.get(key) != Some(&Value::Bool(false));
    // Whether the agent no longer sees the message before.
    let before = if is("agentVisible") { "" } else { "compacted" };
    let after_compaction = std::mem::replace(&mut session.last, before.to_owned()) == "compacted";
    match word(record, "/role") {
        role if !is("userVisible") => hidden(role, parts, after_compaction && is("agentVisible"), out),
        role @ ("user" | "assistant") => message_of(session, role == "user", parts, out),
        role => Some(unknown("unknown role", role)),
    }
}

/// A message that a person does not see: of those, the summary after a compaction is told.
fn hidden(role: &str, parts: &[Value], is_summary: bool, out: &mut Out<'_>) -> Option<&'static str> {
    let words = parts.iter().find_map(|part| filled(part, "text"));
    match words.filter(|_| is_summary && role == "user") {
        Some(words) => {
            out.emit(EventKind::Compaction { trigger: None, tokens_before: None, summary: Some(words.into()) });
            None
        }
        None => Some(HOST_WORDS),
    }
}

/// What is said of the session as a whole; it may be another the next time.
fn about(session: &mut RecordSession, row: &Value, out: &mut Out<'_>) {
    let title = trimmed(row, ["name", "description"]);
    let config = filled(row, "model_config_json").and_then(|text| value::read(text.as_bytes())).unwrap_or_default();
    let words = [("provider_name", "provider"), ("goose_mode", "mode")];
    let words = words.into_iter().filter_map(|(key, name)| Some((name.to_owned(), filled(row, key)?.into())));
    let counted = |model: &Value, usage: Usage| json!({"model": model, "input": usage.input, "output": usage.output, "cache_read": usage.cache_read, "cache_write": usage.cache_write});
    let mut used: Vec<Value> = list(row, "/used").iter().map(|row| counted(&row["model"], usage(row, ""))).collect();
    let sum = usage(row, "accumulated_");
    if used.is_empty() && sum != Usage::default() {
        used.push(counted(&config["model_name"], sum));
    }
    let tokens = number(row, "accumulated_total_tokens").filter(|_| used.is_empty());
    let paid: Vec<f64> = list(row, "/used").iter().filter_map(|row| dollars(row, "cost")).collect();
    let cost = if paid.is_empty() { dollars(row, "accumulated_cost") } else { Some(paid.iter().sum()) };
    let head = json!({
        "cwd": row["working_dir"], "title": title.filter(|title| !NO_TITLE.contains(title)), "model": config["model_name"],
        "named": number(row, "user_set_name") == Some(1) || flag(row, "user_set_name"), "used": used, "cost": cost, "tokens": tokens,
        "more": words.collect::<Map<String, Value>>(),
    });
    session.head(&head, out);
    out.told = true;
}

fn message_of(
    session: &mut RecordSession,
    is_person: bool,
    parts: &[Value],
    out: &mut Out<'_>,
) -> Option<&'static str> {
    let (mut words, mut sent, mut skipped) = (Vec::new(), Vec::new(), None);
    for part in parts {
        match word(part, "/type") {
            "text" if is_person => words.push(word(part, "/text")),
            "text" => session.reply(word(part, "/text"), out),
            "image" if is_person => sent.push(image(part)),
            "thinking" | "reasoning" if !is_person => {
                session.think(filled(part, ["thinking", "text"]).unwrap_or_default(), out);
            }
            "toolRequest" | "frontendToolRequest" if !is_person => {
                let input = part.pointer("/toolCall/value/arguments").or_else(|| part.pointer("/toolCall/error"));
                let tool = word(part, "/toolCall/value/name");
                session.call(word(part, "/id"), tool, input.unwrap_or(&Value::Null), out);
            }
            "toolResponse" => skipped = answer(session, part, out).or(skipped),
            kind => skipped = Some(session.left_out("unknown part", kind)),
        }
    }
    if is_person { session.prompt(&words.join("\n\n"), sent, out).or(skipped) } else { skipped }
}

/// Why an answer is left out, where it is.
fn answer(session: &mut RecordSession, part: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let none = Value::Null;
    let value = part.pointer("/toolResult/value").unwrap_or(&none);
    let is_error = ["isError", "is_error"].iter().any(|key| flag(value, key));
    let failed = is_error || word(part, "/toolResult/status") == "error";
    let (output, attachments) = match part.pointer("/toolResult/error") {
        Some(error) => (error.as_str().or(filled(error, "message")).unwrap_or_default().to_owned(), Vec::new()),
        None => flat(value),
    };
    let exit = value::exit(value, "/structuredContent/exit_code");
    let answer = Answer { output: output.into(), failed, exit, attachments, ..Answer::default() };
    session.answer(word(part, "/id"), answer, out)
}

/// Tokens of a row, whose columns are called so. The host counts what was read from and written to a cache as input, too.
fn usage(row: &Value, before: &str) -> Usage {
    let names = ["input", "output", "cache_read", "cache_write"].map(|name| format!("{before}{name}_tokens"));
    usage_with_cache(row, [&names[0], &names[1], &names[2], &names[3]])
}

/// The text of an answer, and its pictures. What only a person is shown is told again for the agent.
fn flat(value: &Value) -> (String, Vec<Attachment<'static>>) {
    let parts = value.as_array().map_or_else(|| list(value, "/content"), Vec::as_slice);
    let for_agent = |part: &&Value| {
        let audience = part.pointer("/annotations/audience").or_else(|| part.get("audience")).and_then(Value::as_array);
        audience.is_none_or(|audience| audience.iter().any(|name| name == "assistant"))
    };
    let meant: Vec<&Value> = parts.iter().filter(for_agent).collect();
    let meant = if meant.is_empty() { parts.iter().collect() } else { meant };
    let text = meant.iter().filter_map(|part| filled(part, "text").or_else(|| filled(part.get("resource")?, "text")));
    let pictures = meant.iter().filter(|part| word(part, "/type") == "image").map(|part| image(part));
    (text.collect::<Vec<_>>().join("\n"), pictures.collect())
}

fn image(part: &Value) -> Attachment<'static> {
    attachment(word(part, "/mimeType"), word(part, "/data"))
}

/// Columns of sessions.
const SESSION: &str = "id, name, description, user_set_name, session_type, working_dir, created_at, goose_mode, provider_name, \
    model_config_json, parent_session_id, accumulated_total_tokens, accumulated_input_tokens, \
    accumulated_output_tokens, accumulated_cache_read_tokens, accumulated_cache_write_tokens, accumulated_cost";

/// Columns of messages.
const MESSAGE: &str = "id, message_id, role, content_json, created_timestamp, timestamp, metadata_json";

/// Columns of what a request took.
const USED: &str = "model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, total_tokens, cost";

struct GooseStore;

impl RowFormat for GooseStore {
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let rows = base.rows("sessions", SESSION, "ORDER BY created_at, id", &[])?;
        let session = |mut row: Value| {
            let used = base.rows("usage_ledger", USED, "WHERE session_id = ?1 ORDER BY id", &[word(&row, "/id")])?;
            row["used"] = used.into();
            let agent = (word(&row, "/session_type") == "sub_agent").then_some("subagent");
            Ok(StoredSession::of(row, "parent_session_id", agent, "name"))
        };
        rows.into_iter().map(session).collect()
    }

    fn begin(&self, base: &Database<'_>, _: &StoredSession, started: &[&StoredSession]) -> Result<Begun> {
        let mut begun = Begun::default();
        for child in started {
            let first = "WHERE session_id = ?1 AND role = 'user' ORDER BY id LIMIT 1";
            let first = base.rows("messages", MESSAGE, first, &[&child.id])?;
            let asked = first.first().map(content).unwrap_or_default();
            let words: Vec<&str> = list(&asked, "content").iter().map(|part| word(part, "/text")).collect();
            begun.asked.push((child.key(), words.join("\n\n")));
        }
        Ok(begun)
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        base.each("messages", MESSAGE, "WHERE session_id = ?1 ORDER BY id", &[&session.id], each)
    }

    /// A compaction changes who sees a message.
    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        Cow::Owned(json!([record.get("role"), record.get("content_json"), record.get("created_timestamp")]))
    }

    fn others(&self, base: &Database<'_>, account: &mut Account) {
        let lost = base.count("SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)");
        account.skip_all(lost, "message of no session");
    }
}
