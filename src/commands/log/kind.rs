//! The verbs of `cru log`: one for each kind of entry, with its arguments.

mod entry;

use crate::commands::words::explained;
use crate::session::SubagentMode;

/// What is logged.
#[derive(Debug, clap::Subcommand)]
pub(super) enum LogKind {
    /// A phase begins; prints its id
    Phase {
        /// Its title
        title: Vec<String>,
        /// Who works: `coder@2.0`; else the session's agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Channel; else the session's
        #[arg(long, value_name = "CHANNEL")]
        channel: Option<String>,
        /// As part of the phase before
        #[arg(long)]
        sub: bool,
    },
    /// A tool was called or a command run; prints the step's id
    ///
    /// Files are hashed as they are now. With --start the step is only begun: it prints a handle, and --finish with that
    /// handle writes it with its result; what is never finished is written as a failure when the session is paused or
    /// closed.
    Tool(Tool),
    /// Something was decided; prints the decision's id
    Decision {
        /// The decision
        title: Vec<String>,
        /// More of it
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// The reason
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
        /// What was not taken, and why
        #[arg(long, value_name = "TEXT")]
        rejected: Option<String>,
        /// What follows from it
        #[arg(long, value_name = "TEXT")]
        impact: Option<String>,
        /// Steps it rests on: `n-002`
        #[arg(long, value_name = "STEP", value_delimiter = ',')]
        rests_on: Vec<String>,
        /// Put it behind this step
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
    },
    /// Something went wrong, or was resolved; prints the error's id
    Error {
        /// What went wrong; with --resolve, the resolution
        title: Vec<String>,
        /// More of it
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// The steps that failed: `n-002`
        #[arg(long, value_name = "STEP", value_delimiter = ',')]
        step: Vec<String>,
        /// The resolution
        #[arg(long, value_name = "TEXT")]
        resolution: Option<String>,
        /// Resolve an earlier one: its id, its title, or `last`
        #[arg(long, value_name = "ERROR", conflicts_with_all = ["text", "step", "resolution", "after"])]
        resolve: Option<String>,
        /// Put it behind this step
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
    },
    /// A person said something; prints the id of the words
    User {
        /// The exact words
        words: Vec<String>,
        /// What was done about it
        #[arg(long, value_name = "TEXT")]
        action: Option<String>,
        /// They corrected the agent
        #[arg(long)]
        correction: bool,
        /// Put it behind this step
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
    },
    /// A sub-agent begins, or is done; prints the name to use with --done
    ///
    /// `link` and `embed` give it a session of its own, whose id is printed: log its steps with `--session`. `inline` puts
    /// all of its work into the callout when it is done.
    Subagent(Subagent),
    /// A task is added, begun or done; prints its id
    Task {
        /// What becomes of it
        action: TaskAction,
        /// What to do; of a task that is begun or done `TASK-001`, `1`, or words that only it has
        words: Vec<String>,
        /// How urgent one that is added is
        #[arg(long, value_parser = ["high", "medium", "low"], value_name = "PRIORITY")]
        priority: Option<String>,
    },
    /// Something was learned; prints the lesson's id
    Lesson {
        /// The claim
        text: Vec<String>,
        /// What it is about
        #[arg(long, value_parser = ["project", "task", "user", "model", "tool", "skill", "subagent"], value_name = "LEVEL")]
        level: Option<String>,
        /// How sure it is
        #[arg(long, value_parser = ["high", "medium", "low"], value_name = "LEVEL")]
        confidence: Option<String>,
        /// What to do
        #[arg(long = "do", value_name = "TEXT")]
        advice: Option<String>,
        /// A step that it rests on; may be repeated
        #[arg(long, value_name = "STEP")]
        evidence: Vec<String>,
        /// Put it behind this step
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
    },
    /// Prose, as markdown
    Note {
        /// The text
        text: Vec<String>,
        /// Put it behind this step
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
    },
    /// Something is open, or was answered; prints the question's id
    Question {
        /// The question; with --answer the answer
        text: Vec<String>,
        /// Answer an earlier one: its id, its words, or `last`
        #[arg(long, value_name = "QUESTION", conflicts_with = "after")]
        answer: Option<String>,
        /// Put it behind this step
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
    },
    /// Where the work stands: open tasks and questions; prints its id
    Checkpoint {
        /// What for
        title: Vec<String>,
        /// Why it is made
        #[arg(long, default_value = "manual", value_parser = crate::memory::checkpoint::CheckpointKind::WORDS, value_name = "KIND")]
        kind: String,
        /// What the work waits for
        #[arg(long, value_name = "TEXT")]
        blocked: Option<String>,
    },
    /// Tokens were used; the session's table adds them up
    Usage {
        /// By which model
        #[arg(long, value_name = "MODEL")]
        model: String,
        /// Input tokens
        #[arg(long, default_value_t = 0, value_name = "N")]
        input: u64,
        /// Output tokens
        #[arg(long, default_value_t = 0, value_name = "N")]
        output: u64,
        /// Tokens written to the cache
        #[arg(long, default_value_t = 0, value_name = "N")]
        cache_write: u64,
        /// Tokens read from the cache
        #[arg(long, default_value_t = 0, value_name = "N")]
        cache_read: u64,
        /// Dollars
        #[arg(long, value_name = "N")]
        cost: Option<f64>,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Tool {
    /// The tool: `Bash`, `Read`
    #[arg(value_name = "TOOL", required_unless_present = "finish")]
    name: Option<String>,
    /// Its arguments, or the command; options of the command stand behind `--` or in quotes
    args: Vec<String>,
    /// What came of it; shown up to 100 characters
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
    /// It failed
    #[arg(long)]
    failed: bool,
    /// Exit code; other than 0 is a failure
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    exit: Option<i32>,
    /// Seconds it took
    #[arg(long, value_name = "SECONDS")]
    duration: Option<f64>,
    /// Files it read
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// Files it wrote
    #[arg(long, value_name = "PATH")]
    write: Vec<String>,
    /// Files it made
    #[arg(long, value_name = "PATH")]
    created: Vec<String>,
    /// Steps it depends on: `n-001`
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    after: Vec<String>,
    /// Begin it; prints a handle
    #[arg(long, conflicts_with_all = ["result", "failed", "exit", "duration", "finish"])]
    pub(super) start: bool,
    /// Finish what was begun under this handle
    #[arg(long, value_name = "HANDLE", conflicts_with_all = ["name", "args"])]
    pub(super) finish: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Subagent {
    /// Who: `reviewer@1.0`
    #[arg(required_unless_present = "done")]
    agent: Option<String>,
    /// Its model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What it was asked
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// How its work is shown; else `[session] subagents` of the configuration, else `link`
    #[arg(long, value_name = "MODE", value_parser = explained(MODES))]
    mode: Option<SubagentMode>,
    /// Put its callout behind this step
    #[arg(long, value_name = "STEP")]
    after: Option<String>,
    /// It is done: the name that was printed when it began
    #[arg(long, value_name = "NAME", conflicts_with_all = ["agent", "mode", "after"])]
    done: Option<String>,
    /// What came of it
    #[arg(long, value_name = "TEXT", requires = "done")]
    summary: Option<String>,
    /// Its own tokens; else those of its session
    #[arg(long, value_name = "N", requires = "done")]
    tokens: Option<u64>,
    /// All of its work as markdown (inline)
    #[arg(long, value_name = "TEXT", requires = "done")]
    text: Option<String>,
    /// It failed
    #[arg(long, requires = "done")]
    pub(super) failed: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum TaskAction {
    /// Add one
    Add,
    /// Work on it now
    Start,
    /// It is done
    Done,
}

const MODES: &[(SubagentMode, &str)] = &[
    (SubagentMode::Link, "A session of its own, linked"),
    (SubagentMode::Embed, "A session of its own, shown in place when it is done"),
    (SubagentMode::Inline, "All of it in the callout when it is done"),
];
