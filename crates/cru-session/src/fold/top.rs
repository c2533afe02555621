//! The summary on top of a note: what was asked, what came of it, what was changed, checked and left open.
//!
//! Facts of the record alone, each decided elsewhere; nothing is judged here. A line without content is left out.

use std::collections::{BTreeSet, HashMap, HashSet};

use cru_action::{Action, Class, Command, ToolKind, Verdict, is_outside, is_prose, is_scratch};
use cru_base::text::{fold_whitespace, plural};

use super::changes::LineCount;
use super::commits::{self, MadeCommit};
use super::conclusions;
use super::planned::PlannedWork;
use super::step::StepDraft;
use super::turns::ToldTurn;
use super::work_tree::WorkTree;
use crate::attempt::{told_unapproved, unapproved_plan};
use crate::escape::code;
use crate::words::closing::{Closing, ClosingLine};
use crate::words::sentence::sentences;
use crate::words::{Boxes, shorten, summary};
use crate::{Item, StepStatus, Task};

/// Characters of what was asked, in one of many turns and in the only one, and of closing words on one line.
const SAID: usize = 240;
const SAID_OF_MANY: usize = 160;
const CONCLUDED_OF_MANY: usize = 200;

/// Turns that are listed; of more the first, the last, and those that changed something.
const TURNS: usize = 10;

/// Files, commits, checks, tasks and decisions that are named; of more their number is told.
const FILES: usize = 8;
const COMMITS: usize = 5;
const CHECKS: usize = 4;
const TASKS: usize = 3;
const DECISIONS: usize = 3;
const BLOCKED: usize = 2;
const ADDRESSES: usize = 3;

/// Characters of a command, a task, a question.
const SHORT: usize = 100;

/// How the checks are called that hooks of a commit run.
const HOOKS: &str = "hooks of `git commit`";

/// What the stream knows beside its steps.
#[derive(Debug)]
pub(super) struct Told<'a> {
    /// The turns in order, and how many more there were.
    pub(super) turns: Vec<ToldTurn>,
    pub(super) more: usize,
    /// The last plan that was given or approved.
    pub(super) planned: Option<PlannedWork>,
    /// What a sub-agent was asked.
    pub(super) task: Option<&'a str>,
    /// The last words of the agent, where nothing was done after them.
    pub(super) conclusion: Option<&'a str>,
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
    let is_long = told.turns.len() + told.more > 1;
    let (shown, at_length) = shown(told, &made, steps);
    let last = at_length.iter().find(|(at, _)| at + 1 == told.turns.len()).map(|(_, words)| words);
    // A sub-agent may have been told nothing but its task.
    let alone = told.conclusion.filter(|_| told.turns.is_empty()).map(conclusions::alone);
    let last = last.or(alone.as_ref());
    let lines = [
        ("Decided", listed(decided(told), "; ", DECISIONS)),
        ("Files", files(&made, told.project)),
        ("Branches", (told.branches.len() > 1).then(|| told.branches.join(" → "))),
        ("Commits", listed(made.commits.iter().map(|commit| commit.field()), "; ", COMMITS)),
        ("Published", listed(made.published(), "; ", COMMITS)),
        ("Checks", listed(made.checks(), "; ", CHECKS)),
        ("Open", open(told, &made, last, steps)),
        ("Time", time(told)),
    ];
    let tells = |(name, value): &&(&str, Option<String>)| {
        value.as_ref().is_some_and(|value| !value.is_empty()) && !matches!(*name, "Branches" | "Time")
    };
    let concludes = told.turns.iter().any(|it| !it.concluded.is_empty());
    let says = concludes || lines.iter().any(|line| tells(&line));
    let fields = lines.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
    let fields: Vec<String> = fields.map(|(name, value)| format!("{name}: {value}")).collect();
    let fields = fields.join("  \n");
    let head = if is_long { turns(told, &shown, &at_length) } else { only_turn(told, last) };
    // A list and a field below it would be one paragraph.
    let between = if is_long || head.contains("\n- ") { "\n\n" } else { "  \n" };
    let parts: Vec<String> = [head, fields].into_iter().filter(|it| !it.is_empty()).collect();
    says.then(|| parts.join(between))
}

