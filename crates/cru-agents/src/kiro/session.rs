//! One session while it is read: what is said of it, and each entry to its events.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::value::{filled, list, moment, word};
use crate::record::session::{RecordSession, attachment};
use crate::record::{self, RecordHost};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::{Attachment, EventKind};

/// The host's words for a call that a person refused.
const REFUSED: [&str; 2] = ["Tool use was cancelled by the user", "The user denied"];

/// Each file of lines is a session; one of the same name beside it describes it.
pub(super) static HOST: RecordHost = RecordHost {
    id: "kiro",
    beside: |path| about(&record::neighbour(&path.with_extension("json"))),
    ids: &["/data/message_id"],
    times: &["created_at", "/user/timestamp", "/data/meta/timestamp"],
    tell,
    ..RecordHost::PLAIN
};

/// What is said of a session as a whole; it may be another the next time.
pub(super) fn about(row: &Value) -> Value {
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
    let exit = exit.and_then(|code| i32::try_from(code).ok()).filter(|code| *code != 0);
    let output: Cow<'_, str> = words.join("\n").into();
    let denied = is_cancelled || REFUSED.iter().any(|words| output.starts_with(words));
    let failed = !denied && (word(result, "/status").eq_ignore_ascii_case("error") || exit.is_some());
    session.answer(id, Answer { output, failed, denied, exit, ..Answer::default() }, out)
}
