//! Whether a file is a rollout of this host, by its first bytes.

use std::path::Path;

use serde_json::Value;

use crate::file::jsonl;
use crate::file::value::{filled, word};

/// Whether the file's first records are of this host's kind.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    jsonl::head(head, 20).any(|record| is_ours(&record)) || jsonl::cut_line(head).is_some_and(|line| looks_ours(&line))
}

fn is_ours(record: &Value) -> bool {
    match word(record, "type") {
        "session_meta" | "turn_context" | "response_item" | "event_msg" | "compacted" | "world_state" => {
            record["payload"].is_object()
        }
        // The oldest files begin with a header that has no type.
        "" if filled(record, "record_type").is_some() => true,
        "" => {
            let is_named = filled(record, "id").is_some() && filled(record, "timestamp").is_some();
            is_named && (record.get("instructions").is_some() || !record["git"].is_null())
        }
        _ => false,
    }
}

fn looks_ours(text: &str) -> bool {
    let all = |keys: &[&str]| keys.iter().all(|key| text.contains(key));
    all(&["\"session_meta\"", "\"payload\""])
        || all(&["\"payload\"", "\"cli_version\"", "\"originator\""])
        || all(&["\"response_item\"", "\"payload\""])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(head: &str) -> bool {
        recognise(Path::new("a.jsonl"), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"a\"}}\n"));
        assert!(is("broken\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\"}}\n"));
        assert!(is("{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":null}\n{\"record_type\":\"state\"}\n"));
        assert!(is("{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":\"x\",\"git\":{}}\n"));
        assert!(is("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"base_instructions\":\"cut off"));
        assert!(!is("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\"}\n"));
        assert!(!is("{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(!is("{\"type\":\"event_msg\"}\n"));
        assert!(!is("[1]\n\"text\"\n"));
        assert!(!is(""));
    }
}
