//! What is known of a session without reading its note: flat rows of plain values, one table for each kind of thing.
//!
//! Every row has every column, and a column is one plain value (lists are joined), so that each table is one uniform
//! table in TOON and in CSV. Times are UTC, durations milliseconds, lines count from 1.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use cru_base::{Lines, Span};
use cru_graph::dependencies;
use cru_graph::place::{self, Place};
use cru_session::agent_table;
use cru_session::event::Usage;
use cru_session::open::{open_line, open_points};

use cru_session::usage;
use cru_session::{Callout, Item, Phase, Session, StepStatus};
use cru_vault::VaultPath;

/// Version of the rows; a record of another version is made anew.
pub const SCHEMA: u32 = 12;

/// A session's metadata and totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionRow {
    /// `session_id`, else the file's name.
    pub id: String,
    /// The note, relative to the vault.
    pub path: String,
    /// Title, heading, else id.
    pub title: String,
    /// `active`, `paused`, `completed`, `failed`, `abandoned`, or a word of somebody's own.
    pub status: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// From `started` to `ended`; without an end, to the last time that the note tells.
    pub duration_ms: Option<u64>,
    /// The first agent that took part.
    pub agent: Option<String>,
    /// All agents with versions, joined by `, `.
    pub participants: String,
    /// Channel, of the first phase that has one where the frontmatter has none.
    pub channel: Option<String>,
    /// The primary model.
    pub model: Option<String>,
    /// Working directory.
    pub project: Option<String>,
    /// Branch.
    pub branch: Option<String>,
    /// Tags, joined by `, `.
    pub tags: String,
    /// Which program ran it.
    pub host: Option<String>,
    /// The host's own id.
    pub host_session: Option<String>,
    /// Path of the transcript.
    pub transcript: Option<String>,
    /// What `parent` links to.
    pub parent: Option<String>,
    /// Sessions of its sub-agents, joined by `, `.
    pub subagent_sessions: String,
    /// Tokens of those sub-agents, in the same order and joined alike; `-` where the note does not tell.
    pub subagent_tokens: String,
    /// Whether it is a sub-agent's, as its own note tells (its parent's list may tell it too).
    pub subagent: bool,
    /// Whether its frontmatter says `export: false`.
    pub private: bool,
    /// Whether it keeps claims that may become stale: decisions that rest on steps, steps that ran others again, steps that
    /// say by whom they were recorded.
    pub claims: bool,
    /// Phases.
    pub phases: u64,
    /// Steps.
    pub steps: u64,
    /// Steps that failed.
    pub failed_steps: u64,
    /// Decisions.
    pub decisions: u64,
    /// Errors.
    pub errors: u64,
    /// Times that the user spoke.
    pub user: u64,
    /// Times that the user corrected.
    pub corrections: u64,
    /// Sub-agents.
    pub subagents: u64,
    /// Tasks that are not completed.
    pub open_tasks: u64,
    /// What it left open, on one line; empty where nothing is.
    pub open: String,
    /// Tokens of this session alone, without those read from a cache.
    pub tokens: Option<u64>,
    /// Cost in US dollars, where the record stores one.
    pub cost_usd: Option<f64>,
    /// Tokens of this session alone by model, from its usage tables.
    pub usage: Vec<ModelUsage>,
    /// Tokens of sub-agents that are told by their callouts alone, without a link to a session.
    pub inline_tokens: u64,
    /// Time worked on it, pauses of ten minutes and more left out.
    pub active_ms: Option<u64>,
    /// [`cru_graph::Proof::name`]; `None` where nothing was written and nothing was checked.
    pub proof: Option<String>,
    /// Steps that wrote after the last passing check.
    pub writes_after_check: u64,
    /// Its tools, by name.
    pub tools: Vec<ToolUse>,
}

impl SessionRow {
    /// Whether it was completed with writes that no check has seen.
    pub fn is_unproven(&self) -> bool {
        let behind = self.proof.as_deref() == Some("writes_after") && self.writes_after_check > 0;
        behind && self.status.as_deref() == Some("completed") && !self.subagent
    }
}

/// The tokens that a session used of one model. A count that its note does not know is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// Tokens of requests that came from no cache.
    pub input: Option<u64>,
    /// Tokens of answers.
    pub output: u64,
    /// Tokens written to the cache.
    pub cache_write: Option<u64>,
    /// Those among them that are kept for an hour.
    pub cache_write_1h: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read: Option<u64>,
    /// Searches of the web that the maker of the model ran.
    pub web_searches: u64,
}

