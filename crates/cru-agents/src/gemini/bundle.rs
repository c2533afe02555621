//! Whether a file is a session of this agent, by its beginning, and which files are read as one: those of one session. A
//! session that was carried on, copied, or written as a document first and as lines later, stands in several.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bundles::{folder, stem};
use crate::file::document::{items, member, members};
use crate::file::jsonl;
use crate::file::value::{filled, word};
use crate::record;
use cru_base::{Result, json};
use cru_session::source::Bundle;

/// The session that a file is of, its place among the files of that session, and when it began: documents are read before
/// lines, which hold what the document held.
pub(super) fn place(path: &Path) -> Result<(String, bool, Option<jiff::Timestamp>)> {
    let head = record::beginning(&Bundle::default(), path)?;
    let head = String::from_utf8_lossy(&head);
    let members = members(&head);
    let word = |name: &str| member(&members, name).map_or("", |piece| piece.text.trim_matches('"'));
    let session = match word("sessionId") {
        "" | "REDACTED" => path.to_string_lossy().into_owned(),
        // Sub-agents may carry the id of their parent.
        id if word("kind") == "subagent" => format!("{id}/{}/{}", folder(path).unwrap_or_default(), stem(path)),
        id => id.to_owned(),
    };
    let is_lines = path.extension().is_some_and(|end| end == "jsonl");
    Ok((session, is_lines, word("startTime").parse().ok()))
}

/// The transcript and the other files of its session, whose names end with the same part of its id.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    let part = |path: &Path| stem(path).rsplit_once('-').map(|(_, part)| part.to_owned());
    let own = part(transcript);
    let folder = transcript.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let others = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = others.filter(|path| own.is_some() && part(path) == own && path.is_file()).collect();
    files.push(transcript.to_owned());
    files.sort();
    files.dedup();
    files
}

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
