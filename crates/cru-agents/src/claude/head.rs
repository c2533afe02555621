//! The beginning of a file: that it is a transcript of this host, whose it is, and which files are read as one: a session with its
//! slices and copies, and the files of its sub-agents.
//!
//! Reads a bounded number of bounded lines; the first record of a file is often no message.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::record::words;
use super::said::{ClaudeSaid, tell};
use crate::bundles;
use crate::file::jsonl;
use crate::file::value::{self, filled, flag, word};
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::Bundle;

/// Records that are looked at.
const RECORDS: usize = 200;

/// Whose file it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClaudeHead {
    /// The stream that its records belong to.
    pub(super) key: StreamKey,
    /// The first time in it.
    pub(super) time: Option<Timestamp>,
    /// Id of its first record that has one.
    pub(super) first: Option<String>,
    /// What a sub-agent was asked first.
    pub(super) prompt: Option<String>,
    /// The session that its records were copied from.
    pub(super) forked_from: Option<String>,
    /// Whether a session goes on in it in the background: it begins with a copy of that session's records.
    pub(super) is_background: bool,
}

impl ClaudeHead {
    /// Reads the beginning of a file.
    pub(super) fn read(bundle: &Bundle, path: &Path) -> Result<Self> {
        let mut head = Self::default();
        let mut session = String::new();
        jsonl::first(bundle, path, RECORDS, |record| {
            head.take(&record, &mut session);
            let asked = head.key.agent.is_none() || head.prompt.is_some();
            head.first.is_none() || head.time.is_none() || session.is_empty() || !asked
        })?;
        head.key = key(path, session, head.key.agent);
        Ok(head)
    }

    /// Tells files that begin with the first record of an earlier session where they were copied from.
    pub(super) fn join(heads: &mut [Self]) {
        let mut origins: HashMap<String, String> = HashMap::new();
        for head in heads.iter_mut().filter(|head| head.key.agent.is_none()) {
            let Some(first) = head.first.clone() else { continue };
            let origin = origins.entry(first).or_insert_with(|| head.key.session.clone());
            if *origin != head.key.session && head.forked_from.is_none() {
                head.forked_from = Some(origin.clone());
            }
        }
    }

    fn take(&mut self, record: &Value, session: &mut String) {
        if session.is_empty() {
            word(record, "sessionId").clone_into(session);
        }
        self.time = self.time.or_else(|| value::time(record, "timestamp"));
        if self.first.is_none() && filled(record, "uuid").is_some() {
            self.first = Some(word(record, "uuid").to_owned());
            let agent = filled(record, "agentId").filter(|_| flag(record, "isSidechain"));
            self.key.agent = agent.map(str::to_owned);
            self.forked_from = filled(&record["forkedFrom"], "sessionId").map(str::to_owned);
            self.is_background = word(record, "sessionKind") == "bg";
        }
        if self.prompt.is_none()
            && word(record, "type") == "user"
            && !flag(record, "isMeta")
            && let ClaudeSaid::Words(words) = tell(&words(&record["message"]["content"]))
        {
            self.prompt = Some(words.into_owned());
        }
    }
}

/// The stream of a file: its place in the host's folders says most, the records the rest.
fn key(path: &Path, session: String, agent: Option<String>) -> StreamKey {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    if let Some(named) = stem.strip_prefix("agent-").filter(|name| !name.is_empty()) {
        let session = if session.is_empty() { folder_above(path, "subagents").unwrap_or_default() } else { session };
        return StreamKey { session, agent: Some(agent.unwrap_or_else(|| named.to_owned())) };
    }
    // A session's file is named after it; a copied record may still carry the id of another.
    let session = if value::is_uuid(stem) || session.is_empty() { stem.to_owned() } else { session };
    StreamKey { session, agent }
}

/// Name of the folder that holds the folder `name` on the way to `path`.
fn folder_above(path: &Path, name: &str) -> Option<String> {
    let folder = path.ancestors().find(|folder| folder.file_name().is_some_and(|last| last == name))?;
    Some(folder.parent()?.file_name()?.to_str()?.to_owned())
}

/// A larger file does not describe a sub-agent.
const DESCRIPTION: u64 = 64 << 10;

/// Type and task in `agent-<id>.meta.json` beside `agent-<id>.jsonl`, where it is there.
pub(super) fn described(path: &Path) -> Option<(Option<String>, Option<String>)> {
    let bytes = cru_base::files::read_regular(&path.with_extension("meta.json"), DESCRIPTION).ok()??;
    let described = value::read(&bytes)?;
    let owned = |key: &str| filled(&described, key).map(str::to_owned);
    Some((owned("agentType"), owned("description")))
}

/// Groups files by session. Copies of a session under another id (a fork of older versions, which carries no mark) are
/// put to the session that they begin like, so that their common records are told once.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let heads = bundles::heads(files, ClaudeHead::read)?;
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
    jsonl::head(head, 20).find(is_ours).is_some_and(|record| !is_qwen(&record))
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

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "11111111-2222-4333-8444-555555555555";

    fn of(path: &str, session: &str, agent: Option<&str>) -> String {
        key(Path::new(path), session.to_owned(), agent.map(str::to_owned)).to_string()
    }

    #[test]
    fn whose_a_file_is() {
        assert_eq!(of(&format!("p/{ID}.jsonl"), "other", None), ID);
        assert_eq!(of("p/full.jsonl", "s1", None), "s1");
        assert_eq!(of("p/full.jsonl", "", None), "full");
        assert_eq!(of("p/agent-a1.jsonl", "s1", Some("a1")), "s1/agent-a1");
        assert_eq!(of("p/s1/subagents/workflows/wf_1/agent-a2.jsonl", "", None), "s1/agent-a2");
        assert_eq!(of("p/copy.jsonl", "s1", Some("a1")), "s1/agent-a1");
    }

    fn is(name: &str, head: &str) -> bool {
        recognise(Path::new(name), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("a.jsonl", "{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(is("a.jsonl", "\n{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}"));
        assert!(is("a.jsonl", "{\"type\":\"permission-mode\",\"sessionId\":\"s\"}\n"));
        assert!(is("a.jsonl", "broken\n{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}\n"));
        assert!(!is("a.jsonl", "{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(!is("a.jsonl", "{\"type\":\"session_meta\",\"payload\":{}}\n"));
        assert!(!is("a.jsonl", "{\"sessionId\":\"s\",\"kind\":\"main\"}\n"));
        assert!(is("a.jsonl", "{\"type\":\"new\"}\n{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(!is("a.jsonl", ""));
    }
}
