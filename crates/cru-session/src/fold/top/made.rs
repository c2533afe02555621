//! What the steps of a session made and left: files, commits, publications, and the last run of each check.

use std::collections::{HashMap, HashSet};

use cru_action::{Action, Class, Command, ToolKind, Verdict, is_generated, is_outside, is_prose, is_scratch};
use cru_base::text::{fold_whitespace, plural};

use super::super::changes::LineCount;
use super::super::commits::MadeCommit;
use super::super::place::{self, home_of};
use super::super::step::{StepDraft, standing_commits};
use super::super::work_tree::WorkTree;
use crate::attempt::unapproved_plan;
use crate::escape::code;
use crate::open::WITHOUT_RESULT;
use crate::words::shorten;
use crate::{FileRef, StepStatus};

/// Characters of the value of a line.
pub(super) const LINE: usize = 130;

/// Characters of a command, a task, a question.
pub(super) const SHORT: usize = 100;

/// How the checks are called that hooks of a commit and of a push run.
const HOOKS: &str = "hooks of `git commit`";
const PUSH_HOOKS: &str = "hooks of `git push`";

/// The first few, and how many more there are.
pub(super) fn listed(items: impl IntoIterator<Item = String>, between: &str, most: usize) -> Option<String> {
    let all: Vec<String> = items.into_iter().map(|item| fold_whitespace(&item)).collect();
    let mut line = all.iter().take(most).cloned().collect::<Vec<_>>().join(between);
    if all.len() > most {
        line.push_str(&format!("{between}… and {} more", all.len() - most));
    }
    (!line.is_empty()).then_some(line)
}

/// What the steps made.
#[derive(Default)]
pub(super) struct Made<'a> {
    pub(super) files: Vec<ChangedFile>,
    /// Paths that were read or written.
    seen: HashSet<&'a str>,
    pub(super) commits: Vec<&'a MadeCommit>,
    /// Commands that made what others see, with the addresses that they printed.
    published: Vec<(String, Vec<String>)>,
    /// The last run of each check.
    pub(super) checks: Vec<LastRun>,
    /// The last attempt of each commit, push and publication that did not succeed, and what was refused, by their words.
    pub(super) blocked: Vec<(String, &'static str)>,
    /// The question of the last step, where nobody answered it.
    pub(super) question: Option<String>,
    /// The plan of the last step, where nobody approved it.
    pub(super) plan: Option<String>,
    /// The work tree as the last `git status` showed it, where nothing changed it later.
    pub(super) tree: Option<&'a WorkTree>,
    /// Writes of files of the project so far that a check may judge.
    writes: usize,
    /// Commands that had a program rewrite sources, in order.
    mends: Vec<String>,
    /// Writes in the project after the last call that made a commit, or names one and succeeded: through another program
    /// a commit shows nothing that is known here.
    pub(super) uncommitted: usize,
    /// Whether something was pushed since the last commit.
    pub(super) pushed: bool,
}

/// A file that was written.
pub(super) struct ChangedFile {
    pub(super) path: String,
    /// Lines that came and went; `None` where a text took the place of one that nobody knows.
    pub(super) lines: Option<(u64, u64)>,
    /// Whether it is gone.
    pub(super) deleted: bool,
}

impl ChangedFile {
    /// Lines that came and went, as far as they are known.
    pub(super) fn size(&self) -> u64 {
        self.lines.map_or(0, |(added, removed)| added + removed)
    }

    /// Whether a program writes it rather than an author.
    pub(super) fn is_by_program(&self) -> bool {
        is_generated(&self.path)
    }
}

/// The last run of a check.
#[derive(Clone)]
pub(super) struct LastRun {
    /// The checks of its call, as they were called.
    pub(super) text: String,
    pub(super) verdict: Verdict,
    /// Writes of files of the project before it.
    writes: usize,
    /// Commands before it that had a program rewrite sources, those of its own call included.
    mends: usize,
    /// The step, and whether it ran other checks, too: of a failure nobody knows whose it was.
    step: usize,
    is_shared: bool,
}

