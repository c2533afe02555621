//! The beginning of a file: enough to know whose it is.
//!
//! Reads a bounded number of bounded lines; the first record of a file is often no message.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::record::words;
use super::said::{ClaudeSaid, tell};
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
}