/// What was asked and what came of it, where that was once.
fn only_turn(told: &Told<'_>, words: Option<&Closing>) -> String {
    let phase = told.turns.last().map_or(0, |turn| turn.phase);
    let result = words.map(|words| conclusions::listed(words, phase, "")).filter(|it| !it.is_empty());
    let lines = [asked(told).map(|line| format!("Asked: {line}")), result.map(|line| format!("Result: {line}"))];
    lines.into_iter().flatten().collect::<Vec<_>>().join("  \n")
}

/// Decisions that say something else than what was asked.
fn decided<'t>(told: &'t Told<'_>) -> impl Iterator<Item = String> + 't {
    let said = || told.turns.iter().flat_map(|turn| &turn.said);
    let is_said = move |decision: &&String| {
        let text = decision.trim_start_matches("Plan: ");
        said().any(|line| line.contains(text))
    };
    let mut seen = HashSet::new();
    told.decisions.iter().filter(move |decision| !is_said(decision) && seen.insert(decision.as_str())).cloned()
}

/// What was asked, where that was once.
fn asked(told: &Told<'_>) -> Option<String> {
    let said = told.turns.first().map(|turn| turn.said.join(" · "));
    let line = said.or_else(|| told.task.map(fold_whitespace))?;
    Some(quoted(&line, SAID)).filter(|line| !line.is_empty())
}

/// The turns that are told: of many the first, the last, those that changed something, then the others, as far as there is
/// room; and the closing words of those that are told at length.
fn shown(told: &Told<'_>, made: &Made<'_>, steps: &[StepDraft]) -> (Vec<usize>, Vec<(usize, Closing)>) {
    let all = &told.turns;
    let changes = |turn: &ToldTurn| made.changing.range(turn.steps.clone()).next().is_some();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| (at != 0 && at + 1 != all.len(), !changes(&all[at])));
    order.truncate(TURNS);
    order.sort_unstable();
    let at_length = conclusions::at_length(all, &order, steps);
    (order, at_length)
}

/// The turns as a list: what was said, and what was concluded.
fn turns(told: &Told<'_>, shown: &[usize], at_length: &[(usize, Closing)]) -> String {
    let all = &told.turns;
    let mut lines: Vec<String> = Vec::new();
    let mut next = 0;
    let left_out = |count: usize| format!("- … {}", plural(count as u64, "more request"));
    for &at in shown {
        if at > next {
            lines.push(left_out(at - next));
        }
        next = at + 1;
        let said = all[at].said.join(" · ");
        let said = quoted(&said, SAID_OF_MANY);
        let words = at_length.iter().find(|(known, _)| *known == at).map(|(_, words)| words);
        let concluded = match words.filter(|words| !words.lines.is_empty()) {
            Some(words) => conclusions::listed(words, all[at].phase, "    "),
            None => concluded(&all[at].concluded, CONCLUDED_OF_MANY),
        };
        let arrow = if concluded.is_empty() { "" } else { " → " };
        lines.push(format!("- \"{said}\"{arrow}{concluded}"));
    }
    if next < all.len() {
        lines.push(left_out(all.len() - next));
    }
    if told.more > 0 {
        lines.push(left_out(told.more));
    }
    lines.join("\n")
}

