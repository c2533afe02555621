//! A step, and what it touched.

use cru_action::{Action, CallEnd, ToolKind, Verdict, verdict};
use jiff::Timestamp;
use serde::Serialize;

use super::Link;
use crate::line_anchor::LineAnchor;
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
    /// How the checks that it ran ended, all together (`check:`); nothing where it ran none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Verdict>,
    /// Steps it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Link>,
    /// The step it runs again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replays: Option<Link>,
    /// The cell of a note that it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<Link>,
    /// Other nested `name: value` lines, in order (`kind`, `model`, unknown ones).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// The list item with its nested lines.
    pub span: Span,
}

impl Step {
    /// Whether the host's permissions refused it, and no person.
    pub fn is_denied_by_host(&self) -> bool {
        self.status == StepStatus::Denied && self.result.as_deref().is_some_and(|it| it.starts_with(DENIED_BY_HOST))
    }

    /// Its exit code, also where the line has none since the command went well: an import writes those that are not 0.
    /// `told`: the host tells of each call how it ended.
    pub fn known_exit(&self, told: bool) -> Option<i32> {
        let went_well = || {
            let answer = self.output.as_deref().or(self.result.as_deref())?;
            let is_it = told
                && self.status == StepStatus::Complete
                && ToolKind::of(&self.tool) == ToolKind::Shell
                && !verdict::is_unfinished(answer);
            is_it.then_some(0)
        };
        self.exit.or_else(went_well)
    }

    /// The commits that its output shows (`commit:`), each by its id and the first line of its message; the id is empty where
    /// the note has none.
    pub fn commits(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_id = |id: &str| (7..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let fields = self.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("commit"));
        fields.filter_map(move |(_, text)| {
            let text = text.trim();
            let (id, subject) = match text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
                Some((id, subject)) => (id.trim(), subject.trim()),
                None if is_id(text) => (text, ""),
                None => text.split_once(char::is_whitespace).filter(|(id, _)| is_id(id)).unwrap_or(("", text)),
            };
            (id.is_empty() || is_id(id)).then_some((id, subject.trim()))
        })
    }

    /// The whole of its arguments, as far as the note has them.
    pub fn full_args(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.args)
    }

    /// How the checks that it ran ended. A note that says nothing of it, written by hand or before `check:` was, is
    /// judged by its status and the line of its result, as far as that goes.
    pub fn verdict(&self) -> Option<Verdict> {
        if self.check.is_some() || !matches!(self.status, StepStatus::Complete | StepStatus::Failed) {
            return self.check;
        }
        let output = self.output.as_deref().or(self.result.as_deref()).unwrap_or_default();
        let failed = self.status == StepStatus::Failed;
        let end = CallEnd { output, exit: self.exit, failed, has_status: true };
        self.action().decide(&end).map(|decided| decided.verdict)
    }

    /// What it does.
    pub fn action(&self) -> Action<'_> {
        Action::of(&self.tool, self.full_args())
    }
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
    /// Marked `✗`, and none of the following.
    Failed,
    /// A person or the host's permissions refused the call: `✗ denied by user`, `✗ denied by host`.
    Denied,
    /// A person stopped it while it ran: `✗ interrupted`.
    Interrupted,
    /// The record has no answer: `✗ no result recorded`.
    #[serde(rename = "no_result")]
    NoResult,
}

/// How the result of a call begins that the host's permissions refused; the reason follows a colon.
pub const DENIED_BY_HOST: &str = "denied by host";

impl StepStatus {
    /// Its name in data and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::NoResult => "no_result",
        }
    }

    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Pending, Self::Running, Self::Complete, Self::Failed, Self::Denied, Self::Interrupted, Self::NoResult];

    /// That of its name in data.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// The mark of a step in lists: `✓`, `✗`, `…`, `▶`.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Complete => "✓",
            Self::Failed | Self::Denied | Self::Interrupted | Self::NoResult => "✗",
            Self::Pending => "…",
            Self::Running => "▶",
        }
    }

    /// Whether it ended without doing what it was called for, for whatever reason: its line has the mark `✗`.
    pub const fn is_crossed(self) -> bool {
        matches!(self, Self::Failed | Self::Denied | Self::Interrupted | Self::NoResult)
    }

    /// The words with which the result of such a step begins.
    pub const fn words(self) -> Option<&'static str> {
        match self {
            Self::Denied => Some("denied by user"),
            Self::Interrupted => Some("interrupted"),
            Self::NoResult => Some("no result recorded"),
            _ => None,
        }
    }

    /// The status of a step with the mark `✗`, by how its result begins.
    pub fn of_crossed(result: &str) -> Self {
        let begins = |words| result.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        if begins(DENIED_BY_HOST) {
            return Self::Denied;
        }
        let says = |status: &Self| status.words().is_some_and(begins);
        [Self::Denied, Self::Interrupted, Self::NoResult].into_iter().find(says).unwrap_or(Self::Failed)
    }
}

/// A file that a step read or wrote: `path@hash`, and lines of it: `path:A-B@hash`. Without either it is untracked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct FileRef {
    /// Path, relative to the project where it lies inside, else absolute (`~` for home).
    pub path: String,
    /// BLAKE3 of all bytes, 8 to 64 hex digits; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The lines that were read or written, where the record has them: `path:A-B@hash`.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineAnchor>,
    /// Whether a write made the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// Whether it was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl FileRef {
    /// What stands behind it where it was made or deleted: ` (created)`.
    pub const fn mark(&self) -> &'static str {
        match (self.created, self.deleted) {
            (true, _) => " (created)",
            (false, true) => " (deleted)",
            (false, false) => "",
        }
    }
}
