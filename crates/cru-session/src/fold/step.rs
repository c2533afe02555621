//! Steps in the order of their calls, joined with results that may come in any order.

use std::collections::{HashMap, HashSet};

use cru_action::verdict::CheckRun;
use cru_action::{Action, CallEnd, ToolKind, Verdict, verdict};
use jiff::Timestamp;

use super::changes::CallChanges;
use super::commits::{self, MadeCommit, QuietCommit};
use super::outcome;
use super::whole::{self, Room};
use super::work_tree::WorkTree;
use crate::agent_table;
use crate::attempt::{Attempt, is_shell};
use crate::event::{Call, CallResult, FileChange, StreamKey, SubagentRun};
use crate::words::{quote, shorten};
use crate::{FileRef, Link, Step, StepStatus};
use cru_base::text::{fold_whitespace, sanitise};

/// Characters that are left on the line then.
const ARGS: usize = 100;

/// A pause between call and result that is still taken for the tool's work, in milliseconds.
const PLAUSIBLE_MS: i64 = 6 * 3600 * 1000;

/// How much later than a host's limit the answer of a command may come that ran into it, in milliseconds.
const SLACK_MS: u64 = 5_000;

/// A computed duration below this says nothing, in milliseconds.
const NOTICEABLE_MS: u64 = 1000;

/// Tool name of a command that a person ran in the host.
const BY_PERSON: &str = "Shell";

/// Name of the line below a step for a commit that it made.
const COMMIT: &str = "commit";

/// Tools that only keep the task list, which the `tasks` fence shows as it now is.
const TASK_TOOLS: &str =
    "TaskCreate TaskGet TaskList TaskUpdate TodoRead TodoWrite todo_write todoread todowrite update_plan write_todos";

/// Bytes of the largest diff of a file that is kept, and of all diffs of a stream.
const DIFF: usize = 1 << 20;
const DIFFS: usize = 16 << 20;

/// How many bytes of diffs were kept.
#[derive(Debug, Default)]
struct PatchRoom(usize);

impl PatchRoom {
    /// A change; nothing where it is too large.
    fn keep(&mut self, change: &FileChange) -> Option<FileChange> {
        let fits = change.diff.len() <= DIFF && self.0 + change.diff.len() <= DIFFS;
        self.0 += if fits { change.diff.len() } else { 0 };
        fits.then(|| change.clone())
    }
}

/// The answer to a call, reduced to what the note shows.
#[derive(Debug)]
struct Answer {
    result: String,
    /// The answer itself, where it is shown.
    output: Option<String>,
    status: StepStatus,
    /// The whole output, where the call did not come yet and its checks are still to be judged.
    early: Option<String>,
    check: Option<Verdict>,
    exit: Option<i32>,
    duration_ms: Option<u64>,
    time: Option<Timestamp>,
    reads: Vec<FileRef>,
    writes: Vec<FileRef>,
    changes: Vec<FileChange>,
    subagent: Option<Run>,
    /// Commits that it shows, if the call is one that can make any.
    commits: Vec<MadeCommit>,
    /// Whether the output alone tells how the call ended.
    unstated: bool,
}

/// A sub-agent that a step started.
#[derive(Debug)]
pub(super) struct Run {
    /// The stream of its own work.
    pub(super) stream: Option<StreamKey>,
    /// Its type.
    pub(super) agent: Option<String>,
    /// Its model.
    pub(super) model: Option<String>,
    /// What it was asked.
    pub(super) task: Option<String>,
    /// What it answered, cut.
    pub(super) summary: Option<String>,
}

