//! Whether a file holds sessions of this agent, and in which of the three ways.

use std::path::Path;

use super::export::messages;
use crate::file::document::{Piece, member, members};
use crate::file::sqlite::is_database;
use crate::file::value::{filled, word};

/// Whether the file is one that is read, or that belongs to one.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    if is_database(head) {
        return super::database::is_own(path);
    }
    if !head.trim_ascii_start().starts_with(b"{") {
        return false;
    }
    if is_export(head) {
        return true;
    }
    super::tree::place(path).is_some() && {
        let head = String::from_utf8_lossy(head);
        let document = members(&head);
        member(&document, "id").is_some() && member(&document, "time").is_some()
    }
}

/// Whether a document is an export: a session's row and its messages.
pub(super) fn is_export(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let document = members(&head);
    let info = member(&document, "info").and_then(Piece::value);
    let session = info.is_some_and(|info| {
        let known = ["projectID", "directory", "version", "slug"].iter().any(|key| filled(&info, key).is_some());
        filled(&info, "id").is_some() && known && info.get("time").is_some_and(serde_json::Value::is_object)
    });
    let message = messages(&document).first().and_then(Piece::value);
    let message = message.is_some_and(|message| {
        let known = |info: &serde_json::Value| matches!(word(info, "role"), "user" | "assistant");
        message.get("info").is_some_and(known) && message.get("parts").is_some_and(serde_json::Value::is_array)
    });
    session || (message && member(&document, "sessionId").is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(path: &str, head: &str) -> bool {
        recognise(Path::new(path), head.as_bytes())
    }

    #[test]
    fn by_content() {
        let session = r#"{"info":{"id":"ses_1","projectID":"p","time":{"created":1}},"messages":["#;
        assert!(is("a.jsonl", session));
        assert!(is("a.json", r#"{"messages":[{"info":{"role":"user"},"parts":[]}],"info":{}}"#));
        assert!(is("/s/storage/session/p/ses_1.json", r#"{"id":"ses_1","projectID":"p","time":{}}"#));
        assert!(is("/s/storage/message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user","time":{}}"#));
        assert!(!is("/s/ses_1.json", r#"{"id":"ses_1","projectID":"p","time":{}}"#));
        assert!(!is("a.json", r#"{"sessionId":"x","projectHash":"y","messages":[]}"#));
        assert!(!is("a.jsonl", r#"{"type":"session","version":3,"id":"s","cwd":"/x"}"#));
        assert!(!is("a.json", "[]") && !is("a.json", "") && !is("a.json", "{\"info\":3}"));
    }
}