impl ModelUsage {
    /// The same as one value.
    pub fn usage(&self) -> Usage {
        Usage {
            input: self.input.unwrap_or(0),
            output: self.output,
            cache_write: self.cache_write.unwrap_or(0),
            cache_write_1h: self.cache_write_1h.unwrap_or(0),
            cache_read: self.cache_read.unwrap_or(0),
            web_searches: self.web_searches,
            only_output: self.input.is_none(),
        }
    }

    /// Adds up the usage tables of a session, by model.
    fn of(session: &Session) -> Vec<Self> {
        let mut sums: BTreeMap<String, Usage> = BTreeMap::new();
        for (_, item) in session.items() {
            let Item::Callout(callout) = item else { continue };
            if callout.kind != usage::KIND {
                continue;
            }
            for (model, used) in usage::read(&callout.body) {
                sums.entry(model).or_default().add(used);
            }
        }
        let row = |(model, sum): (String, Usage)| {
            let known = |count: u64| (!sum.only_output).then_some(count);
            Self {
                model,
                input: known(sum.input),
                output: sum.output,
                cache_write: known(sum.cache_write),
                cache_write_1h: known(sum.cache_write_1h),
                cache_read: known(sum.cache_read),
                web_searches: sum.web_searches,
            }
        };
        sums.into_iter().map(row).collect()
    }
}

/// How often a session used a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The tool.
    pub tool: String,
    /// Steps.
    pub steps: u64,
    /// Those that failed; denied and interrupted ones did not.
    pub failed: u64,
}

/// A phase or sub-phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// Block id.
    pub id: String,
    /// Title.
    pub title: String,
    /// Agent with version.
    pub agent: Option<String>,
    /// Channel.
    pub channel: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// Its steps, sub-phases' left out.
    pub steps: u64,
    /// Those that failed.
    pub failed_steps: u64,
    /// Ids of what it depends on, as written: `p-01`.
    pub after: Option<String>,
    /// Line of its heading.
    pub line: u64,
}

/// A step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// Block id.
    pub id: Option<String>,
    /// Id of its phase.
    pub phase: Option<String>,
    /// Tool.
    pub tool: String,
    /// Arguments as the line shows them.
    pub args: String,
    /// Result as the line shows it.
    pub result: Option<String>,
    /// [`StepStatus::name`].
    pub status: String,
    /// How the checks that it ran ended: `passed`, `failed`, `unknown`. `None` where it ran none.
    pub check: Option<String>,
    /// When.
    pub time: Option<Timestamp>,
    /// Exit code.
    pub exit: Option<i64>,
    /// How long.
    pub duration_ms: Option<u64>,
    /// Ids of what it depends on, written or by the files it read: `n-001, n-004`.
    pub after: Option<String>,
    /// Ids of what depends on it: `n-006, n-009`.
    pub dependents: Option<String>,
    /// The verdict on what it read and wrote, or `rests on stale`. It is computed for the query that asks for it, and
    /// kept nowhere.
    #[serde(skip)]
    pub verdict: Option<String>,
    /// Its line.
    pub line: u64,
}

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DecisionRow {
    /// Block id.
    pub id: Option<String>,
    /// Id of its phase.
    pub phase: Option<String>,
    /// What was decided.
    pub title: String,
    /// The body without fields.
    pub text: String,
    /// Why.
    pub why: Option<String>,
    /// What was not taken.
    pub rejected: Option<String>,
    /// What it touches.
    pub impact: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// Its line.
    pub line: u64,
}

/// An error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// Block id.
    pub id: Option<String>,
    /// Id of its phase.
    pub phase: Option<String>,
    /// Title.
    pub title: String,
    /// What went wrong.
    pub text: String,
    /// How it was resolved.
    pub resolution: Option<String>,
    /// Block id of the step that failed.
    pub step: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// Its line.
    pub line: u64,
}

/// Words of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserRow {
    /// Block id.
    pub id: Option<String>,
    /// Id of its phase.
    pub phase: Option<String>,
    /// Whether they correct.
    pub correction: bool,
    /// The words.
    pub words: String,
    /// What was made of them, as the note says behind the quote.
    pub action: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// Their line.
    pub line: u64,
}

/// A sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubagentRow {
    /// Block id.
    pub id: Option<String>,
    /// Id of its phase.
    pub phase: Option<String>,
    /// Agent with version.
    pub agent: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// `inline`, `link`, `embed`.
    pub mode: String,
    /// What its link names.
    pub session: Option<String>,
    /// What it was asked.
    pub task: Option<String>,
    /// What it said.
    pub summary: Option<String>,
    /// Its own tokens, as the frontmatter tells.
    pub tokens: Option<u64>,
    /// Its line.
    pub line: u64,
}

