//! From the lines that say something, the exit code and what hides it to one verdict.

use std::ops::Range;

use super::lines::clean;
use super::runners::{Meaning, RUNNERS, Runner, RunnerIndex};
use super::scan::{Finding, Findings, scan};
use super::{CheckRun, Decision, Shown, Verdict};

/// What an exit code means that a signal of the person or of the host caused: 128 + SIGINT, 128 + SIGTERM.
const ENDED_FROM_OUTSIDE: &[i32] = &[130, 143];

pub(super) fn decide(run: &CheckRun<'_>) -> Decision {
    let case = Case::of(run);
    let is_zero = !run.failed && run.exit.unwrap_or(0) == 0;
    let is_loose = case.commands.iter().any(|runner| runner_of(*runner).is_some_and(|runner| runner.loose_exit));
    let by_status = run.status_is_own && !(is_zero && is_loose);
    let (verdict, evidence) = if by_status { case.with_status() } else { case.by_output() };
    Decision { verdict, evidence: evidence.map(|finding| finding.range.clone()) }
}

/// The lines that tell of a failure.
pub(super) fn failures(run: &CheckRun<'_>) -> Vec<Range<usize>> {
    let tells = |finding: &&Finding| matches!(finding.meaning, Meaning::Error | Meaning::Failed | Meaning::Missing);
    let case = Case::of(run);
    let mut lines: Vec<Range<usize>> = case.findings.found.iter().filter(tells).map(|it| it.range.clone()).collect();
    lines.dedup();
    lines
}

fn runner_of(index: RunnerIndex) -> Option<&'static Runner> {
    RUNNERS.table.get(usize::from(index?))
}

struct Case<'a, 'b> {
    run: &'b CheckRun<'a>,
    commands: Vec<RunnerIndex>,
    runs_any: bool,
    findings: Findings,
}

impl<'a, 'b> Case<'a, 'b> {
    fn of(run: &'b CheckRun<'a>) -> Self {
        let commands: Vec<RunnerIndex> = if run.commands.is_empty() {
            vec![None]
        } else {
            run.commands.iter().map(|command| RUNNERS.of(command)).collect()
        };
        // An unknown program, and a runner of other runners, may print the lines of any of them.
        let runs_any = commands.iter().any(|runner| runner_of(*runner).is_none_or(|runner| runner.runs_others));
        let counts = |runner: RunnerIndex| {
            commands.contains(&runner) || runner_of(runner).is_none_or(|runner| runs_any && !runner.alone)
        };
        let findings = scan(run.output, &counts);
        Self { run, commands, runs_any, findings }
    }
}

type Answer<'f> = (Verdict, Option<&'f Finding>);

impl Case<'_, '_> {
    fn last(&self, is: impl Fn(&Finding) -> bool) -> Option<(usize, &Finding)> {
        self.findings.found.iter().enumerate().rev().find(|(_, finding)| is(finding))
    }

    fn last_of(&self, meaning: Meaning) -> Option<(usize, &Finding)> {
        self.last(|finding| finding.meaning == meaning)
    }

    fn last_positive(&self) -> Option<(usize, &Finding)> {
        self.last(is_positive)
    }

    /// Whether the whole of it ran nothing, for its options.
    fn is_idle(&self) -> bool {
        self.run.commands.iter().any(|command| RUNNERS.is_idle(command))
    }

    /// A line that says that a program of these checks could not be run, and the runner that it was to be.
    fn missing_program(&self) -> Option<(&Finding, RunnerIndex)> {
        let named = |finding| {
            let line = clean(&self.run.output.as_bytes()[finding_range(finding)]);
            let names = |command: &&[&str]| {
                command.iter().any(|word| {
                    let name = word.rsplit('/').next().unwrap_or(word);
                    !name.is_empty() && !name.starts_with('-') && holds_word(&line, name)
                })
            };
            let at = self.run.commands.iter().position(names)?;
            Some((finding, self.commands.get(at).copied().flatten()))
        };
        self.findings.found.iter().filter(|finding| finding.meaning == Meaning::Missing).find_map(named)
    }

