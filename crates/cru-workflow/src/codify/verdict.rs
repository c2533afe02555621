//! Whether a step went well: a check by its verdict; of anything else what its output says counts before the exit code,
//! which is that of the last program of a pipe.

use std::sync::LazyLock;

use cru_action::Verdict;
use memchr::memmem::Finder;

use super::kind::DeedKind;
use super::shell;
use cru_session::{Step, StepStatus};

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It did what it should.
    Well,
    /// It failed.
    Badly,
    /// Nobody knows.
    Open,
}

/// How an output begins, or a line of it, that tells of a failure whatever the exit code says.
#[rustfmt::skip]
const BEGINS: &[&str] = &[
    "fatal: ", "error: ", "Error: ", "npm ERR!", "npm error", "Traceback (most recent",
];
/// What stands in an output that tells the same.
const HOLDS: &[&str] = &["command not found", "unknown flag", "unknown option", "is not mergeable"];
/// The same, made ready once.
static HOLDING: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| HOLDS.iter().map(|words| Finder::new(words.as_bytes())).collect());
/// Programs that end with 1 where they found nothing.
const SEARCHING: &[&str] = &["grep", "rg", "egrep", "diff", "findstr"];

/// How `step` ended, which is of `kind`; `shell` is whether it ran in one.
pub(super) fn ended(step: &Step, kind: DeedKind, shell: bool) -> Ended {
    if kind == DeedKind::Check && shell {
        match step.verdict() {
            Some(Verdict::Passed) => return Ended::Well,
            Some(Verdict::Failed) => return Ended::Badly,
            Some(Verdict::Unknown) => return Ended::Open,
            None => {}
        }
    }
    let result = step.result.as_deref().unwrap_or("").trim_start();
    let code = step.exit.unwrap_or(0);
    if step.status.is_crossed() || code != 0 {
        return if shell && found_nothing(step) { Ended::Well } else { Ended::Badly };
    }
    if step.status != StepStatus::Complete {
        return Ended::Open;
    }
    // An edit that a host shows and does not say it made.
    if result.starts_with("not recorded as applied") {
        return Ended::Open;
    }
    let tells = shell && kind > DeedKind::Look;
    let says = || {
        BEGINS.iter().any(|words| result.starts_with(words))
            || HOLDING.iter().any(|finder| finder.find(result.as_bytes()).is_some())
    };
    if tells && says() { Ended::Badly } else { Ended::Well }
}

/// Whether what ran in a shell ended with 1 because a search at its end found nothing.
pub(super) fn found_nothing(step: &Step) -> bool {
    let result = step.result.as_deref().unwrap_or("").trim_start();
    let failed = step.status == StepStatus::Failed || step.exit == Some(1);
    failed
        && step.exit.is_none_or(|code| code <= 1)
        && matches!(result, "" | "no output" | "failed, no output" | "exit 1" | "failed" | "exit code 1")
        && ends_in_search(step.command.as_deref().unwrap_or(&step.args))
}

/// Whether the exit code is that of a search.
fn ends_in_search(command: &str) -> bool {
    let parts = shell::split(command);
    parts.last().and_then(|part| shell::words(part.text).first().copied()).is_some_and(|word| SEARCHING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str, result: &str, exit: Option<i32>) -> Ended {
        let status = if exit.unwrap_or(0) == 0 { StepStatus::Complete } else { StepStatus::Failed };
        let step = Step {
            tool: "Bash".into(),
            args: command.into(),
            result: Some(result.into()),
            exit,
            status,
            ..Step::default()
        };
        ended(&step, DeedKind::Check, true)
    }

    #[test]
    fn outputs_count_before_exit_codes() {
        assert_eq!(of("go test ./... | tail -3", "zsh: command not found: go", None), Ended::Badly);
        assert_eq!(of("tsc | head", "a.ts:1:1 - error TS2344: no", None), Ended::Badly);
        assert_eq!(of("cargo test", "0 errors", Some(0)), Ended::Well);
        assert_eq!(of("pytest | tail -1", "==== 5 failed, 6 passed in 1.2s ====", None), Ended::Badly);
        assert_eq!(of("pytest | tail -1", "==== 6 passed in 1.2s ====", None), Ended::Well);
        assert_eq!(of("cargo test", "exit 1", Some(1)), Ended::Badly);
        assert_eq!(of("tsc | grep -i pump", "", Some(1)), Ended::Open);
        assert_eq!(of("tsc | grep -i pump", "pump.ts(1,2): error TS2322: no", Some(0)), Ended::Badly);
    }

    #[test]
    fn what_a_host_only_shows_is_open() {
        let step = Step { result: Some("not recorded as applied (+0 −2)".into()), ..Step::default() };
        assert_eq!(ended(&step, DeedKind::Edit, false), Ended::Open);
    }
}
