//! How the checks of a call ended: what the shell text says of exit status and output, handed to [`verdict`].

use std::borrow::Cow;
use std::ops::Range;

use super::section::Section;
use super::{Action, Command};
use crate::class::Class;
use crate::shell::{Hidden, Nesting, Operator};
use crate::verdict::{self, CheckRun, Decision, Shown, Verdict};

/// How a call ended, as its record has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallEnd<'a> {
    /// The whole output.
    pub output: &'a str,
    /// The exit code, where the record has it.
    pub exit: Option<i32>,
    /// Whether the record says that the call failed.
    pub failed: bool,
    /// Whether the record would say so.
    pub has_status: bool,
}

impl Action<'_> {
    /// How its checks ended, all together; `None` where it holds none that ran. Where lines that the text itself prints
    /// (`echo "--- lint ---"`) part the output, each check is judged by its own part: one that failed is a failure of the
    /// whole, and all have to have passed.
    pub fn decide(&self, end: &CallEnd<'_>) -> Option<Decision> {
        let sections = super::section::sections(self, end.output);
        let last = sections.len().saturating_sub(1);
        let mut told: Option<Decision> = None;
        for (index, section) in sections.iter().enumerate() {
            let Some(mut own) = self.decide_section(section, end, index == last) else { continue };
            own.evidence = own.evidence.map(|it| it.start + section.output.start..it.end + section.output.start);
            told = Some(match told {
                None => own,
                Some(before) if before.verdict == Verdict::Failed => before,
                Some(before) if before.verdict == Verdict::Unknown && own.verdict == Verdict::Passed => before,
                Some(_) => own,
            });
        }
        told
    }

    /// How each check ended, with its index into [`Action::commands`]: by the part of the output that is its own. Several
    /// checks in one part have passed where all of them have; which of them failed nothing tells, so each is unknown then.
    pub fn decide_each(&self, end: &CallEnd<'_>) -> Vec<(usize, Verdict)> {
        let sections = super::section::sections(self, end.output);
        let last = sections.len().saturating_sub(1);
        let mut each = Vec::new();
        for (index, section) in sections.iter().enumerate() {
            let Some(decided) = self.decide_section(section, end, index == last) else { continue };
            let own = self.commands.get(section.commands.clone()).unwrap_or_default().iter().enumerate();
            let at: Vec<usize> =
                own.filter(|(_, it)| runs_check(it)).map(|(at, _)| at + section.commands.start).collect();
            let told =
                if at.len() > 1 && decided.verdict == Verdict::Failed { Verdict::Unknown } else { decided.verdict };
            each.extend(at.into_iter().map(|at| (at, told)));
        }
        each
    }

    /// The lines of the output that say what failed, in order: errors, and what sums them up, of each part of the call
    /// that failed. None where no known line says it. Of a call without a check the lines of any known program count.
    pub fn failing(&self, end: &CallEnd<'_>) -> Vec<Range<usize>> {
        if !self.is_check() {
            let run = CheckRun {
                commands: &[],
                output: end.output,
                exit: end.exit,
                failed: end.failed,
                shown: Shown::Whole,
                ..CheckRun::default()
            };
            return verdict::failures(&run);
        }
        let sections = super::section::sections(self, end.output);
        let last = sections.len().saturating_sub(1);
        let mut lines = Vec::new();
        for (index, section) in sections.iter().enumerate() {
            let read = |run: &CheckRun<'_>| (verdict::verdict(run) == Verdict::Failed).then(|| verdict::failures(run));
            let own = self.read_section(section, end, index == last, read).flatten().unwrap_or_default();
            lines.extend(own.into_iter().map(|it| it.start + section.output.start..it.end + section.output.start));
        }
        lines
    }

    /// How the checks of one section ended.
    fn decide_section(&self, section: &Section, end: &CallEnd<'_>, is_last: bool) -> Option<Decision> {
        // Where the record has neither a status nor an output, it has no answer, and that is no silence of the check.
        let is_recorded = end.has_status || !end.output.trim().is_empty();
        let none = Decision { verdict: Verdict::Unknown, evidence: None };
        let decide = |run: &CheckRun<'_>| if is_recorded { verdict::decision(run) } else { none };
        self.read_section(section, end, is_last, decide)
    }

    /// What `read` makes of the checks of one section; `None` where it runs none.
    fn read_section<T>(
        &self,
        section: &Section,
        end: &CallEnd<'_>,
        is_last: bool,
        read: impl FnOnce(&CheckRun<'_>) -> T,
    ) -> Option<T> {
        let output = end.output.get(section.output.clone())?;
        let own = self.commands.get(section.commands.clone())?.iter().enumerate();
        let at: Vec<usize> =
            own.filter(|(_, command)| runs_check(command)).map(|(at, _)| at + section.commands.start).collect();
        let (&first, &last) = (at.first()?, at.last()?);
        let checks = || at.iter().filter_map(|&at| self.commands.get(at));
        let words: Vec<Vec<&str>> = checks().map(|check| check.words.iter().map(Cow::as_ref).collect()).collect();
        let commands: Vec<&[&str]> = words.iter().map(Vec::as_slice).collect();
        // A line that is printed only where all before it went well.
        let proven = section.proves.filter(|&echo| self.leads_to(first, echo)).map(|_| 0);
        let told = || self.told_status(last, output).filter(|_| first == last && is_last);
        let told = proven.or_else(told);
        let exit = told.or(end.exit.filter(|_| is_last));
        let failed = if told.is_some() { false } else { end.failed && is_last };
        // A failure may also be that of a later command: `cargo test && git push`.
        let may_be_later = (failed || exit.is_some_and(|code| code != 0)) && self.status.is_some_and(|at| at > last);
        let own = is_last && checks().all(|check| check.hidden.is_none()) && end.has_status && !may_be_later;
        // The later ones run only where the ones before them passed; what reads the last one's output does not matter.
        let chained = at.len() > 1
            && self.commands.get(first..last).is_some_and(|before| before.iter().all(|it| it.pipe.len == 1))
            && self
                .commands
                .get(first + 1..=last)
                .is_some_and(|rest| rest.iter().all(|command| command.operator == Operator::And));
        let mut shown = at.iter().map(|&at| self.shown(at)).max_by_key(rank).unwrap_or_default();
        // Of two streams a host may show one behind the other: errors of a check then stand behind its section.
        let merges = |at: &usize| {
            self.commands.get(*at).is_some_and(|it| self.text(it).contains(">&1") || self.text(it).contains("&>"))
        };
        if !is_last && !at.iter().all(merges) && rank(&shown) < rank(&Shown::Filtered("")) {
            shown = Shown::Filtered("");
        }
        let run = CheckRun {
            commands: &commands,
            output,
            exit,
            failed,
            status_is_own: told.is_some() || own,
            shown,
            chained,
            guarded: first > 0 && self.commands.get(first).is_some_and(|check| check.operator == Operator::And),
        };
        Some(read(&run))
    }

    /// Whether the command at `to` runs only where all from the one at `from` went well.
    fn leads_to(&self, from: usize, to: usize) -> bool {
        let before = self.commands.get(from..to).unwrap_or_default();
        let behind = self.commands.get(from + 1..=to).unwrap_or_default();
        !before.is_empty()
            && before.iter().all(|it| it.pipe.len == 1 && it.nesting == Nesting::Top)
            && behind.iter().all(|it| it.operator == Operator::And)
    }

    /// The status that a command behind the check prints: `cargo test; echo "exit $?"`.
    fn told_status(&self, check: usize, output: &str) -> Option<i32> {
        let stages = self.commands.get(check)?.pipe;
        let rest = self.commands.get(check + 1..)?;
        let [between @ .., echo] = rest else { return None };
        let is_stage = |command: &Command<'_>| command.operator == Operator::Pipe;
        if echo.words.first().is_none_or(|word| word != "echo") || !between.iter().all(is_stage) {
            return None;
        }
        let text = echo.words.get(1..)?.join(" ");
        let (before, after) = match text.split_once("${PIPESTATUS[0]}") {
            Some(parts) => parts,
            None => text.split_once("$?").filter(|_| stages.len == 1)?,
        };
        let line = output.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        line.strip_prefix(before.trim_start())?.strip_suffix(after.trim_end())?.trim().parse().ok()
    }

    /// Which part of the output of a command the record has.
    fn shown(&self, at: usize) -> Shown<'_> {
        let Some(command) = self.commands.get(at) else { return Shown::Whole };
        let later = self.commands.get(at + 1..).unwrap_or_default();
        let stages = later
            .iter()
            .filter(|it| it.nesting != Nesting::Substitution)
            .take_while(|it| it.operator == Operator::Pipe && it.pipe.index > command.pipe.index);
        let mut shown = if command.diverts_output { Shown::Filtered("") } else { Shown::Whole };
        for stage in stages {
            let of_stage = part(stage);
            if rank(&of_stage) > rank(&shown) {
                shown = of_stage;
            }
        }
        shown
    }
}

