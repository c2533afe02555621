//! Whole rollouts of small invented records.

#![expect(clippy::needless_pass_by_value, reason = "a record is written where it is used")]

mod damage;
mod family;
mod items;
mod session;

use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, lines, told};

fn read(files: &[(&str, &[Value])]) -> Told {
    let files: Vec<_> = files.iter().map(|(name, records)| (*name, lines(records))).collect();
    read_bytes(&files)
}

fn read_bytes(files: &[(&str, Vec<u8>)]) -> Told {
    told(&IMPORTER, files)
}

/// Reads the records of one session `s`, its first record made for it.
fn session(records: &[Value]) -> Told {
    let mut all = vec![meta("s", json!({}))];
    all.extend_from_slice(records);
    read(&[("s.jsonl", &all)])
}

fn record(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload })
}

/// The beginning of a session, with further fields.
fn meta(id: &str, more: Value) -> Value {
    let mut payload =
        json!({ "id": id, "timestamp": "2026-03-01T09:59:59Z", "cwd": "/home/mia/api", "cli_version": "0.140.0" });
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    record("session_meta", payload)
}

fn item(payload: Value) -> Value {
    record("response_item", payload)
}

fn event(payload: Value) -> Value {
    record("event_msg", payload)
}

/// Words of a person, as both records tell them.
fn asks(text: &str) -> [Value; 2] {
    let content = json!([{ "type": "input_text", "text": text }]);
    [
        item(json!({ "type": "message", "role": "user", "content": content })),
        event(json!({ "type": "user_message", "message": text })),
    ]
}

/// Words of the agent, as both records tell them.
fn says(text: &str) -> [Value; 2] {
    let content = json!([{ "type": "output_text", "text": text }]);
    [
        event(json!({ "type": "agent_message", "message": text })),
        item(json!({ "type": "message", "role": "assistant", "content": content })),
    ]
}

fn calls(id: &str, name: &str, arguments: Value) -> Value {
    item(json!({ "type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id }))
}

fn answers(id: &str, output: impl Into<Value>) -> Value {
    item(json!({ "type": "function_call_output", "call_id": id, "output": output.into() }))
}
