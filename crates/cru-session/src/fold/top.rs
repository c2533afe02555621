//! The summary on top of a note: what was asked, what came of it, what was changed, checked and left open.
//!
//! Facts of the record alone, each decided elsewhere; nothing is judged here. A line without content is left out.

use std::collections::HashMap;

use cru_action::{Verdict, is_scratch};
use cru_base::text::{fold_whitespace, plural};

use super::changes::LineCount;
use super::commits::MadeCommit;
use super::step::StepDraft;
use crate::escape::code;
use crate::words::sentence::sentences;
use crate::words::{shorten, summary};
use crate::{Item, StepStatus, Task};

/// Characters of a request and of a conclusion.
const SAID: usize = 240;

/// Files, commits, checks, tasks and decisions that are named; of more their number is told.
const FILES: usize = 8;
const COMMITS: usize = 5;
const CHECKS: usize = 4;
const TASKS: usize = 3;
const DECISIONS: usize = 3;

/// Characters of a command, a task, a question.
const SHORT: usize = 100;

/// What the stream knows beside its steps.
#[derive(Debug, Default)]
pub(super) struct Told<'a> {
    /// What was asked first, and how often something was asked after it.
    pub(super) asked: Option<String>,
    pub(super) more: usize,
    /// The last words of the agent, where nothing was done after them.
    pub(super) conclusion: Option<&'a str>,
    /// The agent's last words of an earlier turn, where the last one has none.
    pub(super) concluded: Option<&'a str>,
    /// How it ended otherwise.
    pub(super) end: Option<String>,
    /// Whether the agent's last words are a question that nobody answered.
    pub(super) asks: bool,
    pub(super) tasks: &'a [Task],
    /// The working directory, as paths below it are written.
    pub(super) project: Option<&'a str>,
    /// Titles of decisions.
    pub(super) decisions: Vec<String>,
    /// Seconds of work without pauses, and from first to last.
    pub(super) active: i64,
    pub(super) whole: i64,
}

/// The callout's body; `None` where there is no more than what was asked.
pub(super) fn body(told: &Told<'_>, steps: &[StepDraft]) -> Option<String> {
    let asked = told.asked.as_ref().map(|asked| match told.more {
        0 => asked.clone(),
        more => format!("{asked} (and {})", plural(more as u64, "more request")),
    });
    let conclusion = told.conclusion.or(told.concluded);
    let conclusion = conclusion.map(|text| summary(text, SAID)).filter(|text| !text.is_empty());
    let made = Made::of(steps);
    let lines = [
        ("Asked", asked),
        ("Result", conclusion),
        ("Decided", listed(told.decisions.iter().cloned(), "; ", DECISIONS)),
        ("Files", listed(made.files.iter().map(|count| file(count, told.project)), ", ", FILES)),
        ("Commits", listed(made.commits.iter().map(|commit| commit.field()), "; ", COMMITS)),
        ("Checks", listed(made.checks(), "; ", CHECKS)),
        ("Open", open(told, &made)),
        ("Time", time(told)),
    ];
    let says = lines.iter().filter(|(name, value)| value.is_some() && !matches!(*name, "Asked" | "Time")).count();
    let lines: Vec<String> =
        lines.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", value?))).collect();
    (says > 0).then(|| lines.join("  \n"))
}

/// The first few, and how many more there are.
fn listed(items: impl IntoIterator<Item = String>, between: &str, most: usize) -> Option<String> {
    let all: Vec<String> = items.into_iter().map(|item| fold_whitespace(&item)).collect();
    let mut line = all.iter().take(most).cloned().collect::<Vec<_>>().join(between);
    if all.len() > most {
        line.push_str(&format!("{between}… and {} more", all.len() - most));
    }
    (!line.is_empty()).then_some(line)
}

/// What the steps made.
#[derive(Default)]
struct Made<'a> {
    files: Vec<LineCount>,
    commits: Vec<&'a MadeCommit>,
    /// The last run of each check: its command, its verdict and the writes of that moment.
    checks: Vec<(String, Verdict, usize)>,
    /// Writes of files of the project so far.
    writes: usize,
    /// Whether something was pushed since the last commit.
    pushed: bool,
}

impl<'a> Made<'a> {
    fn of(steps: &'a [StepDraft]) -> Self {
        let mut made = Self::default();
        let (mut files, mut checks) = (HashMap::new(), HashMap::new());
        for draft in steps {
            let complete = draft.step.status == StepStatus::Complete;
            let writes: Vec<&str> = draft.step.writes.iter().map(|file| file.path.as_str()).collect();
            let writes: Vec<&str> = writes.into_iter().filter(|path| complete && !is_scratch(path)).collect();
            for path in &writes {
                made.count(path, draft, writes.len() == 1, &mut files);
            }
            made.writes += usize::from(!writes.is_empty());
            if !draft.commits.is_empty() {
                made.commits.extend(&draft.commits);
                made.pushed = false;
            }
            let action = draft.step.action();
            made.pushed |= complete && action.pushes();
            if let Some(verdict) = draft.step.check {
                let key: Vec<String> = action.checks().map(|check| check.key()).collect();
                let text: Vec<&str> = action.checks().map(|check| action.text(check.command())).collect();
                // Where the messages went says nothing of what is checked.
                let text = text.join(" && ").replace(" 2>&1", "");
                let run = (fold_whitespace(&text), verdict, made.writes);
                let at = *checks.entry(key).or_insert(made.checks.len());
                match made.checks.get_mut(at) {
                    Some(known) => *known = run,
                    None => made.checks.push(run),
                }
            }
        }
        made
    }