/// Whether a command of a call is a check that the call waits for.
fn runs_check(command: &Command<'_>) -> bool {
    command.class == Class::Check
        && !matches!(command.nesting, Nesting::Function | Nesting::Substitution)
        && command.hidden != Some(Hidden::Background)
}

/// What a stage of a pipeline lets through.
fn part<'c>(stage: &'c Command<'_>) -> Shown<'c> {
    let mut words = stage.words.iter().map(Cow::as_ref);
    match words.next().map(crate::program::program_name).unwrap_or_default() {
        "head" => Shown::Start,
        "tail" => Shown::End,
        "cat" | "tee" | "less" | "more" => Shown::Whole,
        "grep" | "egrep" | "rg" => {
            // Options that turn the choice round, or show something else than the lines.
            let turns = |word: &str| {
                word.starts_with('-') && !word.starts_with("--") && word.contains(['v', 'c', 'l', 'q', 'L', 'o'])
            };
            // Of an option alone nobody knows here whether the next word is its value.
            let alone = |word: &str| matches!(word.as_bytes(), [b'-', letter] if !matches!(letter, b'i' | b'n' | b'E' | b'F' | b'w' | b'x' | b'e'));
            if stage.words.iter().skip(1).any(|word| turns(word) || alone(word) || word.starts_with("--")) {
                return Shown::Filtered("");
            }
            Shown::Filtered(words.find(|word| !word.starts_with('-')).unwrap_or(""))
        }
        _ => Shown::Filtered(""),
    }
}

