//! What of a session's work the record shows as left open.

use cru_action::Verdict;
use cru_base::text::{fold_whitespace, plural};

use super::super::step::StepDraft;
use super::Told;
use super::made::{self, Made, SHORT};
use crate::open::{OpenPoint, WITHOUT_RESULT};
use crate::words::sentence::sentences;
use crate::words::shorten;

/// Points of one kind.
const MOST: usize = 5;

/// How the session ended, checks and attempts that failed, a question that nobody answered, checks of the plan that did not
/// run, work that was not committed or pushed.
pub(super) fn points(told: &Told<'_>, made: &Made<'_>, steps: &[StepDraft]) -> Vec<OpenPoint> {
    let mut points: Vec<OpenPoint> = Vec::new();
    match &made.plan {
        Some(title) => points.push(OpenPoint::Plan(short(title))),
        None => points.extend(unfinished(told, steps).map(OpenPoint::Unfinished)),
    }
    let asked = told.conclusion.filter(|_| told.asks).and_then(question).or_else(|| made.question.clone());
    points.extend(asked.map(|question| OpenPoint::Question(short(&question))));
    let failing = made.checks.iter().filter(|it| it.verdict == Verdict::Failed);
    points.extend(failing.take(MOST).map(|it| OpenPoint::Check(plain(&it.text))));
    let blocked = made.blocked.iter().rev().take(MOST);
    points.extend(blocked.map(|(name, ended)| OpenPoint::Attempt((*ended).to_owned(), short(name))));
    let not_run = told.planned.iter().flat_map(|plan| plan.not_run(steps)).take(MOST);
    points.extend(not_run.map(OpenPoint::NotRun));
    // Of a commit whose end nobody knows only that is told.
    let is_unknown = blocked_by(made, " commit", WITHOUT_RESULT);
    let not_committed = match made.uncommitted {
        _ if is_unknown && made.tree.is_none() => None,
        // What git itself shows counts more than what the calls tell.
        _ if made.tree.is_some() => made.tree.and_then(|tree| tree.told(|path| made.has_written(path))),
        0 => None,
        // Where no branch is known there may be no repository.
        _ if made.commits.is_empty() && !told.has_branch => None,
        _ if made.commits.is_empty() => Some(String::new()),
        later => Some(format!("{} after the last commit", plural(later as u64, "edit"))),
    };
    points.extend(not_committed.map(OpenPoint::NotCommitted));
    if !made.commits.is_empty() && !made.pushed {
        points.push(OpenPoint::NotPushed);
    }
    points.dedup();
    points
}

/// Whether the last attempt of a command with such a name ended so.
fn blocked_by(made: &Made<'_>, name: &str, end: &str) -> bool {
    made.blocked.iter().any(|(own, ended)| own.ends_with(name) && *ended == end)
}

/// How a session ended that has no closing words.
fn unfinished(told: &Told<'_>, steps: &[StepDraft]) -> Option<String> {
    if let Some(end) = told.end {
        return Some(end.to_owned());
    }
    // A commit is an outcome.
    let last = steps.last().filter(|last| last.commits.is_empty() && told.conclusion.is_none() && !told.is_silent)?;
    let step = fold_whitespace(&format!("{} {}", last.step.tool, last.step.args));
    let step = format!("the last step is {}", shorten::at_word(&step, SHORT / 2));
    Some([step.as_str(), made::ended(last.step.status)].join(", ").trim_end_matches(", ").to_owned())
}

fn short(text: &str) -> String {
    shorten::at_word(&fold_whitespace(text), SHORT)
}

/// Text without the marks of code spans, as a property has it.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// The last line that asks, of words that end by asking.
fn question(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(asks_at_end)?;
    let last = sentences(line).filter(asks_at_end).last()?.trim().trim_matches(['*', '_', ' ']);
    Some(last.to_owned()).filter(|text| text.chars().any(char::is_alphanumeric))
}

fn asks_at_end(sentence: &&str) -> bool {
    sentence.trim_end_matches(['*', '_', '`', ')', '"', ' ']).ends_with(['?', '？'])
}
