//! The calls of a step that are told: what somebody would run again, what failed, and what was refused.
//!
//! Told are calls that changed something, that checked something, that ran a program, and those that only looked where
//! looking was the work or where the conclusion rests on what they printed. Refused calls are never told as commands.

use std::collections::{BTreeMap, HashMap, VecDeque};

use cru_action::{CallEnd, ToolKind};
use cru_graph::Place;
use cru_session::{Item, Session, StepStatus, Subagent};
use foldhash::HashSet;

use super::call::{Call, CallKind, Ended, bodies, is_signal};
use super::data::Data;
use super::draft::Draft;
use super::input::Inputs;
use super::looks;
use super::replaced::Replaced;
use super::standing::{Checks, ended_each};
use super::unit::Entry;
use super::value::values;
use super::{block_link, clean, plain_code};
use crate::evidence::Evidence;
use crate::model::{Command, Part, Remark, RemarkKind, Script};
use cru_base::Span;
use cru_base::text::{sanitise, truncate};

/// Characters of a command on a line.
const MAX_COMMAND: usize = 300;
/// Characters of a command that is shown as a script.
const MAX_SCRIPT: usize = 6_000;
/// Lines of a here-document that are shown.
const MAX_BODY: usize = 120;
/// Runs of a step of which no more is known than that.
const MAX_RUNS: usize = 12;
/// Runs of code of several lines of a step that did nothing else.
const MAX_TYPED: usize = 2;
/// Looks of a step that did nothing else.
const MAX_LOOKS: usize = 10;
/// Looks at other machines of a step that did more.
const MAX_ASKED: usize = 4;
/// Last lines of the output of a command that failed, where none of them is known to say what failed.
const CLOSING: usize = 3;
/// Lines that say what failed.
const MAX_FAILING: usize = 4;
/// What an import writes where a failed call printed nothing.
const NO_OUTPUT: &str = "failed, no output";
/// Characters of what a call said that failed.
const MAX_SAID: usize = 200;

/// What is known of the whole session when the calls of a step are told.
pub(super) struct Whole<'a> {
    /// How the checks stand.
    pub checks: &'a Checks<'a>,
    /// Values that people gave.
    pub inputs: &'a Inputs,
    /// What the transcript says of the steps.
    pub evidence: &'a Evidence,
    /// The session's note, for links into it.
    pub note: Option<&'a str>,
    /// For each command the calls of it that ended well, in order.
    worked: HashMap<&'a str, Vec<&'a Call<'a>>>,
    /// For each check the calls in which it passed, in order.
    passed: HashMap<&'a str, Vec<&'a Call<'a>>>,
    /// What later calls put in the place of what steps made.
    replaced: Replaced<'a>,
    /// Places of calls that make commits or go on with a stopped one.
    finished: Vec<Place>,
    /// Calls that give a stopped merge or its like up, by their places.
    given_up: BTreeMap<Place, &'a Call<'a>>,
    /// What sub-agents were told and answered, by the addresses of their callouts.
    delegated: HashMap<usize, Delegated<'a>>,
}

