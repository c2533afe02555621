//! A message with its parts as records: what lasts of each, and which may still change.

use serde_json::{Value, json};

use super::kept::{OpenCodeItem, OpenCodeMessage, SHELL};
use super::state::{OpenCodeSession, usage};
use crate::file::tables;
use crate::file::value::{millis, word};
use crate::stream::teller::Teller;
use cru_session::event::Usage;

/// Takes in a message. `settled`: the agent has answered since, so that nothing in it changes any more.
pub(super) fn take(told: &mut Teller<'_>, state: &mut OpenCodeSession, message: OpenCodeMessage, settled: bool) {
    let OpenCodeMessage { info, parts } = message;
    let info = match info {
        Ok(info) => info,
        Err((bytes, id, why)) => {
            // A file may be half written.
            told.held |= !settled;
            told.take_broken(&bytes, &id, why);
            return lost(told, &parts);
        }
    };
    let role = word(&info, "role");
    let (is_agent, done) = (role != "user", settled || is_done(&info));
    let has_parts = matches!(role, "user" | "assistant" | SHELL);
    let created = millis(&info, "/time/created").map(|it| it.to_string());
    let lasting = json!({ "message": role, "created": created });
    let end = end(&info, &parts).filter(|_| is_agent && has_parts && done);
    // The words of a message are written after it.
    told.held |= parts.is_empty() && !done;
    if !tables::take(told, state, &lasting, info) || !has_parts {
        return lost(told, &parts);
    }
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.into_iter().enumerate() {
        let is_final = part.as_ref().is_ok_and(|part| is_final(part, index < last));
        told.held |= is_agent && !done && !is_final;
        match part {
            Ok(part) => drop(tables::take(told, state, &lasting_of(&part), json!({ "part": part }))),
            Err((bytes, id, _)) => told.take_broken(&bytes, &id, "broken part"),
        }
    }
    if let Some((lasting, end)) = end.filter(|_| told.takes_more()) {
        tables::take(told, state, &lasting, json!({ "end": end }));
    }
}

/// Counts parts whose message says nothing.
fn lost(told: &mut Teller<'_>, parts: &[OpenCodeItem]) {
    for _ in parts {
        if told.held { told.later() } else { told.skip("part of an unknown message") }
    }
}

/// The end of the agent's message, with what lasts of it: how it ended, and what it took where no step says so.
fn end(info: &Value, parts: &[OpenCodeItem]) -> Option<(Value, Value)> {
    let is_counted = parts.iter().flatten().any(|part| word(part, "type") == "step-finish");
    let tokens = info.get("tokens").filter(|tokens| !is_counted && usage(tokens) != Usage::default());
    let error = info.get("error").filter(|error| error.is_object());
    if error.is_none() && tokens.is_none() {
        return None;
    }
    let cost = info.get("cost");
    let lasting = json!({ "end": word(info, "/error/name"), "tokens": tokens, "cost": cost });
    let mut end = json!({ "time": { "start": info.pointer("/time/completed") }, "error": error, "cost": cost });
    if let Some(tokens) = tokens {
        end["tokens"] = tokens.clone();
    }
    Some((lasting, end))
}

/// Whether the host has said that a message is whole.
fn is_done(info: &Value) -> bool {
    let completed = info.pointer("/time/completed").is_some_and(Value::is_number);
    match word(info, "role") {
        "user" => false,
        "assistant" => completed || info.get("error").is_some_and(Value::is_object),
        SHELL => completed || !matches!(word(info, "status"), "" | "running"),
        _ => word(info, "status") != "running",
    }
}

/// Whether a part changes no more while its message goes on; `followed`: another stands behind it.
fn is_final(part: &Value, followed: bool) -> bool {
    match word(part, "type") {
        "tool" => {
            let status = word(part, "/state/status");
            !matches!(status, "pending" | "running")
        }
        "text" | "reasoning" => followed || part.pointer("/time/end").is_some(),
        _ => true,
    }
}

/// What stays the same of a part in every place that it is kept in.
fn lasting_of(part: &Value) -> Value {
    let kind = word(part, "type");
    let get = |key: &str| part.get(key).unwrap_or(&Value::Null);
    match kind {
        "text" | "reasoning" => json!([kind, get("text"), get("synthetic"), get("ignored")]),
        "tool" => {
            let state = get("state");
            let of = |key: &str| state.get(key).unwrap_or(&Value::Null);
            json!([kind, get("tool"), of("status"), of("input"), of("output"), of("error")])
        }
        "step-finish" => json!([kind, get("tokens"), get("cost")]),
        "patch" => json!([kind, get("hash"), get("files")]),
        "file" => json!([kind, get("mime"), get("filename")]),
        "subtask" => json!([kind, get("prompt"), get("command")]),
        _ => json!([kind]),
    }
}
