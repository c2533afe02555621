//! The summary on top of a note: what was asked, what came of it, what was changed, checked and left open.
//!
//! Facts of the record alone, each decided elsewhere; nothing is judged here. A line without content is left out.

use std::collections::{HashMap, VecDeque};

use cru_action::{Action, Command, ToolKind, Verdict, is_scratch};
use cru_base::text::{fold_whitespace, plural};

use super::changes::LineCount;
use super::commits::MadeCommit;
use super::step::StepDraft;
use crate::escape::code;
use crate::words::sentence::sentences;
use crate::words::{shorten, summary};
use crate::{Item, StepStatus, Task};

/// Characters of the requests together, and of the conclusions.
const SAID: usize = 480;

/// Characters of the first request, of another one, and of the conclusion of an earlier turn.
const FIRST: usize = 240;
const OTHER: usize = 140;

/// Files, commits, checks, tasks and decisions that are named; of more their number is told.
const FILES: usize = 8;
const COMMITS: usize = 5;
const CHECKS: usize = 4;
const TASKS: usize = 3;
const DECISIONS: usize = 3;
const BLOCKED: usize = 2;

/// Characters of a command, a task, a question.
const SHORT: usize = 100;

/// What the stream knows beside its steps.
#[derive(Debug)]
pub(super) struct Told<'a> {
    /// What was asked, in order, and how often something else was.
    pub(super) asked: Vec<String>,
    pub(super) more: usize,
    /// The last words of the agent, where nothing was done after them.
    pub(super) conclusion: Option<&'a str>,
    /// The agent's last words of earlier turns, and whether a person refuted them.
    pub(super) concluded: &'a VecDeque<(String, bool)>,
    /// The branches that the work was on.
    pub(super) branches: &'a [String],
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
    let made = Made::of(steps, told.project);
    let lines = [
        ("Asked", asked(told)),
        ("Result", result(told)),
        ("Decided", listed(told.decisions.iter().cloned(), "; ", DECISIONS)),
        ("Files", files(&made, told.project)),
        ("Branches", (told.branches.len() > 1).then(|| told.branches.join(" → "))),
        ("Commits", listed(made.commits.iter().map(|commit| commit.field()), "; ", COMMITS)),
        ("Checks", listed(made.checks(), "; ", CHECKS)),
        ("Open", open(told, &made)),
        ("Time", time(told)),
    ];
    let says =
        lines.iter().filter(|(name, value)| value.is_some() && !matches!(*name, "Asked" | "Branches" | "Time")).count();
    let lines: Vec<String> =
        lines.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", value?))).collect();
    (says > 0).then(|| lines.join("  \n"))
}

/// The requests in order; of many the first and the last, and how many more there were.
fn asked(told: &Told<'_>) -> Option<String> {
    let said: Vec<String> = told.asked.iter().enumerate().map(|(at, line)| request(line, at == 0)).collect();
    let length = |line: &String| line.chars().count() + 2;
    let mut room = SAID;
    let (mut first, mut last) = (0, said.len());
    while first < last {
        // The last one says where it came to.
        let next = if first > 0 && last == said.len() { last - 1 } else { first };
        let Some(left) = said.get(next).and_then(|line| room.checked_sub(length(line))) else { break };
        room = left;
        if next == first { first += 1 } else { last -= 1 }
    }
    let more = last.saturating_sub(first) + told.more;
    let mut parts: Vec<String> = said[..first].to_vec();
    if more > 0 && last < said.len() {
        parts.push(format!("… {} …", plural(more as u64, "more request")));
    }
    parts.extend_from_slice(&said[last..]);
    let line = parts.join(" → ");
    let line = if more > 0 && last == said.len() {
        format!("{line} (and {})", plural(more as u64, "more request"))
    } else {
        line
    };
    (!parts.is_empty()).then_some(line)
}