/// A step on its way.
#[derive(Debug)]
pub(super) struct StepDraft {
    /// As it will stand in the note.
    pub(super) step: Step,
    /// What it tries, for the errors.
    pub(super) attempt: Attempt,
    /// Whether a result came.
    pub(super) answered: bool,
    /// Whether a person refused it.
    pub(super) denied: bool,
    /// Whether a person stopped it.
    interrupted: bool,
    /// The sub-agent it started.
    pub(super) runs: Vec<Run>,
    /// What it does to files, by its arguments.
    pub(super) changes: Option<CallChanges>,
    /// What it wrote into files, where that is kept.
    pub(super) written: Vec<FileChange>,
    /// Commits that it made.
    pub(super) commits: Vec<MadeCommit>,
    /// How the checks ended that hooks of a commit or push ran, by its output.
    pub(super) hooks: Option<Verdict>,
    /// The work tree that its output shows.
    pub(super) tree: Option<WorkTree>,
    /// Milliseconds after which the host ends it, where that is known.
    limit_ms: Option<u64>,
}

/// The commits of steps that stand at the end: without those that a later step amended, or took back by setting the
/// branch back.
pub(super) fn standing_commits(steps: &[StepDraft]) -> Vec<&MadeCommit> {
    let mut standing: Vec<&MadeCommit> = Vec::new();
    for draft in steps {
        if !standing.is_empty() && draft.step.full_args().contains("git") {
            let action = draft.step.action();
            if draft.step.status == StepStatus::Complete {
                let ids: Vec<&str> = standing.iter().map(|commit| commit.sha.as_str()).collect();
                standing.truncate(standing.len() - action.undone(&ids));
            }
            if !draft.commits.is_empty() && action.amends() {
                standing.pop();
            }
        }
        standing.extend(&draft.commits);
    }
    standing
}

/// All steps of a stream.
#[derive(Debug, Default)]
pub(super) struct Steps {
    all: Vec<StepDraft>,
    by_call: HashMap<String, usize>,
    /// Answers whose call did not come yet.
    early: HashMap<String, (Answer, bool)>,
    /// Calls that keep the task list: their answers are no steps either.
    silent: HashSet<String>,
    /// The step that started a stream.
    by_stream: HashMap<StreamKey, usize>,
    /// For what steps wrote.
    patches: PatchRoom,
    /// Commits that no output has shown yet.
    quiet: Vec<QuietCommit>,
    /// For inputs and answers, where they are shown.
    room: Option<Room>,
    /// Whether the record tells of each call whether it failed.
    statuses: bool,
    /// Seconds after which the host ends a command that names no limit; 0 where none is known.
    command_limit: u64,
}

impl Steps {
    /// Of a host; `in_full` with inputs and answers, as far as a person reads them.
    pub(super) fn new(host: &str, in_full: bool) -> Self {
        // Of a host without a row nothing is known but what its importer says.
        let agent = agent_table::by_host(host);
        let statuses = agent.is_none_or(|agent| agent.statuses);
        let command_limit = agent.map_or(0, |agent| agent.command_limit);
        Self { room: in_full.then(Room::default), statuses, command_limit, ..Self::default() }
    }

    /// What the step with this index was given.
    pub(super) fn given(&mut self, index: usize, input: &str) {
        let shown = self.room.as_mut().and_then(|room| room.shown(input));
        if let Some(draft) = self.all.get_mut(index) {
            draft.step.input = shown;
        }
    }

    /// What the step of a call does to files.
    pub(super) fn changes(&mut self, call: &str, changes: CallChanges) {
        if let Some(draft) = self.index_of(call).and_then(|index| self.all.get_mut(index)) {
            draft.changes = Some(changes);
        }
    }

    /// Takes in a call; gives the step's index, or `None` for one that only keeps the task list.
    pub(super) fn call(&mut self, call: &Call<'_>, time: Option<Timestamp>) -> Option<usize> {
        let tool = tool_name(&call.tool);
        if TASK_TOOLS.split(' ').any(|it| it == tool) {
            self.silent.insert(call.id.clone().into_owned());
            self.early.remove(call.id.as_ref());
            return None;
        }
        let index = self.all.len();
        let full = sanitise(&call.args);
        let full = full.trim();
        let (args, command) = shortened(&tool, full);
        let attempt = Attempt::of(&tool, full);
        let step = Step { id: Some(step_id(index)), tool, args, command, time, ..Step::default() };
        let limit_ms = self.limit(&step.tool, &call.input);
        self.all.push(StepDraft {
            step,
            attempt,
            answered: false,
            denied: false,
            interrupted: false,
            runs: Vec::new(),
            changes: None,
            written: Vec::new(),
            commits: Vec::new(),
            hooks: None,
            tree: None,
            limit_ms,
        });
        let id = call.id.clone().into_owned();
        if let Some((answer, denied)) = self.early.remove(&id) {
            self.join(index, answer, denied);
        }
        self.by_call.insert(id, index);
        Some(index)
    }

