//! Rows of `session_message`, in which version 2 keeps its messages, in the form of the messages before; and which messages of a
//! session are read, where a database keeps them in the tables of both versions.
//!
//! A row holds a whole message: the words of a person, or an answer with its text, thinking and calls in `content`.
//! Lines for the shell, compactions and notices are rows of their own; they keep their type as the role.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::kept::{COMPACTION, OpenCodeItem, OpenCodeMessage, SHELL, item};
use crate::file::value::{filled, list, word};

/// Whether a row of that type says words of somebody, or what became of them.
pub(super) fn is_said(kind: &str) -> bool {
    matches!(kind, "user" | "assistant" | SHELL | COMPACTION)
}

/// A row as a message; `created` is the time of the row, in milliseconds.
pub(super) fn message(id: &str, kind: &str, created: Option<i64>, bytes: &[u8]) -> OpenCodeMessage {
    let row = match item(bytes, id) {
        Ok(row) => row,
        broken => return OpenCodeMessage { info: broken, parts: Vec::new() },
    };
    let kind = if kind.is_empty() { word(&row, "type") } else { kind };
    OpenCodeMessage { info: Ok(info(kind, &row, created)), parts: parts(kind, &row, id) }
}

fn info(kind: &str, row: &Value, created: Option<i64>) -> Value {
    let mut info = Map::new();
    info.insert("role".to_owned(), kind.into());
    for key in ["id", "cost", "tokens", "status", "reason", "summary", "location"] {
        info.extend(row.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    let mut time = row.get("time").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(created) = created.filter(|_| !time.get("created").is_some_and(Value::is_number)) {
        time.insert("created".to_owned(), created.into());
    }
    info.insert("time".to_owned(), Value::Object(time));
    if let Some(model) = row.get("model").and_then(|model| filled(model, "id").or(model.as_str())) {
        info.insert("modelID".to_owned(), model.into());
    }
    if let Some(error) = row.get("error").filter(|error| !error.is_null()) {
        let name = match word(error, "type") {
            "aborted" | "interrupted" => "MessageAbortedError",
            "" => word(error, "name"),
            other => other,
        };
        info.insert("error".to_owned(), json!({ "name": name, "data": { "message": said(error) } }));
    }
    Value::Object(info)
}

/// What an error says, as text or with its kind.
fn said(error: &Value) -> &str {
    error.as_str().or_else(|| filled(error, "message")).unwrap_or("")
}

fn parts(kind: &str, row: &Value, id: &str) -> Vec<OpenCodeItem> {
    match kind {
        "user" => {
            let words = json!({ "type": "text", "text": word(row, "text") });
            let files = list(row, "files").iter().map(file);
            let agents = list(row, "agents").iter().map(|_| json!({ "type": "agent" }));
            std::iter::once(words).chain(files).chain(agents).map(Ok).collect()
        }
        "assistant" => {
            let own = list(row, "content").iter().map(|piece| match word(piece, "type") {
                "tool" => tool(piece),
                "text" | "reasoning" => timed(piece),
                _ => piece.clone(),
            });
            let changed = row.get("snapshot").map_or(&[][..], |snapshot| list(snapshot, "files"));
            let changed = (!changed.is_empty()).then(|| json!({ "type": "patch", "files": changed }));
            own.chain(changed).map(Ok).collect()
        }
        SHELL => vec![Ok(shell(row, id))],
        _ => Vec::new(),
    }
}

/// A file that a person sent, or that a tool answered with.
fn file(file: &Value) -> Value {
    let url = filled(file, ["uri", "url"]);
    let mut part = json!({ "type": "file", "mime": word(file, "mime"), "url": url, "filename": file.get("name") });
    if let (Some(source), Some(part)) = (file.get("source").filter(|it| !it.is_null()), part.as_object_mut()) {
        part.insert("source".to_owned(), source.clone());
    }
    part
}

/// Text or thinking: its times under the names of before.
fn timed(piece: &Value) -> Value {
    let mut part = piece.clone();
    if let (Some(time), Some(part)) = (piece.get("time").filter(|time| time.is_object()), part.as_object_mut()) {
        part.insert("time".to_owned(), json!({ "start": time.get("created"), "end": time.get("completed") }));
    }
    part
}

/// A call with what became of it.
fn tool(piece: &Value) -> Value {
    let state = &piece["state"];
    let time = &piece["time"];
    let content = list(state, "content");
    let words: Vec<&str> = content.iter().filter_map(|it| it.get("text").and_then(Value::as_str)).collect();
    let files = content.iter().chain(list(state, "attachments")).filter(|it| it.get("mime").is_some());
    let output = match (words.is_empty(), state.get("result").or_else(|| state.get("output"))) {
        (true, Some(Value::String(result))) => result.clone(),
        _ => words.join("\n"),
    };
    let error = state.get("error").map_or("", said);
    let error = if error.is_empty() { output.clone() } else { error.to_owned() };
    let mut metadata = ["structured", "metadata"].into_iter().filter_map(|key| state.get(key));
    let metadata = metadata.rfind(|it| it.as_object().is_some_and(|it| !it.is_empty()));
    let start = ["ran", "created"].into_iter().find_map(|key| time.get(key).filter(|it| it.is_number()));
    json!({
        "type": "tool",
        "id": piece.get("id"),
        "callID": filled(piece, ["callID", "id"]),
        "tool": filled(piece, ["name", "tool"]),
        "state": {
            "status": match word(state, "status") { "streaming" => "pending", status => status },
            // Until the call is whole its arguments are text.
            "input": state.get("input").filter(|input| input.is_object()).unwrap_or(&Value::Object(Map::new())),
            "output": output,
            "error": error,
            "metadata": metadata,
            "attachments": files.map(file).collect::<Vec<_>>(),
            "time": { "start": start, "end": time.get("completed") },
        },
    })
}

/// A person's own line for the shell, as a call.
fn shell(row: &Value, id: &str) -> Value {
    let time = &row["time"];
    let is_done = match word(row, "status") {
        "" => time.get("completed").is_some_and(Value::is_number),
        status => status != "running",
    };
    let output = row.get("output").map_or("", |output| output.as_str().unwrap_or_else(|| word(output, "output")));
    json!({
        "type": "tool",
        "callID": filled(row, ["callID", "shellID"]).unwrap_or(id),
        "tool": "bash",
        "state": {
            "status": if is_done { "completed" } else { "running" },
            "input": { "command": word(row, "command") },
            "output": output,
            "metadata": { "exit": row.get("exit") },
            "time": { "start": time.get("created"), "end": time.get("completed") },
        },
    })
}

/// A row of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptMessage {
    pub(super) id: String,
    /// When it was said, in milliseconds.
    pub(super) created: i64,
    /// Its type, where it is a row of `session_message`.
    pub(super) kind: Option<String>,
    /// Its number there.
    pub(super) number: Option<i64>,
}

impl KeptMessage {
    fn is_said(&self) -> bool {
        self.kind.as_deref().is_none_or(is_said)
    }
}

/// The messages that are read, and those that are left out because they are told by the others.
pub(super) fn chosen(older: Vec<KeptMessage>, newer: Vec<KeptMessage>) -> (Vec<KeptMessage>, Vec<KeptMessage>) {
    let said = || newer.iter().filter(|row| row.is_said());
    let (Some(first), Some(last)) = (said().map(|row| row.created).min(), said().map(|row| row.created).max()) else {
        // What stands in the newer form are notices alone.
        return if older.is_empty() { (newer, older) } else { (older, newer) };
    };
    let end = older.iter().map(|row| row.created).max();
    if end.is_some_and(|end| last <= end) {
        return (older, newer);
    }
    let (before, told_again): (Vec<_>, Vec<_>) = older.into_iter().partition(|row| row.created < first);
    if told_again.len() <= said().count() {
        return ([before, newer].concat(), told_again);
    }
    // The newer form has less of the time that both tell of.
    let (told, after): (Vec<_>, Vec<_>) = newer.into_iter().partition(|row| end.is_some_and(|end| row.created <= end));
    ([before, told_again, after].concat(), told)
}

/// Takes out the messages that a fork has of its origin: the host copies them with time, type and number, of which those of
/// before have the first alone.
pub(super) fn own(rows: Vec<KeptMessage>, origin: &[KeptMessage]) -> (Vec<KeptMessage>, Vec<KeptMessage>) {
    let known: HashSet<_> = origin.iter().map(|row| (row.created, &row.kind, row.number)).collect();
    rows.into_iter().partition(|row| {
        row.kind.is_some() && row.number.is_none() || !known.contains(&(row.created, &row.kind, row.number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(kind: Option<&str>, times: &[i64]) -> Vec<KeptMessage> {
        let row = |created: &i64| KeptMessage {
            id: created.to_string(),
            created: *created,
            kind: kind.map(str::to_owned),
            number: kind.map(|_| *created),
        };
        times.iter().map(row).collect()
    }

    #[test]
    fn both_forms_tell_each_message_once() {
        for (older, newer, expected, left) in [
            (&[1, 2][..], &[][..], &[1, 2][..], 0),
            (&[], &[1, 2], &[1, 2], 0),
            // The older tables are stale.
            (&[1, 2], &[1, 2, 3], &[1, 2, 3], 2),
            // The newer one holds only what was said since.
            (&[1, 2], &[3, 4], &[1, 2, 3, 4], 0),
            // Both tell the same.
            (&[1, 2], &[1, 2], &[1, 2], 2),
            // The newer one has gaps.
            (&[1, 2, 3, 4], &[2, 5], &[1, 2, 3, 4, 5], 1),
        ] {
            let (read, out) = chosen(rows(None, older), rows(Some("user"), newer));
            assert_eq!(read.iter().map(|row| row.created).collect::<Vec<_>>(), expected, "{older:?} {newer:?}");
            assert_eq!(out.len(), left, "{older:?} {newer:?}");
        }
        let (read, _) = chosen(rows(None, &[1, 2]), rows(Some("model-switched"), &[3]));
        assert_eq!(read.len(), 2, "a notice makes no form the newer one");
    }

    #[test]
    fn a_fork_has_its_own_messages() {
        let (own, copied) = own(rows(Some("user"), &[1, 2, 3]), &rows(Some("user"), &[1, 2, 4]));
        assert_eq!((own.len(), copied.len()), (1, 2));
    }
}