impl<'a> Whole<'a> {
    pub(super) fn of(
        session: &'a Session,
        drafts: &'a [Draft<'_>],
        checks: &'a Checks<'a>,
        inputs: &'a Inputs,
        evidence: &'a Evidence,
    ) -> Self {
        let note = session.meta.session_id.as_deref();
        let mut calls: Vec<&Call<'_>> = drafts.iter().flat_map(Draft::calls).collect();
        calls.sort_by_key(|call| call.place);
        let replaced = Replaced::of(&calls, evidence);
        let (worked, passed, finished) = (HashMap::new(), HashMap::new(), Vec::new());
        let delegated = delegated(drafts, evidence);
        let given_up = BTreeMap::new();
        let mut whole =
            Self { checks, inputs, evidence, note, worked, passed, replaced, finished, given_up, delegated };
        for call in calls {
            if call.succeeded() {
                if call.gives_up {
                    whole.given_up.insert(call.place, call);
                }
                if let Some(identity) = call.identity.as_deref() {
                    whole.worked.entry(identity).or_default().push(call);
                }
                whole.finished.extend(call.finishes.then_some(call.place));
            }
            for (check, ended) in call.checks.iter().zip(ended_each(call, evidence)) {
                if ended == Ended::Well {
                    whole.passed.entry(&check.identity).or_default().push(call);
                }
            }
        }
        whole.finished.sort_unstable();
        whole
    }

    /// The next call of the same command that ended well, and whether only the check in it is the same.
    fn same_later(&self, failed: &Call<'_>) -> Option<(&'a Call<'a>, bool)> {
        let next = |calls: &Vec<&'a Call<'a>>| calls.get(calls.partition_point(|it| it.place <= failed.place)).copied();
        let whole = failed.identity.as_deref().and_then(|identity| self.worked.get(identity)).and_then(next);
        let check = || {
            let [check] = failed.checks.as_slice() else { return None };
            self.passed.get(check.identity.as_str()).and_then(next)
        };
        whole.map(|call| (call, false)).or_else(|| check().map(|call| (call, true)))
    }

    /// How a call failed: its exit code, what its result says, and the last lines of its output.
    fn how_it_failed(&self, call: &Call<'_>) -> String {
        let step = call.step;
        let result = step.result.as_deref().map(clean).filter(|said| said.contains(char::is_alphanumeric));
        let result = result.map(|said| truncate(&said, MAX_SAID).into_owned()).filter(|said| said != NO_OUTPUT);
        let output = self.evidence.output(step.id.as_deref()).or(step.output.as_deref()).unwrap_or_default();
        let line = |line: &str| clean(&without_rules(line));
        let tells = |line: &String| line.contains(char::is_alphanumeric);
        let cut = |line: String| truncate(&line, MAX_SAID).into_owned();
        let failed = step.status == StepStatus::Failed;
        let end = CallEnd { output, exit: step.exit, failed, has_status: true };
        // The lines that say what failed; where none is known, the last ones. A few lines are all told.
        let is_long = output.lines().nth(CLOSING).is_some();
        let failing = if is_long { call.action().failing(&end) } else { Vec::new() };
        let failing = failing.into_iter().filter_map(|range| output.get(range)).map(line).filter(tells);
        let mut closing: Vec<String> = failing.map(cut).collect();
        closing.dedup();
        if closing.len() > MAX_FAILING {
            // The first errors, and the line that sums them up.
            closing.drain(MAX_FAILING - 1..closing.len() - 1);
        }
        if closing.is_empty() {
            closing = output.lines().rev().map(line).filter(tells).take(CLOSING).map(cut).collect();
            closing.reverse();
        }
        if let Some(result) = result {
            let seen = result.trim_matches('…');
            if !closing.iter().any(|line| line.contains(seen)) {
                closing.insert(0, result);
            }
        }
        let code = step.exit.filter(|code| *code != 0).map_or_else(String::new, |code| format!(", exit {code}"));
        if closing.is_empty() { format!("failed{code}") } else { format!("failed{code}: {}", closing.join(" / ")) }
    }

    /// That a later call took the place of what `call` made, in words.
    pub(super) fn replaced(&self, call: &Call<'_>) -> Option<String> {
        self.replaced.told(call, self.note)
    }

    /// The link to the step of a call, in brackets with a blank before them; nothing where it has no id.
    fn at(&self, call: &Call<'_>) -> String {
        call.step.id.as_deref().map_or_else(String::new, |id| format!(" ({})", block_link(self.note, id)))
    }

    /// How a merge or its like that stopped came to its end, in words: a later commit ended it, or it was given up.
    fn finished_later(&self, call: &Call<'_>) -> Option<String> {
        let verb =
            |verb: &str| call.programs.iter().any(|it| it.strip_prefix("git ").is_some_and(|it| it.starts_with(verb)));
        if !["merge", "rebase", "pull", "cherry-pick", "revert", "am", "stash pop"].into_iter().any(verb) {
            return None;
        }
        let end = self.finished.get(self.finished.partition_point(|place| *place <= call.place));
        let given_up = self.given_up.range(call.place..).next();
        match (end, given_up) {
            (Some(end), Some((place, _))) if end < place => Some("a later commit ends it".to_owned()),
            (_, Some((_, by))) => Some(format!("given up later{}", self.at(by))),
            (Some(_), None) => Some("a later commit ends it".to_owned()),
            (None, None) => None,
        }
    }

    /// All that a sub-agent answered; `None` where only its note tells.
    pub(super) fn answer(&self, subagent: &Subagent) -> Option<&'a str> {
        self.delegated.get(&address(subagent)).and_then(|it| it.answer)
    }

    /// All that a sub-agent was told to do; `None` where only its note tells.
    pub(super) fn prompt(&self, subagent: &Subagent) -> Option<&'a str> {
        self.delegated.get(&address(subagent)).and_then(|it| it.prompt)
    }
}