impl<'a> Made<'a> {
    pub(super) fn of(steps: &'a [StepDraft], project: Option<&str>) -> Self {
        let mut made = Self { commits: standing_commits(steps), ..Self::default() };
        let (mut files, mut checks) = (HashMap::new(), HashMap::new());
        for (at, draft) in steps.iter().enumerate() {
            let complete = draft.step.status == StepStatus::Complete;
            let writes = draft.step.writes.iter().filter(|file| complete && !is_scratch(&file.path));
            let writes: Vec<&FileRef> = writes.collect();
            for file in &writes {
                made.count(file, draft, writes.len() == 1, &mut files);
            }
            made.writes += usize::from(writes.iter().any(|file| !is_prose(&file.path)));
            made.uncommitted += usize::from(writes.iter().any(|file| !is_outside(&file.path, project)));
            if complete {
                let touched = draft.step.reads.iter().chain(&draft.step.writes);
                made.seen.extend(touched.map(|file| file.path.as_str()));
            }
            let action = draft.step.action();
            if complete && !made.files.is_empty() {
                made.remove(&action, project);
            }
            // A commit in another repository leaves what was written here as it is.
            let is_commit = |it: &&Command<'_>| it.program == "git" && it.verb == "commit";
            let mut commits = action.commands.iter().filter(is_commit).peekable();
            let is_away =
                |it: &Command<'_>| action.folder(it).is_some_and(|at| is_outside(&below(at, project), project));
            let is_of_other = commits.peek().is_some() && commits.all(is_away);
            if !draft.commits.is_empty() && !is_of_other {
                made.uncommitted = 0;
                made.pushed = false;
            }
            let may_commit = action.kind == ToolKind::Shell && draft.step.full_args().contains("commit");
            if complete && may_commit && !is_of_other {
                made.uncommitted = 0;
            }
            made.pushed |= complete && action.pushes();
            if complete {
                made.publish(draft, &action);
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
                Some(verdict) => {
                    let commits = action.commands.iter().any(|it| it.program == "git" && it.verb == "commit");
                    made.hook_run(at, if commits { HOOKS } else { PUSH_HOOKS }, verdict, &mut checks);
                }
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

    /// Whether the session wrote a file, or one in a folder, that git names so.
    pub(super) fn has_written(&self, path: &str) -> bool {
        let path = path.trim_start_matches("../");
        let folder = path.strip_suffix('/').unwrap_or(path);
        let ends =
            |own: &str| own.strip_suffix(folder).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']));
        let lies_in = |own: &str| own.rmatch_indices('/').any(|(at, _)| ends(&own[..at]));
        self.files.iter().any(|file| ends(&file.path) || folder != path && lies_in(&file.path))
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
            text.join(" && ")
        };
        let span = |text: &str, most: usize| code::span(&shorten::at_word(text, most));
        let is_shared = verdict != Verdict::Passed && all.len() > 1;
        let whole = text(&mut all.iter().map(|(.., command)| *command));
        for (key, folder, command) in &all {
            let text = if is_shared { whole.clone() } else { text(&mut std::iter::once(*command)) };
            let text_alone = span(&text, SHORT);
            let text = match folder.as_deref().filter(|folder| !folder.is_empty()) {
                Some(folder) => format!("{} in {}", span(&text, SHORT / 2), code::span(&end_of(folder, SHORT * 2 / 5))),
                None => text_alone.clone(),
            };
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

    /// The checks that hooks of git ran.
    fn hook_run(
        &mut self,
        step: usize,
        hooks: &str,
        verdict: Verdict,
        known: &mut HashMap<(String, Option<String>), usize>,
    ) {
        let (text, writes, mends) = (hooks.to_owned(), self.writes, self.mends.len());
        let run = LastRun { text, verdict, writes, mends, step, is_shared: false };
        let at = *known.entry((hooks.to_owned(), None)).or_insert(self.checks.len());
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
    pub(super) fn published(&self) -> impl Iterator<Item = String> {
        self.published.iter().map(|(key, addresses)| {
            // Addresses of what was published that are shown.
            let shown = listed(addresses.iter().cloned(), " ", 3).unwrap_or_default();
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
        let ended = ended(step.status);
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
    fn count(&mut self, file: &FileRef, draft: &StepDraft, alone: bool, known: &mut HashMap<String, usize>) {
        let FileRef { path, deleted, .. } = file;
        let ends = |other: &str| {
            let rest = other.strip_suffix(path.trim_start_matches("~/").trim_start_matches("./"));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
        };
        let shown = draft.written.iter().find(|change| ends(&change.path) || change.path == *path);
        let count = shown.map(|change| LineCount::of_diff(path, &change.diff)).or_else(|| {
            let counts = draft.changes.as_ref().map_or(&[][..], |changes| &changes.files);
            let named = counts.iter().find(|count| ends(&count.path));
            named.or(counts.first().filter(|_| alone && counts.len() == 1)).cloned()
        });
        let was_there = self.seen.contains(path.as_str());
        let lines = count.filter(|count| !(count.is_whole && was_there)).map(|count| (count.added, count.removed));
        let at = *known.entry(path.clone()).or_insert(self.files.len());
        match self.files.get_mut(at) {
            Some(file) => {
                file.lines = file.lines.zip(lines).map(|(one, other)| (one.0 + other.0, one.1 + other.1));
                file.deleted = *deleted;
            }
            None => self.files.push(ChangedFile { path: path.clone(), lines, deleted: *deleted }),
        }
    }

    /// Marks the files that a call removed, by their paths or with a folder.
    fn remove(&mut self, action: &Action<'_>, project: Option<&str>) {
        for path in action.removed_paths().into_iter().map(|path| below(path, project)) {
            let lies_in =
                |file: &str| file.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            self.files.iter_mut().filter(|file| lies_in(&file.path)).for_each(|file| file.deleted = true);
        }
    }

    /// The last verdict of each check: those that failed first, then the latest. What is said of all of them is said once:
    /// `` `cargo test` passed, `cargo clippy` passed, both after the last edit ``.
    pub(super) fn checks(&self, most: usize) -> Option<String> {
        let mut decided: Vec<&LastRun> = self.checks.iter().filter(|it| it.verdict != Verdict::Unknown).collect();
        decided.sort_by_key(|it| (it.verdict != Verdict::Failed, std::cmp::Reverse(it.writes)));
        let mut runs: Vec<(String, String)> = Vec::new();
        for run in decided {
            let told = (format!("{} {}", run.text, run.verdict.as_str()), self.changed_since(run));
            cru_base::list::push_new(&mut runs, told);
        }
        let lines = (1..=most.min(runs.len())).rev().map(|most| Self::line_of_checks(&runs, most));
        // A line that is cut would not say how its checks ended.
        lines.reduce(|longer, shorter| if longer.chars().count() <= LINE { longer } else { shorter })
    }

    fn line_of_checks(runs: &[(String, String)], most: usize) -> String {
        let (shown, more) = runs.split_at(most);
        let first = shown.first().map_or("", |(_, since)| since.as_str());
        let is_shared = shown.len() > 1 && !first.is_empty() && shown.iter().all(|(_, since)| since == first);
        let each = |(run, since): &(String, String)| match since.as_str() {
            "" => run.clone(),
            _ if is_shared => run.clone(),
            since if since.starts_with(',') => format!("{run}{since}"),
            since => format!("{run} {since}"),
        };
        let mut line = shown.iter().map(each).collect::<Vec<_>>().join(if is_shared { ", " } else { "; " });
        if is_shared {
            let all = if shown.len() == 2 { "both" } else { "all" };
            line.push_str(&format!(", {all} {}", first.trim_start_matches([',', ' '])));
        }
        if !more.is_empty() {
            line.push_str(&format!("; … and {} more", more.len()));
        }
        line
    }

    /// What was changed since a run, as far as calls show it.
    fn changed_since(&self, run: &LastRun) -> String {
        let after = match self.writes - run.writes {
            0 if self.writes > 0 => "after the last edit".to_owned(),
            0 => String::new(),
            later => format!(", {} after it", plural(later as u64, "edit")),
        };
        let before = self.mends.get(run.mends).map(|mend| format!("before {mend}"));
        [Some(after), before].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// The end of a path, at most `most` characters of it where a part of it begins there.
fn end_of(path: &str, most: usize) -> String {
    let is_short = |at: &usize| path[*at..].chars().count() < most;
    match path.char_indices().map(|(at, _)| at).filter(|at| path[*at..].starts_with('/')).find(is_short) {
        Some(at) if path.chars().count() > most => format!("…{}", &path[at..]),
        _ => path.to_owned(),
    }
}

/// How a step ended that did not do what it should; `""` of the others.
pub(super) fn ended(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Failed => "failed",
        StepStatus::Denied => "denied",
        StepStatus::Interrupted => "interrupted",
        StepStatus::NoResult => WITHOUT_RESULT,
        _ => "",
    }
}

/// The folder of a command as it lies in the project.
fn below(folder: String, project: Option<&str>) -> String {
    let Some(project) = project else { return folder };
    // The project is written with `~`, a folder that the agent named may be written as the system has it.
    let home = home_of(&folder).filter(|_| project.starts_with('~'));
    match place::shorten(&folder, home).strip_prefix(project) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => folder,
    }
}

/// A path as it lies in the project.
pub(super) fn within<'p>(path: &'p str, project: Option<&str>) -> &'p str {
    project.and_then(|project| path.strip_prefix(project)).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// `` `src/a.rs` +8 −0 ``.
pub(super) fn file(file: &ChangedFile, project: Option<&str>) -> String {
    let path = code::span(within(&file.path, project));
    match file.lines {
        _ if file.deleted => format!("{path} deleted"),
        Some((added, removed)) => format!("{path} +{added} −{removed}"),
        None => path,
    }
}
