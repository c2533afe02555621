//! Antigravity: its conversations as events, from the steps that it writes as lines. Answers do not name their call: they
//! follow in order.

use std::path::Path;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::jsonl::beginning;
use crate::file::value::{filled, list, word};
use crate::record::session::{HOST_WORDS, RecordSession, exit_of, file_path};
use crate::record::{self, RecordHost};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::source::Bundle;

/// The steps with words of its own; beside it, the same with the long ones cut.
const WHOLE: &str = "transcript_full.jsonl";

pub(super) const HOST: RecordHost = RecordHost {
    id: "antigravity",
    recognise: |_, head| {
        record::has_line(head, |line| {
            matches!(word(line, "/source"), "USER_EXPLICIT" | "MODEL" | "SYSTEM") && line.get("created_at").is_some()
        })
    },
    // `brain/<id>/.system_generated/logs/transcript.jsonl`
    session: |path| {
        let id = record::above(path, 3);
        let known = record::above(path, 2) == ".system_generated";
        (if known { id.to_owned() } else { crate::bundles::stem(path) }, u64::from(record::name(path) != WHOLE))
    },
    beside: |path| json!({ "cwd": folder(path).unwrap_or_default() }),
    // What both tell is told once.
    ids: &["step_index"],
    times: &["created_at"],
    tell,
    ..RecordHost::PLAIN
};

/// The folder of the work, which the list of prompts has.
fn folder(path: &Path) -> Option<String> {
    let list = path.ancestors().nth(5)?.join("history.jsonl");
    let lines = beginning(&Bundle::default(), &list, 10_000).ok()?;
    let own = lines.iter().find(|line| word(line, "/conversationId") == record::above(path, 3))?;
    Some(file_path(filled(own, "workspace")?))
}

fn tell(session: &mut RecordSession, step: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let (content, status) = (word(step, "/content"), word(step, "/status"));
    match (word(step, "/source"), word(step, "/type")) {
        ("USER_EXPLICIT", _) => {
            // What a person stopped gets no answer any more.
            session.waiting.clear();
            session.prompt(content, Vec::new(), out)
        }
        (_, "ERROR_MESSAGE") => session.fail(filled(step, "error").unwrap_or(content), out),
        ("SYSTEM", "CONVERSATION_HISTORY" | "EPHEMERAL_MESSAGE" | "SYSTEM_MESSAGE" | "KNOWLEDGE_ARTIFACTS") => {
            Some(HOST_WORDS)
        }
        ("SYSTEM", "CHECKPOINT") => session.compact(None, content, out),
        ("SYSTEM", kind) if kind.is_empty() || content.is_empty() => Some(HOST_WORDS),
        ("MODEL", "" | "PLANNER_RESPONSE") => {
            session.think(word(step, "/thinking"), out);
            session.reply(content, out);
            asked(session, step, out);
            None
        }
        (
            "MODEL" | "SYSTEM",
            kind @ ("RUN_COMMAND" | "VIEW_FILE" | "CODE_ACTION" | "LIST_DIRECTORY" | "GREP_SEARCH" | "SEARCH_WEB"
            | "READ_URL_CONTENT" | "MCP_TOOL" | "BROWSER_SUBAGENT" | "ASK_QUESTION" | "GENERIC"),
        ) => {
            if status == "RUNNING" {
                return Some("call that goes on");
            }
            // A call may stand with its own answer; one that stands nowhere is told by it.
            asked(session, step, out);
            if session.waiting.is_empty() {
                let path = content
                    .strip_prefix("File Path: `")
                    .and_then(|rest| rest.split_once('`'))
                    .map(|(path, _)| file_path(path));
                session.call("", &kind.to_lowercase(), &path.map_or(Value::Null, |path| json!({ "path": path })), out);
            }
            let failed = status == "ERROR" || filled(step, "error").is_some();
            let output = if content.is_empty() { word(step, "/error") } else { content };
            let answer = Answer {
                output: output.to_owned().into(),
                failed,
                denied: status == "CANCELED",
                exit: exit_of(content),
                ..Answer::default()
            };
            session.answer_next("", answer, out)
        }
        (_, kind) => Some(unknown("unknown record type", kind)),
    }
}

fn asked(session: &mut RecordSession, step: &Value, out: &mut Out<'_>) {
    for call in list(step, "/tool_calls") {
        session.call(word(call, "/id"), word(call, "/name"), call.get("args").unwrap_or(&call["arguments"]), out);
    }
}
