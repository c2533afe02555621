//! Steps in the order of their calls, joined with results that may come in any order.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::outcome;
use super::whole::{self, Room};
use crate::attempt::{Attempt, is_shell};
use crate::event::{Call, CallResult, StreamKey, SubagentRun};
use crate::words::{shorten, summary};
use crate::{FileRef, Link, Step, StepStatus};
use cru_base::text::{fold_whitespace, sanitise};

/// Characters of a command that stand on the step's line; beyond them the whole stands below it.
const LONGEST: usize = 160;

/// Characters that are left on the line then.
const ARGS: usize = 100;

/// A pause between call and result that is still taken for the tool's work, in milliseconds.
const PLAUSIBLE_MS: i64 = 6 * 3600 * 1000;

/// A computed duration below this says nothing, in milliseconds.
const NOTICEABLE_MS: u64 = 1000;

/// Tool name of a command that a person ran in the host.
const BY_PERSON: &str = "Shell";

/// Tools that only keep the task list, which the `tasks` fence shows as it now is.
const TASK_TOOLS: &[&str] = &[
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "todoread",
    "todowrite",
    "update_plan",
    "write_todos",
];

/// The answer to a call, reduced to what the note shows.
#[derive(Debug)]
struct Answer {
    result: String,
    /// The answer itself, where it is shown.
    output: Option<String>,
    failed: bool,
    exit: Option<i32>,
    duration_ms: Option<u64>,
    time: Option<Timestamp>,
    reads: Vec<FileRef>,
    writes: Vec<FileRef>,
    subagent: Option<Run>,
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
pub(super) struct Draft {
    /// As it will stand in the note.
    pub(super) step: Step,
    /// What it tries, for the errors.
    pub(super) attempt: Attempt,
    /// Whether a result came.
    pub(super) answered: bool,
    /// Whether a person refused it.
    pub(super) denied: bool,
    /// The sub-agent it started.
    pub(super) run: Option<Run>,
}

/// All steps of a stream.
#[derive(Debug, Default)]
pub(super) struct Steps {
    all: Vec<Draft>,
    by_call: HashMap<String, usize>,
    /// Answers whose call did not come yet.
    early: HashMap<String, (Answer, bool)>,
    /// Calls that keep the task list: their answers are no steps either.
    silent: HashSet<String>,
    /// The step that started a stream.
    by_stream: HashMap<StreamKey, usize>,
    /// For inputs and answers, where they are shown.
    room: Option<Room>,
}

impl Steps {
    /// With inputs and answers, as far as a person reads them.
    pub(super) fn in_full() -> Self {
        Self { room: Some(Room::default()), ..Self::default() }
    }

    /// What the step with this index was given.
    pub(super) fn given(&mut self, index: usize, input: &str) {
        let shown = self.room.as_mut().and_then(|room| room.shown(input));
        if let Some(draft) = self.all.get_mut(index) {
            draft.step.input = shown;
        }
    }

    /// Takes in a call; gives the step's index, or `None` for one that only keeps the task list.
    pub(super) fn call(&mut self, call: &Call<'_>, time: Option<Timestamp>) -> Option<usize> {
        let tool = tool_name(&call.tool);
        if TASK_TOOLS.contains(&tool.as_str()) {
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
        self.all.push(Draft { step, attempt, answered: false, denied: false, run: None });
        let id = call.id.clone().into_owned();
        if let Some((answer, denied)) = self.early.remove(&id) {
            self.join(index, answer, denied);
        }
        self.by_call.insert(id, index);
        Some(index)
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
        let line = outcome::line(result);
        let output = self.room.as_mut().and_then(|room| room.shown(whole::answered(&result.output, &line)));
        let answer = Answer {
            result: line,
            output,
            failed: result.failed || result.denied,
            exit: result.exit.or_else(|| outcome::stated_exit(&result.output).filter(|_| result.failed)),
            duration_ms: result.duration_ms,
            time,
            reads: result.reads.clone(),
            writes: result.writes.clone(),
            subagent: result.subagent.as_ref().map(|run| started(run, &result.output)),
        };
        match self.by_call.get(result.call.as_ref()) {
            Some(&index) => self.join(index, answer, result.denied),
            None => {
                self.early.insert(result.call.clone().into_owned(), (answer, result.denied));
            }
        }
    }

    /// A sub-agent that ran in the background came back.
    pub(super) fn subagent_done(&mut self, stream: &StreamKey, summary: Option<&str>, failed: bool) {
        let draft = self.by_stream.get(stream).and_then(|&index| self.all.get_mut(index));
        let Some(run) = draft.and_then(|draft| draft.run.as_mut()) else { return };
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
        let draft = self.index_of(call).and_then(|index| self.all.get_mut(index));
        if let Some(draft) = draft.filter(|_| !value.is_empty()) {
            draft.step.fields.push((name.to_owned(), value));
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
    pub(super) fn finish(mut self) -> Vec<Draft> {
        for draft in self.all.iter_mut().filter(|draft| !draft.answered) {
            draft.step.status = StepStatus::Failed;
            draft.step.result = Some("no result recorded".to_owned());
        }
        self.all
    }

    fn join(&mut self, index: usize, answer: Answer, denied: bool) {
        // The index comes from `by_call` or from the push just before.
        let Some(draft) = self.all.get_mut(index) else { return };
        // How long a person took to allow an edit says nothing about the edit.
        let works = is_shell(&draft.step.tool) || matches!(draft.attempt, Attempt::Check(_) | Attempt::Command(_));
        let elapsed = || elapsed(draft.step.time, answer.time).filter(|_| works);
        let measured = answer.duration_ms.or_else(elapsed);
        if let Some(stream) = answer.subagent.as_ref().and_then(|run| run.stream.clone()) {
            self.by_stream.insert(stream, index);
        }
        draft.answered = true;
        draft.denied = denied;
        draft.run = answer.subagent;
        draft.step.status = if answer.failed { StepStatus::Failed } else { StepStatus::Complete };
        draft.step.result = Some(answer.result);
        draft.step.output = answer.output;
        draft.step.exit = answer.exit.filter(|&exit| exit != 0 || answer.failed);
        draft.step.duration_ms = measured.filter(|_| !denied);
        draft.step.reads = answer.reads;
        draft.step.writes = answer.writes;
    }
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
    const MAX: usize = 300;
    Some(summary(text, MAX)).filter(|told| !told.is_empty())
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
    if !more && first.chars().count() <= LONGEST {
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
