//! The beginning of a file: enough to know whose it is.
//!
//! Reads a bounded number of bounded lines; the first record of a file is often no message.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;

use super::record::with_record;
use super::said::{ClaudeSaid, tell};
use crate::file::lines::{Line, Lines};
use cru_base::{Error, Result, json};
use cru_session::event::StreamKey;
use cru_session::source::Bundle;

const MAX_LINES: usize = 200;
const MAX_LINE: usize = 4 << 20;
const MAX_BYTES: usize = 16 << 20;

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
        let failed = |source| Error::io("read", path, source);
        let mut lines = Lines::new(bundle.peek(path).map_err(failed)?, MAX_LINE);
        let mut head = Self::default();
        let mut session = String::new();
        let mut bytes = 0;
        for _ in 0..MAX_LINES {
            let line = match lines.next().map_err(failed)? {
                None => break,
                Some(Line::Oversized) => continue,
                Some(Line::Whole(line, _)) => line,
            };
            bytes += line.len();
            head.take(&json::text(line), &mut session);
            let asked = head.key.agent.is_none() || head.prompt.is_some();
            if bytes > MAX_BYTES || (head.first.is_some() && head.time.is_some() && !session.is_empty() && asked) {
                break;
            }
        }
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

    fn take(&mut self, line: &str, session: &mut String) {
        with_record(line, |record| {
            if session.is_empty() {
                record.session_id.str().clone_into(session);
            }
            self.time = self.time.or_else(|| record.timestamp.str().parse().ok());
            if self.first.is_none() && record.uuid.filled().is_some() {
                self.first = Some(record.uuid.str().to_owned());
                let agent = record.agent_id.filled().filter(|_| record.is_sidechain.0);
                self.key.agent = agent.map(str::to_owned);
                let origin = record.forked_from.0.as_ref().and_then(|origin| origin.session_id.filled());
                self.forked_from = origin.map(str::to_owned);
                self.is_background = record.session_kind.str() == "bg";
            }
            if self.prompt.is_none() && record.kind.str() == "user" && !record.is_meta.0 {
                let text = record.message.0.as_ref().map(|message| message.content.to_string()).unwrap_or_default();
                if let ClaudeSaid::Words(words) = tell(&text) {
                    self.prompt = Some(words.into_owned());
                }
            }
        });
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
    let session = if is_uuid(stem) || session.is_empty() { stem.to_owned() } else { session };
    StreamKey { session, agent }
}

/// Name of the folder that holds the folder `name` on the way to `path`.
fn folder_above(path: &Path, name: &str) -> Option<String> {
    let folder = path.ancestors().find(|folder| folder.file_name().is_some_and(|last| last == name))?;
    Some(folder.parent()?.file_name()?.to_str()?.to_owned())
}

pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
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
