//! One transcript while it is read: each message to its events.

use std::borrow::Cow;

use serde_json::Value;

use super::stamp;
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
    let words = blocks.iter().find_map(|block| own_words(word(block, "/text")).map(Cow::into_owned));
    words.filter(|words| !words.trim().is_empty())
}

fn user(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let blocks = blocks(record);
    let (mut words, mut attachments, mut left) = (Vec::new(), Vec::new(), None);
    for block in &blocks {
        match word(block, "/type") {
            "text" => match own_words(word(block, "/text")) {
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
        let origin = if session.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
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
            "text" => session.reply(prose(word(&block, "/text")), out),
            "thinking" | "reasoning" => {
                session.think(prose(filled(&block, ["/thinking", "/text"]).unwrap_or_default()), out);
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

/// The words of a message; `None` where the host alone spoke.
pub(super) fn own_words(text: &str) -> Option<Cow<'_, str>> {
    let words = match crate::wrapper::own_words("cursor", text) {
        Cow::Borrowed(words) => Cow::Borrowed(words.trim()),
        words @ Cow::Owned(_) => words,
    };
    (!words.trim().is_empty()).then_some(words)
}

/// Prose of the agent without the mark that stands for thoughts which were taken out.
pub(super) fn prose(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_suffix("[REDACTED]").unwrap_or(text);
    text.strip_prefix("[REDACTED]").unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_said() {
        let rows: &[(&str, Option<&str>)] = &[
            ("<user_query>\nrun it\n</user_query>", Some("run it")),
            ("<user_info>x</user_info>\n<user_query>a</user_query>\n<user_query>b</user_query>", Some("a\n\nb")),
            ("<user_query>never closed", Some("never closed")),
            // What stands within is theirs, also where it begins like something of the host's.
            ("<user_query><timestamp> in the header is wrong</user_query>", Some("<timestamp> in the header is wrong")),
            ("plain <b>words</b>", Some("plain <b>words</b>")),
            ("<timestamp>now</timestamp>\nplain", Some("plain")),
            ("<git_status>x</git_status>", None),
            ("<rules attr=\"1\">never closed", None),
            ("<div>kept</div>", Some("<div>kept</div>")),
            ("<", Some("<")),
            ("", None),
        ];
        for (text, wanted) in rows {
            assert_eq!(own_words(text).as_deref(), *wanted, "{text}");
        }
    }

    #[test]
    fn what_was_taken_out_says_nothing() {
        assert_eq!(prose("[REDACTED]"), "");
        assert_eq!(prose("Done.\n\n[REDACTED]"), "Done.");
        assert_eq!(prose("a [REDACTED] b"), "a [REDACTED] b");
    }
}
