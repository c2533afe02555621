//! Whether a file is a transcript of this host, by its first bytes, and which files are read as one: a session with its
//! slices and copies, and the files of its sub-agents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::head::ClaudeHead;
use crate::bundles;
use crate::file::jsonl;
use crate::file::value::{filled, word};
use cru_base::Result;
use cru_session::source::Bundle;

/// Groups files by session. Copies of a session under another id (a fork of older versions, which carries no mark) are
/// put to the session that they begin like, so that their common records are told once.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let mut files = files;
    files.sort();
    files.dedup();
    let none = Bundle::default();
    let mut heads = Vec::with_capacity(files.len());
    for path in files {
        let head = ClaudeHead::read(&none, &path)?;
        heads.push((path, head));
    }
    // Main sessions by their first record: the earliest file with it, by time, gives its name to the group.
    let mut by_first: BTreeMap<String, String> = BTreeMap::new();
    let mut order: Vec<usize> = (0..heads.len()).collect();
    order.sort_by_key(|&at| (heads[at].1.time, heads[at].1.is_background, at));
    for &at in &order {
        let head = &heads[at].1;
        if let (Some(first), None, None) = (&head.first, &head.key.agent, &head.forked_from) {
            by_first.entry(first.clone()).or_insert_with(|| head.key.session.clone());
        }
    }
    let mut group_of: BTreeMap<String, String> = BTreeMap::new();
    for (_, head) in &heads {
        let unmarked = head.key.agent.is_none() && head.forked_from.is_none();
        let group = head.first.as_ref().filter(|_| unmarked).and_then(|first| by_first.get(first));
        if let Some(group) = group.filter(|group| **group != head.key.session) {
            group_of.insert(head.key.session.clone(), group.clone());
        }
    }
    // Main files before sub-agents, then by time, then a session before its copy in the background, then by name.
    let grouped = heads.into_iter().map(|(path, head)| {
        let group = group_of.get(&head.key.session).unwrap_or(&head.key.session).clone();
        (group, (head.key.agent.is_some(), head.time, head.is_background), head.time, path)
    });
    Ok(bundles::grouped(grouped.collect()))
}

/// The session of a file, the first record of one that may be a slice or a copy, and the session of a fork's origin.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let head = ClaudeHead::read(&Bundle::default(), path)?;
    let first = head.first.filter(|_| head.key.agent.is_none() && head.forked_from.is_none());
    Ok([Some(head.key.session), first.map(|first| format!("record {first}")), head.forked_from]
        .into_iter()
        .flatten()
        .collect())
}

/// A transcript and the files of its sub-agents, in the folder named after it.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    let mut files = vec![transcript.to_owned()];
    let folder = transcript.with_extension("").join("subagents");
    for entry in ignore::WalkBuilder::new(folder).standard_filters(false).follow_links(false).build().flatten() {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with("agent-"));
        if is_file && named && entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            files.push(entry.into_path());
        }
    }
    files
}

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