/// Words of a person in whole sentences: all of them, else the first ones and the last, which often says what is wanted.
fn quoted(line: &str, max: usize) -> String {
    if line.chars().count() <= max {
        return line.to_owned();
    }
    let last = sentences(line).last().map(str::trim).filter(|last| last.chars().count() * 2 <= max);
    match last.filter(|last| !last.contains('…')) {
        Some(last) => {
            let first = whole(line, max - last.chars().count(), line);
            if first.ends_with(last) { first } else { format!("{} … {last}", first.trim_end_matches(['…', ' '])) }
        }
        None => whole(line, max, line),
    }
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
    // The number of an item that did not fit.
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ');
    let bare = line.trim_end_matches(is_number);
    let line = if bare.ends_with(['.', ':', '!', '?']) { bare } else { line.trim_end() };
    // A colon announces what is wanted.
    let announces = line.ends_with([':', '：']) && line.len() < text.trim_end().len();
    match line {
        "" => shorten::at_word(short, max),
        _ if announces => shorten::at_word(text, max),
        _ => line.to_owned(),
    }
}

/// The files of the project; of others beside them the number.
fn files(made: &Made<'_>, project: Option<&str>) -> Option<String> {
    let (outside, inside): (Vec<_>, Vec<_>) = made.files.iter().partition(|file| is_outside(&file.path, project));
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
    files: Vec<ChangedFile>,
    /// Steps that changed something that stays.
    changing: BTreeSet<usize>,
    /// Paths that were read or written.
    seen: HashSet<&'a str>,
    commits: Vec<&'a MadeCommit>,
    /// Commands that made what others see, with the addresses that they printed.
    published: Vec<(String, Vec<String>)>,
    /// Boxes that are not ticked in the last text with boxes that others see, and the command that published it.
    public_boxes: Option<(String, Boxes)>,
    /// The last run of each check.
    checks: Vec<LastRun>,
    /// The last attempt of each commit, push and publication that did not succeed, and what was refused, by their words.
    blocked: Vec<(String, &'static str)>,
    /// The question of the last step, where nobody answered it.
    question: Option<String>,
    /// The plan of the last step, where nobody approved it.
    plan: Option<String>,
    /// The work tree as the last `git status` showed it, where nothing changed it later.
    tree: Option<&'a WorkTree>,
    /// Writes of files of the project so far that a check may judge.
    writes: usize,
    /// Commands that had a program rewrite sources, in order.
    mends: Vec<String>,
    /// Writes in the project after the last call that made a commit, or names one and succeeded: through another program
    /// a commit shows nothing that is known here.
    uncommitted: usize,
    /// Whether something was pushed since the last commit.
    pushed: bool,
}

/// A file that was written.
struct ChangedFile {
    path: String,
    /// Lines that came and went; `None` where a text took the place of one that nobody knows.
    lines: Option<(u64, u64)>,
    /// Boxes that came, without those that were ticked.
    boxes: i64,
}

/// The last run of a check.
#[derive(Clone)]
struct LastRun {
    /// The checks of its call, as they were called.
    text: String,
    verdict: Verdict,
    /// Writes of files of the project before it.
    writes: usize,
    /// Commands before it that had a program rewrite sources, those of its own call included.
    mends: usize,
    /// The step, and whether it ran other checks, too: of a failure nobody knows whose it was.
    step: usize,
    is_shared: bool,
}

impl<'a> Made<'a> {
    fn of(steps: &'a [StepDraft], project: Option<&str>) -> Self {
        let mut made = Self { commits: commits::standing(steps), ..Self::default() };
        let (mut files, mut checks) = (HashMap::new(), HashMap::new());
        for (at, draft) in steps.iter().enumerate() {
            let complete = draft.step.status == StepStatus::Complete;
            let writes: Vec<&str> = draft.step.writes.iter().map(|file| file.path.as_str()).collect();
            let writes: Vec<&str> = writes.into_iter().filter(|path| complete && !is_scratch(path)).collect();
            for path in &writes {
                made.count(path, draft, writes.len() == 1, &mut files);
            }
            made.writes += usize::from(writes.iter().any(|path| !is_prose(path)));
            made.uncommitted += usize::from(writes.iter().any(|path| !is_outside(path, project)));
            if complete {
                let touched = draft.step.reads.iter().chain(&draft.step.writes);
                made.seen.extend(touched.map(|file| file.path.as_str()));
            }
            let action = draft.step.action();
            if !draft.commits.is_empty() {
                made.uncommitted = 0;
                made.pushed = false;
            }
            if complete && action.kind == ToolKind::Shell && draft.step.full_args().contains("commit") {
                made.uncommitted = 0;
            }
            if complete && (!writes.is_empty() || !draft.commits.is_empty() || action.publishes()) {
                made.changing.insert(at);
            }
            made.pushed |= complete && action.pushes();
            if complete {
                made.publish(draft, &action);
                made.public_boxes = public_boxes(draft, &action).or(made.public_boxes.take());
            }
            made.attempt(draft, &action);
            let changes = |command: &Command<'_>| {
                matches!(command.class, Class::GitChange | Class::Change | Class::Destroy | Class::Unknown | Class::Run)
            };
            if complete && (!writes.is_empty() || action.commands.iter().any(changes)) {
                made.tree = None;
            }
            made.tree = draft.tree.as_ref().or(made.tree);
            match draft.hooks {
                Some(verdict) => made.hook_run(at, verdict, &mut checks),
                // A later commit that nothing stopped passed the hooks, whatever its output shows of them.
                None if complete && action.commands.iter().any(|it| it.program == "git" && it.verb == "commit") => {
                    let hooks = made.checks.iter_mut().filter(|it| it.text == HOOKS);
                    hooks.for_each(|it| it.verdict = Verdict::Unknown);
                }
                None => {}
            }
            if complete && let Some(command) = action.mends() {
                made.mends.push(code::span(&shorten::at_word(&action.plain_text(command), SHORT / 2)));
            }
            if let Some(verdict) = draft.step.check {
                made.check_run(at, &action, verdict, project, &mut checks);
            }
        }
        made
    }

    /// Whether the session changed files of the project: by a tool, a redirection, a program that changes files, a commit.
    fn has_written(&self, steps: &[StepDraft], project: Option<&str>) -> bool {
        let is_kept = |path: &str| !is_scratch(path) && !is_outside(path, project);
        let by_shell = |draft: &StepDraft| {
            let action = draft.step.action();
            let changes = |it: &Command<'_>| {
                let mut named = it.words.iter().skip(1).filter(|word| !word.starts_with('-')).peekable();
                let scratch = named.peek().is_some() && named.all(|word| !is_kept(word));
                matches!(it.class, Class::Change | Class::Destroy) && !scratch
            };
            action.kind == ToolKind::Shell
                && (action.writes().iter().any(|write| is_kept(&write.path)) || action.commands.iter().any(changes))
        };
        !self.commits.is_empty()
            || self.files.iter().any(|file| is_kept(&file.path))
            || steps.iter().any(|draft| draft.step.status == StepStatus::Complete && by_shell(draft))
    }

    /// The checks of a step. Where one of several failed and nothing tells which, a later run of any of them leaves the
    /// others undecided.
    fn check_run(
        &mut self,
        step: usize,
        action: &Action<'_>,
        verdict: Verdict,
        project: Option<&str>,
        known: &mut HashMap<(String, Option<String>), usize>,
    ) {
        let place = |command: &Command<'_>| action.folder(command).map(|folder| below(folder, project));
        let all: Vec<_> = action.checks().map(|check| (check.key(), place(check.command()), check.command())).collect();
        let text = |commands: &mut dyn Iterator<Item = &Command<'_>>| {
            let text: Vec<String> = commands.map(|command| action.plain_text(command)).collect();
            code::span(&shorten::at_word(&text.join(" && "), SHORT))
        };
        let is_shared = verdict != Verdict::Passed && all.len() > 1;
        let whole = text(&mut all.iter().map(|(.., command)| *command));
        for (key, folder, command) in &all {
            let text = if is_shared { whole.clone() } else { text(&mut std::iter::once(*command)) };
            let text_alone = text.clone();
            let folder_shown = folder.clone().filter(|folder| !folder.is_empty());
            let text = folder_shown.map_or_else(|| text.clone(), |folder| format!("{text} in {}", code::span(&folder)));
            let run = LastRun { text, verdict, writes: self.writes, mends: self.mends.len(), step, is_shared };
            // What failed where nothing said the folder, and the same in a folder: the call was made again.
            let bare = (key.clone(), Some(String::new()));
            let again = known.get(&bare).copied().filter(|&at| {
                let is_same = |it: &LastRun| it.verdict == Verdict::Failed && !it.is_shared && it.text == text_alone;
                folder.as_deref().is_some_and(|folder| !folder.is_empty()) && self.checks.get(at).is_some_and(is_same)
            });
            let place = (key.clone(), folder.clone());
            let at = known.get(&place).copied();
            if at.is_none() && again.is_some() {
                known.remove(&bare);
            }
            let at = at.or(again).unwrap_or(self.checks.len());
            known.insert(place, at);
            let before = if let Some(known) = self.checks.get_mut(at) {
                Some(std::mem::replace(known, run))
            } else {
                self.checks.push(run);
                None
            };
            if let Some(before) = before.filter(|before| before.is_shared && before.step != step) {
                let others = self.checks.iter_mut().filter(|it| it.is_shared && it.step == before.step);
                others.for_each(|it| it.verdict = Verdict::Unknown);
            }
        }
    }

    /// The checks that hooks of a commit ran.
    fn hook_run(&mut self, step: usize, verdict: Verdict, known: &mut HashMap<(String, Option<String>), usize>) {
        let (text, writes, mends) = (HOOKS.to_owned(), self.writes, self.mends.len());
        let run = LastRun { text, verdict, writes, mends, step, is_shared: false };
        let at = *known.entry((HOOKS.to_owned(), None)).or_insert(self.checks.len());
        match self.checks.get_mut(at) {
            Some(known) => *known = run,
            None => self.checks.push(run),
        }
    }

    /// What a step made that others see, where an address tells of it.
    fn publish(&mut self, draft: &StepDraft, action: &Action<'_>) {
        let Some(command) = action.commands.iter().find(|it| it.publishes && it.class != Class::GitChange) else {
            return;
        };
        let result = draft.step.result.as_deref().unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')');
        let address = result.split(is_end).find(|word| word.starts_with("https://") && !word.contains('…'));
        let Some(address) = address.map(|it| it.trim_end_matches(['.', ',', ';'])) else { return };
        let key = command.key();
        match self.published.iter_mut().find(|(known, _)| *known == key) {
            Some((_, addresses)) if addresses.iter().any(|it| it == address) => {}
            Some((_, addresses)) => addresses.push(address.to_owned()),
            None => self.published.push((key, vec![address.to_owned()])),
        }
    }

    /// `` `gh pr create` https://… ``; of many addresses the first and how many more.
    fn published(&self) -> impl Iterator<Item = String> {
        self.published.iter().map(|(key, addresses)| {
            let shown = listed(addresses.iter().cloned(), " ", ADDRESSES).unwrap_or_default();
            format!("{} {shown}", code::span(key))
        })
    }

    /// What is left open by a step, or closed.
    fn attempt(&mut self, draft: &StepDraft, action: &Action<'_>) {
        let step = &draft.step;
        self.question = None;
        let of_version =
            |command: &&Command<'_>| command.publishes || (command.keeps_versions() && command.verb == "commit");
        let all: Vec<String> = action.commands.iter().filter(of_version).map(Command::key).collect();
        let ended = match step.status {
            StepStatus::Failed => "failed",
            StepStatus::Denied => "denied",
            StepStatus::Interrupted => "interrupted",
            StepStatus::NoResult => "without a result",
            _ => "",
        };
        // A commit that was made is not open, whatever became of the rest of the call.
        let mut names = all.clone();
        names.retain(|name| draft.commits.is_empty() || !name.ends_with(" commit"));
        self.blocked.retain(|(name, _)| !all.contains(name));
        if !ended.is_empty() {
            self.blocked.extend(names.into_iter().map(|name| (name, ended)));
        }
        self.plan = unapproved_plan(step, action, self.plan.take());
        if action.kind == ToolKind::Ask && step.status.is_crossed() && !step.args.is_empty() {
            self.question = Some(fold_whitespace(&step.args));
        }
    }

    /// Counts the lines of one file that a step wrote, by what the host shows of it, else by the call's arguments.
    fn count(&mut self, path: &str, draft: &StepDraft, alone: bool, known: &mut HashMap<String, usize>) {
        let ends = |other: &str| {
            let rest = other.strip_suffix(path.trim_start_matches("~/").trim_start_matches("./"));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
        };
        let shown = draft.written.iter().find(|change| ends(&change.path) || change.path == path);
        let count = shown.map(|change| LineCount::of_diff(path, &change.diff)).or_else(|| {
            let counts = draft.changes.as_ref().map_or(&[][..], |changes| &changes.files);
            let named = counts.iter().find(|count| ends(&count.path));
            named.or(counts.first().filter(|_| alone && counts.len() == 1)).cloned()
        });
        let was_there = self.seen.contains(path);
        let is_new_text = shown.is_none() && count.as_ref().is_some_and(|count| count.is_whole);
        let boxes = count.as_ref().map_or(0, |count| count.boxes);
        let lines = count.filter(|count| !(count.is_whole && was_there)).map(|count| (count.added, count.removed));
        let at = *known.entry(path.to_owned()).or_insert(self.files.len());
        match self.files.get_mut(at) {
            Some(file) => {
                file.boxes = if is_new_text { boxes } else { file.boxes + boxes };
                file.lines = file.lines.zip(lines).map(|(one, other)| (one.0 + other.0, one.1 + other.1));
            }
            None => self.files.push(ChangedFile { path: path.to_owned(), lines, boxes }),
        }
    }

    /// The last verdict of each check: those that failed first, then the latest.
    fn checks(&self) -> Vec<String> {
        let mut decided: Vec<&LastRun> = self.checks.iter().filter(|it| it.verdict != Verdict::Unknown).collect();
        decided.sort_by_key(|it| (it.verdict != Verdict::Failed, std::cmp::Reverse(it.writes)));
        let mut lines: Vec<String> = Vec::new();
        for run in decided {
            let line = self.check(run);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    fn check(&self, run: &LastRun) -> String {
        let after = match self.writes - run.writes {
            0 if self.writes > 0 => " after the last edit".to_owned(),
            0 => String::new(),
            later => format!(", {} after it", plural(later as u64, "edit")),
        };
        let before = self.mends.get(run.mends).map_or_else(String::new, |mend| format!(", before {mend}"));
        format!("{} {}{after}{before}", run.text, run.verdict.as_str())
    }
}

/// The boxes of a published text, the description of a pull request for example; `None` where it has none.
fn public_boxes(draft: &StepDraft, action: &Action<'_>) -> Option<(String, Boxes)> {
    let command = action.commands.iter().find(|it| it.publishes && it.class != Class::GitChange)?;
    Some((command.key(), Boxes::of(draft.step.full_args()))).filter(|(_, boxes)| boxes.any())
}

/// The folder of a command as it lies in the project.
fn below(folder: String, project: Option<&str>) -> String {
    let Some(project) = project else { return folder };
    // The project is written with `~`, a folder that the agent named may be written as the system has it.
    let bare = project.trim_start_matches('~');
    let is_whole = folder.starts_with(['/', '~']);
    let at = folder.find(bare).filter(|at| !bare.is_empty() && is_whole && (*at > 0 || bare == project));
    let rest = at.or_else(|| folder.starts_with(project).then_some(0)).map(|at| &folder[at + bare.len()..]);
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => folder,
    }
}

