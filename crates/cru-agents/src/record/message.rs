//! A message with a role, in the forms that services of models have: words, thoughts, calls and answers in its content, or
//! calls beside it.

use serde_json::Value;

use super::session::{HOST_WORDS, RecordSession};
use crate::call::brief::ended;
use crate::call::tools::Answer;
use crate::file::value::{attachment, exit, filled, flag, list, moment, number, word};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::Attachment;

/// Tells a message; why something of it is left out, where it is.
pub(crate) fn tell(session: &mut RecordSession, message: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let role = filled(message, ["role", "sender", "type"]).unwrap_or_default();
    let id = filled(message, ["tool_call_id", "toolCallId"]).unwrap_or_default();
    match role {
        "system" | "developer" => return Some("system prompt"),
        "tool" | "tool_result" | "tool_response" => return session.answer(id, answer(message, "content"), out),
        "user" | "human" | "assistant" => {}
        "" => return None,
        role => return Some(session.left_out("unknown role", role)),
    }
    let is_person = role != "assistant";
    if let Some(thought) = filled(message, ["reasoning_content", "reasoning"]).filter(|_| !is_person) {
        session.think(thought, out);
    }
    let (mut words, mut sent, mut left) = (Vec::new(), Vec::new(), None);
    let content = message.get("content").filter(|it| it.as_array().is_none_or(|parts| !parts.is_empty()));
    for part in parts(content.or_else(|| message.get("text"))) {
        // Words have the time that they were said at, all else that at which it began.
        let at = if kind(part) == "text" { "stop_timestamp" } else { "start_timestamp" };
        out.time = moment(part, at).or(out.time);
        match (kind(part), is_person) {
            ("text" | "input_text" | "output_text", true) => words.push(said(part)),
            ("text" | "input_text" | "output_text", false) => session.reply(said(part), out),
            ("think" | "thinking" | "reasoning", _) => {
                session.think(filled(part, ["think", "thinking", "text"]).unwrap_or_default(), out);
            }
            ("redacted_thinking", _) => left = Some("thinking without its text"),
            ("tool_use", _) => {
                let input = part.get("input").unwrap_or(&Value::Null);
                session.call(word(part, "/id"), word(part, "/name"), input, out);
            }
            ("tool_result", _) if goes_on(&part["run"]) => left = Some("call that goes on"),
            ("tool_result", _) => {
                let id = filled(part, ["tool_use_id", "toolUseID"]).unwrap_or_default();
                let content = if part.get("run").is_some() { "run" } else { "content" };
                let answer = answer(part, content);
                let told = match id {
                    "" => session.answer_next(word(part, "/name"), answer, out),
                    id => session.answer(id, answer, out),
                };
                left = told.or(left);
            }
            ("image" | "image_url" | "imageUrl" | "video_url" | "audio_url" | "document" | "file", _) => {
                sent.push(media(part));
            }
            ("token_budget", _) => left = Some(HOST_WORDS),
            (kind, _) => left = Some(unknown("unknown block", kind)),
        }
    }
    for file in list(message, "/attachments").iter().chain(list(message, "/files")) {
        match filled(file, "extracted_content") {
            // What was pasted has no name.
            Some(text) => words.extend(filled(file, "file_name").into_iter().chain([text])),
            None => sent.push(self::sent(file)),
        }
    }
    if is_person {
        left = session.prompt(&words.join("\n\n"), sent, out).or(left);
    }
    for call in list(message, "/tool_calls").iter().chain(list(message, "/toolCalls")) {
        let function = call.get("function").unwrap_or(call);
        let input = ["arguments", "args", "input"].iter().find_map(|key| function.get(key)).unwrap_or(&Value::Null);
        session.call(word(call, "/id"), word(function, "/name"), input, out);
    }
    left
}

/// What an answer says: its text, pictures and how it ended.
pub(crate) fn answer(record: &Value, content: &str) -> Answer<'static> {
    let value = record.get(content).unwrap_or(&Value::Null);
    let status = filled(value, "status").or_else(|| filled(record, "status")).unwrap_or_default();
    let inner = if matches!(content, "run" | "toolRun") {
        value.get("result").or_else(|| value.get("error"))
    } else {
        Some(value)
    };
    let inner = inner.unwrap_or(&Value::Null);
    let (output, attachments) = flat(inner);
    let (printed, ended) = ended(&output, "[Process exited with code ", "]");
    let output = if ended.is_some() { printed.to_owned() } else { output };
    Answer {
        output: output.into(),
        attachments,
        exit: exit(inner, ["exitCode", "exit_code"]).or(ended),
        failed: status == "error" || flag(record, "is_error") || flag(record, "isError") || inner_failed(inner),
        denied: matches!(status, "cancelled" | "canceled" | "rejected-by-user" | "rejected"),
        ..Answer::default()
    }
}

/// Whether a run has not come to its end.
pub(crate) fn goes_on(run: &Value) -> bool {
    let status = filled(run, "status");
    status.is_some_and(|status| !matches!(status, "done" | "error" | "cancelled" | "rejected-by-user"))
}

/// Whether one of several answers to one call says that it failed.
fn inner_failed(value: &Value) -> bool {
    value.as_array().is_some_and(|parts| parts.iter().any(|part| part.get("success") == Some(&Value::Bool(false))))
}

/// The text of an answer, and its pictures.
pub(crate) fn flat(value: &Value) -> (String, Vec<Attachment<'static>>) {
    let mut words = Vec::new();
    let mut sent = Vec::new();
    for part in parts(Some(value)) {
        let inner = ["text", "output", "result", "content", "error", "message"].iter().find_map(|key| part.get(key));
        match (kind(part), inner) {
            ("image" | "image_url" | "imageUrl" | "document", None) => sent.push(media(part)),
            ("image" | "image_url", _) => sent.push(media(part)),
            (_, Some(Value::String(text))) => words.push(text.clone()),
            (_, Some(inner)) if inner.is_array() => words.push(flat(inner).0),
            (_, Some(inner)) => words.push(inner.to_string()),
            (_, None) => words.push(part.as_str().map_or_else(|| part.to_string(), str::to_owned)),
        }
    }
    (words.join("\n"), sent)
}

/// The parts of a content: a list, or one alone.
fn parts(content: Option<&Value>) -> &[Value] {
    match content {
        Some(Value::Array(parts)) => parts,
        Some(part) if !part.is_null() => std::slice::from_ref(part),
        _ => &[],
    }
}

fn kind(part: &Value) -> &str {
    filled(part, "type").unwrap_or("text")
}

fn said(part: &Value) -> &str {
    part.as_str().unwrap_or_else(|| word(part, "/text"))
}

/// Something that a person sent along.
pub(crate) fn sent(file: &Value) -> Attachment<'static> {
    let shown = ["mime_type", "mimeType", "file_type", "file_name", "name"];
    let media_type = filled(file, shown).unwrap_or("file").to_owned().into();
    Attachment { media_type, bytes: number(file, ["size", "file_size"]).unwrap_or(0) }
}

/// A picture or document in a message.
pub(crate) fn media(part: &Value) -> Attachment<'static> {
    let data =
        ["/source/data", "/data", "/image_url/url", "/imageUrl/url", "/video_url/url", "/audio_url/url", "/image_url"];
    let data = filled(part, data).unwrap_or_default();
    let named = ["/source/media_type", "/source/mediaType", "/mediaType", "/mimeType", "/media_type"];
    let named = filled(part, named);
    attachment(named.unwrap_or(if kind(part) == "file" { "file" } else { "image" }), data)
}
