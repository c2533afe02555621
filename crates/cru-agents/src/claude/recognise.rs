//! Whether a file is a transcript of this host, by its first bytes.

use std::path::Path;

use serde_json::Value;

use super::record::ClaudeEnvelope;
use cru_base::json;

/// Whether one of the file's first records is of this host's kind: another kind may stand before it, and newer versions
/// write kinds that are not known yet.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20).peekable();
    while let Some(line) = lines.next() {
        let text = json::text(line);
        match serde_json::from_str::<ClaudeEnvelope<'_>>(&text) {
            // Qwen Code has the same envelope around messages in parts.
            Ok(envelope) if is_ours(&envelope) => {
                let record = serde_json::from_str::<Value>(&text).unwrap_or_default();
                return record.pointer("/message/parts").is_none() && record.get("systemPayload").is_none();
            }
            Ok(_) => {}
            // The only line is longer than what was read of the file.
            Err(_) if lines.peek().is_none() && !head.ends_with(b"\n") => return looks_ours(&text),
            Err(_) => {}
        }
    }
    false
}

fn is_ours(envelope: &ClaudeEnvelope<'_>) -> bool {
    let has_session = envelope.session_id.filled().is_some();
    match envelope.kind.str() {
        "user" | "assistant" | "system" | "progress" | "attachment" => has_session && envelope.uuid.filled().is_some(),
        "summary" => envelope.leaf_uuid.filled().is_some(),
        "file-history-snapshot" | "file-history-delta" => envelope.message_id.filled().is_some(),
        "" => false,
        // Session-level lines: other hosts that name a session so have no such types, or a `uuid` with them.
        kind => {
            has_session && envelope.uuid.filled().is_none() && (kind.contains('-') || kind == "mode" || kind == "tag")
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