    /// Milliseconds after which the host ends a command: what the call says, else what holds for all.
    fn limit(&self, tool: &str, input: &serde_json::Value) -> Option<u64> {
        let known = self.command_limit > 0 && tool != BY_PERSON && ToolKind::of(tool) == ToolKind::Shell;
        known.then(|| input.get("timeout").and_then(serde_json::Value::as_u64).unwrap_or(self.command_limit * 1000))
    }

    /// Whether a call was a person's own.
    pub(super) fn is_by_person(call: &Call<'_>) -> bool {
        call.tool == BY_PERSON
    }

    /// Takes in an answer, before or after its call.
    pub(super) fn result(&mut self, result: &CallResult<'_>, time: Option<Timestamp>) {
        if self.silent.contains(result.call.as_ref()) {
            return;
        }
        let index = self.by_call.get(result.call.as_ref()).copied();
        let step = index.and_then(|index| self.all.get(index)).map(|draft| &draft.step);
        let is_shell = step.is_some_and(|step| ToolKind::of(&step.tool) == ToolKind::Shell);
        let error = step.filter(|_| !result.failed).and_then(|_| verdict::host_error(&result.output));
        let error = error.filter(|error| !is_shell || error.names_tool);
        // What a search that found nothing ends with is an answer.
        let exit = self.end(result, result.failed).exit.filter(|_| result.failed);
        let answers = exit.zip(step).is_some_and(|(exit, step)| step.action().answers(exit));
        let failed = (result.failed && !answers) || error.is_some();
        let line = match error {
            Some(error) => outcome::error(error.message.as_deref().unwrap_or("")),
            None => outcome::line(result, failed),
        };
        let status = match (result.denied, failed) {
            (true, _) => StepStatus::Denied,
            (false, true) => StepStatus::Failed,
            (false, false) => StepStatus::Complete,
        };
        let end = self.end(result, failed);
        let decided = step.filter(|_| !result.denied).and_then(|step| step.action().decide(&end));
        let check = decided.map(|decided| decided.verdict);
        // A check may fail though its call did not: behind a pipe, before `|| true`.
        let hidden = check == Some(Verdict::Failed) && !end.failed && result.brief.is_none();
        let line = if hidden { outcome::failure_line(&result.output) } else { line };
        let output = self.room.as_mut().and_then(|room| room.shown(whole::answered(&result.output, &line)));
        let answer = Answer {
            result: line,
            output,
            status,
            check,
            early: index.is_none().then(|| result.output.clone().into_owned()),
            exit: end.exit,
            duration_ms: result.duration_ms,
            time,
            reads: result.reads.clone(),
            writes: result.writes.clone(),
            changes: result.changes.iter().filter_map(|change| self.patches.keep(change)).collect(),
            subagent: result.subagent.as_ref().map(|run| started(run, &result.output)),
            commits: if result.denied {
                Vec::new()
            } else {
                commits::made(&result.output, result.commits.iter().map(AsRef::as_ref))
            },
            unstated: result.unstated,
        };
        match index {
            Some(index) => {
                self.join(index, answer, result.denied);
                self.quiet_commit(index, &result.output);
                self.seen(index, &result.output);
            }
            None => {
                self.early.insert(result.call.clone().into_owned(), (answer, result.denied));
            }
        }
    }

