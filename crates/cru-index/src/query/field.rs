//! The fields of a query: a closed set, one table.

use super::Value;

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Who did it; of a session, who took part.
    Agent,
    /// Channel.
    Channel,
    /// Status of the session.
    Status,
    /// Kind of the block: `step`, `decision`, …
    Kind,
    /// Tool of a step.
    Tool,
    /// A file that a step read or wrote.
    File,
    /// Model of the session, or a part of its name.
    Model,
    /// Folder of the session, or a part of its path.
    Project,
    /// Branch of the session.
    Branch,
    /// Tag of the session.
    Tag,
    /// Id of the session, or a part of it.
    Session,
    /// At or after a time.
    After,
    /// Before a time.
    Before,
    /// A state or a kind.
    Is,
}

/// What a word behind `is:` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// A status that sessions have: all that stands in them.
    Status,
    /// `failed`: steps that failed, and the heads of sessions that did.
    Failed,
    /// A mark of an entry.
    Mark,
    /// A kind of entry.
    Kind,
}

impl Field {
    /// Every field with its name.
    pub const ALL: &[(&'static str, Self)] = &[
        ("agent", Self::Agent),
        ("channel", Self::Channel),
        ("status", Self::Status),
        ("kind", Self::Kind),
        ("tool", Self::Tool),
        ("file", Self::File),
        ("model", Self::Model),
        ("project", Self::Project),
        ("branch", Self::Branch),
        ("tag", Self::Tag),
        ("session", Self::Session),
        ("after", Self::After),
        ("before", Self::Before),
        ("is", Self::Is),
    ];

    /// The field of that name, case ignored.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, field)| *field)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }

    /// Whether a comma separates values; paths and times may hold one.
    pub(super) const fn is_list(self) -> bool {
        !matches!(self, Self::File | Self::Project | Self::After | Self::Before)
    }

    /// Whether it is a time.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, Self::After | Self::Before)
    }

    /// Whether it holds for a session as a whole.
    pub(super) fn is_of_session(self, values: &[Value]) -> bool {
        match self {
            Self::Status | Self::Model | Self::Project | Self::Branch | Self::Tag | Self::Session => true,
            Self::Is => values.iter().all(|value| Is::of(&value.text) == Is::Status),
            Self::Agent | Self::Channel | Self::Kind | Self::Tool | Self::File | Self::After | Self::Before => false,
        }
    }
}

impl Is {
    /// Marks of entries.
    const MARKS: &[&str] = &["correction", "resolved", "open"];
    /// Kinds of entries that `is:` names; any other callout has its kind too.
    const KINDS: &[&str] = &[
        "session",
        "phase",
        "step",
        "decision",
        "error",
        "user",
        "subagent",
        "prose",
        "task",
        "memory",
        "evidence",
        "checkpoint",
        "lesson",
        "usage",
        "summary",
        "gate",
        "quirk",
        "thought",
    ];
    /// Statuses of sessions.
    const STATUSES: &[&str] = &["active", "paused", "completed", "abandoned"];

    /// What `word` (in lower case) is about; a word that nobody knows may be the kind of somebody's own callout.
    pub fn of(word: &str) -> Self {
        match word {
            "failed" => Self::Failed,
            _ if Self::STATUSES.contains(&word) => Self::Status,
            _ if Self::MARKS.contains(&word) => Self::Mark,
            _ => Self::Kind,
        }
    }

    /// The words that mean something everywhere.
    pub fn words() -> impl Iterator<Item = &'static str> {
        ["failed"].iter().chain(Self::STATUSES).chain(Self::MARKS).chain(Self::KINDS).copied()
    }
}