/// What the call of a sub-agent says beyond its callout.
#[derive(Clone, Copy, Debug, Default)]
struct Delegated<'a> {
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
}

fn address(subagent: &Subagent) -> usize {
    std::ptr::from_ref(subagent).addr()
}

/// What sub-agents were told and answered, by the call with the same task: of an answer only one that begins as the summary
/// of the sub-agent does.
fn delegated<'a>(drafts: &'a [Draft<'_>], evidence: &'a Evidence) -> HashMap<usize, Delegated<'a>> {
    /// Letters of a summary that are looked for, and letters of an answer in which they are.
    const SEEN: usize = 24;
    const SEARCHED: usize = 6_000;
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).take(SEARCHED).collect()
    };
    let mut calls: HashMap<String, VecDeque<Delegated<'a>>> = HashMap::new();
    let mut delegated = HashMap::new();
    for entry in drafts.iter().filter(|draft| draft.subagent.is_none()).flat_map(|draft| &draft.entries) {
        match entry {
            Entry::Call(call) if call.tool == ToolKind::Subagent && call.succeeded() => {
                let id = call.step.id.as_deref();
                let told = Delegated { prompt: evidence.prompt(id), answer: evidence.output(id) };
                calls.entry(clean(call.step.full_args())).or_default().push_back(told);
            }
            Entry::Item(Item::Subagent(subagent), _) => {
                let task = clean(subagent.task.as_deref().unwrap_or_default());
                let Some(told) = calls.get_mut(&task).and_then(VecDeque::pop_front) else { continue };
                let summary = subagent.summary.as_deref().unwrap_or_default();
                let begins: String =
                    letters(summary.split('…').next().unwrap_or_default()).chars().take(SEEN).collect();
                let is_its = |answer: &&str| {
                    !begins.is_empty() && answer.len() > summary.len() && letters(answer).contains(&begins)
                };
                delegated.insert(address(subagent), Delegated { answer: told.answer.filter(is_its), ..told });
            }
            _ => {}
        }
    }
    delegated
}

/// How a call is told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Command(Option<String>),
    Remark(RemarkKind, String),
}

