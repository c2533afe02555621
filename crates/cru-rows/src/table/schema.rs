//! The thirteen tables and their columns: names, kinds, meanings. Columns are added behind the others and never taken
//! away; a change of what is in them raises [`crate::FOLD_VERSION`].

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// 64 bits, signed.
    Int,
    /// 64 bits.
    Float,
    /// Yes or no.
    Bool,
    /// Microseconds since 1970 in UTC.
    Time,
    /// Days since 1970.
    Day,
    /// A list of texts.
    Texts,
    /// `{uri, offset, length}`: a place in an object.
    Place,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// What stands in it.
    pub kind: ColumnKind,
    /// What it means.
    pub meaning: &'static str,
}

const fn text(name: &'static str, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Text, meaning }
}
const fn int(name: &'static str, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Int, meaning }
}
const fn float(name: &'static str, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Float, meaning }
}
const fn flag(name: &'static str, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Bool, meaning }
}
const fn time(name: &'static str, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Time, meaning }
}
const fn texts(name: &'static str, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Texts, meaning }
}

/// The columns that every table begins with.
pub const COMMON: &[TableColumn] = &[
    text("session_uid", "the session: hash of host and the host's id; of a file, its first session"),
    int("family", "number of the family that was read together"),
    TableColumn { name: "day", kind: ColumnKind::Day, meaning: "day the session began, UTC; 1970-01-01: not known" },
    text("host", "which program ran it; empty: not known"),
    int("fold_version", "version of the rules that made the row"),
];

const SEQ: TableColumn = int("seq", "place in the session, from 0; of accounting, in the family");

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "their columns say what is in them")]
pub enum RowTable {
    Sessions,
    Phases,
    Steps,
    Messages,
    Decisions,
    Errors,
    Tasks,
    Subagents,
    Files,
    Tokens,
    Edges,
    Cases,
    Accounting,
}

impl RowTable {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Sessions,
        Self::Phases,
        Self::Steps,
        Self::Messages,
        Self::Decisions,
        Self::Errors,
        Self::Tasks,
        Self::Subagents,
        Self::Files,
        Self::Tokens,
        Self::Edges,
        Self::Cases,
        Self::Accounting,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Phases => "phases",
            Self::Steps => "steps",
            Self::Messages => "messages",
            Self::Decisions => "decisions",
            Self::Errors => "errors",
            Self::Tasks => "tasks",
            Self::Subagents => "subagents",
            Self::Files => "files",
            Self::Tokens => "tokens",
            Self::Edges => "edges",
            Self::Cases => "cases",
            Self::Accounting => "accounting",
        }
    }

    /// The table of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// All columns, those of every table first.
    pub fn columns(self) -> impl Iterator<Item = &'static TableColumn> {
        COMMON.iter().chain(self.own())
    }

    /// The columns of this table alone.
    pub const fn own(self) -> &'static [TableColumn] {
        match self {
            Self::Sessions => SESSIONS,
            Self::Phases => PHASES,
            Self::Steps => STEPS,
            Self::Messages => MESSAGES,
            Self::Decisions => DECISIONS,
            Self::Errors => ERRORS,
            Self::Tasks => TASKS,
            Self::Subagents => SUBAGENTS,
            Self::Files => FILES,
            Self::Tokens => TOKENS,
            Self::Edges => EDGES,
            Self::Cases => CASES,
            Self::Accounting => ACCOUNTING,
        }
    }
}

const SESSIONS: &[TableColumn] = &[
    text("host_session", "the host's own id"),
    text("host_version", "version of the host program"),
    text("agent", "first agent that took part, with version"),
    flag("subagent", "whether it is a sub-agent's"),
    text("parent_uid", "the session that started it, where it is in the family"),
    text("title", "title"),
    text("status", "active, paused, completed, failed, abandoned"),
    time("started", "when it began"),
    time("ended", "when it ended"),
    int("duration_ms", "from begin to end"),
    int("active_ms", "the same without pauses of ten minutes and more"),
    text("model", "primary model"),
    text("project", "working directory"),
    text("branch", "git branch"),
    text("commit", "git commit that the work began on"),
    text("channel", "channel"),
    int("tokens", "tokens of this session alone, without cache reads"),
    float("cost_usd", "cost, where the record stores one"),
    int("phases", "number of phases"),
    int("steps", "number of steps"),
    int("failed_steps", "number of steps that failed"),
    int("requests", "number of a person's messages"),
    int("corrections", "those that correct the agent"),
    int("errors", "number of errors"),
    int("decisions", "number of decisions"),
    text("proof", "how far what was written was checked"),
    text("activity", "classes of its first actions in order, for clusters: look>change>check"),
    int("masked", "number of secrets that were taken out"),
    text("transcript", "URI of the object with its first record"),
    texts("tags", "tags"),
    text("note", "the session as a markdown note"),
];