/// A request in whole sentences.
fn request(line: &str, is_first: bool) -> String {
    let max = if is_first { FIRST } else { OTHER };
    whole(line, max, line)
}

/// What was concluded: the last words, then those of earlier turns that nobody refuted, the last first.
fn result(told: &Told<'_>) -> Option<String> {
    const WORDS: usize = 4;
    let earlier = told.concluded.iter().rev().filter(|(_, refuted)| !refuted).map(|(text, _)| text.as_str());
    let mut parts: Vec<String> = Vec::new();
    let mut room = SAID;
    for text in told.conclusion.into_iter().chain(earlier.filter(|text| Some(*text) != told.conclusion)) {
        let is_first = parts.is_empty();
        let line = concluded(text, if is_first { FIRST } else { OTHER });
        let length = line.chars().count() + 3;
        // A cry of an earlier turn says nothing.
        let says = is_first || (!line.contains('…') && line.split_whitespace().count() >= WORDS);
        if line.is_empty() || parts.contains(&line) || !says {
            continue;
        }
        if !is_first && length > room {
            break;
        }
        room = room.saturating_sub(length);
        parts.push(line);
    }
    let (last, earlier) = parts.split_first()?;
    Some(if earlier.is_empty() { last.clone() } else { format!("{last} Earlier: {}", earlier.join(" ")) })
}

/// Closing words in whole sentences.
fn concluded(text: &str, max: usize) -> String {
    let short = summary(text, max);
    if !short.contains('…') {
        return short;
    }
    whole(&summary(text, 4 * max), max, &short)
}

/// The first sentences of `text` that fit, the first one in any case unless it is far too long: then `short`.
fn whole(text: &str, max: usize, short: &str) -> String {
    let mut line = String::new();
    for sentence in sentences(text) {
        let length = line.chars().count() + sentence.trim_end().chars().count();
        if sentence.contains('…') || length > if line.is_empty() { max * 3 / 2 } else { max } {
            break;
        }
        line.push_str(sentence);
    }
    let line = line.trim_end();
    if line.is_empty() { shorten::at_word(short, max) } else { line.to_owned() }
}

