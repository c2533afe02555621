//! A step, and what it touched.

use jiff::Timestamp;
use serde::Serialize;

use super::Link;
use cru_base::Span;

/// One tool call or command: the replayable unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Step {
    /// Block id without `^`, `n-001`; `None` in a hand-written list and inside inline sub-agents.
    pub id: Option<String>,
    /// First word of the code span.
    pub tool: String,
    /// The rest of the code span. Where the command did not fit, its shortened form; the whole is in [`Step::command`].
    pub args: String,
    /// Full text of a command that did not fit one line (a fence nested under the step).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What it was given beside [`Step::args`], as far as it is shown (a fence `input`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// What it answered, as far as it is shown (a fence `output`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Text after `→` without the trailing parenthesis and `✗`; at most 100 characters when `cru` wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Its own status.
    pub status: StepStatus,
    /// When it was called, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Duration in milliseconds; written as seconds with at most one decimal (whole from 100 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Files read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<FileRef>,
    /// Files written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<FileRef>,
    /// Steps it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Link>,
    /// The step it runs again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replays: Option<Link>,
    /// Other nested `name: value` lines, in order (`kind`, `model`, unknown ones).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// The list item with its nested lines.
    pub span: Span,
}

/// Status of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// Result is exactly `…`.
    Pending,
    /// Marked `▶`.
    Running,
    /// Done.
    #[default]
    Complete,
    /// Marked `✗`.
    Failed,
}

/// A file that a step read or wrote: `path@hash`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct FileRef {
    /// Path, relative to the project where it lies inside, else absolute (`~` for home).
    pub path: String,
    /// BLAKE3 of the content, 8 to 64 hex digits; `None`: untracked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Whether a write made the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
}