/// A file that a step read or wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileRow {
    /// Path as the note has it.
    pub path: String,
    /// `read`, `write`, `create`.
    pub access: String,
    /// Its hash.
    pub hash: Option<String>,
    /// Block id of the step.
    pub step: Option<String>,
    /// Id of the phase.
    pub phase: Option<String>,
    /// Tool of the step.
    pub tool: String,
    /// When.
    pub time: Option<Timestamp>,
    /// Line of the step.
    pub line: u64,
}

/// A task in its newest state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// What to do.
    pub content: String,
    /// `pending`, `in_progress`, `completed`.
    pub status: String,
    /// `high`, `medium`, `low`.
    pub priority: Option<String>,
}

/// All that is known of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Metadata and totals.
    pub session: SessionRow,
    /// Phases in order.
    pub phases: Vec<PhaseRow>,
    /// Steps in order.
    pub steps: Vec<StepRow>,
    /// Decisions in order.
    pub decisions: Vec<DecisionRow>,
    /// Errors in order.
    pub errors: Vec<ErrorRow>,
    /// The user's words in order.
    pub user: Vec<UserRow>,
    /// Sub-agents in order.
    pub subagents: Vec<SubagentRow>,
    /// Files in the order of their steps.
    pub files: Vec<FileRow>,
    /// Tasks.
    pub tasks: Vec<TaskRow>,
}

/// The tables of a [`Record`], named and ordered as its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// [`Record::phases`].
    Phases,
    /// [`Record::steps`].
    Steps,
    /// [`Record::decisions`].
    Decisions,
    /// [`Record::errors`].
    Errors,
    /// [`Record::user`].
    User,
    /// [`Record::subagents`].
    Subagents,
    /// [`Record::files`].
    Files,
    /// [`Record::tasks`].
    Tasks,
}

impl Table {
    /// All of them in their order.
    pub const ALL: [Self; 8] = [
        Self::Phases,
        Self::Steps,
        Self::Decisions,
        Self::Errors,
        Self::User,
        Self::Subagents,
        Self::Files,
        Self::Tasks,
    ];

    /// The field's name.
    pub const fn name(self) -> &'static str {
        const NAMES: [&str; 8] = ["phases", "steps", "decisions", "errors", "user", "subagents", "files", "tasks"];
        NAMES[self as usize]
    }
}

/// What each step and phase of a session depends on, and what depends on it: `n-001, n-004`.
fn dependencies_by_place(session: &Session) -> [HashMap<Place, String>; 2] {
    let [mut after, mut dependents] = [HashMap::new(), HashMap::new()];
    let add = |to: &mut HashMap<Place, String>, place: Place, other: Place| {
        let Some(id) = other.id_in(session) else { return };
        let ids = to.entry(place).or_default();
        ids.push_str(if ids.is_empty() { "" } else { ", " });
        ids.push_str(id);
    };
    for it in dependencies(session) {
        add(&mut after, it.of, it.on);
        add(&mut dependents, it.on, it.of);
    }
    [after, dependents]
}

impl Record {
    /// The record of a session that was read from the note at `path`.
    pub fn of(path: &VaultPath, session: &Session, lines: &Lines) -> Self {
        let mut record = Self { session: row(path, session), ..Self::default() };
        let line = |span: Span| lines.line(span.start) as u64;
        let [mut after, mut dependents] = dependencies_by_place(session);
        for (index, phase) in session.phases.iter().enumerate() {
            record.phases.push(PhaseRow {
                id: phase.id.clone(),
                title: phase.title.clone(),
                agent: phase.agent.as_ref().map(ToString::to_string),
                channel: phase.channel.clone(),
                started: phase.started,
                steps: phase.items.iter().filter(|item| matches!(item, Item::Step(_))).count() as u64,
                failed_steps: phase.items.iter().filter(|item| is_failed(item)).count() as u64,
                after: after.remove(&Place { phase: Some(index), item: None }),
                line: line(phase.heading_span),
            });
        }
        for (place, item) in place::items(session) {
            let phase = place.phase.and_then(|index| session.phases.get(index));
            record.item(phase.map(|phase| phase.id.clone()), item, session, line(item.span()));
            if let (Item::Step(_), Some(step)) = (item, record.steps.last_mut()) {
                (step.after, step.dependents) = (after.remove(&place), dependents.remove(&place));
            }
        }
        for task in session.tasks() {
            record.tasks.push(TaskRow {
                id: task.id.clone(),
                content: task.content.clone(),
                status: task.status.clone(),
                priority: task.priority.clone(),
            });
        }
        record.total();
        record
    }