/// A path as it lies in the project.
fn within<'p>(path: &'p str, project: Option<&str>) -> &'p str {
    project.and_then(|project| path.strip_prefix(project)).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// `` `src/a.rs` +8 −0 ``.
fn file(file: &ChangedFile, project: Option<&str>) -> String {
    let path = code::span(within(&file.path, project));
    match file.lines {
        Some((added, removed)) => format!("{path} +{added} −{removed}"),
        None => path,
    }
}

/// Tasks that are open, a question that nobody answered, edits that were not committed, commits that were not pushed.
fn open(told: &Told<'_>, made: &Made<'_>, last: Option<&Closing>, steps: &[StepDraft]) -> Option<String> {
    let mut lines: Vec<String> = match &made.plan {
        Some(title) => vec![told_unapproved(&shorten::at_word(title, SHORT))],
        None => told.end.iter().cloned().collect(),
    };
    let open: Vec<&Task> = told.tasks.iter().filter(|task| task.is_open()).collect();
    if !open.is_empty() {
        let names = open.iter().map(|task| shorten::at_word(&fold_whitespace(&task.content), SHORT));
        let names = listed(names, "; ", TASKS).unwrap_or_default();
        lines.push(format!("{} of {} not marked done ({names})", open.len(), plural(told.tasks.len() as u64, "task")));
    }
    let boxes = last.map_or(&[][..], |words| &words.lines).iter().filter(|line| line.is_open);
    let boxes = listed(boxes.map(|line: &ClosingLine| shorten::at_word(&line.text, SHORT)), ", ", TASKS);
    lines.extend(boxes.map(|boxes| format!("not ticked: {boxes}")));
    let boxes = made.files.iter().filter_map(|file| {
        let open = Boxes { open: u64::try_from(file.boxes).ok()?, ticked: 0 };
        Some(format!("{} in {}", open.told()?, code::span(within(&file.path, told.project))))
    });
    lines.extend(listed(boxes, ", ", TASKS));
    let public = made.public_boxes.iter().filter_map(|(key, boxes)| Some((key, boxes.told()?)));
    lines.extend(public.map(|(key, told)| format!("{told} in {}", code::span(key))));
    lines.extend(told.planned.iter().flat_map(|plan| plan.open(steps)));
    let mut failing: Vec<&String> =
        made.checks.iter().filter(|it| it.verdict == Verdict::Failed).map(|it| &it.text).collect();
    failing.dedup();
    let failing = listed(failing.into_iter().cloned(), ", ", BLOCKED);
    lines.extend(failing.map(|failing| format!("failing: {failing}")));
    let blocked = made.blocked.iter().rev();
    let blocked = blocked.map(|(name, ended)| format!("{} {ended}", code::span(&shorten::at_word(name, SHORT / 2))));
    lines.extend(listed(blocked, ", ", BLOCKED));
    let asked = told.conclusion.filter(|_| told.asks).and_then(question).or_else(|| made.question.clone());
    if let Some(question) = asked {
        lines.push(shorten::at_word(&question, SAID / 2));
    }
    match made.uncommitted {
        0 => {}
        // What git itself shows counts more than what the calls tell.
        _ if made.tree.is_some() => {}
        // Where no branch is known there may be no repository.
        _ if made.commits.is_empty() && told.branches.is_empty() => {}
        _ if made.commits.is_empty() => lines.push("not committed".to_owned()),
        later => lines.push(format!("{} after the last commit", plural(later as u64, "edit"))),
    }
    // What a session found changed and left so is not its own.
    let tree = made.tree.filter(|tree| !tree.is_clean() && made.has_written(steps, told.project));
    lines.extend(tree.map(WorkTree::told));
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
