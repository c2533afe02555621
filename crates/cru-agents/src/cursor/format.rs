//! Whether a file is a transcript of this host, by its first records, and whose stream it is: nothing in it says so, its
//! place does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::chat;
use super::session::{self, HOST};
use crate::bundles;
use crate::file::jsonl::{Format, beginning};
use crate::file::tables::Begun;
use crate::file::value::{filled, word};
use crate::record::has_line;
use crate::record::session::RecordSession;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header};

/// The folder of a session's sub-agents.
const SUBAGENTS: &str = "subagents";

/// Sub-agents of one session that are looked for beside it.
const MOST: usize = 10_000;

/// Groups files by session: a session is read before its sub-agents.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    bundles::by_session(files, |path| {
        let key = key(path);
        Ok((key.session, key.agent, None))
    })
}

/// The session whose transcript, or that of a sub-agent, a file is.
pub(super) fn session(path: &Path) -> String {
    key(path).session
}

/// `<id>/<id>.jsonl` or `<id>.jsonl` for a session, `<id>/subagents/<agent>.jsonl` for a sub-agent of it.
fn key(path: &Path) -> StreamKey {
    let stem = bundles::stem(path);
    let above = path.parent().filter(|_| bundles::folder(path).as_deref() == Some(SUBAGENTS));
    match above.and_then(bundles::folder) {
        Some(session) => StreamKey { session, agent: Some(stem) },
        None => StreamKey { session: stem, agent: None },
    }
}

/// A transcript and those of its sub-agents.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    let mut files = vec![transcript.to_owned()];
    let own = key(transcript);
    let folder = transcript.parent().filter(|_| bundles::folder(transcript).as_ref() == Some(&own.session));
    let entries =
        folder.filter(|_| own.agent.is_none()).and_then(|folder| std::fs::read_dir(folder.join(SUBAGENTS)).ok());
    let mut others: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .take(MOST)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl") && path.is_file())
        .collect();
    others.sort();
    files.append(&mut others);
    files
}

/// The streams of a bundle.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// What sub-agents were asked, by their session.
    started: HashMap<String, Vec<(StreamKey, String)>>,
}

impl Cursor {
    /// Looks into the files of a bundle for what sub-agents were asked.
    fn look(&mut self, bundle: &Bundle) -> Result<()> {
        for path in &bundle.files {
            let key = key(path);
            if key.agent.is_none() {
                continue;
            }
            let records = beginning(bundle, path, RECORDS)?;
            let asked = records.iter().filter(|record| word(record, "/role") == "user").find_map(session::asked);
            if let Some(asked) = asked {
                self.started.entry(key.session.clone()).or_default().push((key, asked));
            }
        }
        Ok(())
    }
}

/// Records at the beginning of a file that are looked at.
const RECORDS: usize = 5;

impl Format for Cursor {
    type State = RecordSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        if self.started.is_empty() {
            self.look(bundle)?;
        }
        let key = key(path);
        let parent = key.agent.is_some().then(|| StreamKey { session: key.session.clone(), agent: None });
        let mut agent = None;
        if parent.is_some() {
            let records = beginning(bundle, path, RECORDS)?;
            let named = records.iter().find_map(|record| filled(record, "/agent"));
            agent = Some(named.unwrap_or("agent").to_owned());
        }
        let aside = parent.is_none() && (chat::folder(path).is_some() || self.started.contains_key(&key.session));
        Ok(Header { key, parent, transcript: path.to_owned(), agent, aside, ..Header::default() })
    }

    fn begin(&mut self, header: &Header) -> RecordSession {
        let key = &header.key;
        let chat = if header.aside { chat::find(&header.transcript, &key.session) } else { Value::Null };
        let started = self.started.get(&key.session).filter(|_| key.agent.is_none()).cloned().unwrap_or_default();
        RecordSession::begun(&HOST, key.clone(), Begun { head: chat, asked: started, ..Begun::default() })
    }
}

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

    #[test]
    fn places() {
        let of = |path: &str| key(Path::new(path)).to_string();
        assert_eq!(of("/c/agent-transcripts/9f/9f.jsonl"), "9f");
        assert_eq!(of("/c/agent-transcripts/9f.jsonl"), "9f");
        assert_eq!(of("/c/agent-transcripts/9f/subagents/a1.jsonl"), "9f/agent-a1");
        assert_eq!(of("subagents/a1.jsonl"), "a1");
    }

    #[test]
    fn sub_agents_lie_beside() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["9f/9f.jsonl", "9f/subagents/b.jsonl", "9f/subagents/a.jsonl", "9f/subagents/c.txt", "x.jsonl"] {
            cru_base::files::create(&temp.path().join(name), b"{}").unwrap();
        }
        let of = |name: &str| {
            let all = beside(&temp.path().join(name)).into_iter();
            all.map(|path| path.strip_prefix(temp.path()).unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("9f/9f.jsonl"), ["9f/9f.jsonl", "9f/subagents/a.jsonl", "9f/subagents/b.jsonl"]);
        assert_eq!(of("x.jsonl"), ["x.jsonl"]);
        assert_eq!(of("9f/subagents/a.jsonl"), ["9f/subagents/a.jsonl"]);
    }

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