    fn item(&mut self, phase: Option<String>, item: &Item, session: &Session, line: u64) {
        let id = item.id().map(str::to_owned);
        match item {
            Item::Step(step) => {
                let host = session.meta.host.as_deref().and_then(agent_table::by_host);
                let told = host.is_some_and(|agent| agent.statuses);
                for (access, file) in
                    step.reads.iter().map(|file| ("read", file)).chain(step.writes.iter().map(|file| ("write", file)))
                {
                    self.files.push(FileRow {
                        path: file.path.clone(),
                        access: match (file.created, file.deleted) {
                            (true, _) => "create",
                            (_, true) => "delete",
                            _ => access,
                        }
                        .to_owned(),
                        hash: file.hash.clone(),
                        step: id.clone(),
                        phase: phase.clone(),
                        tool: step.tool.clone(),
                        time: step.time,
                        line,
                    });
                }
                self.steps.push(StepRow {
                    id,
                    phase,
                    tool: step.tool.clone(),
                    args: step.args.clone(),
                    result: step.result.clone(),
                    status: step.status.name().to_owned(),
                    check: step.verdict().map(|verdict| verdict.as_str().to_owned()),
                    time: step.time,
                    exit: step.known_exit(told).map(i64::from),
                    duration_ms: step.duration_ms,
                    after: None,
                    dependents: None,
                    verdict: None,
                    line,
                });
            }
            Item::Decision(it) => {
                let cru_session::Decision { callout, text, why, rejected, impact, .. } = it.clone();
                let at = at(&callout);
                let title = callout.title;
                self.decisions.push(DecisionRow { id, phase, title, text, why, rejected, impact, at, line });
            }
            Item::Error(it) => {
                let (title, text, resolution) = (it.callout.title.clone(), it.text.clone(), it.resolution.clone());
                let step = it.steps.iter().filter(|link| link.target.is_empty()).find_map(|link| link.block.clone());
                self.errors.push(ErrorRow { id, phase, title, text, resolution, step, at: at(&it.callout), line });
            }
            Item::User(it) => self.user.push(UserRow {
                id,
                phase,
                correction: it.correction,
                words: it.words.clone(),
                action: it.interpretation.clone(),
                at: at(&it.callout),
                line,
            }),
            Item::Subagent(it) => {
                let named = it.link.as_ref().map(|link| link.target.clone());
                let known = session.meta.subagents.iter().find(|row| Some(&row.session) == named.as_ref());
                self.subagents.push(SubagentRow {
                    id,
                    phase,
                    agent: it.agent.as_ref().map(ToString::to_string),
                    model: it.model.clone(),
                    mode: mode(it.mode).to_owned(),
                    tokens: known.and_then(|row| row.tokens).or_else(|| callout_tokens(&it.callout)),
                    session: named,
                    task: it.task.clone(),
                    summary: it.summary.clone(),
                    line,
                });
            }
            Item::Tasks(_) | Item::Callout(_) | Item::Prose(_) => {}
        }
    }

    /// The same with the rows of some tables alone; what the session's row counts stays.
    #[must_use]
    pub fn only(self, tables: &[Table]) -> Self {
        fn kept<T>(rows: Vec<T>, is_kept: bool) -> Vec<T> {
            if is_kept { rows } else { Vec::new() }
        }
        let has = |table: Table| tables.contains(&table);
        Self {
            session: self.session,
            phases: kept(self.phases, has(Table::Phases)),
            steps: kept(self.steps, has(Table::Steps)),
            decisions: kept(self.decisions, has(Table::Decisions)),
            errors: kept(self.errors, has(Table::Errors)),
            user: kept(self.user, has(Table::User)),
            subagents: kept(self.subagents, has(Table::Subagents)),
            files: kept(self.files, has(Table::Files)),
            tasks: kept(self.tasks, has(Table::Tasks)),
        }
    }

    /// Counts rows.
    fn total(&mut self) {
        let count = |count: usize| count as u64;
        self.session.phases = count(self.phases.len());
        self.session.steps = count(self.steps.len());
        self.session.failed_steps = count(self.steps.iter().filter(|step| step.status == "failed").count());
        let mut tools: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for step in &self.steps {
            let sum = tools.entry(step.tool.as_str()).or_default();
            sum.0 += 1;
            sum.1 += u64::from(step.status == "failed");
        }
        let tools = tools.into_iter().map(|(tool, (steps, failed))| ToolUse { tool: tool.to_owned(), steps, failed });
        self.session.tools = tools.collect();
        self.session.decisions = count(self.decisions.len());
        self.session.errors = count(self.errors.len());
        self.session.user = count(self.user.len());
        self.session.corrections = count(self.user.iter().filter(|user| user.correction).count());
        self.session.subagents = count(self.subagents.len());
        self.session.open_tasks = count(self.tasks.iter().filter(|task| task.status != "completed").count());
    }
}

