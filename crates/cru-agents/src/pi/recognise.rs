//! Whether a file is a session of this format, by its first lines.

use std::path::Path;

use super::record::{PiRecord, with_record};
use cru_base::json;

/// Lines that are looked at.
const LINES: usize = 20;

/// Whether the file begins with a session's header, or with entries of a session that was cut.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    // Copies of what stands in the sessions themselves, for whoever looks for faults.
    const COPIES: &str = "subagent-artifacts";
    if path.ancestors().skip(1).any(|folder| folder.file_name().is_some_and(|name| name == COPIES)) {
        return false;
    }
    let lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LINES);
    for line in lines {
        if let Some(known) = with_record(&json::text(line), |record| sign(record)).flatten() {
            return known;
        }
    }
    false
}

/// What one line says; `None` where it says nothing.
fn sign(record: &PiRecord<'_>) -> Option<bool> {
    let has_id = record.id.filled().is_some();
    match record.kind.str() {
        "session" => Some(has_id),
        // oh-my-pi writes one before the header.
        "title" => None,
        "message" => {
            let role = record.message.0.as_ref().map_or("", |message| message.role.str());
            let known = matches!(role, "user" | "assistant" | "toolResult" | "bashExecution");
            Some(known && record.timestamp.filled().is_some())
        }
        "model_change"
        | "thinking_level_change"
        | "compaction"
        | "branch_summary"
        | "session_info"
        | "custom_message" => Some(record.timestamp.filled().is_some()),
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
