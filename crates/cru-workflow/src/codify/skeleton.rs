//! The skeleton of a workflow: its shape on one page, from facts alone.
//!
//! Each step says in few lines what was asked, what went in and came out, which commands changed or checked something and how
//! they ended, what was decided, corrected, agreed to and handed to others. Where it is longer than a page it says less of each
//! step, and then has fewer steps; what is left out is counted.

use std::collections::HashMap;

use cru_action::ToolKind;
use cru_base::Span;
use cru_base::text::{fold_whitespace, plural, truncate};
use cru_session::correction::is_choice;
use cru_session::words::{quote, shorten};
use cru_session::{Item, Link, Subagent, User};
use rayon::prelude::*;

use super::body::{self, StepBody};
use super::call::{Call, CallKind, Ended};
use super::commands;
use super::data;
use super::draft::{self, Cut, Draft};
use super::facts::{Facts, Setting};
use super::place::homeless;
use super::unit::Entry;
use super::{clean, paragraph, plain_code, request, step_title};
use crate::model::{Command, Gate, Part, Remark, RemarkKind, Step, Workflow};
use crate::render::render;
use cru_base::Diagnostic;

/// Lines of a skeleton at most.
pub const MAX_LINES: usize = 80;
/// Bytes of a skeleton at most.
pub const MAX_BYTES: usize = 6_000;

/// How many steps there may be, and for each the ways to say less of them.
const TIERS: [(usize, &[Room]); 4] = [
    (15, &[Room::of(300, 12, 6), Room::of(200, 6, 5)]),
    (10, &[Room::of(200, 5, 5), Room::of(150, 3, 4)]),
    (6, &[Room::of(200, 6, 4), Room::of(120, 4, 3)]),
    (3, &[Room::of(120, 5, 2), Room::of(80, 2, 1)]),
];
/// As [`TIERS`] for steps that a reader named: their titles say what was asked for, and are worth more than lines below them.
const NAMED_TIERS: [(usize, &[Room]); 3] = [
    (15, &[Room::of(300, 12, 6), Room::of(200, 6, 5), Room::unasked(6, 5), Room::unasked(3, 4), Room::unasked(1, 3)]),
    (10, &[Room::unasked(3, 4), Room::unasked(1, 3)]),
    (6, &[Room::unasked(4, 3), Room::unasked(2, 1)]),
];

/// How much is said.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Whether the request stands below the title of its step.
    asked: bool,
    /// Characters of somebody's words.
    words: usize,
    /// Lines of a step below its flow.
    lines: usize,
    /// Names in a line of the head, and checks.
    names: usize,
}

impl Room {
    const fn of(words: usize, lines: usize, names: usize) -> Self {
        Self { asked: true, words, lines, names }
    }

    const fn unasked(lines: usize, names: usize) -> Self {
        Self { asked: false, words: 120, lines, names }
    }
}

/// Characters of a command on a line.
const MAX_COMMAND: usize = 240;
/// Characters of a task that was handed to others.
const MAX_TASK: usize = 160;
/// Characters of how a command failed.
const MAX_FAILURE: usize = 100;

/// What a line tells; the first ones are kept where there is no room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Where a person has to agree.
    Gate,
    /// What a person set right or refused.
    Correction,
    Decision,
    Check,
    /// A commit, or what others see.
    Publish,
    /// A further request.
    Request,
    Delegated,
    Trouble,
    Change,
    /// A call of a tool that is no command of a shell.
    Tool,
    /// A program of which no more is known than that it ran.
    Run,
}

/// The skeleton of the work.
pub(super) fn skeleton(setting: &Setting<'_>, mut drafts: Vec<Draft<'_>>, sole: bool) -> (Workflow, Vec<Diagnostic>) {
    let mut made = (Workflow::default(), Vec::new());
    let tiers: &[_] = if drafts.iter().any(Draft::is_named) { &NAMED_TIERS } else { &TIERS };
    for &(steps, rooms) in tiers {
        draft::fold(&mut drafts, steps);
        step_title::set_titles(setting.session, sole, &mut drafts, Cut::ByName);
        let facts = Facts::of(setting, &drafts);
        let told: Vec<Vec<Line>> = (0..drafts.len()).into_par_iter().map(|index| facts.lines(index)).collect();
        let page = |room: &Room| {
            let steps = (0..drafts.len()).map(|index| facts.step(index, &told[index], room)).collect();
            facts.workflow(steps, room.names, gates(&setting.work.before, room))
        };
        for room in rooms {
            made = (page(room), facts.odd.clone());
            if fits(&made.0) {
                // What is left of the page goes to the steps that have more to tell.
                let most = told.iter().map(Vec::len).max().unwrap_or_default();
                let longer = (room.lines + 1..=most).map(|lines| page(&Room { lines, ..*room }));
                made.0 = longer.take_while(fits).last().unwrap_or(made.0);
                return made;
            }
        }
    }
    cut(&mut made.0);
    made
}