fn row(path: &VaultPath, session: &Session) -> SessionRow {
    let meta = &session.meta;
    let mut participants: Vec<String> = meta.participants.iter().map(ToString::to_string).collect();
    if participants.is_empty() {
        // A note written by hand names its agents in its headings.
        for agent in session.phases.iter().filter_map(|phase| phase.agent.as_ref()).map(ToString::to_string) {
            if !participants.contains(&agent) {
                participants.push(agent);
            }
        }
    }
    let joined = |words: Vec<String>| words.join(", ");
    let ended = meta.ended.or_else(|| last_time(session));
    let proof = cru_graph::proof(session);
    let duration = meta.started.zip(ended).map(|(from, to)| to.duration_since(from).as_millis());
    SessionRow {
        id: meta.session_id.clone().unwrap_or_else(|| path.stem().into_owned()),
        path: path.text().into_owned(),
        title: session.title().to_owned(),
        status: meta.status.as_ref().map(|status| status.as_str().to_owned()),
        started: meta.started,
        ended: meta.ended,
        duration_ms: duration.and_then(|ms| u64::try_from(ms).ok()),
        agent: participants.first().cloned(),
        participants: joined(participants),
        channel: meta.channel.clone().or_else(|| session.phases.iter().find_map(|phase| phase.channel.clone())),
        model: meta.model.clone(),
        project: meta.project.clone(),
        branch: meta.branch.clone(),
        tags: joined(meta.tags.clone()),
        host: meta.host.clone(),
        host_session: meta.host_session.clone(),
        transcript: meta.transcript.clone(),
        parent: meta.parent.as_ref().map(|link| link.target.clone()),
        subagent_sessions: joined(meta.subagents.iter().map(|row| row.session.clone()).collect()),
        subagent_tokens: joined(
            meta.subagents.iter().map(|row| row.tokens.map_or_else(|| "-".to_owned(), |it| it.to_string())).collect(),
        ),
        subagent: meta.host_session.as_ref().is_some_and(|host| host.contains("/agent-")),
        private: meta.export == Some(false),
        claims: place::items(session).any(|(_, item)| claims(item)),
        open: open_line(&open_points(session)).unwrap_or_default(),
        tokens: meta.tokens_used,
        cost_usd: meta.cost_usd,
        usage: ModelUsage::of(session),
        inline_tokens: inline_tokens(session),
        active_ms: cru_session::active_ms(session),
        proof: proof.map(|proof| proof.name().to_owned()),
        writes_after_check: proof.map_or(0, cru_graph::Proof::writes_after),
        ..SessionRow::default()
    }
}

fn claims(item: &Item) -> bool {
    match item {
        Item::Step(step) => {
            step.replays.is_some() || step.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("by"))
        }
        Item::Decision(it) => !it.rests_on.is_empty(),
        _ => false,
    }
}

/// Tokens that the callouts of sub-agents without a link tell.
fn inline_tokens(session: &Session) -> u64 {
    let own = session.items().filter_map(|(_, item)| match item {
        Item::Subagent(it) if it.link.is_none() => callout_tokens(&it.callout),
        _ => None,
    });
    own.fold(0, u64::saturating_add)
}

/// The field `Tokens:` of a callout.
fn callout_tokens(callout: &Callout) -> Option<u64> {
    callout.field("Tokens").and_then(|text| text.trim().replace([',', ' '], "").parse().ok())
}

/// The last time that a session's note tells.
fn last_time(session: &Session) -> Option<Timestamp> {
    let items = session.items().filter_map(|(_, item)| match item {
        Item::Step(step) => step.time,
        _ => item.callout().and_then(at),
    });
    items.chain(session.phases.iter().filter_map(|phase: &Phase| phase.started)).max()
}

fn at(callout: &Callout) -> Option<Timestamp> {
    callout.at
}

fn is_failed(item: &Item) -> bool {
    matches!(item, Item::Step(step) if step.status == StepStatus::Failed)
}

const fn mode(mode: cru_session::SubagentMode) -> &'static str {
    match mode {
        cru_session::SubagentMode::Inline => "inline",
        cru_session::SubagentMode::Link => "link",
        cru_session::SubagentMode::Embed => "embed",
    }
}
