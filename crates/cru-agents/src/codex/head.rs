//! What the beginning of a file says of it: that it is a rollout, whose it is, who started it, when; and which files are read as
//! one: a session with its copies, its forks and its sub-agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::record::payload;
use crate::bundles;
use crate::file::jsonl;
use crate::file::value::{self, filled, number, word};
use cru_base::{Result, files};
use cru_session::event::StreamKey;
use cru_session::source::Bundle;

/// Records that are looked at.
const LOOKED_AT: usize = 40;

/// What a file says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct CodexHead {
    /// The host's id of the session.
    pub(super) id: String,
    /// The session that started it, for a sub-agent.
    pub(super) parent: Option<String>,
    /// The session whose history it goes on with.
    pub(super) forked_from: Option<String>,
    /// Its part, for a sub-agent.
    pub(super) role: Option<String>,
    /// Its first time.
    pub(super) time: Option<Timestamp>,
    /// The history that it goes on with and does not repeat.
    pub(super) base: Option<CodexBase>,
}

/// A history that stands in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodexBase {
    /// The file, by the id in its name.
    pub(super) rollout: String,
    /// The number of the first record that is no part of it.
    pub(super) end: Option<u64>,
}

impl CodexHead {
    /// Reads the first records of a file. What is damaged says nothing here: reading it will tell why.
    pub(super) fn read(bundle: &Bundle, path: &Path) -> Result<Self> {
        let mut head = Self::default();
        jsonl::first(bundle, path, LOOKED_AT, |record| {
            head.time = head.time.or_else(|| value::time(&record, "timestamp"));
            let is_meta = match word(&record, "type") {
                "session_meta" => true,
                // The header of the oldest files.
                "" => filled(&record, "id").is_some(),
                _ => false,
            };
            if is_meta {
                head.take(payload(&record));
            }
            !is_meta
        })?;
        if head.id.trim().is_empty() {
            head.id = named(path);
        }
        // A later file of a session names the session before its own id: it goes on with the session itself.
        if head.is_segment(path)
            && head.forked_from.is_some()
            && head.base.as_ref().map(|it| &it.rollout) == head.forked_from.as_ref()
        {
            head.forked_from = None;
        }
        Ok(head)
    }

    /// Whether a file is a later one of its session, after the person went back: `rollout-<time>-<session>_<file>.jsonl`.
    fn is_segment(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name.to_string_lossy().contains(&format!("{}_", self.id)))
    }

    /// Where it goes on with the history of its own session: the number of the first record that is no part of it.
    pub(super) fn goes_on_from(&self) -> Option<u64> {
        self.base.as_ref().filter(|_| self.forked_from.is_none())?.end
    }

    fn take(&mut self, meta: &Value) {
        let word = |value: &Value, key: &str| filled(value, key).map(str::to_owned);
        let own = |key: &str| word(meta, key);
        // `"review"`, `{"other": "guardian"}`, or the place of a sub-agent.
        let source = &meta["source"]["subagent"];
        let spawn = &source["thread_spawn"];
        let role = source.as_str().map(str::to_owned).or_else(|| word(spawn, "agent_role"));
        self.id = own("id").or_else(|| own("session_id")).unwrap_or_default();
        self.parent = own("parent_thread_id").or_else(|| word(spawn, "parent_thread_id")).filter(|it| *it != self.id);
        let base = &meta["history_base"];
        let end = number(base, ["end_ordinal_exclusive", "ordinal"]);
        self.base = word(base, "thread_id").map(|rollout| CodexBase { rollout, end });
        let rollout = self.base.as_ref().map(|base| base.rollout.clone());
        self.forked_from = own("forked_from_id").or(rollout).filter(|origin| *origin != self.id);
        let role = own("agent_role").or(role).or_else(|| word(source, "other"));
        self.role = role.or_else(|| own("agent_nickname")).or_else(|| word(spawn, "agent_nickname"));
        self.time = self.time.or_else(|| value::time(meta, "timestamp"));
    }

    /// Its identity. A sub-agent belongs to the session that started it.
    pub(super) fn key(&self) -> StreamKey {
        match &self.parent {
            Some(parent) => StreamKey { session: parent.clone(), agent: Some(self.id.clone()) },
            None => StreamKey { session: self.id.clone(), agent: None },
        }
    }

    /// The session before it: its parent, else its origin.
    pub(super) fn above(&self) -> Option<&str> {
        self.parent.as_deref().or(self.forked_from.as_deref())
    }
}