/// Whether a workflow fits on a page.
fn fits(workflow: &Workflow) -> bool {
    let text = render(workflow);
    text.len() <= MAX_BYTES && text.lines().count() <= MAX_LINES
}

/// Takes parts away, the last ones of the longest step first, until the rest fits.
fn cut(workflow: &mut Workflow) {
    while !fits(workflow) {
        let longest =
            workflow.steps.iter_mut().max_by_key(|step| step.parts.len()).filter(|step| !step.parts.is_empty());
        let taken = longest.and_then(|step| step.parts.pop()).is_some() || workflow.checks.pop().is_some();
        if !(taken || workflow.preface.pop().is_some()) {
            break;
        }
    }
}

/// Gates and decisions that stand before the first step.
fn gates(before: &[Entry<'_>], room: &Room) -> Vec<Part> {
    body::preface(before).into_iter().take(room.lines).map(|part| shortened(part, room.words)).collect()
}

/// A line of a step.
struct Line {
    rank: Rank,
    part: Part,
}

impl Facts<'_> {
    /// A step with as much as there is room for.
    fn step(&self, index: usize, lines: &[Line], room: &Room) -> Step {
        let draft = &self.drafts[index];
        let mut step = draft.step(self.setting.session, self.setting.options);
        step.need = draft.need(self.outcomes[index].need);
        if step.origin.len() > 2 {
            step.origin.drain(1..step.origin.len() - 1);
        }
        if let Some(asked) = Asked::of(draft).filter(|_| room.asked) {
            let words = asked.words(room.words);
            if words.contains(char::is_alphanumeric) && !body::same(&words, &draft.title) {
                step.parts.push(Part::prose(paragraph(&words)));
            }
        }
        step.parts.extend(data::flow(&self.flows[index]).map(Part::Flow));
        if let Some(before) = self.order[index].and_then(|at| self.drafts.get(at)) {
            step.parts.push(Part::remark(RemarkKind::After, before.title.clone()));
        }
        // What matters most is kept, in the order of the session.
        let mut by_rank: Vec<usize> = (0..lines.len()).collect();
        by_rank.sort_by_key(|at| lines[*at].rank);
        by_rank.truncate(room.lines);
        by_rank.sort_unstable();
        step.parts.extend(by_rank.iter().map(|at| shortened(lines[*at].part.clone(), room.words)));
        let more = lines.len() - by_rank.len();
        if more > 0 {
            step.parts
                .push(Part::remark(RemarkKind::Plain, format!("{} in the session", plural(more as u64, "more line"))));
        }
        step
    }

    /// Everything that may be told of a step, in the order of the session.
    fn lines(&self, index: usize) -> Vec<Line> {
        let draft = &self.drafts[index];
        let opening = Asked::of(draft);
        let calls: Vec<&Call<'_>> = draft.calls().collect();
        let commands = self.commands(index, &calls);
        let mut told: Vec<&Subagent> = draft
            .entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Item(Item::Subagent(subagent), _) => Some(subagent),
                _ => None,
            })
            .collect();
        let mut lines: Vec<Line> = Vec::new();
        let mut at_call = 0;
        for entry in &draft.entries {
            let mut body = StepBody::default();
            let rank = match entry {
                Entry::Call(call) => {
                    if call.tool == ToolKind::Subagent {
                        lines.extend(handed_over(call, &mut told).map(|text| Line::plain(Rank::Delegated, text)));
                    } else if let Some(text) = commands::refusal(call) {
                        lines.push(Line { rank: Rank::Correction, part: Part::remark(RemarkKind::Mind, text) });
                    } else if let Some(line) = commands.get(&at_call) {
                        lines.push(Line { rank: line.rank, part: line.part.clone() });
                    }
                    at_call += 1;
                    continue;
                }
                Entry::Request { user, rules, .. } => {
                    let is_told = matches!(opening, Some(Asked::Person(own)) if std::ptr::eq(own, *user));
                    // The question that a number chooses from does not stand on this page.
                    let says_nothing = request::is_nod(&user.words) || is_choice(&user.words);
                    if is_told || says_nothing || (!rules && body::same(&user.words, &draft.title)) {
                        continue;
                    }
                    let (rank, kind) =
                        if *rules { (Rank::Correction, RemarkKind::Mind) } else { (Rank::Request, RemarkKind::Then) };
                    body.remark(kind, &homeless(&body::spoken(user, TIERS[0].1[0].words)));
                    rank
                }
                Entry::Item(Item::Decision(decision), _) => {
                    body.decision(decision);
                    if matches!(body.parts.first(), Some(Part::Gate(_))) { Rank::Gate } else { Rank::Decision }
                }
                Entry::Item(Item::Callout(callout), _) if callout.kind == "gate" => {
                    body.gate(&callout.title, &callout.body);
                    Rank::Gate
                }
                Entry::Item(Item::Error(error), _) if !body::is_generated(error) => {
                    body.remark(RemarkKind::Trouble, &body::trouble(error, draft));
                    Rank::Trouble
                }
                Entry::Item(Item::Subagent(subagent), _) => {
                    lines.push(Line::plain(Rank::Delegated, told_of(subagent)));
                    continue;
                }
                Entry::Conclusion(..) | Entry::Item(..) => continue,
            };
            lines.extend(body.parts.into_iter().map(|part| Line { rank, part }));
        }
        lines
    }

    /// The commands of a step that are told, by the place of the call among its calls: of one that was run again and again the last.
    fn commands(&self, index: usize, calls: &[&Call<'_>]) -> HashMap<usize, Line> {
        let mut runs: HashMap<&str, (usize, u64)> = HashMap::new();
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| is_command(call)) {
            let run = runs.entry(call.text.as_str()).or_insert((at, 0));
            *run = (at, run.1 + 1);
        }
        let mut lines: HashMap<usize, Line> = HashMap::new();
        for (at, times) in runs.into_values() {
            let call = calls[at];
            let Some((rank, how)) = self.how(index, call) else { continue };
            let times = (times > 1).then(|| plural(times, "run"));
            let how = match (times, how) {
                (Some(times), Some(how)) => Some(format!("{times}, last {how}")),
                (times, how) => times.or(how),
            };
            lines.insert(at, Line { rank, part: self.told(index, call, how) });
        }
        lines
    }

    /// What a command tells, and how it ended; `None` where it is not told: it failed, and the same worked later.
    fn how(&self, index: usize, call: &Call<'_>) -> Option<(Rank, Option<String>)> {
        let rank = match call.kind {
            _ if call.commits || call.pushes || call.publishes => Rank::Publish,
            CallKind::Check => Rank::Check,
            CallKind::Change | CallKind::Edit => Rank::Change,
            _ if !call.shell => Rank::Tool,
            CallKind::Run | CallKind::Look => Rank::Run,
        };
        match call.ended {
            Ended::Well => Some((rank, self.standing.note(call))),
            Ended::Badly if self.passes.after(call, index).is_some() => None,
            Ended::Badly => {
                let said = call.step.result.as_deref().map(clean).filter(|said| said.contains(char::is_alphanumeric));
                let said = said.map_or_else(String::new, |said| format!(": {}", truncate(&said, MAX_FAILURE)));
                let exit =
                    call.step.exit.filter(|code| *code != 0).map_or_else(String::new, |code| format!(", exit {code}"));
                Some((rank.min(Rank::Trouble), Some(format!("failed{exit}{said}"))))
            }
            Ended::Open if rank == Rank::Check => Some((rank, Some("result not known".to_owned()))),
            Ended::Open if rank == Rank::Publish => Some((rank, Some("no result is recorded".to_owned()))),
            Ended::Denied | Ended::Open => None,
        }
    }

    /// A command on one line, with names in the place of what belongs to one run.
    fn told(&self, index: usize, call: &Call<'_>, how: Option<String>) -> Part {
        let text = self.flows[index].named(&self.inputs.named(&call.text, call.keeps_versions));
        let first = text.trim().lines().next().unwrap_or_default();
        let more = text.trim().lines().count().saturating_sub(1);
        let command = shorten::at_word(&fold_whitespace(&clean(first)), MAX_COMMAND);
        let command = if more > 0 && !command.ends_with('…') { format!("{command} …") } else { command };
        if !call.shell {
            let how = how.map_or_else(String::new, |how| format!(" — {how}"));
            return Part::remark(RemarkKind::Plain, format!("called {}{how}", plain_code(&command)));
        }
        Part::Command(Command { command, note: how, span: Span::default() })
    }
}

