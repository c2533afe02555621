//! How a check ended, decided once from its whole output.
//!
//! A wrong "passed" is the worst error, so "passed" needs either the exit code of the check itself or a line with which
//! its runner says so. What is not understood is [`Verdict::Unknown`]. The forms of lines are general knowledge about
//! runners and stand in `data/verdict.toml`.

mod decide;
mod host;
mod lines;
mod pattern;
mod runners;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use host::{HostError, host_error};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It ran, and all was well.
    Passed,
    /// It found something, or could not run.
    Failed,
    /// The record does not say.
    Unknown,
}

impl Verdict {
    /// The word of the note: `passed`, `failed`, `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// The verdict that a word of a note names, in any case.
    pub fn of_word(word: &str) -> Option<Self> {
        let is = |verdict: &Self| word.eq_ignore_ascii_case(verdict.as_str());
        [Self::Passed, Self::Failed, Self::Unknown].into_iter().find(is)
    }
}

/// Which part of the output of a check is in the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown<'a> {
    /// All of it.
    #[default]
    Whole,
    /// Its first lines: `| head`.
    Start,
    /// Its last lines: `| tail`.
    End,
    /// Lines that a filter chose: `| grep`, `2>/dev/null`. The text is the filter's regular expression, empty where it is
    /// unknown or inverted.
    Filtered(&'a str),
}

/// One call that ran one or more checks, and what the record has of it.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a call")]
pub struct CheckRun<'a> {
    /// The words of each check, in the order of the call: `["cargo", "test", "-p", "x"]`. Empty where unknown.
    pub commands: &'a [&'a [&'a str]],
    /// The whole output, stdout and stderr as the record has them.
    pub output: &'a str,
    /// The exit code of the call.
    pub exit: Option<i32>,
    /// Whether the host says that the call failed.
    pub failed: bool,
    /// Whether `exit` and `failed` are those of the checks: false behind a pipe without `pipefail`, before `|| true` or
    /// `; echo`, for all but the last of `a; b`, and where the host records no status at all.
    pub status_is_own: bool,
    /// Which part of the checks' output the record has.
    pub shown: Shown<'a>,
    /// Whether each check runs only where the one before it passed: `a && b`.
    pub chained: bool,
    /// Whether the first runs only where a command before it that is none went well: `cd a && b`.
    pub guarded: bool,
}

/// A verdict, and the line that decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// How the check ended.
    pub verdict: Verdict,
    /// The line of the output that says so, as a range of bytes of it. `None` where the exit code or silence decided.
    pub evidence: Option<Range<usize>>,
}

/// How the checks of `run` ended, all together: passed only where each passed, failed where one failed.
pub fn verdict(run: &CheckRun<'_>) -> Verdict {
    decision(run).verdict
}

/// How the checks of `run` ended, and the line that says so. Linear in the output, of which the middle is only searched
/// for lines of failure.
pub fn decision(run: &CheckRun<'_>) -> Decision {
    decide::decide(run)
}

/// Whether a host says in `output` that the call had not come to its end: it runs on, or was stopped. Linear in it.
pub fn is_unfinished(output: &str) -> bool {
    scan::scan(output, &|runner| runner.is_none()).found.iter().any(|it| it.meaning == runners::Meaning::Unfinished)
}

/// The lines of the output of `run` that say what failed, in order; none where no known line does. Linear in the output.
pub fn failures(run: &CheckRun<'_>) -> Vec<Range<usize>> {
    decide::failures(run)
}

/// Whether a line of a file keeps a check from looking at it: `//nolint`, `# noqa`, `@ts-ignore`.
pub fn silences_check(text: &str) -> bool {
    runners::RUNNERS.silences.iter().any(|part| holds(text, part))
}

/// Whether a line of a file or a command makes a check pass, or not run at all, whatever it finds.
pub fn switches_check_off(text: &str) -> bool {
    runners::RUNNERS.switches_off.iter().any(|part| holds(text, part))
}

/// Whether a text holds a part that begins with no half of a name: `xit(` is not in `exit(`.
fn holds(text: &str, part: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let named = part.starts_with(is_name);
    text.match_indices(part).any(|(at, _)| !named || !text[..at].ends_with(is_name))
}
