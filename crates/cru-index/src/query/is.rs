//! The words behind `is:` and `kind:`.

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
        "reading",
        "usage",
        "summary",
        "gate",
        "quirk",
        "thought",
        "bookmark",
        "project",
        "case",
        "workflow",
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

/// The kind of entries that a word names: `decisions` is `decision`.
pub fn entry_kind(word: &str) -> &str {
    let known = |word: &str| Is::words().any(|known| known == word);
    match word.strip_suffix('s') {
        Some(one) if !known(word) && known(one) => one,
        _ => word,
    }
}
