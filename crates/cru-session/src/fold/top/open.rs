//! What a session left open.

use cru_action::Verdict;
use cru_base::text::{fold_whitespace, plural};

use super::super::step::StepDraft;
use super::super::work_tree::WorkTree;
use super::made::{Made, within};
use super::{SAID, SHORT, Told, listed};
use crate::Task;
use crate::attempt::told_unapproved;
use crate::escape::code;
use crate::words::closing::{Closing, ClosingLine};
use crate::words::sentence::sentences;
use crate::words::{Boxes, shorten};

/// Tasks and failures that are named; of more their number is told.
const TASKS: usize = 3;
const BLOCKED: usize = 2;

/// Tasks that are open, a question that nobody answered, edits that were not committed, commits that were not pushed.
pub(super) fn open(told: &Told<'_>, made: &Made<'_>, last: Option<&Closing>, steps: &[StepDraft]) -> Option<String> {
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
