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
    /// The column of `cru list` that fills it, where there is one.
    pub source: &'static str,
}

/// Columns by name and kind; `= name` is the column of `cru list` that fills one of another name.
macro_rules! columns {
    ($($name:ident $kind:ident $(= $source:ident)?),* $(,)?) => {
        &[$(TableColumn {
            name: stringify!($name),
            kind: ColumnKind::$kind,
            source: columns!(@source $name $($source)?),
        }),*]
    };
    (@source $name:ident) => { stringify!($name) };
    (@source $name:ident $source:ident) => { stringify!($source) };
}
#[cfg(feature = "rows")]
pub(crate) use columns;

/// The columns that every table begins with. `session_uid`: the session, the hash of host and the host's id; of a file, its
/// first session; `family`: number of the family that was read together; `day`: day the session began, UTC; 1970-01-01: not
/// known; `host`: which program ran it; empty: not known; `fold_version`: version of the rules that made the row.
pub const COMMON: &[TableColumn] = columns![
    session_uid Text, family Int, day Day, host Text, fold_version Int,
];

cru_base::words! {
    /// A table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(missing_docs, reason = "their columns say what is in them")]
    pub enum RowTable {
        Sessions = "sessions",
        Phases = "phases",
        Steps = "steps",
        Messages = "messages",
        Decisions = "decisions",
        Errors = "errors",
        Tasks = "tasks",
        Subagents = "subagents",
        Files = "files",
        Tokens = "tokens",
        Edges = "edges",
        Cases = "cases",
        Accounting = "accounting",
    }
}

impl RowTable {
    /// All columns, those of every table first.
    pub fn columns(self) -> impl Iterator<Item = &'static TableColumn> {
        COMMON.iter().chain(self.own())
    }

    /// The columns of this table alone.
    pub const fn own(self) -> &'static [TableColumn] {
        COLUMNS[self as usize]
    }
}

/// The columns of each, in the order of [`RowTable`].
const COLUMNS: [&[TableColumn]; 13] =
    [SESSIONS, PHASES, STEPS, MESSAGES, DECISIONS, ERRORS, TASKS, SUBAGENTS, FILES, TOKENS, EDGES, CASES, ACCOUNTING];

/// `host_session`: the host's own id; `host_version`: version of the host program; `agent`: first agent that took
/// part, with version; `subagent`: whether it is a sub-agent's; `parent_uid`: the session that started it, where it
/// is in the family; `status`: active, paused, completed, failed, abandoned; `started`: when it began; `ended`: when
/// it ended; `duration_ms`: from begin to end; `active_ms`: the same without pauses of ten minutes and more; `model`:
/// primary model; `project`: working directory; `branch`: git branch; `commit`: git commit that the work began on;
/// `tokens`: tokens of this session alone, without cache reads; `cost_usd`: cost, where the record stores one;
/// `phases`: number of phases; `steps`: number of steps; `failed_steps`: number of steps that failed; `requests`:
/// number of a person's messages; `corrections`: those that correct the agent; `errors`: number of errors;
/// `decisions`: number of decisions; `proof`: how far what was written was checked; `activity`: classes of its first
/// actions in order, for clusters: look>change>check; `masked`: number of secrets that were taken out; `transcript`:
/// URI of the object with its first record; `note`: the session as a markdown note.
const SESSIONS: &[TableColumn] = columns![
    host_session Text, host_version Text, agent Text, subagent Bool, parent_uid Text = parent, title Text,
    status Text, started Time, ended Time, duration_ms Int, active_ms Int, model Text, project Text, branch Text,
    commit Text, channel Text, tokens Int, cost_usd Float, phases Int, steps Int, failed_steps Int,
    requests Int = user, corrections Int, errors Int, decisions Int, proof Text, activity Text, masked Int,
    transcript Text, tags Texts, note Text,
];

/// `phase_id`: block id in the note; `parent_phase`: phase that a sub-phase stands in; `agent`: agent with version;
/// `started`: when it began; `steps`: number of steps; `failed_steps`: number of steps that failed.
const PHASES: &[TableColumn] = columns![
    seq Int, phase_id Text = id, parent_phase Text, title Text, agent Text, channel Text, started Time, steps Int,
    failed_steps Int,
];