    /// Looks for commits that the call made without showing them, and for those whose ids its output shows.
    fn quiet_commit(&mut self, index: usize, output: &str) {
        let Some(draft) = self.all.get(index).filter(|draft| ToolKind::of(&draft.step.tool) == ToolKind::Shell) else {
            return;
        };
        let named = memchr::memmem::find(draft.step.full_args().as_bytes(), b"commit").is_some();
        if named && draft.commits.is_empty() && draft.step.status == StepStatus::Complete && self.quiet.len() < 64 {
            self.quiet.extend(QuietCommit::of(index, &draft.step.action()));
        }
        if self.quiet.is_empty() || memchr::memmem::find(draft.step.full_args().as_bytes(), b"git").is_none() {
            return;
        }
        // What is pushed or shown first is the newest.
        let shown = self.quiet.iter().enumerate().rev().find_map(|(at, quiet)| Some((at, quiet.shown(output)?)));
        if let Some((at, commit)) = shown {
            let quiet = self.quiet.remove(at);
            if let Some(draft) = self.all.get_mut(quiet.step) {
                draft.step.fields.push((COMMIT.to_owned(), commit.field()));
                draft.commits.push(commit);
            }
        }
    }

    /// Keeps what the output of a command of git shows beside its own result: checks of hooks, the work tree.
    fn seen(&mut self, index: usize, output: &str) {
        let Some(draft) = self.all.get_mut(index).filter(|draft| ToolKind::of(&draft.step.tool) == ToolKind::Shell)
        else {
            return;
        };
        if draft.denied || memchr::memmem::find(draft.step.full_args().as_bytes(), b"git").is_none() {
            return;
        }
        let action = draft.step.action();
        // A commit that was made had hooks that let it pass: what failed is something else.
        let may_fail = draft.commits.is_empty() && !action.pushes();
        let hooks =
            hooks(&action, output).filter(|it| draft.step.check.is_none() && (may_fail || *it == Verdict::Passed));
        let tree = WorkTree::of(&action, output).filter(|_| draft.step.status == StepStatus::Complete);
        // Git, or what it was run through, may say that all went well.
        if hooks == Some(Verdict::Failed) && draft.step.status == StepStatus::Complete {
            draft.step.check = hooks;
        }
        (draft.hooks, draft.tree) = (hooks, tree);
    }

    /// How a call ended, for its checks.
    fn end<'r>(&self, result: &'r CallResult<'_>, failed: bool) -> CallEnd<'r> {
        let exit = result.exit.or_else(|| outcome::stated_exit(&result.output).filter(|_| result.failed));
        let has_status = (self.statuses && !result.unstated) || exit.is_some() || failed;
        CallEnd { output: &result.output, exit, failed, has_status }
    }

    /// A person stopped a call while it ran.
    pub(super) fn interrupt(&mut self, call: &str) {
        let draft = self.index_of(call).and_then(|index| self.all.get_mut(index));
        let Some(draft) = draft.filter(|draft| !draft.denied) else { return };
        draft.interrupted = true;
        if draft.answered {
            mark_interrupted(&mut draft.step);
        }
    }

    /// A call started one more sub-agent.
    pub(super) fn also_started(&mut self, call: &str, run: &SubagentRun<'_>) {
        let Some(index) = self.index_of(call) else { return };
        let Some(draft) = self.all.get_mut(index) else { return };
        if let Some(stream) = &run.stream {
            self.by_stream.insert(stream.clone(), index);
        }
        draft.runs.push(started(run, ""));
    }

    /// A sub-agent that ran in the background came back.
    pub(super) fn subagent_done(&mut self, stream: &StreamKey, summary: Option<&str>, failed: bool) {
        let draft = self.by_stream.get(stream).and_then(|&index| self.all.get_mut(index));
        let is_it = |run: &&mut Run| run.stream.as_ref() == Some(stream);
        let Some(run) = draft.and_then(|draft| draft.runs.iter_mut().find(is_it)) else { return };
        let text = summary.and_then(first_words);
        run.summary = match (text, failed) {
            (Some(text), true) => Some(format!("failed: {text}")),
            (None, true) => Some("failed".to_owned()),
            (Some(text), false) => Some(text),
            (None, false) => run.summary.take(),
        };
    }