    /// Counts the lines of one file that a step wrote.
    fn count(&mut self, path: &str, draft: &StepDraft, alone: bool, known: &mut HashMap<String, usize>) {
        let counts = draft.changes.as_ref().map_or(&[][..], |changes| &changes.files);
        let ends = |count: &&LineCount| {
            let rest = count.path.strip_suffix(path.trim_start_matches("~/").trim_start_matches("./"));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
        };
        let count = counts.iter().find(ends).or(counts.first().filter(|_| alone && counts.len() == 1));
        let (added, removed) = count.map_or((0, None), |count| (count.added, count.removed));
        let at = *known.entry(path.to_owned()).or_insert(self.files.len());
        match self.files.get_mut(at) {
            Some(file) => {
                file.added += added;
                file.removed = file.removed.zip(removed).map(|(one, other)| one + other);
            }
            None => self.files.push(LineCount { path: path.to_owned(), added, removed }),
        }
    }

    /// The last verdict of each check: those that failed first, then the latest.
    fn checks(&self) -> Vec<String> {
        let mut decided: Vec<&(String, Verdict, usize)> =
            self.checks.iter().filter(|(_, verdict, _)| *verdict != Verdict::Unknown).collect();
        decided.sort_by_key(|(_, verdict, writes)| (*verdict != Verdict::Failed, std::cmp::Reverse(*writes)));
        decided.into_iter().map(|(command, verdict, writes)| self.check(command, *verdict, *writes)).collect()
    }

    fn check(&self, command: &str, verdict: Verdict, writes: usize) -> String {
        let command = code::span(&shorten::at_word(command, SHORT));
        let after = match self.writes - writes {
            0 if self.writes > 0 => " after the last edit".to_owned(),
            0 => String::new(),
            later => format!(", {} after it", plural(later as u64, "edit")),
        };
        format!("{command} {}{after}", verdict.as_str())
    }
}

/// `` `src/a.rs` +8 −0 ``.
fn file(count: &LineCount, project: Option<&str>) -> String {
    let below = project.and_then(|project| count.path.strip_prefix(project)).and_then(|rest| rest.strip_prefix('/'));
    let path = code::span(below.unwrap_or(&count.path));
    match count.removed {
        Some(removed) => format!("{path} +{} −{removed}", count.added),
        None => path,
    }
}

/// Tasks that are open, a question that nobody answered, commits that were not pushed.
fn open(told: &Told<'_>, made: &Made<'_>) -> Option<String> {
    let mut lines: Vec<String> = told.end.iter().cloned().collect();
    let open: Vec<&Task> = told.tasks.iter().filter(|task| task.is_open()).collect();
    if !open.is_empty() {
        let names = open.iter().map(|task| shorten::at_word(&fold_whitespace(&task.content), SHORT));
        let names = listed(names, "; ", TASKS).unwrap_or_default();
        lines.push(format!("{} of {} ({names})", open.len(), plural(told.tasks.len() as u64, "task")));
    }
    if let Some(question) = told.conclusion.filter(|_| told.asks).and_then(question) {
        lines.push(question);
    }
    if !made.commits.is_empty() && !made.pushed {
        lines.push("not pushed".to_owned());
    }
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// The last line that asks, of words that end by asking.
fn question(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(asks_at_end)?;
    let last = sentences(line).filter(asks_at_end).last()?.trim().trim_matches(['*', '_', ' ']);
    Some(shorten::at_word(&fold_whitespace(last), SAID / 2)).filter(|text| text.chars().any(char::is_alphanumeric))
}

fn asks_at_end(sentence: &&str) -> bool {
    sentence.trim_end_matches(['*', '_', '`', ')', '"', ' ']).ends_with(['?', '？'])
}

/// `34 min active, 2 h 10 min in all`; nothing below a minute.
fn time(told: &Told<'_>) -> Option<String> {
    let spell = |seconds: i64| match (seconds / 60, seconds / 3600) {
        (minutes, 0) => format!("{minutes} min"),
        (minutes, hours @ 1..48) if minutes % 60 > 0 => format!("{hours} h {} min", minutes % 60),
        (_, hours @ 1..48) => format!("{hours} h"),
        (_, hours) => format!("{} days", hours / 24),
    };
    if told.active < 60 {
        return None;
    }
    let active = format!("{} active", spell(told.active));
    // Less than a tenth more is the same.
    let longer = told.whole > told.active + told.active / 10 + 60;
    Some(if longer { format!("{active}, {} in all", spell(told.whole)) } else { active })
}

/// The titles of the decisions among a note's items.
pub(super) fn decision(item: &Item) -> Option<String> {
    match item {
        Item::Decision(it) => Some(shorten::at_word(&it.callout.title, SHORT)).filter(|title| !title.is_empty()),
        _ => None,
    }
}
