//! What is known of the whole session when the calls of one step are told: what worked later, what was replaced, given up
//! or answered elsewhere.

use std::collections::{BTreeMap, HashMap, VecDeque};

use cru_action::{CallEnd, ToolKind};
use cru_graph::Place;
use cru_session::{Item, Session, StepStatus, Subagent};

use super::call::{Call, CallKind, Ended};
use super::draft::Draft;
use super::facts::Facts;
use super::replaced::Replaced;
use super::standing::ended_each;
use super::unit::Entry;
use super::{block_link, clean};
use crate::evidence::Evidence;
use cru_base::text::truncate;

/// Last lines of the output of a command that failed, where none of them is known to say what failed.
const CLOSING: usize = 3;
/// Lines that say what failed.
const MAX_FAILING: usize = 4;
/// What an import writes where a failed call printed nothing.
const NO_OUTPUT: &str = "failed, no output";
/// Characters of what a call said that failed.
pub(super) const MAX_SAID: usize = 200;

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
    pub(super) fn how_it_failed(&self, call: &Call<'_>) -> String {
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
    pub(super) fn works_later(&self, failed: &Call<'_>) -> String {
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
    pub(super) fn at(&self, call: &Call<'_>) -> String {
        call.step.id.as_deref().map_or_else(String::new, |id| format!(" ({})", block_link(self.note, id)))
    }

    /// How a merge or its like that stopped came to its end, in words: a later commit ended it, or it was given up.
    pub(super) fn finished_later(&self, call: &Call<'_>) -> Option<String> {
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
