//! Whether a file is a rollout of this host, by its first bytes, and which files are read as one: a session with its copies,
//! its forks and its sub-agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::head::CodexHead;
use crate::bundles;
use crate::file::jsonl;
use crate::file::value::{filled, word};
use cru_base::Result;
use cru_session::source::Bundle;

/// The longest way from a sub-agent up to the session that began it all.
const DEPTH: usize = 64;

/// Groups files by the session that began it all, so that what forks and sub-agents copied of their parents is told once.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let mut files = files;
    files.sort();
    files.dedup();
    let none = Bundle::default();
    let mut heads = Vec::with_capacity(files.len());
    for path in files {
        let head = CodexHead::read(&none, &path)?;
        heads.push((path, head));
    }
    let above: HashMap<String, String> =
        heads.iter().filter_map(|(_, head)| Some((head.id.clone(), head.above()?.to_owned()))).collect();
    let known: std::collections::HashSet<&str> = heads.iter().map(|(_, head)| head.id.as_str()).collect();
    let root = |id: &str| {
        let mut at = id.to_owned();
        let mut depth = 0;
        while let Some(next) = above.get(&at).filter(|next| known.contains(next.as_str()) && depth < DEPTH) {
            at.clone_from(next);
            depth += 1;
        }
        // A circle has no beginning: each of its members stands for itself.
        if depth < DEPTH { (at, depth) } else { (id.to_owned(), 0) }
    };
    // Parents first, then by time, then by name: a plain file stands before its compressed copy.
    let ranks: Vec<(String, usize)> = heads.iter().map(|(_, head)| root(&head.id)).collect();
    let grouped = heads.into_iter().zip(ranks).map(|((path, head), (root, depth))| (root, depth, head.time, path));
    Ok(bundles::grouped(grouped.collect()))
}

/// The session of a file and those before it, its parent and its origin.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let head = CodexHead::read(&Bundle::default(), path)?;
    Ok([Some(head.id), head.parent, head.forked_from].into_iter().flatten().collect())
}

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
