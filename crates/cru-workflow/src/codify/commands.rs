//! The calls of a step as its parts: commands as they were run with how they ended, other tools, and what was refused.
//!
//! A command that ended well again and again is told where it was run last, a failure where it happened. What only looked is a
//! command where nothing else was done. Refused calls are never told as commands.

use std::collections::{BTreeMap, HashMap, VecDeque};

use cru_action::{CallEnd, ToolKind};
use cru_graph::Place;
use cru_session::{Item, Session, StepStatus, Subagent};
use foldhash::HashSet;

use super::call::{Call, CallKind, Ended, bodies, is_signal};
use super::data::Data;
use super::draft::Draft;
use super::facts::Facts;
use super::input::Inputs;
use super::replaced::Replaced;
use super::standing::ended_each;
use super::unit::Entry;
use super::{block_link, clean, looks, plain_code};
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
    /// The steps.
    pub drafts: &'a [Draft<'a>],
    /// What was worked out of all of them.
    pub facts: &'a Facts<'a>,
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
        drafts: &'a [Draft<'a>],
        facts: &'a Facts<'a>,
        evidence: &'a Evidence,
    ) -> Self {
        let note = session.meta.session_id.as_deref();
        let mut calls: Vec<&Call<'_>> = drafts.iter().flat_map(Draft::calls).collect();
        calls.sort_by_key(|call| call.place);
        let replaced = Replaced::of(&calls, evidence);
        let mut worked: HashMap<&str, Vec<&Call<'_>>> = HashMap::default();
        let mut passed: HashMap<&str, Vec<&Call<'_>>> = HashMap::default();
        for call in &calls {
            for (check, ended) in call.checks.iter().zip(ended_each(call, evidence)) {
                if ended == Ended::Well {
                    passed.entry(&check.identity).or_default().push(call);
                }
            }
        }
        calls.retain(|call| call.succeeded());
        for call in &calls {
            worked.entry(call.identity.as_deref().unwrap_or_default()).or_default().push(call);
        }
        let finished = calls.iter().filter(|call| call.finishes).map(|call| call.place).collect();
        let given_up = calls.iter().filter(|call| call.gives_up).map(|call| (call.place, *call)).collect();
        let delegated = delegated(drafts, evidence);
        Self { drafts, facts, evidence, note, worked, passed, replaced, finished, given_up, delegated }
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

    /// That the same command, or only the check in it, ended well later, in words.
    fn works_later(&self, failed: &Call<'_>) -> String {
        let next = |calls: &Vec<&'a Call<'a>>| calls.get(calls.partition_point(|it| it.place <= failed.place)).copied();
        let same = failed.identity.as_deref().and_then(|identity| self.worked.get(identity)).and_then(next);
        let check = || match failed.checks.as_slice() {
            [check] => self.passed.get(check.identity.as_str()).and_then(next),
            _ => None,
        };
        let found = same.map(|call| (call, "command")).or_else(|| check().map(|call| (call, "check")));
        found.map_or_else(String::new, |(next, what)| {
            let verb = if what == "check" || failed.kind == CallKind::Check { "passes" } else { "works" };
            format!("; the same {what} {verb} later{}", self.at(next))
        })
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

/// The calls of the draft at `index` as parts, by the index of their entry. A failure of a call that is `known` is told
/// elsewhere.
pub(super) fn parts(index: usize, whole: &Whole<'_>, known: &dyn Fn(&Call<'_>) -> bool) -> HashMap<usize, Vec<Part>> {
    let (Some(draft), Some(data)) = (whole.drafts.get(index), whole.facts.flows.get(index)) else {
        return HashMap::new();
    };
    let calls = || draft.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.call()?)));
    let acts = calls().any(|(_, call)| call.acts() && call.succeeded());
    // Two calls that run the same checks are one command.
    let subject = |call: &Call<'_>| match call.kind {
        CallKind::Check if !call.commits && !call.publishes => {
            call.checks.iter().map(|check| check.text.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => call.text.clone(),
    };
    let is_run = |call: &Call<'_>| call.succeeded() || (call.ended == Ended::Open && call.kind == CallKind::Check);
    let last: HashMap<String, usize> =
        calls().filter(|(_, call)| is_run(call)).map(|(at, call)| (subject(call), at)).collect();
    let mut failures: HashSet<String> = HashSet::default();
    let mut parts: HashMap<usize, Vec<Part>> = HashMap::new();
    let remark = |kind, text| vec![Part::Remark(Remark { kind, text, span: Span::default() })];
    for (at, call) in calls() {
        let is_command = call.shell && !call.text.is_empty() && (call.acts() || !acts);
        let used = call.acts() || matches!(call.tool, ToolKind::Skill | ToolKind::Fetch | ToolKind::Mcp);
        let is_tool = used && call.kind != CallKind::Edit && !call.shell && !call.text.is_empty();
        let told = match call.ended {
            Ended::Denied => {
                let at = if call.tool == ToolKind::Plan { whole.at(call) } else { String::new() };
                refusal(call).map(|text| remark(RemarkKind::Mind, format!("{text}{at}")))
            }
            Ended::Badly if call.acts() && !call.text.is_empty() && !known(call) => {
                let how = whole.how_it_failed(call);
                // The same failure of the same command is told once in a step.
                failures.insert(format!("{}: {how}", call.text)).then(|| {
                    let end = whole.finished_later(call).map(|end| format!("; {end}"));
                    let end = end.unwrap_or_else(|| whole.works_later(call));
                    let how = format!("{how}{}{end}", whole.at(call));
                    if call.shell {
                        command(call, Some(how), data, &whole.facts.inputs)
                    } else {
                        remark(RemarkKind::Trouble, format!("{}: {how}", first_line(&call.text)))
                    }
                })
            }
            Ended::Open if is_command && call.acts() => {
                let how = cut_short(call).filter(|_| call.kind != CallKind::Check);
                let is_told = how.is_some() || last.get(&subject(call)) == Some(&at);
                is_told.then(|| command(call, how, data, &whole.facts.inputs))
            }
            Ended::Well if is_command && last.get(&subject(call)) == Some(&at) => {
                let notes = [whole.facts.standing.note(call), whole.replaced(call)];
                let notes: Vec<String> = notes.into_iter().flatten().collect();
                Some(command(call, (!notes.is_empty()).then(|| notes.join("; ")), data, &whole.facts.inputs))
            }
            Ended::Well if is_tool && call.tool != ToolKind::Subagent && last.get(&subject(call)) == Some(&at) => {
                let text = data.named(&whole.facts.inputs.named(&call.text, call.keeps_versions));
                Some(remark(RemarkKind::Plain, format!("called {}", first_line(&text))))
            }
            _ => None,
        };
        parts.extend(told.filter(|told| !told.is_empty()).map(|told| (at, told)));
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
