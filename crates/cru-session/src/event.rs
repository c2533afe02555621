//! The common stream of events that every importer makes of a transcript.
//!
//! An importer knows one agent's records and nothing of notes; [`super::fold`] knows events and nothing of agents.
//! Events borrow from the record they came from, so a fold keeps only what a note shows. As JSON they are the published
//! format that `docs/events.md` describes: what a field is called here, it is called there.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model::{FileRef, Task};

/// One thing that happened, in the order of the transcript.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Number of the record it came from, from 1, in the stream's evidence.
    pub record: u64,
    /// The record's time. Times may go backwards; the order of events is the order.
    pub time: Option<Timestamp>,
    /// What happened.
    pub kind: EventKind<'a>,
}

/// What happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind<'a> {
    /// A person said something.
    Prompt(Prompt<'a>),
    /// The agent wrote prose.
    Reply(Cow<'a, str>),
    /// The agent's thinking, where the record holds its text.
    Thinking(Cow<'a, str>),
    /// A tool was called.
    Call(Call<'a>),
    /// A tool answered.
    Result(CallResult<'a>),
    /// Tokens of one model message. A later one with the same `message` replaces the earlier.
    Usage {
        /// The message's id, so that repeated lines count once.
        message: Cow<'a, str>,
        /// Model id.
        model: Cow<'a, str>,
        /// The counts.
        usage: Usage,
    },
    /// The context was compacted; what follows goes on from a summary.
    Compaction {
        /// `auto` or `manual`.
        trigger: Option<Cow<'a, str>>,
        /// Tokens before.
        tokens_before: Option<u64>,
        /// The summary the host wrote.
        summary: Option<Cow<'a, str>>,
    },
    /// A person went back: what follows goes on from an earlier prompt, and what lies between is abandoned.
    Rewind {
        /// Record number of the event that the new branch follows; 0 for the beginning.
        to: u64,
    },
    /// As [`EventKind::Rewind`], with a summary of what is abandoned taken along.
    Branch {
        /// Record number of the event that the new branch follows; 0 for the beginning.
        to: u64,
        /// The summary the host wrote.
        summary: Option<Cow<'a, str>>,
    },
    /// A person marked a place.
    Bookmark {
        /// Record number of the event that is marked.
        to: u64,
        /// Its name.
        label: Cow<'a, str>,
    },
    /// A person stopped the agent. With a call id: while that tool ran.
    Interrupt {
        /// The call that was stopped.
        call: Option<Cow<'a, str>>,
        /// Whether the record does not say that a person did: it may have been the host, or the model service.
        #[serde(default)]
        unnamed: bool,
    },
    /// The model service failed, after the host's own retries.
    ApiError(Cow<'a, str>),
    /// The record proves a decision: an answered question, an approved or refused plan.
    Decision(DecisionEvent<'a>),
    /// The whole task list as it now is.
    Tasks(Vec<Task>),
    /// One task was added or changed; empty fields stay as they were.
    Task(Task),
    /// A sub-agent that a call started beside the one that its answer names: one call may start many.
    Subagent {
        /// The call.
        call: Cow<'a, str>,
        /// What it started.
        run: SubagentRun<'a>,
    },
    /// A sub-agent that ran in the background came back.
    SubagentDone {
        /// The stream of its own work.
        stream: StreamKey,
        /// What it answered.
        summary: Option<Cow<'a, str>>,
        /// Whether it failed.
        failed: bool,
    },
    /// The record itself begins a phase, of this title.
    Phase(Cow<'a, str>),
    /// A remark that the record holds ready-made: a lesson, a checkpoint, the reading of a segment.
    Remark(Remark<'a>),
    /// A line `name: value` below a step: what the host says of a call and nothing else tells.
    Detail {
        /// The call, which came before.
        call: Cow<'a, str>,
        /// Name of the line; none of those that every step has, but `after`, whose value is a call that came before.
        name: Cow<'a, str>,
        /// What stands in it.
        value: Cow<'a, str>,
    },
    /// Something about the whole session.
    #[serde(rename = "fact")]
    Meta(SessionFact<'a>),
    /// A pull request was made or named.
    PullRequest {
        /// Its address.
        url: Cow<'a, str>,
        /// Its number.
        number: u64,
    },
}

impl EventKind<'_> {
    /// What the events are called in the published format.
    pub const NAMES: [&'static str; 22] = [
        "prompt",
        "reply",
        "thinking",
        "call",
        "result",
        "usage",
        "compaction",
        "rewind",
        "branch",
        "bookmark",
        "interrupt",
        "api_error",
        "decision",
        "tasks",
        "task",
        "subagent",
        "subagent_done",
        "phase",
        "remark",
        "detail",
        "fact",
        "pull_request",
    ];
}

/// A person's input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt<'a> {
    /// Exact words, wrappers of the host taken off.
    pub text: Cow<'a, str>,
    /// How it came.
    pub origin: PromptOrigin<'a>,
    /// Pictures and documents sent along: media type and size in bytes.
    pub attachments: Vec<Attachment<'a>>,
}

/// How a person's words reached the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin<'a> {
    /// Typed at the prompt.
    #[default]
    Typed,
    /// Typed while the agent worked.
    Queued,
    /// A command of the host or of the user's own (`/review src`), written as typed.
    Command,
    /// A shell command the person ran in the host (`!ls`).
    Shell,
    /// Said when refusing a tool call.
    Denial {
        /// The refused call.
        call: Cow<'a, str>,
    },
    /// The task that a parent agent gave a sub-agent: no person said it.
    Task,
}

/// Something sent along with a prompt or result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment<'a> {
    /// `image/png`.
    pub media_type: Cow<'a, str>,
    /// Decoded size.
    pub bytes: u64,
}

/// A tool call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call<'a> {
    /// The host's id, by which the result is joined.
    pub id: Cow<'a, str>,
    /// Tool name as the host writes it.
    pub tool: Cow<'a, str>,
    /// What the step line shows after the tool: the main argument, one line or more, in full.
    #[serde(default)]
    pub args: Cow<'a, str>,
    /// All arguments.
    #[serde(default)]
    pub input: Value,
}

/// A tool's answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallResult<'a> {
    /// The call's id.
    pub call: Cow<'a, str>,
    /// The whole text of the answer.
    pub output: Cow<'a, str>,
    /// One line that says it better than the beginning of the output (`412 lines`, `2 files`), where the record has it.
    pub brief: Option<Cow<'a, str>>,
    /// Whether the tool failed.
    pub failed: bool,
    /// Whether a person or the host's permissions refused the call.
    pub denied: bool,
    /// Why the host's permissions refused it, in the host's words; `None` where a person did.
    pub denial: Option<Cow<'a, str>>,
    /// Exit code, where the record has it.
    pub exit: Option<i32>,
    /// Duration, where the record has it.
    pub duration_ms: Option<u64>,
    /// Files that the record proves were read.
    pub reads: Vec<FileRef>,
    /// Files that the record proves were written.
    pub writes: Vec<FileRef>,
    /// What was written into them, where the record shows it: at most one for each file.
    pub changes: Box<[FileChange]>,
    /// The sub-agent that did the work.
    pub subagent: Option<SubagentRun<'a>>,
    /// Pictures in the answer.
    pub attachments: Vec<Attachment<'a>>,
    /// Commits that the record names beside the output, by id.
    pub commits: Vec<Cow<'a, str>>,
    /// Whether the record says nothing of how the call ended, so that its output alone tells.
    pub unstated: bool,
}

/// What a call wrote into one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file, as [`FileRef::path`].
    pub path: String,
    /// Hunks of a unified diff ([`crate::evidence_patch::diff`]), secrets and all.
    pub diff: String,
}

/// A sub-agent started by a call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubagentRun<'a> {
    /// The stream of its own work, if it has one.
    pub stream: Option<StreamKey>,
    /// Its type, `reviewer`.
    pub agent: Option<Cow<'a, str>>,
    /// Its model.
    pub model: Option<Cow<'a, str>>,
    /// What it was asked, in a few words.
    pub task: Option<Cow<'a, str>>,
    /// Whether it still runs ([`EventKind::SubagentDone`] follows).
    pub background: bool,
}

/// A decision that the record itself proves.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionEvent<'a> {
    /// What was decided, in a few words.
    pub title: Cow<'a, str>,
    /// More, markdown.
    pub text: Cow<'a, str>,
    /// Why, if said.
    pub why: Option<Cow<'a, str>>,
    /// What was offered and not taken.
    pub rejected: Vec<Cow<'a, str>>,
    /// Whether a person approved a plan: codify makes a gate of it.
    pub approval: bool,
    /// The call that asked.
    pub call: Option<Cow<'a, str>>,
}