impl Line {
    fn plain(rank: Rank, text: String) -> Self {
        Self { rank, part: Part::remark(RemarkKind::Plain, text) }
    }
}

/// Whether a call is a command that is told: it changed or checked something, is seen by others, or ran a program or tool.
fn is_command(call: &Call<'_>) -> bool {
    call.acts() && !call.text.is_empty() && call.kind != CallKind::Edit && call.tool != ToolKind::Subagent
}

/// What a step is to do, in the words of whoever asked for it.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Person(&'a User),
    /// The parent agent, where the session is a sub-agent's.
    Agent(&'a str),
}

impl<'a> Asked<'a> {
    fn of(draft: &Draft<'a>) -> Option<Self> {
        let says = |user: &&User| request::is_call(&user.words) || !request::is_talk(&user.words);
        let opening = draft.opening.or(draft.called).filter(says).map(Self::Person);
        opening.or(draft.task.map(Self::Agent)).or_else(|| draft.requests().find(says).map(Self::Person))
    }

    fn words(self, max: usize) -> String {
        match self {
            Self::Person(user) => homeless(&body::spoken(user, max)).into_owned(),
            Self::Agent(task) => quoted(task, max),
        }
    }
}

/// What a call hands over to another agent; `None` where one of the callouts that are `told` is its own, which goes.
fn handed_over(call: &Call<'_>, told: &mut Vec<&Subagent>) -> Option<String> {
    let task = clean(call.step.full_args());
    let step = call.step.id.as_ref().map(|id| Link::to_block(id.clone()).to_string());
    // A callout of before does not name its step, but says what the call does in its own words: one text begins the other.
    let bare = task.strip_prefix('@').and_then(|rest| Some(rest.split_once(' ')?.1)).unwrap_or(&task);
    let is_same = |known: &str| !known.is_empty() && (bare.starts_with(known) || known.starts_with(bare));
    let is_own = |callout: &&Subagent| match callout.callout.field("Step") {
        Some(named) => Some(named) == step.as_deref(),
        None => call.ended == Ended::Well && is_same(&clean(callout.task.as_deref().unwrap_or_default())),
    };
    if let Some(own) = told.iter().position(is_own) {
        told.remove(own);
        return None;
    }
    let outcome = match call.ended {
        Ended::Denied => "refused".to_owned(),
        Ended::Open => "no result is recorded".to_owned(),
        Ended::Well | Ended::Badly => call.step.result.as_deref().map(clean).unwrap_or_default(),
    };
    Some(delegation(None, &task, &outcome))
}