    /// Where the exit code is that of the checks.
    fn with_status(&self) -> Answer<'_> {
        let failed = self.last_of(Meaning::Failed);
        let missing = self.last_of(Meaning::Missing).map(|(_, finding)| finding);
        let unfinished = self.last_of(Meaning::Unfinished).map(|(_, finding)| finding);
        if self.run.failed || self.run.exit.is_some_and(|code| code != 0) {
            let outside = self.run.exit.is_some_and(|code| code < 0 || ENDED_FROM_OUTSIDE.contains(&code));
            return match failed {
                Some((_, finding)) => (Verdict::Failed, Some(finding)),
                None if unfinished.is_some() => (Verdict::Unknown, unfinished),
                None if outside => (Verdict::Unknown, None),
                None => {
                    let error = self.findings.found.iter().find(|finding| finding.meaning == Meaning::Error);
                    let empty = self.last_of(Meaning::Empty).map(|(_, finding)| finding);
                    (Verdict::Failed, missing.or(error).or(empty))
                }
            };
        }
        let positive = self.last_positive();
        if let Some((at, finding)) = failed {
            // The exit code and the output contradict each other.
            let is_last = positive.is_none_or(|(last, _)| last < at);
            let verdict = if is_last && !self.runs_any { Verdict::Failed } else { Verdict::Unknown };
            return (verdict, Some(finding));
        }
        if unfinished.is_some() {
            return (Verdict::Unknown, unfinished);
        }
        if self.is_idle() {
            return (Verdict::Unknown, None);
        }
        if let Some((at, finding)) = self.last_of(Meaning::Missing) {
            let named = self.missing_program().map(|(finding, _)| finding);
            if named.is_some() || positive.is_none_or(|(last, _)| last < at) {
                return (Verdict::Unknown, named.or(Some(finding)));
            }
        }
        if let Some(empty) = self.empty() {
            return (Verdict::Unknown, Some(empty));
        }
        // A program that went down, whatever the exit code of the last one is.
        let went_down = self.last(|finding| finding.meaning == Meaning::Error && finding.runner.is_none());
        if let Some((at, finding)) = went_down
            && positive.is_none_or(|(last, _)| last < at)
        {
            return (Verdict::Unknown, Some(finding));
        }
        let lists = self.commands.iter().any(|runner| runner_of(*runner).is_some_and(|runner| runner.lists));
        if lists {
            // Another program of the same call may have warned; that it failed, the exit code would say.
            let is_listed = |finding: &Finding| {
                finding.meaning == Meaning::Error && runner_of(finding.runner).is_none_or(|runner| runner.lists)
            };
            if let Some((_, finding)) = self.last(is_listed) {
                return (Verdict::Failed, Some(finding));
            }
            if self.findings.other.is_some() {
                return (Verdict::Unknown, None);
            }
        }
        (Verdict::Passed, positive.map(|(_, finding)| finding))
    }

    /// A line that says that nothing ran, where none says that something did.
    fn empty(&self) -> Option<&Finding> {
        let (_, empty) = self.last_of(Meaning::Empty)?;
        let counts = |finding: &Finding| {
            finding.meaning == Meaning::Part || (finding.meaning == Meaning::Passed && finding.counted)
        };
        let ran = self.findings.found.iter().any(|finding| counts(finding) && self.is_same(finding, empty));
        (!ran).then_some(empty)
    }

    fn is_same(&self, a: &Finding, b: &Finding) -> bool {
        self.runs_any || a.runner == b.runner
    }

    /// Where only the output can say.
    fn by_output(&self) -> Answer<'_> {
        let found = &self.findings.found;
        if let Some((at, finding)) = self.last_of(Meaning::Failed) {
            // A second run that passed after a first that failed, or a line that only looks like a failure.
            let redone =
                found[at..].iter().any(|later| later.meaning == Meaning::Passed && later.runner == finding.runner);
            return (if redone { Verdict::Unknown } else { Verdict::Failed }, Some(finding));
        }
        if let Some((finding, runner)) = self.missing_program() {
            let is_of_it = |later: &Finding| is_positive(later) && (runner.is_none() || later.runner == runner);
            let redone = found.iter().any(|later| later.range.start > finding.range.start && is_of_it(later));
            return (if redone { Verdict::Unknown } else { Verdict::Failed }, Some(finding));
        }
        if let Some((_, finding)) = self.last_of(Meaning::Unfinished) {
            return (Verdict::Unknown, Some(finding));
        }
        if let Some((at, error)) = self.last_of(Meaning::Error) {
            let summed_up = |later: &Finding| is_positive(later) && self.is_same(later, error);
            if !found[at..].iter().any(summed_up) {
                // After a summary it may be a word of something else that ran.
                let before = found[..at].iter().any(summed_up);
                let sure = !self.runs_any && !before;
                return (if sure { Verdict::Failed } else { Verdict::Unknown }, Some(error));
            }
        }
        let missing = self.last_of(Meaning::Missing);
        let positive = self.last_positive();
        if let Some((at, finding)) = missing
            && positive.is_none_or(|(last, _)| last < at)
        {
            // Nothing else was printed: what the checks were to run behind did not run.
            let is_all = self.findings.other.is_none() && found.iter().all(|it| it.meaning == Meaning::Missing);
            return (if self.run.guarded && is_all { Verdict::Failed } else { Verdict::Unknown }, Some(finding));
        }
        if self.is_idle() {
            return (Verdict::Unknown, None);
        }
        if let Some(empty) = self.empty() {
            return (Verdict::Unknown, Some(empty));
        }
        if self.all_satisfied() {
            return (Verdict::Passed, positive.map(|(_, finding)| finding));
        }
        (Verdict::Unknown, None)
    }

    /// Whether the output says of each check that it passed.
    fn all_satisfied(&self) -> bool {
        if self.run.chained {
            return self.commands.last().is_some_and(|last| self.is_satisfied(*last));
        }
        self.commands.iter().all(|runner| self.is_satisfied(*runner))
    }

    fn is_satisfied(&self, index: RunnerIndex) -> bool {
        let runner = runner_of(index);
        let runs_others = runner.is_none_or(|runner| runner.runs_others);
        let own = |finding: &&Finding| runs_others || finding.runner == index;
        let of = |meaning: Meaning| {
            self.findings.found.iter().filter(own).filter(|finding| finding.meaning == meaning).count()
        };
        let (passed, parts) = (of(Meaning::Passed), of(Meaning::Part));
        let ends_here = self.end_is_seen();
        if runs_others {
            // Another part of it may have failed without a line that is shown.
            return match self.run.shown {
                Shown::Whole => (ends_here && passed + parts > 0) || self.ended_in_silence(),
                Shown::End => (ends_here && (passed > 0 || (parts > 0 && runner.is_some()))) || self.ended_in_silence(),
                Shown::Start => false,
                Shown::Filtered(filter) => {
                    ends_here && passed > 0 && runner.is_some_and(|runner| would_show(runner, filter))
                }
            };
        }
        let Some(runner) = runner else { return false };
        let wanted = if self.run.chained { 1 } else { self.commands.iter().filter(|other| **other == index).count() };
        if passed >= wanted.max(1) {
            return true;
        }
        let all_parts_shown = match self.run.shown {
            Shown::Whole => ends_here,
            Shown::End => ends_here && !runner.tail_hides,
            Shown::Start => false,
            Shown::Filtered(filter) => ends_here && would_show(runner, filter),
        };
        if parts > 0 && all_parts_shown && wanted == 1 {
            return true;
        }
        runner.is_silent && self.is_silence()
    }

    /// Whether nothing was printed that a check which is silent where all is well could have printed.
    fn is_silence(&self) -> bool {
        let is_cut = self.last_of(Meaning::Truncated).is_some() || matches!(self.run.shown, Shown::Filtered(_));
        let is_quiet = self.findings.other.is_none() && self.last_of(Meaning::Missing).is_none();
        if is_cut || !is_quiet {
            return false;
        }
        // Of several checks the lines of one may hide those of another behind `head` and `tail`.
        self.commands.len() == 1 || self.run.shown == Shown::Whole
    }

    /// Whether the last that a task runner says it ran is silent where all is well, and nothing followed. A task runner
    /// prints a line of its own where a task failed.
    fn ended_in_silence(&self) -> bool {
        let Some(banner) = &self.findings.banner else { return false };
        let line = clean(&self.run.output.as_bytes()[banner.clone()]);
        let line = String::from_utf8_lossy(&line);
        let last = line.trim_start_matches(['$', '>', ' ']).rsplit("&&").next().unwrap_or("").trim();
        let words: Vec<&str> = last.split_whitespace().collect();
        let is_silent = runner_of(RUNNERS.of(&words)).is_some_and(|runner| runner.is_silent);
        is_silent && !words.contains(&"|") && !words.contains(&"||") && self.commands.len() == 1 && self.is_silence()
    }

    /// Whether the end of the output is there: no host cut it after the last line that says that something went well.
    fn end_is_seen(&self) -> bool {
        let Some((last, _)) = self.last_positive() else { return true };
        self.last_of(Meaning::Truncated).is_none_or(|(at, _)| at < last)
    }
}

fn finding_range(finding: &Finding) -> std::ops::Range<usize> {
    finding.range.clone()
}

fn is_positive(finding: &Finding) -> bool {
    matches!(finding.meaning, Meaning::Passed | Meaning::Part)
}

/// Whether `filter` shows a line that stands in the output of each run of `runner` that failed.
fn would_show(runner: &Runner, filter: &str) -> bool {
    let literal = |text: &str| {
        let text = text.trim_start_matches('^').trim_end_matches('$');
        let plain = |character: char| character.is_alphanumeric() || " _-:,/=".contains(character);
        (!text.is_empty() && text.chars().all(plain)).then(|| text.to_owned())
    };
    let shows = |line: &String| {
        filter.split('|').filter_map(|text| literal(text.trim_end_matches('\\'))).any(|text| line.contains(&text))
    };
    runner.always.iter().any(shows)
}

/// Whether `name` stands in `line` with no letter or digit beside it.
fn holds_word(line: &[u8], name: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memchr::memmem::find_iter(line, name).any(|at| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        !is_part(before) && !is_part(line.get(at + name.len()))
    })
}
