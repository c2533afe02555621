//! Whether a file is a transcript of this host, by its first bytes.

use std::path::Path;

use serde_json::Value;

use crate::file::jsonl;
use crate::file::value::{filled, word};

/// Whether one of the file's first records is of this host's kind: another kind may stand before it, and newer versions
/// write kinds that are not known yet.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    // Qwen Code has the same envelope around messages in parts.
    let is_qwen = |record: &Value| record.pointer("/message/parts").is_some() || record.get("systemPayload").is_some();
    jsonl::head(head, 20)
        .find(is_ours)
        .map_or_else(|| jsonl::cut_line(head).is_some_and(|line| looks_ours(&line)), |record| !is_qwen(&record))
}

fn is_ours(envelope: &Value) -> bool {
    let has_session = filled(envelope, "sessionId").is_some();
    match word(envelope, "type") {
        "user" | "assistant" | "system" | "progress" | "attachment" => {
            has_session && filled(envelope, "uuid").is_some()
        }
        "summary" => filled(envelope, "leafUuid").is_some(),
        "file-history-snapshot" | "file-history-delta" => filled(envelope, "messageId").is_some(),
        "" => false,
        // Session-level lines: other hosts that name a session so have no such types, or a `uuid` with them.
        kind => {
            has_session && filled(envelope, "uuid").is_none() && (kind.contains('-') || kind == "mode" || kind == "tag")
        }
    }
}

fn looks_ours(text: &str) -> bool {
    [r#""sessionId":"#, r#""parentUuid":"#, r#""isSidechain":"#].iter().all(|key| text.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(name: &str, head: &str) -> bool {
        recognise(Path::new(name), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("a.jsonl", "{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(is("a.jsonl", "\n{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}"));
        assert!(is("a.jsonl", "{\"type\":\"permission-mode\",\"sessionId\":\"s\"}\n"));
        assert!(is("a.jsonl", "broken\n{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}\n"));
        assert!(is(
            "a.jsonl",
            "{\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"s\",\"message\":{\"content\":\"cut off"
        ));
        assert!(!is("a.jsonl", "{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(!is("a.jsonl", "{\"type\":\"session_meta\",\"payload\":{}}\n"));
        assert!(!is("a.jsonl", "{\"sessionId\":\"s\",\"kind\":\"main\"}\n"));
        assert!(is("a.jsonl", "{\"type\":\"new\"}\n{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(!is("a.jsonl", ""));
    }
}
