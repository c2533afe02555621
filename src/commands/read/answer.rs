//! An answer, read and checked.

use super::source::Source;
use crate::readings::answer::{self, Answer};
use crate::readings::{Checked, check, merge};

/// Nothing was wrong before.
pub(super) const NO_REFUSALS: Option<(&str, &str)> = None;

/// Lines of what is wrong that an agent is told.
const TOLD: usize = 40;

/// Reads and checks an answer. Error: why it cannot be used at all, one line each.
pub(super) fn judge(text: &str, source: &Source) -> Result<Checked, String> {
    let answer = answer::read(text).map_err(|errors| listed(errors.iter()))?;
    let checked = check(&answer, &source.record);
    // An answer of another session or another state of this one has nothing that could be kept.
    if checked.findings.iter().any(|finding| finding.path == "note") {
        return Err(told(&checked));
    }
    Ok(checked)
}

/// What was refused, one line each.
pub(super) fn told(checked: &Checked) -> String {
    listed(checked.refused().take(TOLD))
}

/// Things that are wrong, one line each.
pub(super) fn listed(lines: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let lines: Vec<String> = lines.map(|line| format!("- {line}\n")).collect();
    lines.concat()
}

/// The answers to parts of a session as one that is checked as a whole.
pub(super) fn join(answers: &[Answer], source: &Source) -> Option<Checked> {
    let (first, rest) = answers.split_first()?;
    let whole = rest.iter().fold(first.clone(), |whole, next| merge::join(&whole, next));
    Some(check(&whole, &source.record))
}

/// Keeps the parts that are asked for.
pub(super) fn only(checked: &mut Checked, parts: &[String]) {
    if parts.is_empty() {
        return;
    }
    let wanted = |part: &str| parts.iter().any(|it| it == part);
    let answer = &mut checked.answer;
    if !wanted("summary") {
        answer.summary = answer::Summary::default();
    }
    if !wanted("cases") {
        answer.cases.clear();
    }
    if !wanted("lessons") {
        answer.lessons.clear();
    }
    if !wanted("workflow") {
        answer.workflow.clear();
    }
    if !wanted("segments") {
        answer.segments.clear();
    }
}