/// The calls of the draft at `index` as parts, by the index of their entry, and how many that only ran or looked are not
/// told.
pub(super) fn parts(
    index: usize,
    drafts: &[Draft<'_>],
    data: &Data,
    whole: &Whole<'_>,
    refused: &dyn Fn(&Call<'_>) -> bool,
) -> HashMap<usize, Vec<Part>> {
    let Some(draft) = drafts.get(index) else { return HashMap::new() };
    let calls: Vec<(usize, &Call<'_>)> =
        draft.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.call()?))).collect();
    let mut told: Vec<(usize, &Call<'_>, Told)> = Vec::new();
    let keep = kept(draft, &calls);
    let mut dead: HashSet<String> = HashSet::default();
    for (at, call) in &calls {
        let how = match call.ended {
            Ended::Denied => {
                let at = if call.tool == ToolKind::Plan { whole.at(call) } else { String::new() };
                refusal(call).map(|text| Told::Remark(RemarkKind::Mind, format!("{text}{at}")))
            }
            Ended::Badly if call.acts() && !call.text.is_empty() && !refused(call) => failure(call, whole, &mut dead),
            Ended::Badly => None,
            Ended::Open if call.kind == CallKind::Check && keep.contains(at) => {
                Some(Told::Command(whole.checks.note(call)))
            }
            Ended::Open if call.acts() && call.shell && !call.text.is_empty() => {
                cut_short(call).map(|how| Told::Command(Some(how)))
            }
            Ended::Open => None,
            Ended::Well if keep.contains(at) => {
                let notes = [whole.checks.note(call), whole.replaced(call)];
                let notes: Vec<String> = notes.into_iter().flatten().collect();
                Some(Told::Command((!notes.is_empty()).then(|| notes.join("; "))))
            }
            Ended::Well => None,
        };
        told.extend(how.map(|how| (*at, *call, how)));
    }
    let mut parts: HashMap<usize, Vec<Part>> = HashMap::new();
    for (at, call, how) in told {
        match how {
            Told::Command(note) => {
                let made = command(call, note, data, whole.inputs);
                if !made.is_empty() {
                    parts.insert(at, made);
                }
            }
            Told::Remark(kind, text) => {
                parts.insert(at, vec![Part::Remark(Remark { kind, text, span: Span::default() })]);
            }
        }
    }
    looks::add(draft, data, whole, &mut parts);
    parts
}

/// What a person or the host refused, and what was said of it; `None` where it was nothing, or only a look.
pub(super) fn refusal(call: &Call<'_>) -> Option<String> {
    if call.ended != Ended::Denied {
        return None;
    }
    if call.tool == ToolKind::Plan {
        let title = clean(call.step.full_args());
        let title = if title.is_empty() { String::new() } else { format!(" “{}”", truncate(&title, MAX_SAID)) };
        let said = call.step.result.as_deref().map(clean).unwrap_or_default();
        return Some(format!("the plan{title} that the agent proposed was rejected: {said}"));
    }
    let said = clean(call.step.result.as_deref().unwrap_or("denied"));
    let file = call.writes.first().map_or("", AsRef::as_ref);
    let what = if call.text.is_empty() { format!("{} {file}", call.step.tool) } else { call.text.clone() };
    let what = plain_code(what.lines().next().unwrap_or("").trim());
    call.acts().then(|| format!("{what}: {}", truncate(&said, MAX_SAID)))
}

/// How a call ended that neither did what it should nor failed: stopped by a person, ended by a signal, or without a result;
/// `None` where the record says no more than that it is not known.
fn cut_short(call: &Call<'_>) -> Option<String> {
    match (call.step.status, call.step.exit) {
        (StepStatus::Interrupted, _) => Some("stopped".to_owned()),
        (_, Some(code)) if is_signal(code) => Some(format!("ended by a signal, exit {code}")),
        (StepStatus::NoResult, _) => Some("no result is recorded".to_owned()),
        _ => None,
    }
}

/// The commands of a step that are told each where they ended well, by their entries.
fn kept(draft: &Draft<'_>, calls: &[(usize, &Call<'_>)]) -> HashSet<usize> {
    let shell = || calls.iter().filter(|(_, call)| call.shell && !call.text.is_empty());
    let changes = calls.iter().any(|(_, call)| call.acts() && call.succeeded());
    let cited: HashSet<&str> = draft
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Conclusion(prose, _) => Some(prose.text.as_str()),
            _ => None,
        })
        .flat_map(|text| values(text, ""))
        .map(|(value, _)| value)
        .collect();
    let cites = |call: &Call<'_>| {
        let printed = call.step.result.as_deref().into_iter().chain(call.step.output.as_deref());
        !cited.is_empty() && printed.flat_map(|text| values(text, "")).any(|(value, _)| cited.contains(value))
    };
    let mut at: HashSet<usize> = HashSet::default();
    // Of one check run again and again the last run counts, of any other command the first.
    let mut checks: HashMap<String, usize> = HashMap::new();
    let mut seen: HashSet<&str> = HashSet::default();
    let (mut runs, mut typed): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut looks, mut best): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let tried: HashSet<&str> =
        calls.iter().filter(|(_, call)| call.failed()).filter_map(|(_, call)| call.key.as_deref()).collect();
    let recovers = |call: &Call<'_>| call.key.as_deref().is_some_and(|key| tried.contains(key));
    for (index, call) in shell() {
        if !(call.succeeded() || (call.ended == Ended::Open && call.kind == CallKind::Check)) {
            continue;
        }
        if call.kind == CallKind::Check && !call.checks.is_empty() && !call.commits && !call.publishes {
            let key: Vec<&str> = call.checks.iter().map(|check| check.text.as_str()).collect();
            checks.insert(key.join("\n"), *index);
            continue;
        }
        if !seen.insert(&call.text) {
            continue;
        }
        match call.kind {
            CallKind::Change | CallKind::Check | CallKind::Edit => {
                at.insert(*index);
            }
            CallKind::Run if cites(call) || recovers(call) => {
                at.insert(*index);
            }
            // Code of several lines was typed once to find something out.
            CallKind::Run if call.text.contains('\n') => typed.push(*index),
            CallKind::Run => runs.push(*index),
            CallKind::Look if recovers(call) => {
                at.insert(*index);
            }
            CallKind::Look if cites(call) || call.asks_elsewhere => best.push(*index),
            CallKind::Look => looks.push(*index),
        }
    }
    at.extend(checks.into_values());
    // Where it is all that was done, it is the work.
    if at.is_empty() && runs.is_empty() {
        at.extend(typed.iter().rev().take(MAX_TYPED));
    }
    // Of runs the last ones: what came before them was trying.
    at.extend(runs.iter().rev().take(MAX_RUNS));
    if changes {
        at.extend(best.iter().take(MAX_ASKED));
    } else {
        at.extend(best.iter().chain(&looks).take(MAX_LOOKS));
    }
    at
}

