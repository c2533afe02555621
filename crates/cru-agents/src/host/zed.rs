//! Zed: the threads of its own agent as events, from `threads.db`.
//!
//! A row is a whole thread, a packed document. Messages have no times; a thread does. Agents that Zed runs beside its own
//! keep stores of their own.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::call::tools::Answer;
use crate::call::touched::changed;
use crate::file::document::{Piece, items, member, members};
use crate::file::sqlite::Database;
use crate::file::tables::{Begun, HostStore, RowFormat, StoredSession};
use crate::file::value::{self, attachment, filled, flag, list, word};
use crate::record::RecordHost;
use crate::record::session::{HOST_WORDS, RecordSession, code_behind};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_base::Result;
use cru_session::event::EventKind;

/// What the host calls a thread that has no title yet.
const NO_TITLE: &[&str] = &["New Thread", "New Agent Thread"];

/// The host's words in the place of an answer or before one, for a call that a person stopped.
const STOPPED: [&str; 2] = ["Tool canceled by user", "The user stopped this command."];

/// Arguments that name files, as the host writes them: with the name of the opened folder before them.
const PATHS: [&str; 4] = ["path", "source_path", "destination_path", "cd"];

/// A thread has times, its messages have none.
pub(super) const HOST: RecordHost = RecordHost {
    id: "zed",
    ids: &["/User/id"],
    times: &["updated_at"],
    tell,
    store: Some(HostStore {
        name: "threads.db",
        columns: &[&[("threads", "summary"), ("threads", "data_type"), ("threads", "data")]],
        tables: &["threads"],
        rows: || Box::new(ZedStore),
    }),
    ..RecordHost::PLAIN
};

/// What a message of a person says, with the names of what it mentions.
fn asked(message: &Value) -> String {
    let parts = list(message, "/User/content").iter();
    parts.filter_map(|part| part.get("Text").and_then(Value::as_str)).collect()
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record.get("summary").is_some() {
        let title = filled(record, "summary").filter(|title| !NO_TITLE.contains(title));
        session.head(&json!({ "title": title, "started": record["created_at"] }), out);
        out.told = true;
        return None;
    }
    let kind = record.as_object().and_then(|it| it.keys().next()).map(String::as_str).or(record.as_str());
    match (kind, word(record, "/role")) {
        (Some("User"), _) => user(session, list(record, "/User/content"), out),
        (Some("Agent"), _) => agent(session, &record["Agent"], out),
        (Some("Compaction"), _) => {
            let said = record["Compaction"].as_str().or_else(|| filled(&record["Compaction"], "summary"));
            session.compact(None, said.unwrap_or_default(), out)
        }
        (Some("Resume"), _) | (_, "system") => Some(HOST_WORDS),
        (_, "user") => user(session, &older(record), out),
        (_, "assistant") => agent(session, &older_agent(record), out),
        (Some(kind), _) => Some(unknown("unknown record type", kind)),
        (None, _) => Some("broken message"),
    }
}

/// The parts of a message of older versions, in the form of newer ones.
fn older(message: &Value) -> Vec<Value> {
    let segment = |segment: &Value| match word(segment, "type") {
        "text" => json!({ "Text": segment.get("text") }),
        "thinking" => json!({ "Thinking": { "text": segment.get("text") } }),
        _ => json!({ "RedactedThinking": null }),
    };
    list(message, "/segments").iter().map(segment).collect()
}

fn older_agent(message: &Value) -> Value {
    let calls = list(message, "/tool_uses").iter().map(|call| json!({ "ToolUse": call }));
    let parts: Vec<Value> = older(message).into_iter().chain(calls).collect();
    let answers = list(message, "/tool_results").iter();
    let answers: Map<String, Value> = answers.map(|it| (word(it, "tool_use_id").to_owned(), it.clone())).collect();
    json!({ "content": parts, "tool_results": answers })
}

