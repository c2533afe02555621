//! Which failures of steps become `[!error]` callouts.
//!
//! A reader wants to know what went wrong and what mended it, not every edit that did not match. So: a check or command
//! that failed, after which something was done and the same thing worked; and a check that nothing later shows to pass.
//! Misses of tools that look or edit, refusals and calls without a result are none.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::part;
use super::step::{Draft, step_link};
use crate::attempt::Attempt;
use crate::words::shorten;
use crate::{Item, Link, StepStatus};

/// Edits that a resolution names.
const EDITS_NAMED: usize = 3;

/// A failure that nothing mended yet.
struct Open {
    first: usize,
    last: usize,
    count: usize,
}

/// The errors, by the index of the step that each stands at.
pub(super) fn errors(steps: &[Draft]) -> BTreeMap<usize, Item> {
    let mut found = BTreeMap::new();
    let mut open: HashMap<&str, Open> = HashMap::new();
    let mut edits: Vec<usize> = Vec::new();
    let mut last_done: Option<usize> = None;
    let mut last_passed: Option<usize> = None;
    for (index, draft) in steps.iter().enumerate().filter(|(_, draft)| draft.answered && !draft.denied) {
        let worked = draft.step.status == StepStatus::Complete;
        if let Some(key) = draft.attempt.key() {
            if !worked {
                let entry = open.entry(key).or_insert(Open { first: index, last: index, count: 0 });
                (entry.last, entry.count) = (index, entry.count + 1);
                continue;
            }
            if let Some(failure) = open.remove(key)
                && last_done.is_some_and(|done| done > failure.last)
            {
                let between = edits.partition_point(|&edit| edit < failure.first);
                let resolution = resolution(&edits[between..], index, &draft.attempt);
                found.insert(failure.first, error(steps, failure.first, failure.count, Some(resolution)));
            }
            if matches!(draft.attempt, Attempt::Check(_)) {
                last_passed = Some(index);
            }
        }
        if worked && draft.attempt != Attempt::Look {
            last_done = Some(index);
            if draft.attempt == Attempt::Edit || !draft.step.writes.is_empty() {
                edits.push(index);
            }
        }
    }
    for failure in open.into_values() {
        let is_check = steps.get(failure.last).is_some_and(|draft| matches!(draft.attempt, Attempt::Check(_)));
        if is_check && last_passed.is_none_or(|passed| passed < failure.last) {
            found.insert(failure.last, error(steps, failure.last, failure.count, None));
        }
    }
    found
}

/// `[[#^n-014]], passed in [[#^n-016]]` with its links.
fn resolution(edits: &[usize], success: usize, attempt: &Attempt) -> (String, Vec<Link>) {
    let verb = if matches!(attempt, Attempt::Check(_)) { "passed" } else { "worked" };
    let named = &edits[edits.len().saturating_sub(EDITS_NAMED)..];
    let mut links: Vec<Link> = named.iter().map(|&index| step_link(index)).collect();
    let mut text = String::new();
    if !links.is_empty() {
        let shown: Vec<String> = links.iter().map(ToString::to_string).collect();
        text = format!("fixed by {}; ", shown.join(", "));
    }
    let success = step_link(success);
    let _ = write!(text, "{verb} in {success}");
    links.push(success);
    (text, links)
}

fn error(steps: &[Draft], index: usize, count: usize, resolution: Option<(String, Vec<Link>)>) -> Item {
    const KEY: usize = 60;
    let draft = steps.get(index);
    let key = draft.and_then(|draft| draft.attempt.key()).unwrap_or("command").replace('`', "'");
    let key = shorten::at_word(&key, KEY);
    let result = draft.and_then(|draft| draft.step.result.as_deref()).filter(|text| *text != "failed, no output");
    let title = result.map_or_else(|| format!("{key} failed"), ToOwned::to_owned);
    let times = if count > 1 { format!(" {count} times") } else { String::new() };
    part::error(&title, &format!("`{key}` failed{times}."), Some(step_link(index)), resolution)
}