/// The files of the project; of others beside them the number.
fn files(made: &Made<'_>, project: Option<&str>) -> Option<String> {
    let is_outside = |path: &str| {
        let inside = project.is_none_or(|project| path.strip_prefix(project).is_some_and(|rest| rest.starts_with('/')));
        path.starts_with(['/', '~']) && !inside
    };
    let (outside, inside): (Vec<_>, Vec<_>) = made.files.iter().partition(|count| is_outside(&count.path));
    if inside.is_empty() {
        return listed(outside.into_iter().map(|count| file(count, project)), ", ", FILES);
    }
    let line = listed(inside.into_iter().map(|count| file(count, project)), ", ", FILES)?;
    Some(match outside.len() {
        0 => line,
        more => format!("{line}; {} outside the project", plural(more as u64, "file")),
    })
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
    /// The last attempt of each commit, push and publication that did not succeed, and what was refused, by their words.
    blocked: Vec<(String, &'static str)>,
    /// The question of the last step, where nobody answered it.
    question: Option<String>,
    /// Writes of files of the project so far.
    writes: usize,
    /// Whether something was pushed since the last commit.
    pushed: bool,
}

impl<'a> Made<'a> {
    fn of(steps: &'a [StepDraft], project: Option<&str>) -> Self {
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
            made.attempt(draft, &action);
            if let Some(verdict) = draft.step.check {
                let own = draft.folder.as_deref().unwrap_or_default();
                let place = |command: &Command<'_>| action.folder(command).map(|folder| below(own, &folder, project));
                let key: Vec<_> = action.checks().map(|check| (check.key(), place(check.command()))).collect();
                let text: Vec<String> = action.checks().map(|check| action.plain_text(check.command())).collect();
                let text = code::span(&shorten::at_word(&text.join(" && "), SHORT));
                let folder = key.first().and_then(|(_, folder)| folder.clone()).filter(|folder| !folder.is_empty());
                let text = folder.map_or_else(|| text.clone(), |folder| format!("{text} in {}", code::span(&folder)));
                let run = (text, verdict, made.writes);
                let at = *checks.entry(key).or_insert(made.checks.len());
                match made.checks.get_mut(at) {
                    Some(known) => *known = run,
                    None => made.checks.push(run),
                }
            }
        }
        made
    }

    /// What is left open by a step, or closed.
    fn attempt(&mut self, draft: &StepDraft, action: &Action<'_>) {
        let step = &draft.step;
        self.question = None;
        let of_version =
            |command: &&Command<'_>| command.publishes || (command.keeps_versions() && command.verb == "commit");
        let mut names: Vec<String> = action.commands.iter().filter(of_version).map(Command::key).collect();
        names.retain(|name| draft.commits.is_empty() || !name.ends_with(" commit"));
        if step.status == StepStatus::Denied && names.is_empty() {
            names.push(fold_whitespace(&format!("{} {}", step.tool, step.args)));
        }
        let ended = match step.status {
            StepStatus::Failed => "failed",
            StepStatus::Denied => "denied",
            StepStatus::Interrupted => "interrupted",
            StepStatus::NoResult => "without a result",
            _ => "",
        };
        let done = if names.is_empty() {
            vec![fold_whitespace(&format!("{} {}", step.tool, step.args))]
        } else {
            names.clone()
        };
        self.blocked.retain(|(name, _)| !done.contains(name));
        if !ended.is_empty() {
            self.blocked.extend(names.into_iter().map(|name| (name, ended)));
        }
        if action.kind == ToolKind::Ask && step.status.is_crossed() && !step.args.is_empty() {
            self.blocked.retain(|(name, _)| !name.starts_with(step.tool.as_str()));
            self.question = Some(fold_whitespace(&step.args));
        }
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
        let after = match self.writes - writes {
            0 if self.writes > 0 => " after the last edit".to_owned(),
            0 => String::new(),
            later => format!(", {} after it", plural(later as u64, "edit")),
        };
        format!("{command} {}{after}", verdict.as_str())
    }
}

/// The folder of a command as it lies in the project: `own` is that of the call, `folder` what the command says.
fn below(own: &str, folder: &str, project: Option<&str>) -> String {
    let path = match (own, folder) {
        (own, "") => own.to_owned(),
        ("", folder) => folder.to_owned(),
        (_, folder) if folder.starts_with(['/', '~']) => folder.to_owned(),
        (own, folder) => format!("{own}/{folder}"),
    };
    let Some(project) = project else { return path };
    // The project is written with `~`, the call's folder as the system has it.
    let bare = project.trim_start_matches('~');
    let at =
        path.find(bare).filter(|at| !bare.is_empty() && path.starts_with(['/', '~']) && (*at > 0 || bare == project));
    let rest = at.or_else(|| path.starts_with(project).then_some(0)).map(|at| &path[at + bare.len()..]);
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => path,
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
    let failing = made.checks.iter().filter(|(_, verdict, _)| *verdict == Verdict::Failed);
    let failing = listed(failing.map(|(command, ..)| command.clone()), ", ", BLOCKED);
    lines.extend(failing.map(|failing| format!("failing: {failing}")));
    let blocked = made.blocked.iter().rev();
    let blocked = blocked.map(|(name, ended)| format!("{} {ended}", code::span(&shorten::at_word(name, SHORT / 2))));
    lines.extend(listed(blocked, ", ", BLOCKED));
    let asked = told.conclusion.filter(|_| told.asks).and_then(question).or_else(|| made.question.clone());
    if let Some(question) = asked {
        lines.push(shorten::at_word(&question, FIRST / 2));
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
    Some(shorten::at_word(&fold_whitespace(last), FIRST / 2)).filter(|text| text.chars().any(char::is_alphanumeric))
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
