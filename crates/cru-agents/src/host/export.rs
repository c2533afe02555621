//! Exports of `claude.ai` and of `ChatGPT`: a document with all conversations of a person, each a session.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::document::{items, member, members};
use crate::file::value::{self, filled, flag, list, word};
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;

/// A message, or why one is left out.
type Told = std::result::Result<Value, &'static str>;

pub(super) const CLAUDE: RecordHost = RecordHost {
    id: "claude-ai",
    recognise: |_, head| has(head, &["uuid", "chat_messages"]),
    session: |path| (path.to_string_lossy().into_owned(), 0),
    document: |path, text, each| {
        conversations(path, text, each, |it| {
            let head = json!({"title": it["name"], "started": it["created_at"]});
            (word(it, "/uuid").to_owned(), head, list(it, "/chat_messages").iter().cloned().map(Ok).collect())
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
    document: |path, text, each| {
        conversations(path, text, each, |it| {
            let id = value::filled(it, ["conversation_id", "id"]).unwrap_or_default().to_owned();
            let head = json!({"title": it["title"], "started": it["create_time"], "model": it["default_model_slug"]});
            (id, head, shown(it))
        });
    },
    ids: &["id"],
    times: &["create_time"],
    tell,
    ..CLAUDE
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
    of: impl Fn(&Value) -> (String, Value, Vec<Told>),
) {
    let (mut seen, mut left) = (HashSet::new(), Vec::new());
    for piece in items(text) {
        let conversation = piece.value();
        match conversation.as_ref().map(&of) {
            Some((id, head, messages)) if !id.is_empty() && seen.insert(id.clone()) => {
                each(record::header(path, id, None), head, messages);
            }
            Some((id, ..)) if !id.is_empty() => left.push(Err("conversation that stands twice")),
            Some(_) => left.push(Err("conversation without an id")),
            None => left.push(Err(piece.trouble())),
        }
    }
    if !left.is_empty() {
        each(record::header(path, crate::bundles::stem(path), None), Value::Null, left);
    }
}

/// The messages on the way to the one that was shown last. Those on other branches were edited or written anew.
fn shown(conversation: &Value) -> Vec<Told> {
    let Some(nodes) = conversation.get("mapping").and_then(Value::as_object) else { return Vec::new() };
    let message = |node: &Value| node.get("message").filter(|message| message.is_object()).cloned();
    let (mut at, mut found, mut passed) = (word(conversation, "/current_node"), Vec::new(), 0);
    // A damaged export may go in circles.
    while let Some(node) = nodes.get(at).filter(|_| passed < nodes.len()) {
        found.extend(message(node).map(Ok));
        at = word(node, "/parent");
        passed += 1;
    }
    found.reverse();
    let others = nodes.values().filter_map(message).count().saturating_sub(found.len());
    found.extend(std::iter::repeat_n(Err("message of another branch"), others));
    found
}

/// A message of `ChatGPT`.
fn tell(session: &mut RecordSession, said: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let (content, about) = (&said["content"], &said["metadata"]);
    session.head(&json!({ "model": about["model_slug"] }), out);
    let (role, kind) = (word(said, "/author/role"), word(content, "/content_type"));
    let of_host =
        matches!(kind, "user_editable_context" | "model_editable_context" | "system_error" | "reasoning_recap");
    if of_host || role == "system" || flag(about, "is_visually_hidden_from_conversation") {
        return Some(HOST_WORDS);
    }
    let words = words(content);
    let to = filled(said, "recipient").unwrap_or("all");
    match (role, kind) {
        ("user", _) => session.prompt(&words, list(about, "/attachments").iter().map(message::sent).collect(), out),
        ("assistant", "thoughts") => {
            session.think(&words, out);
            None
        }
        ("assistant", _) if to != "all" => {
            word(said, "/id").clone_into(&mut session.last);
            let input = if words.trim_start().starts_with('{') { json!(words) } else { json!({ "input": words }) };
            session.call(word(said, "/id"), to, &input, out);
            None
        }
        ("assistant", "text" | "code" | "multimodal_text") => {
            session.reply(&words, out);
            None
        }
        ("tool", _) => {
            let status = word(about, "/aggregate_result/status");
            let failed = !matches!(status, "" | "success" | "running");
            let call = session.last.clone();
            session.answer(&call, Answer { output: words.into(), failed, ..Answer::default() }, out)
        }
        (_, kind) => Some(unknown("unknown record type", kind)),
    }
}

/// The words of a content, whatever its type.
fn words(content: &Value) -> String {
    let parts = list(content, "/parts").iter().filter_map(|part| part.as_str().or_else(|| filled(part, "text")));
    let thoughts = list(content, "/thoughts").iter().filter_map(|part| filled(part, "content"));
    let words: Vec<&str> = parts.chain(thoughts).chain(filled(content, ["text", "result", "content"])).collect();
    words.join("\n\n")
}
