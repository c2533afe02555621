//! Whether a file is a session of this host, by its first records.

use std::path::Path;

use crate::file::value::word;
use crate::record::has_line;

/// Whether the file begins with events of this host.
pub(super) fn recognise(_: &Path, bytes: &[u8]) -> bool {
    has_line(bytes, |record| {
        let kind = word(record, "/type");
        let part = kind.split('.').next().unwrap_or("");
        let known = matches!(part, "session" | "user" | "assistant" | "tool" | "hook" | "system" | "subagent");
        kind.contains('.') && known && record.get("data").is_some_and(serde_json::Value::is_object)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(head: &str) -> bool {
        recognise(Path::new("a.jsonl"), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("{\"type\":\"session.start\",\"data\":{\"sessionId\":\"s\"}}\n"));
        assert!(is("broken\n{\"type\":\"user.message\",\"data\":{}}\n"));
        assert!(!is("{\"type\":\"session.start\"}\n"));
        assert!(!is("{\"type\":\"session\",\"data\":{}}\n"));
        assert!(!is("{\"type\":\"thread.started\",\"data\":{}}\n"));
        assert!(!is("{\"role\":\"user\",\"message\":{}}\n"));
        assert!(!is(""));
    }
}
