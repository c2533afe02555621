//! Whether a file is a transcript of this host, by its first records.

use std::path::Path;

use serde_json::Value;

use crate::file::value::word;
use crate::record::has_line;

/// Whether the file begins with messages of this host: a role and a message, and nothing that others add.
pub(super) fn recognise(_: &Path, bytes: &[u8]) -> bool {
    has_line(bytes, |record| {
        let role = matches!(word(record, "/role"), "user" | "assistant" | "system");
        let content = record.pointer("/message/content").is_some_and(|it| it.is_array() || it.is_string());
        let others = ["type", "uuid", "sessionId", "id", "timestamp", "parentId"];
        role && content && others.iter().all(|key| record.get(*key).is_none_or(Value::is_null))
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
        assert!(is("{\"role\":\"user\",\"message\":{\"content\":[]}}\n"));
        assert!(is("broken\n{\"role\":\"assistant\",\"message\":{\"content\":\"x\"},\"model\":\"m\"}\n"));
        assert!(!is("{\"role\":\"user\",\"content\":\"x\"}\n"));
        assert!(!is("{\"type\":\"user\",\"role\":\"user\",\"message\":{\"content\":[]}}\n"));
        assert!(!is("{\"role\":\"user\",\"message\":{\"content\":[]},\"uuid\":\"u\"}\n"));
        assert!(!is("{\"type\":\"turn_ended\"}\n"));
        assert!(!is(""));
    }
}
