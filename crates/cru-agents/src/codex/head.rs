//! What the beginning of a file says of it: whose it is, who started it, when.

use std::io::BufRead;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::record::{Payload, with_record};
use crate::file::lenient::{Maybe, Text};
use crate::file::lines::{Line, Lines, MAX_LINE};
use crate::file::unpack;
use cru_base::{Error, Result, json};
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
    /// Reads the first records of a file. A file that cannot be read says nothing here: reading it will tell why.
    pub(super) fn read(bundle: &Bundle, path: &Path) -> Result<Self> {
        let source = unpack::peek(bundle, path).map_err(|source| Error::io("read", path, source))?;
        Ok(Self::of(source, path))
    }

    fn of(source: impl BufRead, path: &Path) -> Self {
        let mut head = Self::default();
        let mut lines = Lines::new(source, MAX_LINE);
        for _ in 0..LOOKED_AT {
            let Ok(Some(line)) = lines.next() else { break };
            let Line::Whole(line, _) = line else { continue };
            let text = json::text(line);
            let found =
                with_record(text.trim_matches(|c: char| c == '\0' || c.is_whitespace()), |envelope, payload| {
                    let time = envelope.timestamp.str().parse().ok();
                    head.time = head.time.or(time);
                    match envelope.kind.str() {
                        "session_meta" => head.take(payload),
                        // The header of the oldest files.
                        "" if envelope.id.filled().is_some() => head.take(payload),
                        _ => return false,
                    }
                    true
                });
            if found == Some(true) {
                break;
            }
        }
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
        head
    }

    /// Whether a file is a later one of its session, after the person went back: `rollout-<time>-<session>_<file>.jsonl`.
    fn is_segment(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name.to_string_lossy().contains(&format!("{}_", self.id)))
    }

    /// Whether it goes on with the history of its own session.
    pub(super) fn goes_on(&self) -> bool {
        self.base.is_some() && self.forked_from.is_none()
    }

    fn take(&mut self, meta: &Payload<'_>) {
        let text = |text: &Text<'_>| text.filled().map(str::to_owned);
        let source = CodexSource::of(meta.source);
        self.id = text(&meta.id).or_else(|| text(&meta.session_id)).unwrap_or_default();
        self.parent = text(&meta.parent_thread_id).or(source.parent).filter(|parent| *parent != self.id);
        self.base = meta.history_base.0.as_ref().and_then(|base| {
            Some(CodexBase { rollout: text(&base.thread_id)?, end: base.end_ordinal_exclusive.count() })
        });
        let base = self.base.as_ref().map(|base| base.rollout.clone());
        self.forked_from = text(&meta.forked_from_id).or(base).filter(|origin| *origin != self.id);
        self.role = text(&meta.agent_role).or(source.role).or_else(|| text(&meta.agent_nickname)).or(source.nickname);
        self.time = self.time.or_else(|| meta.timestamp.str().parse().ok());
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

/// Who started a session: a word, or a sub-agent with its place.
#[derive(Default)]
struct CodexSource {
    parent: Option<String>,
    role: Option<String>,
    nickname: Option<String>,
}

impl CodexSource {
    fn of(raw: Option<&RawValue>) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Outer<'a> {
            subagent: Option<&'a RawValue>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Inner<'a> {
            thread_spawn: Maybe<Spawn<'a>>,
            other: Text<'a>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Spawn<'a> {
            parent_thread_id: Text<'a>,
            agent_nickname: Text<'a>,
            agent_role: Text<'a>,
        }
        let outer = raw.and_then(|raw| serde_json::from_str::<Maybe<Outer<'_>>>(raw.get()).ok()?.0);
        let Some(raw) = outer.and_then(|outer| outer.subagent) else { return Self::default() };
        // `"review"`, `{"other": "guardian"}`, or the place of a sub-agent.
        if let Some(word) = super::record::string(raw) {
            return Self { role: Some(word.into_owned()), ..Self::default() };
        }
        let inner = serde_json::from_str::<Maybe<Inner<'_>>>(raw.get()).ok().and_then(|inner| inner.0);
        let inner = inner.unwrap_or_default();
        let spawn = inner.thread_spawn.0.unwrap_or_default();
        let text = |text: &Text<'_>| text.filled().map(str::to_owned);
        Self {
            parent: text(&spawn.parent_thread_id),
            role: text(&spawn.agent_role).or_else(|| text(&inner.other)),
            nickname: text(&spawn.agent_nickname),
        }
    }
}

/// The id in a file's name, `rollout-2026-01-02T03-04-05-<id>.jsonl`, else the name.
fn named(path: &Path) -> String {
    const ID: usize = 36;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".zst").unwrap_or(&name);
    let stem = stem.strip_suffix(".jsonl").unwrap_or(stem);
    let tail = stem.len().checked_sub(ID).and_then(|from| stem.get(from..));
    let is_id = |tail: &&str| {
        tail.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    tail.filter(is_id).unwrap_or(stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "019a7fa9-a846-7393-8d7a-9997d08b0096";

    fn of(text: &str) -> CodexHead {
        CodexHead::of(text.as_bytes(), Path::new(&format!("rollout-2026-03-01T10-00-00-{ID}.jsonl.zst")))
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
        assert_eq!((fork.above(), fork.goes_on(), fork.base.clone()), (Some("root"), false, base("root")));
        let name = format!("rollout-2026-03-01T10-00-00-{ID}_s2.jsonl");
        for (rollout, name) in [(ID, "rollout.jsonl"), (ID, name.as_str()), ("s1", name.as_str())] {
            let own = CodexHead::of(meta(rollout).as_bytes(), Path::new(name));
            assert_eq!((own.above(), own.goes_on(), own.base.clone()), (None, true, base(rollout)), "{name}");
        }
    }

    #[test]
    fn the_first_of_several_is_its_own() {
        let text = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"b\",\"forked_from_id\":\"a\"}}\n{\"type\":\"session_meta\",\"payload\":{\"id\":\"a\"}}";
        assert_eq!((of(text).id.as_str(), of(text).forked_from.as_deref()), ("b", Some("a")));
    }
}
