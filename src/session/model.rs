//! The typed session: what a note says, and what `render` writes.
//!
//! One model for both directions. [`super::read`] fills it from a note, every value with the byte range it came from;
//! [`super::fold`] fills it from a transcript's events, with empty ranges. What `render` writes, `read` reads back to
//! the same model but for the ranges.

use jiff::Timestamp;
use serde::Serialize;

use crate::base::Span;

/// A session note, read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Session {
    /// The frontmatter.
    pub meta: Meta,
    /// The text of the first level-1 heading.
    pub heading: Option<String>,
    /// What stands before the first phase.
    pub preface: Vec<Item>,
    /// Phases and sub-phases in document order; a sub-phase names its parent.
    pub phases: Vec<Phase>,
    /// The working memory fences (`yaml memory`), as written.
    pub memory: Vec<Fence>,
}

/// The frontmatter of a session, typed. Unknown keys stay in the note; [`Meta::extra`] names them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Meta {
    /// `type`; a session note says `session`.
    pub kind: Option<String>,
    /// `session_id`: the file stem at creation.
    pub session_id: Option<String>,
    /// `title`.
    pub title: Option<String>,
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
    /// `subagents`.
    pub subagents: Vec<SubagentRef>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `cru_cursor`, verbatim; see [`super::cursor`].
    pub cursor: Option<String>,
    /// `export`: `false` keeps the session out of training data.
    pub export: Option<bool>,
    /// Names of the other keys, in order.
    pub extra: Vec<String>,
}

impl Meta {
    /// Whether the note says that it is a session.
    pub fn is_session(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("session"))
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
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// An agent with its version: `planner@1.2`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Agent {
    /// Name: a letter, then letters, digits, `_`, `.`, `-`.
    pub name: String,
    /// Version, without `@`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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

/// A `##` section (or `###` within one) with what was done in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phase {
    /// Block id without `^`, `p-01`. Derived (`p-01` by position, prefixed by nothing) where the note has none; see
    /// [`Phase::id_written`].
    pub id: String,
    /// Whether the note itself carries the id.
    pub id_written: bool,
    /// 2 for a phase, 3 for a sub-phase.
    pub level: u8,
    /// Index into [`Session::phases`] of the phase a sub-phase stands in.
    pub parent: Option<usize>,
    /// Heading without agent and channel, escapes undone.
    pub title: String,
    /// `@agent@version` of the heading. A level-2 heading without one is prose (`## Summary`), kept as a phase with
    /// neither agent nor steps.
    pub agent: Option<Agent>,
    /// `#channel` of the heading, without `#`.
    pub channel: Option<String>,
    /// Time in the line under the heading.
    pub started: Option<Timestamp>,
    /// `after: [[…]]` in the line under the heading: a written dependency.
    pub after: Vec<Link>,
    /// `from: [[…]]` in the line under the heading: where an abandoned or forked branch goes on from.
    pub from: Option<Link>,
    /// Steps, callouts and prose in document order, without those of sub-phases.
    pub items: Vec<Item>,
    /// Heading to the next phase's heading.
    pub span: Span,
    /// The heading line alone.
    pub heading_span: Span,
}

/// Something in a phase, in document order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum Item {
    /// One tool call.
    Step(Step),
    /// `> [!decision]`.
    Decision(Decision),
    /// `> [!error]`.
    Error(Error),
    /// `> [!user]`.
    User(User),
    /// `> [!subagent]`.
    Subagent(Subagent),
    /// A `tasks` fence.
    Tasks(Tasks),
    /// A callout of any other kind: checkpoint, lesson, usage, summary, gate, quirk, thought, unknown ones.
    Callout(Callout),
    /// Anything else a person or agent wrote.
    Prose(Prose),
}

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

/// `[[target#heading|alias]]` or `![[…]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Link {
    /// Note name or path; empty for the same note.
    pub target: String,
    /// Heading part, `A#B` for nested ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Block id without `^`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Shown text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// `![[…]]`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub embed: bool,
    /// Where it stands; empty when not read from a note's body.
    #[serde(skip)]
    pub span: Span,
}

impl Link {
    /// A link to a block of the same note.
    pub fn to_block(id: impl Into<String>) -> Self {
        Self { block: Some(id.into()), ..Self::default() }
    }

    /// A link to a note.
    pub fn to_note(target: impl Into<String>) -> Self {
        Self { target: target.into(), ..Self::default() }
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[[{}", if self.embed { "!" } else { "" }, self.target)?;
        if let Some(heading) = &self.heading {
            write!(f, "#{heading}")?;
        }
        if let Some(block) = &self.block {
            write!(f, "#^{block}")?;
        }
        if let Some(alias) = &self.alias {
            write!(f, "|{alias}")?;
        }
        f.write_str("]]")
    }
}

/// What every callout has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Callout {
    /// Kind in lower case: `checkpoint`, `lesson`.
    pub kind: String,
    /// Block id without `^`, from the line after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Title after `[!kind]`; empty when there is none.
    pub title: String,
    /// `Some(true)` for `-` (closed), `Some(false)` for `+`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<bool>,
    /// Everything below the title line with the quote marks taken off and escapes undone, fields included.
    pub body: String,
    /// Lines `Name: value` of the body, in order; a value may span lines until the next field or blank line.
    pub fields: Vec<(String, String)>,
    /// `At:` field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The whole callout without its block id line.
    pub span: Span,
}

impl Callout {
    /// The value of field `name`, case ignored.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// `> [!decision] Title`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    /// The callout itself; its title is the decision.
    #[serde(flatten)]
    pub callout: Callout,
    /// Body without fields.
    pub text: String,
    /// `Why:`.
    pub why: Option<String>,
    /// `Rejected:`.
    pub rejected: Option<String>,
    /// `Impact:`.
    pub impact: Option<String>,
    /// Links of `Rests on:`.
    pub rests_on: Vec<Link>,
}

/// `> [!error] Title`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Error {
    /// The callout itself.
    #[serde(flatten)]
    pub callout: Callout,
    /// Body without fields: what went wrong.
    pub text: String,
    /// `Resolution:` fields, joined by newlines.
    pub resolution: Option<String>,
    /// Links of the resolution.
    pub resolved_by: Vec<Link>,
    /// `Step:` or a link in the body: the failing step.
    pub steps: Vec<Link>,
}

