//! The typed session: what a note says, and what `render` writes.
//!
//! One model for both directions. [`super::read`] fills it from a note, every value with the byte range it came from;
//! [`super::fold`] fills it from a transcript's events, with empty ranges. What `render` writes, `read` reads back to
//! the same model but for the ranges.

mod callout;
mod meta;
mod step;

use jiff::Timestamp;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

pub use callout::{Callout, Decision, Error, Subagent, SubagentMode, User};
pub use meta::{Agent, Meta, Status, SubagentRef};
pub use step::{DENIED_BY_HOST, FileRef, Step, StepStatus};

use super::detail::{Detail, Level};
use cru_base::Span;
use cru_note::link;

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

/// `[[target#heading|alias]]` or `![[…]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
pub struct Link {
    /// Note name or path; empty for the same note.
    pub target: String,
    /// Heading part, `A#B` for nested ones.
    pub heading: Option<String>,
    /// Block id without `^`.
    pub block: Option<String>,
    /// Shown text.
    pub alias: Option<String>,
    /// `![[…]]`.
    pub embed: bool,
    /// Where it stands; empty when not read from a note's body.
    #[serde(skip)]
    pub span: Span,
}

impl Serialize for Link {
    /// Whoever reads the output sees the parts that there are; a cache holds all of them, in the order of the fields.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { target, heading, block, alias, embed, span: _ } = self;
        if !serializer.is_human_readable() {
            return (target, heading, block, alias, embed).serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("target", target)?;
        for (name, part) in [("heading", heading), ("block", block), ("alias", alias)] {
            if let Some(part) = part {
                map.serialize_entry(name, part)?;
            }
        }
        if *embed {
            map.serialize_entry("embed", embed)?;
        }
        map.end()
    }
}

impl Task {
    /// Whether it is still to be done.
    pub fn is_open(&self) -> bool {
        let word = self.status.trim().to_lowercase();
        !matches!(word.as_str(), "completed" | "complete" | "done" | "cancelled" | "canceled" | "deleted")
    }
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

    /// The link whose brackets hold `inner`.
    pub fn parse(inner: &str) -> Self {
        let parts = link::parse(inner);
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Self {
            target: parts.target.to_owned(),
            heading: owned(parts.heading),
            block: owned(parts.block),
            alias: owned(parts.alias),
            ..Self::default()
        }
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
            Self::Tasks(it) => it.span,
            Self::Prose(it) => it.span,
            other => other.callout().map_or_else(Span::default, |callout| callout.span),
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

    /// Whether an item before all phases is the summary on top, which is made of the session and of readings: it has no id
    /// and is not folded, as the host's own summaries are.
    pub fn is_top(&self) -> bool {
        matches!(self, Self::Callout(it) if it.kind == "summary" && it.id.is_none() && it.folded.is_none())
    }

    /// The step that it is, if it is one.
    pub const fn as_step(&self) -> Option<&Step> {
        match self {
            Self::Step(it) => Some(it),
            _ => None,
        }
    }

    /// The words of a person that it is, if it is such.
    pub const fn as_user(&self) -> Option<&User> {
        match self {
            Self::User(it) => Some(it),
            _ => None,
        }
    }

    /// The prose that it is, if it is such.
    pub const fn as_prose(&self) -> Option<&Prose> {
        match self {
            Self::Prose(it) => Some(it),
            _ => None,
        }
    }

    /// The callout of that kind that it is, where the kind has no type of its own.
    pub fn as_callout(&self, kind: &str) -> Option<&Callout> {
        match self {
            Self::Callout(it) if it.kind == kind => Some(it),
            _ => None,
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
        self.items().filter_map(|(phase, item)| Some((phase, item.as_step()?)))
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

    /// Whether steps of the transcript are left out of it.
    pub fn is_brief(&self) -> bool {
        self.meta.detail.as_deref().is_some_and(|text| Detail::parse(text).level == Level::Brief)
    }

    /// What to call it: title, heading, else id.
    pub fn title(&self) -> &str {
        let id = self.meta.session_id.as_deref();
        self.meta.title.as_deref().or(self.heading.as_deref()).or(id).unwrap_or("untitled")
    }
}
