//! One transcript while it is read: each message to its events.

use std::borrow::Cow;

use serde_json::Value;

use super::{said, stamp};
use crate::file::value::{self, filled, word};
use crate::record::session::RecordSession;
use crate::record::{RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::{EventKind, Prompt, PromptOrigin};

/// The transcripts: records without ids, and answers in rare versions alone.
pub(super) static HOST: RecordHost =
    RecordHost { id: "cursor", times: &["timestamp"], tell, answers: false, ..RecordHost::PLAIN };

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match (word(record, "/role"), word(record, "/type")) {
        ("user", _) => user(session, record, out),
        ("assistant", _) => assistant(session, record, out),
        ("system", _) => Some("system prompt"),
        ("tool", _) => answers(session, record, out),
        ("", "turn_ended") => ended(session, record, out),
        ("", "") => Some("no record type"),
        ("", kind) => Some(unknown("unknown record type", kind)),
        (role, _) => Some(unknown("unknown role", role)),
    }
}

/// How a turn ended.
fn ended(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match word(record, "/status") {
        "error" | "failed" => {
            let text = filled(record, ["/error/message", "/error", "/message"]);
            session.fail(text.unwrap_or("The turn ended with an error."), out)
        }
        "aborted" | "cancelled" | "canceled" | "interrupted" => session.stop(out),
        _ => Some("end of a turn"),
    }
}

/// The blocks of a message.
fn blocks(record: &Value) -> Vec<Cow<'_, Value>> {
    value::blocks(&record["message"]["content"])
}

/// What a message asks, without what the host put around it.
pub(super) fn asked(record: &Value) -> Option<String> {
    let blocks = blocks(record);
    let words = blocks.iter().find_map(|block| said::words(word(block, "/text")).map(Cow::into_owned));
    words.filter(|words| !words.trim().is_empty())
}

fn user(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let blocks = blocks(record);
    let (mut words, mut attachments, mut left) = (Vec::new(), Vec::new(), None);
    for block in &blocks {
        match word(block, "/type") {
            "text" => match said::words(word(block, "/text")) {
                Some(said) => words.push(said),
                None => left = left.or(Some("context of the host")),
            },
            "image" => attachments.push(message::media(block)),
            "tool-result" | "tool_result" => {}
            kind => left = Some(unknown("unknown block", kind)),
        }
    }
    out.time = out.time.or_else(|| blocks.iter().find_map(|block| stamp::time(word(block, "/text"))));
    answers(session, record, out);
    let words = words.join("\n\n");
    if !words.trim().is_empty() || !attachments.is_empty() {
        let origin = if session.is_agent() { PromptOrigin::Task } else { PromptOrigin::Typed };
        session.calls.begin_turn();
        session.waiting.clear();
        out.emit(EventKind::Prompt(Prompt { text: words.into(), origin, attachments }));
    }
    left
}

fn assistant(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let mut left = None;
    for block in blocks(record) {
        match word(&block, "/type") {
            "text" => session.reply(said::prose(word(&block, "/text")), out),
            "thinking" | "reasoning" => {
                session.think(said::prose(filled(&block, ["/thinking", "/text"]).unwrap_or_default()), out);
            }
            "tool_use" | "tool_call" | "tool-call" => call(session, &block, out),
            // Blocks of a later version that hold words still say them.
            kind => match filled(&block, "text") {
                Some(text) => session.reply(text, out),
                None => left = Some(unknown("unknown block", kind)),
            },
        }
    }
    left
}

/// The tool of a call or an answer.
fn tool(block: &Value) -> Option<&str> {
    filled(block, ["/name", "/toolName"])
}

fn call(session: &mut RecordSession, block: &Value, out: &mut Out<'_>) {
    let tool = tool(block).unwrap_or("tool");
    // Without ids an answer finds its call by the name of the tool.
    let own = || format!("{tool}#{}.{}", out.record, session.waiting.len());
    let id = filled(block, ["/id", "/toolCallId"]).map_or_else(own, str::to_owned);
    let input = ["input", "args", "arguments"].into_iter().find_map(|key| block.get(key));
    session.call(&id, tool, input.unwrap_or(&Value::Null), out);
}

/// Answers in a message, where the version of the host keeps them.
fn answers(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    for block in blocks(record) {
        if !matches!(word(&block, "/type"), "tool-result" | "tool_result") {
            continue;
        }
        let content =
            ["content", "result", "output"].into_iter().find(|key| block.get(*key).is_some_and(|it| *it != ""));
        let answer = message::answer(&block, content.unwrap_or("content"));
        match filled(&block, ["/tool_use_id", "/toolCallId"]) {
            Some(id) => session.answer(id, answer, out),
            None => session.answer_next(tool(&block).unwrap_or_default(), answer, out),
        };
    }
    (!out.told).then_some("answer without its call")
}
