//! Whether a file is a session of this format, by its first lines.

use std::path::Path;

use serde_json::Value;

use crate::file::jsonl;
use crate::file::value::{filled, word};

/// Whether the file begins with a session's header, or with entries of a session that was cut.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    // Copies of what stands in the sessions themselves, for whoever looks for faults.
    const COPIES: &str = "subagent-artifacts";
    if path.ancestors().skip(1).any(|folder| folder.file_name().is_some_and(|name| name == COPIES)) {
        return false;
    }
    jsonl::head(head, 20).find_map(|record| sign(&record)).unwrap_or(false)
}

/// What one line says; `None` where it says nothing.
fn sign(record: &Value) -> Option<bool> {
    let has_id = filled(record, "id").is_some();
    match word(record, "type") {
        "session" => Some(has_id),
        // oh-my-pi writes one before the header.
        "title" => None,
        "message" => {
            let role = word(&record["message"], "role");
            let known = matches!(role, "user" | "assistant" | "toolResult" | "bashExecution");
            Some(known && filled(record, "timestamp").is_some())
        }
        "model_change"
        | "thinking_level_change"
        | "compaction"
        | "branch_summary"
        | "session_info"
        | "custom_message" => Some(filled(record, "timestamp").is_some()),
        // Droid begins its files so, and goes on with messages of the same form.
        "session_start" => Some(false),
        // A kind of a newer version, or of an extension.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(head: &str) -> bool {
        recognise(Path::new("a.jsonl"), head.as_bytes())
    }

    #[test]
    fn copies_are_none() {
        let head = b"{\"type\":\"session\",\"id\":\"s\"}\n";
        assert!(recognise(Path::new("/s/1_a/run-0/session.jsonl"), head));
        assert!(!recognise(Path::new("/s/1_a/subagent-artifacts/a.jsonl"), head));
    }

    #[test]
    fn by_content() {
        assert!(is("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/x\"}\n"));
        assert!(is("{\"type\":\"session\",\"id\":\"s\"}"));
        assert!(is("{\"type\":\"title\",\"v\":1,\"title\":\"x\"}\n{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(is("broken\n\n{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(is("{\"type\":\"message\",\"timestamp\":\"t\",\"message\":{\"role\":\"toolResult\"}}\n"));
        assert!(!is("{\"type\":\"session_start\",\"id\":\"s\"}\n{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(!is("{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(!is("{\"type\":\"session_meta\",\"payload\":{}}\n"));
        assert!(!is("{\"type\":\"session.start\",\"id\":\"s\"}\n"));
        assert!(!is(""));
    }
}
