//! What the frontmatter says of a session.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Link;
use cru_note::frontmatter::{Mapping, is_tag};

/// The frontmatter of a session, typed. Unknown keys stay in the note; [`Meta::extra`] names them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// `type`; a session note says `session`.
    pub kind: Option<String>,
    /// `session_id`: the file stem at creation.
    pub session_id: Option<String>,
    /// `title`.
    pub title: Option<String>,
    /// `aliases`: other names by which an editor finds the note.
    pub aliases: Vec<String>,
    /// `date`: the day it began on in the vault's zone, `2026-11-20`.
    pub date: Option<String>,
    /// `started`, UTC.
    pub started: Option<Timestamp>,
    /// `ended`, UTC.
    pub ended: Option<Timestamp>,
    /// `status`.
    pub status: Option<Status>,
    /// `channel`.
    pub channel: Option<String>,
    /// `participants`.
    pub participants: Vec<Agent>,
    /// `model`: the primary one.
    pub model: Option<String>,
    /// `tokens_used`: input + output + cache creation of this session alone.
    pub tokens_used: Option<u64>,
    /// `cost_usd`, only where the record stores a cost.
    pub cost_usd: Option<f64>,
    /// `project`: working directory, `~` for home.
    pub project: Option<String>,
    /// `project_note`: the note of the project.
    pub project_note: Option<Link>,
    /// `branch`.
    pub branch: Option<String>,
    /// `commit`.
    pub commit: Option<String>,
    /// `host`: which program ran it, `claude-code`.
    pub host: Option<String>,
    /// `host_version`.
    pub host_version: Option<String>,
    /// `host_session`: the host's own id.
    pub host_session: Option<String>,
    /// `transcript`: path of the evidence, `~` for home.
    pub transcript: Option<String>,
    /// `parent`: the session this one was started from.
    pub parent: Option<Link>,
    /// `resume_point`: block id of the current phase.
    pub resume_point: Option<String>,
    /// `open`: what it left open, as [`crate::open`] names it.
    pub open: Vec<String>,
    /// `subagents`.
    pub subagents: Vec<SubagentRef>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `cru_detail`, verbatim; see [`crate::detail`].
    pub detail: Option<String>,
    /// `cru_cursor`, verbatim; see [`crate::cursor`].
    pub cursor: Option<String>,
    /// `export`: `false` keeps the session out of training data.
    pub export: Option<bool>,
    /// The other keys, in order, each with its value on one line.
    #[serde(serialize_with = "as_map")]
    pub extra: Vec<(String, String)>,
    /// The other keys of a note that is to be written; what a note says of them is not read.
    #[serde(skip)]
    pub more: Mapping,
}

/// A map for whoever reads the output, pairs in a cache.
fn as_map<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
    } else {
        pairs.serialize(serializer)
    }
}

impl Meta {
    /// The property of a session whose record does not name all files that its tools changed.
    pub const CHANGES_UNTOLD: (&str, &str) = ("changes", "not all recorded");

    /// Whether a file that the record does not name was not changed.
    pub fn tells_changes(&self) -> bool {
        !self.extra.iter().any(|(key, value)| (key.as_str(), value.as_str()) == Self::CHANGES_UNTOLD)
    }

    /// Whether the note says that it is a session.
    pub fn is_session(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("session"))
    }

    /// Whether it has the tag `name`, or one below it.
    pub fn has_tag(&self, name: &str) -> bool {
        self.tags.iter().any(|tag| is_tag(tag, name))
    }
}

/// The stored status of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Being worked on.
    Active,
    /// To be continued.
    Paused,
    /// Closed, done.
    Completed,
    /// Closed by an error.
    Failed,
    /// Left.
    Abandoned,
    /// A word of somebody's own.
    Other(String),
}

impl Status {
    /// The word as written in frontmatter.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
            Self::Other(word) => word,
        }
    }

    /// The status of a word, case ignored.
    pub fn parse(word: &str) -> Self {
        let word = word.trim();
        let known = [Self::Active, Self::Paused, Self::Completed, Self::Failed, Self::Abandoned];
        let found = known.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word));
        found.unwrap_or_else(|| Self::Other(word.to_owned()))
    }

    /// Whether no more work is expected.
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Abandoned)
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::parse(&word))
    }
}

/// An agent with its version: `planner@1.2`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Agent {
    /// Name: a letter, then letters, digits, `_`, `.`, `-`.
    pub name: String,
    /// Version, without `@`.
    pub version: Option<String>,
}

impl Serialize for Agent {
    /// Whoever reads the output sees a version only where there is one; a cache holds both, in the order of the fields.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return (&self.name, &self.version).serialize(serializer);
        }
        let version = self.version.iter().map(|version| ("version", version));
        serializer.collect_map(std::iter::once(("name", &self.name)).chain(version))
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Agent {
    /// Reads `name` or `name@version`, a leading `@` allowed.
    pub fn parse(text: &str) -> Self {
        let text = text.trim().trim_start_matches('@');
        match text.split_once('@') {
            Some((name, version)) if !version.is_empty() => {
                Self { name: name.to_owned(), version: Some(version.to_owned()) }
            }
            _ => Self { name: text.trim_end_matches('@').to_owned(), version: None },
        }
    }
}

/// A row of the frontmatter list `subagents`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubagentRef {
    /// Id of the sub-agent's session.
    pub session: String,
    /// Its agent.
    pub agent: Option<Agent>,
    /// Its model.
    pub model: Option<String>,
    /// Its own tokens.
    pub tokens: Option<u64>,
}