/// A callout that the record holds ready-made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remark<'a> {
    /// Kind of the callout: `lesson`. Decisions, the words of a person and sub-agents have events of their own.
    pub kind: Cow<'a, str>,
    /// Title behind the kind.
    pub title: Cow<'a, str>,
    /// What it says, markdown.
    pub text: Cow<'a, str>,
    /// Lines `Name: value` below the text. An `error` has `Resolution` alone.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Whether it is closed at first.
    pub folded: bool,
    /// The call it is about: the callout links to its step.
    pub about: Option<Cow<'a, str>>,
    /// Its id in the note: letters, digits and dashes.
    pub id: Option<Cow<'a, str>>,
}

/// Something about the whole session; the last of its kind wins unless said otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionFact<'a> {
    /// A title; the source with the highest rank wins, the last within one rank.
    Title {
        /// Where it came from.
        rank: TitleRank,
        /// The words.
        text: Cow<'a, str>,
    },
    /// Working directory; the first is the project.
    Cwd(Cow<'a, str>),
    /// Folder of the project, where the work was done in a work tree of it.
    Project(Cow<'a, str>),
    /// Git branch; the first is that of the start.
    Branch(Cow<'a, str>),
    /// Git commit that the work began on; the first counts. A commit that a step makes is told by its result.
    Commit(Cow<'a, str>),
    /// The agent that worked, where the host only tells of it.
    Agent(Cow<'a, str>),
    /// Version of the host program.
    HostVersion(Cow<'a, str>),
    /// When it began, where no record says it.
    Started(Timestamp),
    /// The session was made by copying another one: what is older than this was copied.
    CopiedUntil(Timestamp),
    /// The session that it goes on in, as the host says of it.
    ContinuedIn(StreamKey),
    /// Its model, where no tokens say it.
    Model(Cow<'a, str>),
    /// Cost in US dollars that the record stores for one message; summed.
    Cost(f64),
    /// Cost in US dollars of all that was asked, as the host sums it up; the last counts, and no cost of a message beside it.
    TotalCost(f64),
    /// All tokens, where the record does not say of which kind they are.
    Tokens(u64),
    /// A word to find it by; each is kept once.
    Tag(Cow<'a, str>),
    /// A key of the working memory.
    Memory {
        /// Its name.
        key: Cow<'a, str>,
        /// What is remembered.
        value: Value,
    },
    /// A property of the note that no other event tells.
    Property {
        /// Its name; none of those that every note has.
        key: Cow<'a, str>,
        /// Its value.
        value: Value,
    },
}

/// Where a title came from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleRank {
    /// A summary that the host made.
    Summary,
    /// A title that the host made.
    Host,
    /// A name that a person gave.
    Custom,
}

/// Token counts of one or more messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens, without cached ones.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Those among them that are kept for an hour, which have a price of their own.
    #[serde(skip_serializing_if = "is_none")]
    pub cache_write_1h: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Searches of the web that the maker of the model ran for it, which are paid for beside the tokens.
    #[serde(skip_serializing_if = "is_none")]
    pub web_searches: u64,
    /// Whether only the output is known; the other counts say nothing then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_output: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// `tokens_used`: input + output + cache creation; `None` where the input is unknown.
    pub const fn known(self) -> Option<u64> {
        if self.only_output { None } else { Some(self.used()) }
    }

    /// Input + output + cache creation, as far as they are known.
    pub const fn used(self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_write)
    }

    /// What it has beyond `other`.
    #[must_use]
    pub const fn since(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
            cache_write_1h: self.cache_write_1h.saturating_sub(other.cache_write_1h),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            web_searches: self.web_searches.saturating_sub(other.web_searches),
            only_output: self.only_output,
        }
    }

    /// Adds `other`.
    pub const fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.web_searches = self.web_searches.saturating_add(other.web_searches);
        self.only_output |= other.only_output;
    }
}

/// Which stream of events, that is: which note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StreamKey {
    /// The host's session id.
    pub session: String,
    /// The host's sub-agent id within it, for a sub-agent.
    #[serde(default)]
    pub agent: Option<String>,
}

impl std::fmt::Display for StreamKey {
    /// As in the frontmatter key `host_session`: `<session>` or `<session>/agent-<agent>`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.session)?;
        self.agent.as_ref().map_or(Ok(()), |agent| write!(f, "/agent-{agent}"))
    }
}
