//! Which files belong together: a session, the slices it was saved in, and its sub-agents.
//!
//! A file's name and its first records say what it is. A sub-agent's records carry the session id of its parent, so its
//! own identity is its file's name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::lenient::Maybe;
use super::record::{Content, Record};
use crate::base::Result;
use crate::import::lines::{Line, Lines};
use crate::session::source::Bundle;

/// Record types by which a file is recognised.
const TYPES: &[&str] = &[
    "ai-title",
    "assistant",
    "attachment",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "user",
];

/// Records that are looked at to learn what a file is.
const PEEKED: usize = 400;

/// What a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The host's session id; of a sub-agent's file, its parent's.
    pub(super) session: String,
    /// The sub-agent's id.
    pub(super) agent: Option<String>,
    /// The first time in it, as written; times in RFC 3339 with one zone sort as text.
    pub(super) first: String,
    /// What a sub-agent was asked first.
    pub(super) prompt: Option<String>,
}

/// Whether a file is one of Claude Code's: one of its first lines is a record of a known type that names its session,
/// or a title of one.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Probe<'a> {
        #[serde(borrow, default, rename = "type")]
        kind: super::lenient::Text<'a>,
        #[serde(borrow, default, rename = "sessionId")]
        session: super::lenient::Text<'a>,
        #[serde(borrow, default, rename = "leafUuid")]
        leaf: super::lenient::Text<'a>,
        #[serde(borrow, default, rename = "messageId")]
        message: super::lenient::Text<'a>,
    }
    let text = String::from_utf8_lossy(head);
    let known = |probe: &Probe<'_>| {
        let named = [&probe.session, &probe.leaf, &probe.message].iter().any(|text| text.filled().is_some());
        TYPES.contains(&probe.kind.str()) && named
    };
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('{')).take(PEEKED);
    let mut whole =
        lines.filter_map(|line| serde_json::from_str::<Maybe<Probe<'_>>>(line).ok()?.0.map(|it| known(&it)));
    // A first line of more than the head (a whole file in it) can only be judged by its beginning.
    whole.any(|known| known) || looks_like_a_long_record(&text)
}

fn looks_like_a_long_record(text: &str) -> bool {
    let first = text.trim_start();
    !first.contains('\n')
        && first.starts_with('{')
        && first.contains("\"sessionId\":\"")
        && first.contains("\"type\":\"")
}

/// Puts files of one session together: its own first, in order of their first record, then its sub-agents by id.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let mut sessions: BTreeMap<String, Vec<((bool, Option<String>, String), PathBuf)>> = BTreeMap::new();
    for file in files {
        let identity = identify(&file)?;
        let order = (identity.agent.is_some(), identity.agent, identity.first);
        sessions.entry(identity.session).or_default().push((order, file));
    }
    let bundle = |mut files: Vec<(_, PathBuf)>| {
        files.sort();
        Bundle { files: files.into_iter().map(|(_, file)| file).collect() }
    };
    Ok(sessions.into_values().map(bundle).collect())
}

/// Learns what a file is from its name and its first records.
pub(super) fn identify(path: &Path) -> Result<Identity> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut identity = Identity { agent: stem.strip_prefix("agent-").map(str::to_owned), ..Identity::default() };
    let mut lines = Lines::open(path)?;
    let mut sidechain_only = true;
    let mut agent_in_record = None;
    for _ in 0..PEEKED {
        let Ok(Some(line)) = lines.next() else { break };
        let Line::Whole(bytes, _) = line else { continue };
        let text = String::from_utf8_lossy(bytes);
        let done = super::record::with_record(&text, |record| {
            see(&record, &mut identity);
            if record.uuid.filled().is_some() {
                sidechain_only &= record.is_sidechain.0;
                agent_in_record = agent_in_record.take().or_else(|| record.agent_id.filled().map(str::to_owned));
            }
            let prompted = identity.agent.is_none() || identity.prompt.is_some();
            !identity.session.is_empty() && !identity.first.is_empty() && prompted && !sidechain_only
        });
        if done == Some(true) {
            break;
        }
    }
    // A sub-agent's file under another name.
    if identity.agent.is_none() && sidechain_only {
        identity.agent = agent_in_record;
    }
    if identity.session.is_empty() {
        identity.session = folder_session(path).unwrap_or(stem);
    }
    Ok(identity)
}

fn see(record: &Record<'_>, identity: &mut Identity) {
    if identity.session.is_empty() && record.uuid.filled().is_some() {
        identity.session = record.session_id.filled().unwrap_or_default().to_owned();
    }
    if identity.first.is_empty() {
        identity.first = record.timestamp.filled().unwrap_or_default().to_owned();
    }
    if identity.prompt.is_none() && record.kind.str() == "user" {
        let content = record.message.0.as_ref().map(|message| &message.content);
        identity.prompt = content.filter(|content| !matches!(content, Content::None)).map(ToString::to_string);
    }
}

/// `<session>/subagents/agent-x.jsonl`: the session by its folder.
fn folder_session(path: &Path) -> Option<String> {
    let parent =
        path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "subagents"))?.parent()?;
    Some(parent.file_name()?.to_string_lossy().into_owned())
}
