//! Exports of `claude.ai` and of `ChatGPT`: a document with all conversations of a person, each a session.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::call::tools::Answer;
use crate::file::document::{self, items, member, members, moment, text};
use crate::file::jsonl::{list, word};
use crate::file::value::filled;
use crate::record::session::{HOST_WORDS, RecordSession, attachment};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;

pub(super) const CLAUDE: RecordHost = RecordHost {
    id: "claude-ai",
    recognise: |_, head| has(head, &["uuid", "chat_messages"]),
    session: |path| (path.to_string_lossy().into_owned(), 0),
    document: |path, text, each| {
        conversations(path, text, each, |it| {
            let messages = list(it, "/chat_messages").to_vec();
            (word(it, "/uuid").to_owned(), json!({"title": it["name"], "started": it["created_at"]}), messages)
        });
    },
    ids: &["uuid"],
    times: &["created_at"],
    tell: message::tell,
    ..RecordHost::PLAIN
};

pub(super) const CHATGPT: RecordHost = RecordHost {
    id: "chatgpt",
    recognise: |_, head| has(head, &["title", "mapping"]),
    session: CLAUDE.session,
    document: |path, text, each| {
        conversations(path, text, each, |it| {
            let id = document::text(it, &["conversation_id", "id"]).unwrap_or_default().to_owned();
            let head = json!({"title": it["title"], "started": it["create_time"], "model": it["default_model_slug"]});
            (id, head, path_to(it))
        });
    },
    ids: &["id"],
    times: &["create_time"],
    tell,
    ..RecordHost::PLAIN
};

/// Whether the first conversation of a list has all these members.
fn has(head: &[u8], names: &[&str]) -> bool {
    let head = String::from_utf8_lossy(head);
    let first = items(&head).first().map(|first| members(first.text)).unwrap_or_default();
    names.iter().all(|name| member(&first, name).is_some())
}

/// Tells each conversation of a list: its id, what is said of it as a whole, and its messages.
fn conversations(
    path: &Path,
    text: &str,
    each: &mut EachSession<'_>,
    of: impl Fn(&Value) -> (String, Value, Vec<Value>),
) {
    for piece in items(text) {
        match piece.value() {
            Some(conversation) => {
                let (id, head, messages) = of(&conversation);
                if !id.is_empty() {
                    each(record::header(path, id, None), head, messages.into_iter().map(Ok).collect());
                }
            }
            None => {
                each(record::header(path, crate::bundles::stem(path), None), Value::Null, vec![Err(piece.trouble())]);
            }
        }
    }
}

/// The messages on the way to the one that was last shown: other branches were edited or written anew.
fn path_to(conversation: &Value) -> Vec<Value> {
    let none = Map::new();
    let nodes = conversation.get("mapping").and_then(Value::as_object).unwrap_or(&none);
    let mut at = word(conversation, "/current_node");
    let mut found = Vec::new();
    // A damaged export may go in circles.
    while let Some(node) = nodes.get(at).filter(|_| found.len() <= nodes.len()) {
        found.push(node.get("message").cloned().unwrap_or_default());
        at = word(node, "/parent");
    }
    found.retain(|message| !message.is_null());
    found.reverse();
    found
}

fn tell(session: &mut RecordSession, said: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let content = &said["content"];
    if let Some(model) = filled(&said["metadata"], "model_slug") {
        session.head(&json!({ "model": model }), out);
    }
    out.time = moment(said, &["create_time"]);
    let role = word(said, "/author/role");
    if said["metadata"]["is_visually_hidden_from_conversation"] == true || role == "system" {
        return Some(HOST_WORDS);
    }
    let words = words(content);
    let to = filled(said, "recipient").unwrap_or("all");
    match (role, word(content, "/content_type")) {
        (_, "user_editable_context" | "model_editable_context" | "system_error") => Some(HOST_WORDS),
        ("user", _) => {
            let sent = list(said, "/metadata/attachments").iter();
            let sent = sent.map(|it| attachment(text(it, &["mime_type", "mimeType"]).unwrap_or("file"), "")).collect();
            session.prompt(&words, sent, out)
        }
        ("assistant", "thoughts") => {
            session.think(&words, out);
            None
        }
        ("assistant", "reasoning_recap") => Some(HOST_WORDS),
        ("assistant", _) if to != "all" => {
            session.call(word(said, "/id"), to, &json!({ "input": words }), out);
            None
        }
        ("assistant", "text" | "code" | "multimodal_text") => {
            session.reply(&words, out);
            None
        }
        ("tool", _) => {
            let tool = word(said, "/author/name");
            let status = word(said, "/metadata/aggregate_result/status");
            let failed = !matches!(status, "" | "success" | "running")
                || word(said, "/metadata/aggregate_result/code") == "error";
            session.answer_next(tool, Answer { output: words.into(), failed, ..Answer::default() }, out)
        }
        (_, kind) => Some(unknown("unknown record type", kind)),
    }
}

/// The words of a content, whatever its type.
fn words(content: &Value) -> String {
    let parts = list(content, "/parts").iter().filter_map(|part| part.as_str().or_else(|| filled(part, "text")));
    let thoughts = list(content, "/thoughts").iter().filter_map(|part| filled(part, "content"));
    let words: Vec<&str> = parts.chain(thoughts).chain(text(content, &["text", "result", "content"])).collect();
    words.join("\n\n")
}