/// What a sub-agent was told and came to.
fn told_of(subagent: &Subagent) -> String {
    let answer = subagent
        .summary
        .as_deref()
        .or_else(|| subagent.items.iter().rev().find_map(|item| Some(item.as_prose()?.text.as_str())));
    let name = subagent.agent.as_ref().map(|agent| agent.name.as_str());
    delegation(name, subagent.task.as_deref().unwrap_or_default(), answer.unwrap_or_default())
}

fn delegation(name: Option<&str>, task: &str, outcome: &str) -> String {
    let to = name.map_or_else(|| "a sub-agent".to_owned(), |name| format!("@{}", clean(name)));
    let task = quoted(task, MAX_TASK);
    let task = if task.is_empty() { String::new() } else { format!(": “{task}”") };
    let outcome = quoted(outcome, MAX_FAILURE);
    let outcome = if outcome.is_empty() { String::new() } else { format!(" → {outcome}") };
    format!("delegated to {to}{task}{outcome}")
}

/// The beginning of somebody's words, on one line.
fn quoted(words: &str, max: usize) -> String {
    quote::quote(&homeless(words), max)
}

/// A part with the words in it shortened.
fn shortened(part: Part, words: usize) -> Part {
    match part {
        Part::Remark(it) => {
            let text = shorten::at_sentence(&it.text, words).into_owned();
            Part::Remark(Remark { text, ..it })
        }
        Part::Gate(it) => {
            let body = fold_whitespace(&it.body);
            let body = shorten::at_sentence(&body, words).into_owned();
            Part::Gate(Gate { title: truncate(&it.title, words).into_owned(), body, ..it })
        }
        Part::Command(it) => {
            let command = shorten::at_word(&it.command, words.max(MAX_TASK));
            let note = it.note.map(|note| shorten::at_word(&note, words));
            Part::Command(Command { command, note, ..it })
        }
        other => other,
    }
}
