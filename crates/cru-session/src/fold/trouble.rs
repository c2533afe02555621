//! Which failures of steps become `[!error]` callouts.
//!
//! A reader wants to know what went wrong, not every edit that did not match. So: a check or command that failed, after
//! which something was done and the same thing worked; and a check that nothing later shows to pass.
//! Misses of tools that look or edit, refusals and calls without a result are none.

use std::collections::BTreeMap;

use super::part;
use super::step::{StepDraft, step_link};
use cru_action::Verdict;

use crate::attempt::{Attempt, is_same_command};
use crate::recovery::{self, Failure, Tried};
use crate::words::shorten;
use crate::{Item, Link, StepStatus};

/// The errors, by the index of the step that each stands at.
pub(super) fn errors(steps: &[StepDraft]) -> BTreeMap<usize, Item> {
    let mut found = BTreeMap::new();
    // A call that was refused, stopped or never answered is no failure.
    let ended = |draft: &StepDraft| matches!(draft.step.status, StepStatus::Complete | StepStatus::Failed);
    let told = || steps.iter().enumerate().filter(move |(_, draft)| draft.answered && ended(draft));
    // A check is judged by its verdict, which a pipe does not hide.
    let worked =
        |draft: &StepDraft| draft.step.status == StepStatus::Complete && draft.step.check != Some(Verdict::Failed);
    let verdict = |draft: &StepDraft| match draft.step.check {
        Some(Verdict::Unknown) => Verdict::Unknown,
        _ if worked(draft) => Verdict::Passed,
        _ => Verdict::Failed,
    };
    let outcomes = recovery::outcomes(told().map(|(index, draft)| {
        let acts = draft.attempt != Attempt::Look;
        (index, Tried { key: draft.attempt.key(), verdict: verdict(draft), acts })
    }));
    for (failure, success) in outcomes.recovered {
        let Some(draft) = steps.get(success) else { continue };
        let failed = [failure.first, failure.last].into_iter().filter_map(|at| steps.get(at));
        let is_same = failed.into_iter().any(|failed| is_same_command(&failed.step, &draft.step));
        if let Some(resolution) = resolution(success, &draft.attempt, is_same) {
            found.insert(failure.first, error(steps, &failure, Some(resolution)));
        }
    }
    let is_check = |draft: &StepDraft| matches!(draft.attempt, Attempt::Check(_));
    let passed = |draft: &StepDraft| is_check(draft) && verdict(draft) == Verdict::Passed;
    let last_passed = told().rfind(|(_, draft)| passed(draft)).map(|(index, _)| index);
    for failure in outcomes.open {
        let is_last = last_passed.is_none_or(|passed| passed < failure.last);
        if steps.get(failure.last).is_some_and(is_check) && (is_last || failure.rerun.is_some()) {
            found.insert(failure.last, error(steps, &failure, None));
        }
    }
    found
}

/// `passed in [[#^n-016]]` with its link: of the same command, or of the same check with other arguments. What mended it
/// nobody wrote down. `None` for another command, which says nothing of the one that failed.
fn resolution(success: usize, attempt: &Attempt, is_same: bool) -> Option<(String, Vec<Link>)> {
    let told = match (is_same, attempt) {
        (true, Attempt::Check(_)) => "passed in",
        (true, _) => "worked in",
        (false, Attempt::Check(_)) => "a run with other arguments passed in",
        (false, _) => return None,
    };
    let link = step_link(success);
    Some((format!("{told} {link}"), vec![link]))
}

/// The callout of a failure: where it was recovered it stands at the first time it failed, else at the last.
fn error(steps: &[StepDraft], failure: &Failure, resolution: Option<(String, Vec<Link>)>) -> Item {
    const KEY: usize = 60;
    let index = if resolution.is_some() { failure.first } else { failure.last };
    let draft = steps.get(index);
    let key = draft.and_then(|draft| draft.attempt.key()).unwrap_or("command").replace('`', "'");
    let key = shorten::at_word(&key, KEY);
    let result = draft.and_then(|draft| draft.step.result.as_deref()).filter(|text| *text != "failed, no output");
    let title = result.map_or_else(|| format!("{key} failed"), ToOwned::to_owned);
    let times = if failure.count > 1 { format!(" {} times", failure.count) } else { String::new() };
    let is_rerun = failure.rerun.is_some() && resolution.is_none();
    let rerun = if is_rerun { " It was run again; the record does not say how that ended." } else { "" };
    part::error(&title, &format!("`{key}` failed{times}.{rerun}"), Some(step_link(index)), resolution)
}