/// What the document says of the whole thread; `folder` is the one that its row names.
fn about(about: &Value, folder: &str) -> Value {
    let snapshot = about.pointer("/initial_project_snapshot/worktree_snapshots/0").unwrap_or(&Value::Null);
    let model = word(about, "/model/model");
    let mut used = vec![&about["cumulative_token_usage"]];
    if used[0].as_object().is_none_or(|counts| counts.values().all(|count| count.as_u64() == Some(0))) {
        // The last request of each turn alone.
        let each = about.get("request_token_usage").and_then(Value::as_object);
        used = each.into_iter().flat_map(Map::values).collect();
    }
    let used = used.into_iter().map(|row| {
        json!({"model": model, "input": row["input_tokens"], "output": row["output_tokens"],
            "cache_read": row["cache_read_input_tokens"], "cache_write": row["cache_creation_input_tokens"]})
    });
    json!({
        "cwd": if folder.is_empty() { word(snapshot, "worktree_path") } else { folder }, "model": model,
        "branch": snapshot["git_state"]["current_branch"], "commit": snapshot["git_state"]["head_sha"],
        "used": used.collect::<Vec<_>>(),
    })
}

fn user(session: &mut RecordSession, parts: &[Value], out: &mut Out<'_>) -> Option<&'static str> {
    let (mut words, mut sent, mut strange) = (String::new(), Vec::new(), None);
    for part in parts {
        match part.as_object().and_then(|it| it.keys().next()).map_or("", String::as_str) {
            "Text" => words.push_str(word(part, "Text")),
            "Mention" => words.push_str(&mention(session, &part["Mention"]["uri"])),
            "Image" => sent.push(attachment("image/png", word(part, "/Image/source"))),
            kind => strange = Some(unknown("unknown part", kind)),
        }
    }
    session.prompt(&words, sent, out).or(strange)
}

/// The name of what a person mentioned: `@src/a.rs`.
fn mention(session: &RecordSession, uri: &Value) -> String {
    let (kind, what) = uri.as_object().and_then(|it| it.iter().next()).unzip();
    let names = ["abs_path", "path", "name", "url", "id"];
    let name = what.and_then(|what| filled(what, names)).or(kind.map(String::as_str)).unwrap_or("?");
    format!("@{}", session.place.show(name))
}

fn agent(session: &mut RecordSession, message: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let mut strange = None;
    for part in list(message, "/content") {
        match part.as_object().and_then(|it| it.keys().next()).map_or("", String::as_str) {
            "Text" => session.reply(word(part, "Text"), out),
            "Thinking" => session.think(word(part, "/Thinking/text"), out),
            "RedactedThinking" => {}
            "ToolUse" => {
                let call = &part["ToolUse"];
                let answer = message.get("tool_results").and_then(|all| all.get(word(call, "id")));
                strange = ask(session, call, answer, out).or(strange);
            }
            kind => strange = Some(unknown("unknown part", kind)),
        }
    }
    strange
}

/// A call with its answer, where that has come.
fn ask(session: &mut RecordSession, call: &Value, answer: Option<&Value>, out: &mut Out<'_>) -> Option<&'static str> {
    let given = call.get("input").filter(|input| input.is_object()).cloned();
    let mut input = given.or_else(|| value::read(word(call, "raw_input").as_bytes())).unwrap_or_default();
    let result = answer.and_then(|answer| answer.get("output")).unwrap_or(&Value::Null);
    complete(session, &mut input, result);
    session.call(word(call, "id"), filled(call, "name").unwrap_or("tool"), &input, out);
    let answer = answer?;
    let said = content(answer);
    let stopped = STOPPED.iter().any(|words| said.starts_with(words));
    // The host says of its own command how that ended.
    let ended = said.strip_prefix(&format!("Command \"{}\" ", word(&input, "command"))).unwrap_or_default();
    let failed = flag(answer, "is_error") || stopped || ended.starts_with("timed out.");
    let exit = Some("failed with exit code ").filter(|mark| ended.starts_with(mark));
    let exit = exit.and_then(|mark| code_behind(ended, mark));
    let told = Answer { diff: word(result, "diff"), failed, exit, output: said, ..Answer::default() };
    let left = session.answer(word(call, "id"), told, out);
    if stopped {
        out.emit(EventKind::Interrupt { call: Some(word(call, "id").to_owned().into()), unnamed: false });
    }
    left
}

/// Takes the name of the opened folder from paths, and the texts of an edit that only the answer has.
fn complete(session: &RecordSession, input: &mut Value, result: &Value) {
    let root = session.place.start().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    for key in PATHS {
        let Some(rest) = filled(input, key).and_then(|path| path.strip_prefix(root.as_str())) else { continue };
        let below = rest.trim_start_matches(['/', '\\']);
        if !root.is_empty() && (rest.is_empty() || rest.len() > below.len()) {
            input[key] = if below.is_empty() { "." } else { below }.into();
        }
    }
    let has_text = ["edits", "content", "old_text", "old_string"].iter().any(|key| input.get(key).is_some());
    if !has_text && input.is_object() && result.get("new_text").is_some() {
        let (before, after) = changed(word(result, "old_text"), word(result, "new_text"));
        (input["old_string"], input["new_string"]) = (before.into(), after.into());
    }
}

/// The text of an answer.
fn content(answer: &Value) -> Cow<'static, str> {
    fn said(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().map(said).collect::<Vec<_>>().join("\n"),
            Value::Object(map) => map.get("Text").or_else(|| map.get("text")).map(said).unwrap_or_default(),
            _ => String::new(),
        }
    }
    let words = answer.get("content").map(said).filter(|text| !text.is_empty());
    words.or_else(|| answer.get("output").map(said)).unwrap_or_default().into()
}

