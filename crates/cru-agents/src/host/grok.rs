//! Grok Build: its sessions as events, from the updates that it sends to editors, else from the messages that the model
//! was sent.

use serde_json::{Value, json};

use crate::call::task_list;
use crate::call::tools::Answer;
use crate::file::value::{attachment, filled, list, number, word};
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::record::{self, RecordHost, message};
use crate::stream::out::Out;
use cru_session::event::EventKind;

pub(super) const HOST: RecordHost = RecordHost {
    id: "grok",
    recognise: |path, head| {
        let is_update = |line: &Value| line.pointer("/params/update/sessionUpdate").is_some();
        let is_history = record::name(path) == "chat_history.jsonl" && path.with_file_name("summary.json").is_file();
        is_history || record::has_line(head, is_update)
    },
    session: |path| {
        let info = record::neighbour(&path.with_file_name("summary.json"));
        (filled(&info["info"], "id").unwrap_or_else(|| record::above(path, 1)).to_owned(), 0)
    },
    passes: |bundle, path| {
        let told = record::name(path) == "chat_history.jsonl"
            && bundle.files.iter().any(|other| record::name(other) == "updates.jsonl");
        told.then_some("messages that the updates tell")
    },
    header: |path, session| {
        let about = record::neighbour(&path.with_file_name("summary.json"));
        record::header(path, session, filled(&about, "parent_session_id"))
    },
    beside: |path| {
        let about = record::neighbour(&path.with_file_name("summary.json"));
        let context = number(&record::neighbour(&path.with_file_name("signals.json")), "contextTokensUsed");
        json!({
            "cwd": about["info"]["cwd"], "title": filled(&about, ["generated_title", "session_summary"]),
            "model": about["current_model_id"], "branch": about["head_branch"], "started": about["created_at"],
            "more": context.filter(|tokens| *tokens > 0).map(|tokens| json!({ "context_tokens": tokens })),
        })
    },
    times: &["timestamp"],
    tell: |session, line, out| match line.pointer("/params/update") {
        Some(update) => tell(session, update, out),
        None => said(session, line, out),
    },
    ..RecordHost::PLAIN
};

fn tell(session: &mut RecordSession, update: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let content = &update["content"];
    match word(update, "/sessionUpdate") {
        "user_message_chunk" => {
            let prompt = update["_meta"]["promptIndex"].to_string();
            if prompt != session.last {
                session.flush(out);
                session.last = prompt;
            }
            let sent = || attachment(word(content, "/mimeType"), word(content, "/data"));
            let sent = (!content["text"].is_string()).then(sent);
            session.prompt_more(word(content, "/text"), sent, out);
            None
        }
        "agent_message_chunk" => {
            session.more(false, word(content, "/text"), out);
            None
        }
        "agent_thought_chunk" => {
            session.more(true, word(content, "/text"), out);
            None
        }
        "tool_call" => {
            let input = update
                .get("rawInput")
                .cloned()
                .unwrap_or_else(|| json!({ "path": update.pointer("/locations/0/path") }));
            // The name of the tool stands in its title, where nothing else has it.
            let tool = filled(&update["_meta"], "toolName").or_else(|| filled(update, "toolName"));
            let tool = tool.unwrap_or_else(|| named(word(update, "/kind"), word(update, "/title")));
            session.call(word(update, "/toolCallId"), tool, &input, out);
            ended(session, update, out)
        }
        "tool_call_update" => ended(session, update, out),
        "plan" => {
            session.flush(out);
            out.emit(EventKind::Tasks(task_list::read(list(update, "/entries"))));
            None
        }
        kind => Some(session.left_out("unknown record type", kind)),
    }
}

/// The tool that a kind of call stands for.
fn named<'v>(kind: &'v str, title: &'v str) -> &'v str {
    match kind {
        "execute" => "shell",
        "read" | "edit" | "delete" | "search" | "fetch" | "think" => kind,
        _ => title.split_whitespace().next().unwrap_or(kind),
    }
}

/// A call, once it has ended.
fn ended(session: &mut RecordSession, update: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let status = word(update, "/status");
    if !matches!(status, "completed" | "failed" | "cancelled") {
        return None.or((!out.told).then_some("call that goes on"));
    }
    let words = list(update, "/content").iter().map(|part| message::flat(part.get("content").unwrap_or(part)).0);
    let words = words.collect::<Vec<_>>().join("\n");
    let raw = update.get("rawOutput").unwrap_or(&Value::Null);
    let mut answer =
        Answer { failed: status == "failed", denied: status == "cancelled", ..message::answer(update, "rawOutput") };
    if !words.is_empty() || raw.is_null() {
        answer.output = words.into();
    }
    session.answer(word(update, "/toolCallId"), answer, out)
}

/// A message that the model was sent.
fn said(session: &mut RecordSession, line: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if let Some(model) = filled(line, "model_id") {
        session.head(&json!({ "model": model }), out);
    }
    match word(line, "/type") {
        "reasoning" => {
            let words = list(line, "/summary").iter().map(|part| word(part, "/text")).collect::<Vec<_>>();
            session.think(&words.join("\n\n"), out);
            None
        }
        "user" if line.get("synthetic_reason").is_some_and(|why| why != "interjection") => Some(HOST_WORDS),
        "backend_tool_call" => {
            let call = &line["kind"];
            session.call(word(call, "/id"), word(call, "/tool_type"), &call["action"], out);
            session.answer(word(call, "/id"), message::answer(call, "result"), out)
        }
        _ => message::tell(session, line, out),
    }
}
