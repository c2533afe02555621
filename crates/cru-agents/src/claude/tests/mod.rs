//! Whole bundles of small invented records.

#![expect(clippy::needless_pass_by_value, reason = "a record is written where it is used")]

mod agent;
mod damage;
mod session;
mod slice;

use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, lines, told};

/// Reads files of JSON lines, all bundles one after the other.
fn read(files: &[(&str, &[Value])]) -> Told {
    let files: Vec<_> = files.iter().map(|(name, records)| (*name, lines(records))).collect();
    read_bytes(&files)
}

fn read_bytes(files: &[(&str, Vec<u8>)]) -> Told {
    told(&IMPORTER, files)
}

/// Reads the records of one session `s`.
fn session(records: &[Value]) -> Told {
    read(&[("s.jsonl", records)])
}

/// A record of session `s` with an id and a parent, and further fields.
fn record(kind: &str, id: &str, parent: &str, more: Value) -> Value {
    let mut record = json!({
        "type": kind, "uuid": id, "parentUuid": if parent.is_empty() { Value::Null } else { parent.into() },
        "sessionId": "s", "cwd": "/home/mia/api", "version": "2.1.9", "isSidechain": false,
        "timestamp": "2026-03-01T10:00:00.000Z",
    });
    if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
        record.extend(more);
    }
    record
}

/// A user line that says `content`.
fn user(id: &str, parent: &str, content: impl Into<Value>) -> Value {
    record("user", id, parent, json!({ "message": { "role": "user", "content": content.into() } }))
}

/// An assistant line with one block.
fn assistant(id: &str, parent: &str, block: Value) -> Value {
    let message = json!({
        "id": format!("m-{id}"), "model": "some-model", "content": [block],
        "usage": { "input_tokens": 1, "output_tokens": 2 },
    });
    record("assistant", id, parent, json!({ "message": message }))
}

fn says(id: &str, parent: &str, text: &str) -> Value {
    assistant(id, parent, json!({ "type": "text", "text": text }))
}

fn calls(id: &str, parent: &str, call: &str, tool: &str, input: Value) -> Value {
    assistant(id, parent, json!({ "type": "tool_use", "id": call, "name": tool, "input": input }))
}

/// The answer of a tool with its details.
fn answers(id: &str, parent: &str, call: &str, text: &str, detail: Value) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": call, "content": text }]);
    let mut answer = user(id, parent, content);
    answer["toolUseResult"] = detail;
    answer
}

/// The failed answer of a tool.
fn fails(id: &str, parent: &str, call: &str, text: &str) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": true }]);
    user(id, parent, content)
}