/// `step_id`: block id in the note; `phase_id`: its phase; `agent`: agent of the phase, with version; `kind`: kind of
/// the tool: shell, read, edit, ...; `action`: class of what it did: look, check, change, ...; unknown where it is
/// not understood; `args`: arguments, secrets masked, at most 1 kB; `args_hash`: hash of all of them, secrets masked;
/// `result`: result as the note shows it; `status`: complete, failed, denied, interrupted, `no_result`, ...; `verdict`:
/// how the checks that it ran ended: passed, failed, unknown; `exit`: exit code; `time`: when it was called;
/// `duration_ms`: how long it took; `evidence`: the record of the call.
const STEPS: &[TableColumn] = columns![
    seq Int, step_id Text = id, phase_id Text = phase, agent Text, tool Text, kind Text, action Text, args Text,
    args_hash Text, result Text, status Text, verdict Text = check, exit Int, time Time, duration_ms Int,
    evidence Place,
];

/// `message_id`: block id, else a stable one; `phase_id`: its phase; `role`: user or agent; `kind`: request,
/// correction, reply, conclusion; `text`: the words, secrets masked; `time`: when.
const MESSAGES: &[TableColumn] = columns![
    seq Int, message_id Text, phase_id Text, role Text, kind Text, text Text, time Time,
];

/// `decision_id`: block id, else a stable one; `phase_id`: its phase; `title`: what was decided; `text`: body;
/// `rejected`: what was not taken; `impact`: what it touches; `time`: when.
const DECISIONS: &[TableColumn] = columns![
    seq Int, decision_id Text = id, phase_id Text = phase, title Text, text Text, why Text, rejected Text,
    impact Text, time Time = at,
];

/// `error_id`: block id, else a stable one; `phase_id`: its phase; `text`: what went wrong; `resolution`: how it was
/// resolved; `time`: when.
const ERRORS: &[TableColumn] = columns![
    seq Int, error_id Text = id, phase_id Text = phase, title Text, text Text, resolution Text, time Time = at,
];

/// `task_id`: id of the task; empty: it has none; `content`: what to do; `status`: newest status.
const TASKS: &[TableColumn] = columns![
    seq Int, task_id Text = id, content Text, status Text, priority Text,
];

/// `subagent_id`: block id, else a stable one; `phase_id`: its phase; `agent`: agent with version; `mode`: inline,
/// link, embed; `child_uid`: its session, where it is in the family; `task`: what it was asked; `summary`: what it
/// answered; `tokens`: its own tokens.
const SUBAGENTS: &[TableColumn] = columns![
    seq Int, subagent_id Text = id, phase_id Text = phase, agent Text, model Text, mode Text, child_uid Text = link,
    task Text, summary Text, tokens Int,
];

/// `path`: path, relative to the project where it lies inside; `access`: read, write, create, delete; `hash`: hash of the
/// file, where it is known; `step_id`: the step; `phase_id`: its phase; `tool`: tool of the step; `time`: when.
const FILES: &[TableColumn] = columns![
    seq Int, path Text, access Text, hash Text, step_id Text = step, phase_id Text = phase, tool Text, time Time,
];

/// `input`: tokens of requests that came from no cache; `output`: tokens of answers; `cache_write`: tokens written to
/// the cache; `cache_write_1h`: those that are kept for an hour; `cache_read`: tokens read from the cache.
const TOKENS: &[TableColumn] = columns![
    seq Int, model Text, input Int, output Int, cache_write Int, cache_write_1h Int, cache_read Int,
];

/// `from_id`: the step, phase or decision that depends; empty: the session; `kind`: after, recovers, replays,
/// rests-on, from; `reason`: written or data, of `after`; `to_uid`: the session of the other end; `to_id`: the other
/// end; empty: the session.
const EDGES: &[TableColumn] = columns![
    seq Int, from_id Text, kind Text, reason Text, to_uid Text, to_id Text,
];

/// `case_id`: id; `kind`: puzzle, correction, demonstration, preference; `block_id`: block of the note that it comes
/// from; `fidelity`: none, summary; `content_hash`: hash of context and story: equal ones are duplicates;
/// `redactions`: number of secrets and personal data taken out; `fault`: what the record shows to be wrong with its
/// answer; `body`: the whole case as JSON.
const CASES: &[TableColumn] = columns![
    seq Int, case_id Text, kind Text, title Text, block_id Text, fidelity Text, content_hash Text, redactions Int,
    fault Text, body Text,
];

/// `uri`: the object; `outcome`: read, empty, duplicate, other, failed; `reason`: why it gave no session; `sessions`:
/// sessions that its records belong to; `represented`: records that the rows tell or use; `skipped`: the others by
/// reason, as JSON.
const ACCOUNTING: &[TableColumn] = columns![
    seq Int, uri Text, outcome Text, reason Text, sessions Texts, records Int, represented Int, skipped Text,
];