/// The name of a session that the host keeps beside the folder of all of them; of several the last.
pub(super) fn name(path: &Path, id: &str) -> String {
    let is_folder = |path: &&Path| path.ends_with("sessions") || path.ends_with("archived_sessions");
    let index = path.ancestors().find(is_folder).map(|folder| folder.with_file_name("session_index.jsonl"));
    let bytes = index.and_then(|index| files::read_regular(&index, 64 << 20).ok().flatten()).unwrap_or_default();
    let mut lines =
        bytes.rsplit(|byte| *byte == b'\n').filter(|line| memchr::memmem::find(line, id.as_bytes()).is_some());
    let named = lines.find_map(|line| value::read(line).filter(|record| word(record, "id") == id));
    named.map(|record| word(&record, "thread_name").to_owned()).unwrap_or_default()
}

/// The id in a file's name, `rollout-2026-01-02T03-04-05-<id>.jsonl`, else the name.
fn named(path: &Path) -> String {
    const ID: usize = 36;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".zst").unwrap_or(&name);
    let stem = stem.strip_suffix(".jsonl").unwrap_or(stem);
    let tail = stem.len().checked_sub(ID).and_then(|from| stem.get(from..));
    tail.filter(|tail| value::is_uuid(tail)).unwrap_or(stem).to_owned()
}

/// The longest way from a sub-agent up to the session that began it all.
const DEPTH: usize = 64;

/// Groups files by the session that began it all, so that what forks and sub-agents copied of their parents is told once.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let heads = bundles::heads(files, CodexHead::read)?;
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
    jsonl::head(head, 20).any(|record| is_ours(&record))
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

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "019a7fa9-a846-7393-8d7a-9997d08b0096";

    fn of(text: &str) -> CodexHead {
        at(text, &format!("rollout-2026-03-01T10-00-00-{ID}.jsonl.zst"))
    }

    fn at(text: &str, name: &str) -> CodexHead {
        let path = Path::new(name).to_owned();
        let bundle = Bundle { files: vec![path.clone()], memory: [(path.clone(), text.as_bytes().to_vec())].into() };
        CodexHead::read(&bundle, &path).unwrap()
    }

    #[test]
    fn whose_a_file_is() {
        assert_eq!(of("").id, ID);
        assert_eq!(of("{\"type\":\"session_meta\",\"payload\":{\"id\":\"a\",\"session_id\":\"root\"}}").id, "a");
        assert_eq!(of("{\"type\":\"session_meta\",\"payload\":{\"session_id\":\"s\"}}").id, "s");
        assert_eq!(of("{\"id\":\"old\",\"timestamp\":\"2025-01-01T00:00:00Z\"}").id, "old");
        let spawned = of(
            "broken\n{\"type\":\"session_meta\",\"payload\":{\"id\":\"b\",\"source\":{\"subagent\":{\"thread_spawn\":{\"parent_thread_id\":\"a\",\"agent_role\":\"worker\"}}}}}",
        );
        assert_eq!(spawned.key().to_string(), "a/agent-b");
        assert_eq!(spawned.role.as_deref(), Some("worker"));
        let review = of("{\"type\":\"session_meta\",\"payload\":{\"id\":\"b\",\"source\":{\"subagent\":\"review\"}}}");
        assert_eq!((review.key().to_string().as_str(), review.role.as_deref()), ("b", Some("review")));
    }

    #[test]
    fn a_history_that_is_not_repeated() {
        let meta = |base: &str| {
            format!(
                "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{ID}\",\"history_base\":{{\"thread_id\":\"{base}\",\"end_ordinal_exclusive\":5}}}}}}"
            )
        };
        let base = |rollout: &str| Some(CodexBase { rollout: rollout.to_owned(), end: Some(5) });
        let fork = of(&meta("root"));
        assert_eq!((fork.above(), fork.goes_on_from(), fork.base.clone()), (Some("root"), None, base("root")));
        let name = format!("rollout-2026-03-01T10-00-00-{ID}_s2.jsonl");
        for (rollout, name) in [(ID, "rollout.jsonl"), (ID, name.as_str()), ("s1", name.as_str())] {
            let own = at(&meta(rollout), name);
            assert_eq!((own.above(), own.goes_on_from(), own.base.clone()), (None, Some(5), base(rollout)), "{name}");
        }
    }

    #[test]
    fn the_first_of_several_is_its_own() {
        let text = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"b\",\"forked_from_id\":\"a\"}}\n{\"type\":\"session_meta\",\"payload\":{\"id\":\"a\"}}";
        assert_eq!((of(text).id.as_str(), of(text).forked_from.as_deref()), ("b", Some("a")));
    }

    fn is(head: &str) -> bool {
        recognise(Path::new("a.jsonl"), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"a\"}}\n"));
        assert!(is("broken\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\"}}\n"));
        assert!(is("{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":null}\n{\"record_type\":\"state\"}\n"));
        assert!(is("{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":\"x\",\"git\":{}}\n"));
        assert!(!is("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\"}\n"));
        assert!(!is("{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(!is("{\"type\":\"event_msg\"}\n"));
        assert!(!is("[1]\n\"text\"\n"));
        assert!(!is(""));
    }
}