/// Columns of threads but for their content.
const THREAD: &str = "id, summary, updated_at, created_at, parent_id, folder_paths, folder_paths_order";

/// What of a document is about the whole thread.
const FIELDS: [&str; 4] = ["model", "cumulative_token_usage", "request_token_usage", "initial_project_snapshot"];

struct ZedStore;

impl RowFormat for ZedStore {
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let order = if base.has_column("threads", "created_at") { "created_at" } else { "updated_at" };
        let rows = base.rows("threads", THREAD, &format!("ORDER BY {order}, id"), &[])?;
        let session = |row: Value| {
            let agent = filled(&row, "parent_id").map(|_| "subagent");
            StoredSession::of(row, "parent_id", agent, "summary")
        };
        Ok(rows.into_iter().map(session).collect())
    }

    fn begin(&self, base: &Database<'_>, session: &StoredSession, started: &[&StoredSession]) -> Result<Begun> {
        let mut begun = Begun::default();
        for child in started {
            let text = document(base, &child.id)?;
            let first = messages(&text).first().and_then(Piece::value).unwrap_or_default();
            begun.asked.push((child.key(), asked(&first)));
        }
        let text = document(base, &session.id)?;
        let root = members(&text);
        let of = |name: &str| Some((name.to_owned(), member(&root, name)?.value()?));
        let fields: Value = FIELDS.into_iter().filter_map(of).collect();
        begun.head = about(&fields, &folder(&session.row));
        Ok(begun)
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        let text = document(base, &session.id)?;
        for piece in messages(&text) {
            each(piece.value().unwrap_or_default());
        }
        // A document that ends in the middle, or is none.
        if !member(&members(&text), "messages").is_some_and(|list| list.whole) {
            each(Value::Null);
        }
        Ok(())
    }

    /// The arguments of a call that is still being asked for.
    fn may_change(&self, record: &Value) -> bool {
        let parts = record.pointer("/Agent/content").and_then(Value::as_array);
        parts.into_iter().flatten().any(|part| part.pointer("/ToolUse/is_input_complete") == Some(&Value::Bool(false)))
    }
}

/// The document of a thread, unpacked.
fn document(base: &Database<'_>, id: &str) -> Result<String> {
    let rows = base.rows("threads", "data", "WHERE id = ?1", &[id])?;
    Ok(rows.first().map_or("", |row| word(row, "/data")).to_owned())
}

fn messages(document: &str) -> Vec<Piece<'_>> {
    member(&members(document), "messages").map(|list| items(list.text)).unwrap_or_default()
}

/// The folder that was opened first: they stand in the order of the alphabet, and their own beside them.
fn folder(row: &Value) -> String {
    let folders: Vec<&str> = word(row, "/folder_paths").split(['\n', '\0']).filter(|path| !path.is_empty()).collect();
    let first = word(row, "/folder_paths_order").split(',').next().and_then(|at| at.trim().parse::<usize>().ok());
    let folder = first.and_then(|at| folders.get(at)).or_else(|| folders.first()).copied().unwrap_or_default();
    folder.to_owned()
}
