//! Whether a file is a session of this agent, by its beginning.

use std::path::Path;

use serde_json::Value;

use crate::file::document::{items, member, members};
use crate::file::jsonl;
use crate::file::value::{filled, word};
use cru_base::json;

/// Records that are looked at.
const RECORDS: usize = 20;

/// Whether the file begins with a session's head, or with one of its messages.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    let beginning = json::text(head);
    let document = members(&beginning);
    let has = |name: &str| member(&document, name).is_some_and(|piece| piece.text.starts_with('"'));
    if has("sessionId") && (has("projectHash") || has("startTime")) && !has("type") {
        return true;
    }
    let messages = member(&document, "messages").map(|piece| items(piece.text)).unwrap_or_default();
    if let Some(first) = messages.first().filter(|first| first.whole) {
        return first.value().is_some_and(|value| is_message(&value));
    }
    jsonl::head(head, RECORDS).any(|record| is_message(&record))
}

fn is_message(value: &Value) -> bool {
    let kind = matches!(word(value, "type"), "user" | "gemini" | "info" | "error" | "warning");
    let alone = value.get("content").is_some() && value.get("message").is_none() && value.get("uuid").is_none();
    kind && alone && filled(value, "id").is_some() && filled(value, "timestamp").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(head: &str) -> bool {
        recognise(Path::new("a.json"), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"p\",\n  \"messages\": ["));
        assert!(is("{\"sessionId\":\"s\",\"projectHash\":\"p\"}\n{\"id\":\"1\""));
        assert!(is("{\"messages\":[{\"id\":\"1\",\"timestamp\":\"t\",\"type\":\"user\",\"content\":\"x\"}"));
        assert!(is("{\"id\":\"1\",\"timestamp\":\"t\",\"type\":\"gemini\",\"content\":\"x\"}\n"));
        assert!(!is("{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\",\"timestamp\":\"t\"}\n"));
        assert!(!is("{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"t\"}"));
        assert!(!is("[{\"sessionId\":\"s\",\"messageId\":0,\"type\":\"user\",\"message\":\"x\"}]"));
        assert!(!is("") && !is("{}") && !is("{\"info\":{\"id\":\"ses\"},\"messages\":[]}"));
    }
}