/// How a failed call is told: a command in its place with how it ended, any other call as trouble. The same failure of the
/// same command is told once in a step.
fn failure(call: &Call<'_>, whole: &Whole<'_>, dead: &mut HashSet<String>) -> Option<Told> {
    let how = whole.how_it_failed(call);
    if !dead.insert(format!("{}: {how}", call.text)) {
        return None;
    }
    let at = whole.at(call);
    if let Some(end) = whole.finished_later(call) {
        return Some(Told::Command(Some(format!("{how}{at}; {end}"))));
    }
    let later = whole.same_later(call).map_or_else(String::new, |(next, is_check)| {
        let verb = if is_check || call.kind == CallKind::Check { "passes" } else { "works" };
        let what = if is_check { "check" } else { "command" };
        format!("; the same {what} {verb} later{}", whole.at(next))
    });
    let text = format!("{how}{at}{later}");
    Some(if call.shell {
        Told::Command(Some(text))
    } else {
        Told::Remark(RemarkKind::Trouble, format!("{}: {text}", first_line(&call.text)))
    })
}

/// A line of output without the rules that programs draw: the same sign again and again.
fn without_rules(line: &str) -> String {
    /// Signs of a rule.
    const RULE: usize = 4;
    let mut out = String::with_capacity(line.len());
    let mut run: Option<(char, usize)> = None;
    for c in line.chars() {
        let before = run.filter(|(own, _)| *own == c && !c.is_alphanumeric()).map_or(0, |(_, count)| count);
        run = Some((c, before + 1));
        out.push(c);
        if before + 1 >= RULE {
            let kept = out.trim_end_matches(c).len();
            out.truncate(kept);
            run = Some((c, RULE));
        }
    }
    out
}

/// The first line of a command, and a mark where more follow.
fn first_line(command: &str) -> String {
    let mut lines = command.lines();
    let first = plain_code(lines.next().unwrap_or(""));
    if lines.next().is_some() && !first.ends_with('…') { format!("{first} …") } else { first }
}

/// A command as it was run, with names in the place of what belongs to one run; nothing where nothing readable is left.
fn command(call: &Call<'_>, note: Option<String>, data: &Data, inputs: &Inputs) -> Vec<Part> {
    let text = sanitise(&call.text);
    let text = shortened(&text);
    let text = data.named(&inputs.named(&text, call.keeps_versions));
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if !text.contains('\n') && text.chars().count() <= MAX_COMMAND {
        let command = clean(text);
        return vec![Part::Command(Command { command, note, span: Span::default() })];
    }
    let text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let text = truncate(&text, MAX_SCRIPT).into_owned();
    let mut parts = vec![Part::Script(Script { text, span: Span::default() })];
    parts.extend(note.map(|text| Part::Remark(Remark { kind: RemarkKind::Plain, text, span: Span::default() })));
    parts
}

/// A command with a mark in the place of the later lines of long here-documents.
fn shortened(text: &str) -> String {
    if !text.contains("<<") {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut from = 0;
    for body in bodies(text) {
        let Some(inside) = text.get(body.clone()).filter(|_| body.start >= from) else { continue };
        let lines = inside.lines().count();
        if lines <= MAX_BODY {
            continue;
        }
        let kept: usize = inside.split_inclusive('\n').take(MAX_BODY - 2).map(str::len).sum();
        out.push_str(&text[from..body.start + kept]);
        out.push_str(&format!("… ({} more lines in the session)\n", lines - (MAX_BODY - 2)));
        from = body.end;
    }
    out.push_str(&text[from..]);
    out
}
