//! One session of the window while it is read: its own row, and each message to its events.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::session::{own_words, prose};
use crate::call::tools::Answer;
use crate::call::touched::changed;
use crate::file::value::{self, filled, list, word};
use crate::record::RecordHost;
use crate::record::session::{RecordSession, usage};
use crate::stream::out::Out;
use crate::unknown::unknown;
use crate::wrapper;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, Usage};

/// The host's words for a model that it chooses by itself.
const NO_MODEL: &[&str] = &["default", "auto"];

/// The sessions of the window.
pub(super) static HOST: RecordHost = RecordHost {
    id: "cursor",
    ids: &["bubbleId"],
    times: &["createdAt", "/timingInfo/clientStartTime", "/timingInfo/clientRpcSendTime"],
    tell,
    ..RecordHost::PLAIN
};

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record.get("composerId").is_some() {
        session.head(&head(record), out);
        out.told = true;
        return None;
    }
    let model = model(word(record, "/modelInfo/modelName"));
    match record.get("type").and_then(Value::as_u64) {
        Some(1) => {
            session.head(&json!({ "model": model }), out);
            user(session, record, out)
        }
        Some(2) => {
            session.head(&json!({ "model": model }), out);
            agent(session, record, out)
        }
        Some(other) => Some(unknown("unknown message type", &other.to_string())),
        None => Some("message that is not there"),
    }
}

fn model(name: &str) -> Option<&str> {
    Some(name).filter(|name| !NO_MODEL.contains(name))
}

/// What is said of the session as a whole; it may be another the next time.
fn head(row: &Value) -> Value {
    let places = ["/workspaceIdentifier/uri/fsPath", "/workspaceIdentifier/uri/path", "/trackedGitRepos/0/repoPath"];
    let cents = |used: &Value| used.get("costInCents").and_then(Value::as_f64).filter(|cents| *cents > 0.0);
    let used = row.get("usageData").and_then(Value::as_object);
    let cents: f64 = used.into_iter().flat_map(|it| it.values()).filter_map(cents).sum();
    json!({
        "cwd": filled(row, places),
        "title": row.get("name"), "model": model(word(row, "/modelConfig/modelName")), "cost": cents / 100.0,
    })
}

fn user(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let text = word(record, "/text");
    if wrapper::means(HOST.id, text).is_some() {
        return Some("notice of the host");
    }
    let images = ["/images", "/context/selectedImages"].into_iter().flat_map(|place| list(record, place));
    let attachments: Vec<_> = images.map(|_| Attachment { media_type: "image".into(), bytes: 0 }).collect();
    let text = own_words(text).unwrap_or_default();
    if !text.is_empty() || !attachments.is_empty() {
        session.calls.begin_turn();
        let origin = if session.is_agent() { PromptOrigin::Task } else { PromptOrigin::Typed };
        out.emit(EventKind::Prompt(Prompt { text, origin, attachments }));
    }
    None
}

fn agent(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let used = usage(&record["tokenCount"], ["inputTokens", "outputTokens", "", ""]);
    session.usage(word(record, "/bubbleId"), "", used, out);
    out.told |= used != Usage::default();
    session.think(word(record, "/thinking/text"), out);
    session.reply(prose(word(record, "/text")), out);
    if let Some(text) = filled(record, ["/errorDetails/message", "/errorDetails/error"]) {
        session.fail(text, out);
    }
    if let Some(of) = record.get("toolFormerData").filter(|call| call.is_object()) {
        call(session, of, out);
    }
    None
}

/// A call with its answer.
fn call(session: &mut RecordSession, call: &Value, out: &mut Out<'_>) {
    let tool = filled(call, "name").unwrap_or("tool");
    let id = word(call, "/toolCallId");
    let id = if id.is_empty() { format!("@{}", out.record) } else { id.to_owned() };
    let mut input = ["rawArgs", "params"].iter().find_map(|key| arguments(call.get(*key)?)).unwrap_or_default();
    if let [before, after] = list(call, "/texts")
        && input.is_object()
        && input.get("old_string").is_none()
    {
        let (before, after) = changed(before.as_str().unwrap_or_default(), after.as_str().unwrap_or_default());
        (input["old_string"], input["new_string"]) = (before.into(), after.into());
    }
    session.call(&id, tool, &input, out);
    let status = word(call, "/status");
    if status.is_empty() || matches!(status, "cancelled" | "canceled") {
        session.calls.close(&id, ["", ""]);
        return out.emit(EventKind::Interrupt { call: Some(id.into()) });
    }
    let read = |name: &str| call.get(name).map(|it| arguments(it).unwrap_or_else(|| it.clone())).unwrap_or_default();
    let (result, error) = (read("result"), read("error"));
    let exit = result.get("exitCode").or_else(|| result.get("exit_code")).and_then(Value::as_i64);
    let answer = Answer {
        output: said_in(&error).or_else(|| said_in(&result)).unwrap_or_default(),
        denied: word(call, "/userDecision") == "rejected" || status == "rejected" || result["rejected"] == true,
        failed: matches!(status, "error" | "failed") || said_in(&error).is_some(),
        exit: exit.and_then(|code| i32::try_from(code).ok()),
        ..Answer::default()
    };
    session.answer(&id, answer, out);
}

/// An object that stands there as it is or as text.
fn arguments(value: &Value) -> Option<Value> {
    let read = value.as_str().and_then(|text| value::read(text.as_bytes()));
    read.or_else(|| Some(value.clone())).filter(|value| value.as_object().is_some_and(|it| !it.is_empty()))
}

/// What an answer or an error says.
fn said_in(result: &Value) -> Option<Cow<'static, str>> {
    const NAMES: [&str; 7] =
        ["output", "contents", "content", "text", "message", "clientVisibleErrorMessage", "modelVisibleErrorMessage"];
    let text = match result {
        Value::Object(_) => {
            let word = filled(result, NAMES).map(str::to_owned);
            let error = || result.get("error").and_then(said_in).map(Cow::into_owned);
            word.or_else(error).unwrap_or_else(|| result.to_string())
        }
        Value::String(text) => text.clone(),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty() && text != "{}").map(Cow::Owned)
}