    /// A line below the step of a call.
    pub(super) fn detail(&mut self, call: &str, name: &str, value: &str) {
        let value = fold_whitespace(&sanitise(value));
        let on = self.index_of(&value).filter(|_| name == "after").map(step_link);
        let Some(draft) = self.index_of(call).and_then(|index| self.all.get_mut(index)) else { return };
        match on {
            Some(on) => draft.step.after.push(on),
            None if value.is_empty() => {}
            None => draft.step.fields.push((name.to_owned(), value)),
        }
    }

    /// The step of a call.
    pub(super) fn index_of(&self, call: &str) -> Option<usize> {
        self.by_call.get(call).copied()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether one of the steps from `index` on has no answer.
    pub(super) fn open_from(&self, index: usize) -> bool {
        self.all.iter().skip(index).any(|draft| !draft.answered)
    }

    /// The finished steps; a call without an answer is a failed one.
    pub(super) fn finish(mut self) -> Vec<StepDraft> {
        for draft in self.all.iter_mut().filter(|draft| !draft.answered) {
            draft.step.status = StepStatus::NoResult;
            draft.step.result = StepStatus::NoResult.words().map(ToOwned::to_owned);
        }
        for quiet in std::mem::take(&mut self.quiet).into_iter().filter(|quiet| quiet.proved) {
            if let Some(draft) = self.all.get_mut(quiet.step) {
                draft.commits.push(quiet.bare());
            }
        }
        self.all
    }

    fn join(&mut self, index: usize, answer: Answer, denied: bool) {
        // The index comes from `by_call` or from the push just before.
        let Some(draft) = self.all.get_mut(index) else { return };
        // How long a person took to allow an edit says nothing about the edit.
        let kind = ToolKind::of(&draft.step.tool);
        let works = !kind.is_look() && !kind.writes_files();
        // A command that took longer than the host lets it run waited for a person's leave.
        let waited = |millis: &u64| draft.limit_ms.is_some_and(|limit| *millis > limit.saturating_add(SLACK_MS));
        let elapsed = || elapsed(draft.step.time, answer.time).filter(|millis| works && !waited(millis));
        let measured = answer.duration_ms.or_else(elapsed);
        if let Some(stream) = answer.subagent.as_ref().and_then(|run| run.stream.clone()) {
            self.by_stream.insert(stream, index);
        }
        draft.answered = true;
        draft.denied = denied;
        draft.runs = answer.subagent.into_iter().collect();
        draft.step.status = answer.status;
        draft.step.check = answer.check;
        if let Some(output) = answer.early.filter(|_| !denied) {
            let has_status = (self.statuses && !answer.unstated) || answer.exit.is_some() || answer.status.is_crossed();
            let end = CallEnd { output: &output, exit: answer.exit, failed: answer.status.is_crossed(), has_status };
            draft.step.check = draft.step.action().decide(&end).map(|decided| decided.verdict);
        }
        // Where nothing but the output tells how it ended, a check that failed is a failure.
        if answer.unstated && draft.step.check == Some(Verdict::Failed) && draft.step.status == StepStatus::Complete {
            draft.step.status = StepStatus::Failed;
        }
        draft.step.fields.retain(|(name, _)| name != COMMIT);
        if !answer.commits.is_empty() && makes_commits(&draft.step) {
            draft.step.fields.extend(answer.commits.iter().map(|commit| (COMMIT.to_owned(), commit.field())));
            draft.commits = answer.commits;
        }
        draft.step.result = Some(answer.result);
        draft.step.output = answer.output;
        draft.step.exit = answer.exit.filter(|&exit| exit != 0 || answer.status.is_crossed());
        draft.step.duration_ms = measured.filter(|_| !denied);
        draft.step.reads = answer.reads;
        draft.step.writes = answer.writes;
        draft.written = answer.changes;
        if draft.interrupted && !denied {
            mark_interrupted(&mut draft.step);
        }
    }
}

/// How the checks ended that hooks of `git commit` or `git push` ran. Lines of runners alone tell of them: the exit code is that of git.
fn hooks(action: &Action<'_>, output: &str) -> Option<Verdict> {
    if !action.commands.iter().any(|it| it.program == "git" && matches!(it.verb.as_str(), "commit" | "push")) {
        return None;
    }
    let run = CheckRun { commands: &[], output, shown: verdict::Shown::Whole, ..CheckRun::default() };
    let decision = verdict::decision(&run);
    decision.evidence.and(Some(decision.verdict)).filter(|verdict| *verdict != Verdict::Unknown)
}

/// Whether the output of a step can be that of commits it made: a command that does more than look, or a host's own tool
/// for commits.
fn makes_commits(step: &Step) -> bool {
    match ToolKind::of(&step.tool) {
        ToolKind::Shell => !step.action().is_read_only(),
        ToolKind::Other => step.tool == COMMIT,
        _ => false,
    }
}

fn mark_interrupted(step: &mut Step) {
    step.status = StepStatus::Interrupted;
    // A check that was stopped says nothing, whatever it had printed.
    step.check = step.check.map(|_| Verdict::Unknown);
    let told = step.result.take().filter(|result| !matches!(result.as_str(), "no output" | "failed, no output"));
    let words = StepStatus::Interrupted.words().unwrap_or_default();
    step.result =
        Some(told.map_or_else(|| words.to_owned(), |told| shorten::at_word(&format!("{words}: {told}"), ARGS)));
}

/// `n-001` for the first.
pub(super) fn step_id(index: usize) -> String {
    format!("n-{:03}", index + 1)
}

/// A link to the step with this index.
pub(super) fn step_link(index: usize) -> Link {
    Link::to_block(step_id(index))
}

/// What an answer says, on one line.
pub(super) fn first_words(text: &str) -> Option<String> {
    Some(quote(text, 300)).filter(|told| !told.is_empty())
}

fn started(run: &SubagentRun<'_>, output: &str) -> Run {
    let line = |text: &str| Some(fold_whitespace(&sanitise(text))).filter(|text| !text.is_empty());
    Run {
        stream: run.stream.clone(),
        agent: run.agent.as_deref().and_then(line),
        model: run.model.as_deref().and_then(line),
        task: run.task.as_deref().and_then(line).map(|task| shorten::at_word(&task, 200)),
        summary: if run.background { None } else { first_words(output) },
    }
}

/// The tool's name as the first word of a code span: no blanks.
fn tool_name(tool: &str) -> String {
    let name: String = sanitise(tool).split_whitespace().collect::<Vec<_>>().join("_");
    if name.is_empty() { "tool".to_owned() } else { cru_base::text::truncate(&name, 80).into_owned() }
}

/// What stands on the line and, where a command is longer, the whole. Other arguments are in the transcript alone.
fn shortened(tool: &str, full: &str) -> (String, Option<String>) {
    if !is_shell(tool) {
        return (shorten::at_word(&fold_whitespace(full), ARGS), None);
    }
    let mut lines = full.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("").replace('\t', " ");
    let more = lines.next().is_some();
    // Characters of a command that stand on the step's line; beyond them the whole stands below it.
    if !more && first.chars().count() <= 160 {
        return (first, None);
    }
    let short = shorten::at_word(&first, ARGS);
    let short = if more && !short.ends_with('…') { format!("{short} …") } else { short };
    (short, Some(full.to_owned()))
}

fn elapsed(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<u64> {
    let millis = to?.as_millisecond().checked_sub(from?.as_millisecond())?;
    let millis = u64::try_from(millis).ok().filter(|_| millis <= PLAUSIBLE_MS)?;
    (millis >= NOTICEABLE_MS).then_some(millis)
}
