//! Whether a file is a rollout of this host, by its first bytes.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::file::lenient::{Maybe, Text};
use cru_base::json;

/// The fields that tell.
#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    record_type: Text<'a>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    timestamp: Text<'a>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    git: Option<&'a RawValue>,
}

/// Whether the file's first records are of this host's kind.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20).peekable();
    while let Some(line) = lines.next() {
        let text = json::text(line);
        let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        match serde_json::from_str::<Maybe<Probe<'_>>>(text) {
            Ok(Maybe(Some(probe))) if is_ours(&probe, text) => return true,
            Ok(_) => {}
            // The only line is longer than what was read of the file.
            Err(_) if lines.peek().is_none() && !head.ends_with(b"\n") => return looks_ours(text),
            Err(_) => {}
        }
    }
    false
}

fn is_ours(probe: &Probe<'_>, text: &str) -> bool {
    let holds = probe.payload.is_some_and(|payload| payload.get().starts_with('{'));
    match probe.kind.str() {
        "session_meta" | "turn_context" | "response_item" | "event_msg" | "compacted" | "world_state" => holds,
        // The oldest files begin with a header that has no type.
        "" if probe.record_type.filled().is_some() => true,
        "" => {
            let named = probe.id.filled().is_some() && probe.timestamp.filled().is_some();
            let told = probe.instructions.is_some() || probe.git.is_some() || text.contains("\"instructions\":null");
            named && told
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