/// How much a part leaves out.
fn rank(shown: &Shown<'_>) -> u8 {
    match shown {
        Shown::Whole => 0,
        Shown::End => 1,
        Shown::Start => 2,
        Shown::Filtered("") => 4,
        Shown::Filtered(_) => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check that could not run is one that failed, whatever hides the status of its call.
    #[test]
    fn a_check_behind_what_could_not_run_did_not_run() {
        let of = |command: &str, output: &str, has_status: bool| {
            let end = CallEnd { output, failed: has_status, exit: has_status.then_some(1), has_status };
            Action::of("Bash", command).decide(&end).map(|decision| decision.verdict)
        };
        let (gone, shell) =
            ("(eval):cd:1: no such file or directory: web\n", "bash: env/activate: No such file or directory\n");
        for (command, output, has_status, wanted) in [
            ("source env/activate && pytest 2>&1 | head -30", shell, true, Verdict::Failed),
            ("cd web && npm run build", gone, false, Verdict::Failed),
            ("cd web && npm run build", gone, true, Verdict::Failed),
            ("cd web; npm run build", gone, false, Verdict::Unknown),
            ("npm run build; cd web", gone, false, Verdict::Unknown),
            ("cd web && npm run build", &format!("{gone}built in 3s\n"), false, Verdict::Unknown),
        ] {
            assert_eq!(of(command, output, has_status), Some(wanted), "{command}: {output}");
        }
    }

    /// A check that is silent where all is well has passed only where the record says that it ended, or shows something.
    #[test]
    fn an_answer_that_is_not_recorded_is_no_silence() {
        let of = |command: &str, output: &str, has_status: bool| {
            let end = CallEnd { output, has_status, ..CallEnd::default() };
            Action::of("Bash", command).decide(&end).map(|decision| decision.verdict)
        };
        for command in ["npx eslint a.ts", "tsc --noEmit", "go vet ./... 2>&1 | head", "cargo test"] {
            assert_eq!(of(command, " \n", false), Some(Verdict::Unknown), "{command}");
        }
        assert_eq!(of("npx eslint a.ts", "", true), Some(Verdict::Passed));
        assert_eq!(of("npx eslint a.ts && echo clean", "clean\n", false), Some(Verdict::Passed));
    }

    fn ended(tool: &str, command: &str, output: &str, exit: Option<i32>, failed: bool) -> Option<Verdict> {
        let end = CallEnd { output, exit, failed, has_status: true };
        Action::of(tool, command).decide(&end).map(|decision| decision.verdict)
    }

    /// Each check is judged by what stands between the lines that the text itself prints.
    #[test]
    fn printed_lines_part_the_output() {
        const OK: &str = "ok  \tx/y\t0.5s\n";
        type Row<'r> = (&'r str, &'r str, Verdict);
        let rows: &[Row<'_>] = &[
            ("go build ./... && echo \"built ok\"", "built ok\n", Verdict::Passed),
            ("go build ./... 2>&1 | head && echo 'BUILD OK'", "BUILD OK\n", Verdict::Passed),
            ("go build ./... 2>&1 | head && echo 'BUILD OK'", "./a.go:3:1: syntax error\nBUILD OK\n", Verdict::Failed),
            (
                "echo '=== build ==='; go build ./... 2>&1 | head\necho '=== test ==='; go test ./... 2>&1 | tail -5",
                &format!("=== build ===\n=== test ===\n{OK}"),
                Verdict::Passed,
            ),
            (
                "echo '=== build ==='; go build ./... 2>&1 | head\necho '=== test ==='; go test ./... 2>&1 | tail -5",
                &format!("=== build ===\n./a.go:3:1: undefined: x\n=== test ===\n{OK}"),
                Verdict::Failed,
            ),
            // Where errors do not go to the same stream, silence says nothing.
            ("go build ./...; echo '--- imports ---'; head -3 a.go", "--- imports ---\npackage a\n", Verdict::Unknown),
            (
                "go build ./... 2>&1; echo '--- imports ---'; head -3 a.go",
                "--- imports ---\npackage a\n",
                Verdict::Passed,
            ),
            // A line that stands there twice parts nothing.
            ("go build ./... 2>&1; echo done; cat log", "done\ndone\n", Verdict::Unknown),
            ("go build ./... && go test ./a/ 2>&1 | tail -5", OK, Verdict::Passed),
            ("go build ./... | head && go test ./a/ 2>&1 | tail -5", OK, Verdict::Unknown),
        ];
        for (command, output, wanted) in rows {
            assert_eq!(ended("Bash", command, output, None, false), Some(*wanted), "{command}: {output}");
        }
    }

    #[test]
    fn pipes_chains_and_printed_statuses() {
        const OK: &str = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        const BAD: &str = "test a ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        type Row<'r> = (&'r str, &'r str, Option<i32>, bool, Option<Verdict>);
        let rows: &[Row<'_>] = &[
            ("cargo test", OK, Some(0), false, Some(Verdict::Passed)),
            ("cargo test", BAD, Some(101), true, Some(Verdict::Failed)),
            ("cargo test 2>&1 | tail -3", BAD, Some(0), false, Some(Verdict::Failed)),
            ("cargo test 2>&1 | tail -3", OK, Some(0), false, Some(Verdict::Passed)),
            ("cargo test 2>&1 | tail -3", "warning: unused\n", Some(0), false, Some(Verdict::Unknown)),
            ("cargo test || true", "", Some(0), false, Some(Verdict::Unknown)),
            ("cargo test > log 2>&1; echo \"exit $?\"", "exit 101\n", Some(0), false, Some(Verdict::Failed)),
            ("cargo test > log 2>&1; echo \"exit $?\"", "exit 0\n", Some(0), false, Some(Verdict::Passed)),
            // The failure is that of the push.
            ("cargo test && git push", &format!("{OK}fatal: no upstream\n"), Some(128), true, Some(Verdict::Passed)),
            ("git status", "clean", Some(0), false, None),
        ];
        for (command, output, exit, failed, wanted) in rows {
            assert_eq!(ended("Bash", command, output, *exit, *failed), *wanted, "{command}: {output}");
            assert_eq!(ended("Execute", command, output, *exit, *failed), *wanted, "in another host: {command}");
        }
    }
}