/// `> [!user]`: a person's own words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct User {
    /// The callout itself.
    #[serde(flatten)]
    pub callout: Callout,
    /// The exact words between the outer quotes, escapes undone. Without quotes: the whole body.
    pub words: String,
    /// What follows the last ` - ` after the closing quote.
    pub interpretation: Option<String>,
    /// Whether the title says `Correction`.
    pub correction: bool,
}

/// How a sub-agent's work is shown in its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubagentMode {
    /// All of it inside the callout.
    Inline,
    /// A link to a session of its own.
    #[default]
    Link,
    /// `![[…]]`: shown in place.
    Embed,
}

/// `> [!subagent] @agent@version (model)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Subagent {
    /// The callout itself.
    #[serde(flatten)]
    pub callout: Callout,
    /// Agent of the title.
    pub agent: Option<Agent>,
    /// Model of the title.
    pub model: Option<String>,
    /// `mode:`, or inferred from the link.
    pub mode: SubagentMode,
    /// Its session (link and embed).
    pub link: Option<Link>,
    /// `Task:` what it was asked.
    pub task: Option<String>,
    /// `Summary:`.
    pub summary: Option<String>,
    /// Inline work: steps without ids, callouts and prose.
    pub items: Vec<Item>,
}

/// A `tasks` fence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tasks {
    /// The tasks in order.
    pub tasks: Vec<Task>,
    /// The fence.
    pub span: Span,
}

/// One row of a `tasks` fence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct Task {
    /// Id, `TASK-008`.
    #[serde(default)]
    pub id: String,
    /// What to do.
    #[serde(default)]
    pub content: String,
    /// `pending`, `in_progress`, `completed`.
    #[serde(default)]
    pub status: String,
    /// `high`, `medium`, `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Other keys, kept in order.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A fenced block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Fence {
    /// Info string.
    pub info: String,
    /// Text between the fences.
    pub body: String,
    /// The whole block.
    pub span: Span,
}

/// Paragraphs, lists, tables and fences that are none of the above.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Prose {
    /// Block id without `^`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Markdown with escapes undone.
    pub text: String,
    /// Where it stands: one or more neighbouring blocks.
    pub span: Span,
}

impl Item {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Step(step) => step.span,
            Self::Decision(it) => it.callout.span,
            Self::Error(it) => it.callout.span,
            Self::User(it) => it.callout.span,
            Self::Subagent(it) => it.callout.span,
            Self::Tasks(it) => it.span,
            Self::Callout(it) => it.span,
            Self::Prose(it) => it.span,
        }
    }

    /// Its block id without `^`.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Step(step) => step.id.as_deref(),
            Self::Tasks(_) => None,
            Self::Prose(it) => it.id.as_deref(),
            other => other.callout().and_then(|callout| callout.id.as_deref()),
        }
    }

    /// The callout it is, if it is one.
    pub fn callout(&self) -> Option<&Callout> {
        match self {
            Self::Decision(it) => Some(&it.callout),
            Self::Error(it) => Some(&it.callout),
            Self::User(it) => Some(&it.callout),
            Self::Subagent(it) => Some(&it.callout),
            Self::Callout(it) => Some(it),
            Self::Step(_) | Self::Tasks(_) | Self::Prose(_) => None,
        }
    }
}

impl Session {
    /// Every item with the phase it stands in (`None`: before the first), in document order of phases.
    pub fn items(&self) -> impl Iterator<Item = (Option<&Phase>, &Item)> {
        let preface = self.preface.iter().map(|item| (None, item));
        preface.chain(self.phases.iter().flat_map(|phase| phase.items.iter().map(move |item| (Some(phase), item))))
    }

    /// Every step of the session itself, inline sub-agents' left out.
    pub fn steps(&self) -> impl Iterator<Item = (Option<&Phase>, &Step)> {
        self.items().filter_map(|(phase, item)| match item {
            Item::Step(step) => Some((phase, step)),
            _ => None,
        })
    }

    /// The newest state of each task: later fences replace rows of the same id (or content, without id).
    pub fn tasks(&self) -> Vec<&Task> {
        let mut tasks: Vec<&Task> = Vec::new();
        for (_, item) in self.items() {
            let Item::Tasks(fence) = item else { continue };
            for task in &fence.tasks {
                let same = |old: &&mut &Task| {
                    if task.id.is_empty() { old.content == task.content } else { old.id == task.id }
                };
                match tasks.iter_mut().find(same) {
                    Some(old) => *old = task,
                    None => tasks.push(task),
                }
            }
        }
        tasks
    }

    /// What to call it: title, heading, else id.
    pub fn title(&self) -> &str {
        let id = self.meta.session_id.as_deref();
        self.meta.title.as_deref().or(self.heading.as_deref()).or(id).unwrap_or("untitled")
    }
}
