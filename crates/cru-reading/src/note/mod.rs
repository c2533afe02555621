//! A reading as a note that a person reads: each sentence with links and quotes, and the JSON in one fence at the end.
//!
//! Nothing that a reader said stands unescaped: it opens no structure, is no link, no tag, no comment and no HTML. `rendered`
//! is the hash of the file as it was written, without `status`, so that every other change is known as a person's.

mod read;
mod render;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::answer::Answer;

pub use read::read;
pub use render::code;
pub(crate) use render::{evidence, one_line};
pub use render::{line_of_claim, render};

pub use cru_session::ReviewStatus;

/// The folder of readings.
pub const FOLDER: &str = "readings";

/// Why a version of a reading is made: it is the first one, the session changed, the template of the prompt changed, a person
/// had changed or decided about the one before, or somebody asked for it.
pub const REASONS: [&str; 5] = ["initial", "session_changed", "prompt_update", "user_feedback", "again"];

impl ReadingHead {
    /// Why a reading with this head is made after the version `before`.
    pub fn reason(&self, before: Option<&ReadingNote>) -> &'static str {
        let is_decided = |it: &ReadingNote| !matches!(it.head.status, ReviewStatus::Proposed | ReviewStatus::Proven);
        match before {
            None => "initial",
            Some(it) if it.head.note != self.note => "session_changed",
            Some(it) if it.changed || is_decided(it) => "user_feedback",
            Some(it) if it.head.prompt != self.prompt => "prompt_update",
            Some(_) => "again",
        }
    }
}

/// The frontmatter of a reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingHead {
    /// Name of the session's note, for links.
    pub session: String,
    /// Hash of the record that was read.
    pub note: String,
    /// The last phase that was read.
    pub through: String,
    /// Hash of the record before that phase.
    pub before: String,
    /// Who read it: `claude -p`, `claude-sonnet-5`.
    pub reader: String,
    /// Hash of the template of the prompt.
    pub prompt: String,
    /// Hash of everything that the answer depends on; the same key is not asked twice.
    pub key: String,
    /// The second reader.
    pub judge: Option<String>,
    /// Claims that are left, and claims that were made.
    pub claims: (usize, usize),
    /// Estimated tokens, sent and answered.
    pub tokens: Option<u64>,
    /// When it was read; only where an agent was asked.
    pub read: Option<String>,
    /// Why this version was made, one of [`REASONS`]; empty in notes of older versions.
    pub reason: String,
    /// What was decided.
    pub status: ReviewStatus,
}

/// A reading, read from its note.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadingNote {
    /// Path relative to the vault.
    pub path: String,
    /// Its frontmatter.
    pub head: ReadingHead,
    /// `status` as it is written, where it is none.
    pub odd_status: Option<String>,
    /// Whether a person changed anything but `status` since it was written.
    pub changed: bool,
    /// The claims; `None` where the JSON is gone or cannot be read.
    pub answer: Option<Answer>,
    /// What is wrong with the JSON.
    pub error: Option<String>,
    /// The whole file.
    #[serde(skip)]
    pub text: String,
}

impl ReadingNote {
    /// The version in its name: 2 for `NAME@2.md`.
    pub fn version(&self) -> u32 {
        version_of(&self.path)
    }
}

/// The version in the name of a reading.
pub fn version_of(path: &str) -> u32 {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    stem.rsplit_once('@').and_then(|(_, number)| number.parse().ok()).unwrap_or(1)
}

/// The path of a version of the reading of a session's note. The version stands in the name of the first one too: a link by
/// name must not mean two notes.
pub fn path_of(session: &str, version: u32) -> String {
    format!("{FOLDER}/{session}@{}.md", version.max(1))
}

/// The line of the frontmatter that holds the hash.
pub(crate) const RENDERED: &str = "rendered: ";

/// The hash of a note as it was written, whatever ends its lines, without its own line and `status`.
pub(crate) fn rendered(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut marks = 0;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        marks += usize::from(line == "---");
        if marks < 2 && (line.starts_with(RENDERED) || line.starts_with("status:")) {
            continue;
        }
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A note with its own hash behind all other keys.
pub(crate) fn with_hash(text: &str) -> String {
    let line = format!("{RENDERED}{}\n", rendered(text));
    match text.find("\n---\n") {
        Some(at) => format!("{}{line}{}", &text[..=at], &text[at + 1..]),
        None => text.to_owned(),
    }
}