const PHASES: &[TableColumn] = &[
    SEQ,
    text("phase_id", "block id in the note"),
    text("parent_phase", "phase that a sub-phase stands in"),
    text("title", "title"),
    text("agent", "agent with version"),
    text("channel", "channel"),
    time("started", "when it began"),
    int("steps", "number of steps"),
    int("failed_steps", "number of steps that failed"),
];

const STEPS: &[TableColumn] = &[
    SEQ,
    text("step_id", "block id in the note"),
    text("phase_id", "its phase"),
    text("agent", "agent of the phase, with version"),
    text("tool", "tool"),
    text("kind", "kind of the tool: shell, read, edit, ..."),
    text("action", "class of what it did: look, check, change, ...; unknown where it is not understood"),
    text("args", "arguments, secrets masked, at most 1 kB"),
    text("args_hash", "hash of all of them, secrets masked"),
    text("result", "result as the note shows it"),
    text("status", "complete, failed, denied, interrupted, no_result, ..."),
    text("verdict", "how the checks that it ran ended: passed, failed, unknown"),
    int("exit", "exit code"),
    time("time", "when it was called"),
    int("duration_ms", "how long it took"),
    TableColumn { name: "evidence", kind: ColumnKind::Place, meaning: "the record of the call" },
];

const MESSAGES: &[TableColumn] = &[
    SEQ,
    text("message_id", "block id, else a stable one"),
    text("phase_id", "its phase"),
    text("role", "user or agent"),
    text("kind", "request, correction, reply, conclusion"),
    text("text", "the words, secrets masked"),
    time("time", "when"),
];

const DECISIONS: &[TableColumn] = &[
    SEQ,
    text("decision_id", "block id, else a stable one"),
    text("phase_id", "its phase"),
    text("title", "what was decided"),
    text("text", "body"),
    text("why", "why"),
    text("rejected", "what was not taken"),
    text("impact", "what it touches"),
    time("time", "when"),
];

const ERRORS: &[TableColumn] = &[
    SEQ,
    text("error_id", "block id, else a stable one"),
    text("phase_id", "its phase"),
    text("title", "title"),
    text("text", "what went wrong"),
    text("resolution", "how it was resolved"),
    time("time", "when"),
];

const TASKS: &[TableColumn] = &[
    SEQ,
    text("task_id", "id of the task; empty: it has none"),
    text("content", "what to do"),
    text("status", "newest status"),
    text("priority", "priority"),
];

const SUBAGENTS: &[TableColumn] = &[
    SEQ,
    text("subagent_id", "block id, else a stable one"),
    text("phase_id", "its phase"),
    text("agent", "agent with version"),
    text("model", "model"),
    text("mode", "inline, link, embed"),
    text("child_uid", "its session, where it is in the family"),
    text("task", "what it was asked"),
    text("summary", "what it answered"),
    int("tokens", "its own tokens"),
];

const FILES: &[TableColumn] = &[
    SEQ,
    text("path", "path, relative to the project where it lies inside"),
    text("access", "read, write, create"),
    text("hash", "hash of the file, where it is known"),
    text("step_id", "the step"),
    text("phase_id", "its phase"),
    text("tool", "tool of the step"),
    time("time", "when"),
];

const TOKENS: &[TableColumn] = &[
    SEQ,
    text("model", "model"),
    int("input", "tokens of requests that came from no cache"),
    int("output", "tokens of answers"),
    int("cache_write", "tokens written to the cache"),
    int("cache_write_1h", "those that are kept for an hour"),
    int("cache_read", "tokens read from the cache"),
];

const EDGES: &[TableColumn] = &[
    SEQ,
    text("from_id", "the step, phase or decision that depends; empty: the session"),
    text("kind", "after, recovers, replays, rests-on, from"),
    text("reason", "written or data, of `after`"),
    text("to_uid", "the session of the other end"),
    text("to_id", "the other end; empty: the session"),
];

const CASES: &[TableColumn] = &[
    SEQ,
    text("case_id", "id"),
    text("kind", "puzzle, correction, demonstration, preference"),
    text("title", "title"),
    text("block_id", "block of the note that it comes from"),
    text("fidelity", "none, summary"),
    text("content_hash", "hash of context and story: equal ones are duplicates"),
    int("redactions", "number of secrets and personal data taken out"),
    text("fault", "what the record shows to be wrong with its answer"),
    text("body", "the whole case as JSON"),
];

const ACCOUNTING: &[TableColumn] = &[
    SEQ,
    text("uri", "the object"),
    text("outcome", "read, empty, duplicate, other, failed"),
    text("reason", "why it gave no session"),
    texts("sessions", "sessions that its records belong to"),
    int("records", "records"),
    int("represented", "records that the rows tell or use"),
    text("skipped", "the others by reason, as JSON"),
];
