//! A recipe: a workflow that somebody wrote from a skeleton and the record, read and compared with both.
//!
//! An answer comes from a program that read text of others. It is taken only where it is a workflow, and names no agent,
//! channel, command or file that the record does not ([`known`]). Then it is compared part by part, as sets ([`parts`]): what no
//! session has stands under [`NOT_FROM_SESSION`] wherever it was written, what the skeleton has and the answer neither tells nor
//! drops with a reason goes back. What a program must not decide (sources, the record of runs) stays as it was.

mod cited;
mod head;
mod known;
mod parts;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::align::{Features, align};
use super::model::{Part, RecipeStatus, RemarkKind, Step, Workflow};
use super::text::longest_run;
use super::{Graph, parse, validate};
use cru_base::{Diagnostic, Severity, Span};
use cru_note::Note;

pub use cited::{Cited, ids};
use known::Known;

/// Lines of a recipe at most; blank ones, the frontmatter, and what stands below [`DROPPED`] and [`NOT_FROM_SESSION`] do not count.
pub const MAX_LINES: usize = 60;

/// Heading of what stands in an answer and is not proven by the session.
pub const NOT_FROM_SESSION: &str = "Not from the session";
/// Heading of what an answer leaves out, each line with its words and a reason.
pub const DROPPED: &str = "Dropped";
/// Heading of what the work needs and the session did not do.
pub const NOT_DONE: &str = "Not done in the session";
/// How a line begins that says what a check, or the session, leaves open.
pub const NOT_SHOWN: &str = "Not shown:";

/// A recipe that was taken, and what was changed in it.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The recipe.
    pub workflow: Workflow,
    /// What the answer had and no session: it stands under [`NOT_FROM_SESSION`].
    pub apart: Vec<String>,
    /// What the skeleton had and the answer lost: it was put back.
    pub lost: Vec<String>,
}

/// `text` as a block of data, in a fence that nothing in it can close.
pub fn fenced(text: &str) -> String {
    let text = cru_base::text::sanitise(text);
    let ticks = "`".repeat(longest_run(&text).max(3) + 1);
    format!("{ticks}text\n{}\n{ticks}", text.trim_end())
}

/// The workflow in an answer: without a fence around it, and without words before it.
pub fn markdown(answer: &str) -> String {
    let answer = cru_base::text::sanitise(answer);
    let lines: Vec<&str> = answer.lines().collect();
    let starts = |line: &&str| *line == "---" || line.starts_with("# ") || line.starts_with("## ");
    let start = lines.iter().position(starts).unwrap_or(0);
    let mut end = lines.len();
    // A fence that opens right before it ends where its like stands last.
    let before = lines[..start].iter().rev().find(|line| !line.trim().is_empty()).map_or("", |line| line.trim());
    let ticks = before.bytes().take_while(|&byte| byte == b'`').count();
    if ticks >= 3 {
        let close = "`".repeat(ticks);
        end = lines.iter().rposition(|line| line.trim() == close).filter(|&end| end > start).unwrap_or(end);
    }
    let mut text = lines[start..end].join("\n");
    text.truncate(text.trim_end().len());
    if text.is_empty() { text } else { text + "\n" }
}

/// Reads an answer. Where it is not the `last`, what it lost is an error, so that whoever wrote it can say why; in the last one it
/// is put back. Error: what is wrong, with places in its [`markdown`].
pub fn accept(extract: &Workflow, cited: &Cited, answer: &str, last: bool) -> Result<Recipe, Vec<Diagnostic>> {
    let text = markdown(answer);
    let note = Note::parse(text.as_str());
    let (mut workflow, mut problems) = parse(&note);
    problems.extend(validate(&workflow));
    problems.retain(|it| it.severity == Severity::Error);
    let whole = Span::new(0, text.find('\n').unwrap_or(text.len()));
    let mut wrong: Vec<known::Wrong> = Vec::new();
    if text.is_empty() {
        wrong.push(("refine-empty", whole, "the answer is empty".to_owned()));
    } else if !workflow.step_flags().contains(&true) {
        let message = "the answer has no step: a heading with an agent, a channel or a flow line";
        wrong.push(("refine-no-step", whole, message.to_owned()));
    }
    let known = Known::of(extract, cited);
    workflow.steps.iter().for_each(|step| known.step(step, &mut wrong));
    for check in &workflow.checks {
        match &check.command {
            Some(command) => known.command(command, &check.text, check.span, &mut wrong),
            None => known.words(&check.text, check.span, &mut wrong),
        }
    }
    for part in &workflow.preface {
        match part {
            Part::Command(it) => known.command(&it.command, it.note.as_deref().unwrap_or(""), it.span, &mut wrong),
            Part::Script(it) => known.command(&it.text, "", it.span, &mut wrong),
            Part::Remark(it) => known.words(&it.text, it.span, &mut wrong),
            Part::Prose(it) => known.words(&it.markdown, it.span, &mut wrong),
            _ => {}
        }
    }
    let lines = counted_lines(&text);
    if lines > MAX_LINES {
        wrong.push(("refine-long", whole, format!("it has {lines} lines; {MAX_LINES} are the most")));
    }
    problems.extend(wrong.into_iter().map(|(code, span, message)| Diagnostic::error(code, span, message)));
    if !problems.is_empty() {
        problems.sort_by_key(|it| it.span.start);
        return Err(problems);
    }
    let found = parts::compare(&mut workflow, extract, &known, cited);
    if !last {
        let lost = found.lost.iter().map(|what| {
            let message = format!("{what} is neither told nor named under `## {DROPPED}` with a reason");
            Diagnostic::error("refine-missing", whole, message)
        });
        let apart = found.apart.iter().map(|what| {
            let message = format!("set apart under `## {NOT_FROM_SESSION}`: {what}");
            Diagnostic::error("refine-unproven", whole, message)
        });
        let back: Vec<Diagnostic> = lost.chain(apart).collect();
        if !back.is_empty() {
            return Err(back);
        }
    }
    set_apart(&mut workflow, &found.apart);
    keep(&mut workflow, extract);
    Ok(Recipe { workflow, apart: found.apart, lost: found.lost })
}

/// The lines of an answer that count.
fn counted_lines(text: &str) -> usize {
    let body = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body);
    let mut counts = true;
    let is_counted = |line: &&str| {
        if let Some(title) = line.strip_prefix("## ") {
            let title = title.trim().trim_end_matches(':');
            counts = ![DROPPED, NOT_FROM_SESSION].iter().any(|free| free.eq_ignore_ascii_case(title));
        }
        counts && !line.trim().is_empty()
    };
    body.lines().filter(is_counted).count()
}

/// Whether a step is a mere section of that name.
fn is_section(step: &Step, title: &str) -> bool {
    let plain = step.title.trim_end_matches(':');
    plain.eq_ignore_ascii_case(title) && step.agent.is_none() && step.channel.is_none()
}

/// Whether a section holds what need not be proven.
fn is_free(step: &Step) -> bool {
    [NOT_FROM_SESSION, DROPPED, NOT_DONE].iter().any(|title| is_section(step, title))
}

/// Adds lines below [`NOT_FROM_SESSION`].
fn set_apart(workflow: &mut Workflow, apart: &[String]) {
    if apart.is_empty() {
        return;
    }
    let line = |text: &String| Part::remark(RemarkKind::Plain, text.clone());
    let lines = apart.iter().map(line);
    if let Some(step) = workflow.steps.iter_mut().find(|step| is_section(step, NOT_FROM_SESSION)) {
        step.parts.extend(lines);
    } else {
        let title = NOT_FROM_SESSION.to_owned();
        workflow.steps.push(Step { level: 2, title, parts: lines.collect(), ..Step::default() });
    }
}

/// Every text of a workflow in which something can be told: letters and digits.
fn texts(workflow: &Workflow) -> impl Iterator<Item = String> + '_ {
    // What is named as dropped is not told.
    let steps = workflow.steps.iter().filter(|step| !is_section(step, DROPPED));
    let parts = workflow.preface.iter().chain(steps.flat_map(|step| &step.parts));
    parts.filter_map(|part| match part {
        Part::Gate(it) => Some(letters(&it.title)),
        Part::Remark(it) => Some(letters(&it.text)),
        Part::Prose(it) => Some(letters(&it.markdown)),
        _ => None,
    })
}

/// Letters and digits in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Puts back the sources and the record of runs, and calls steps in the record as they are called now.
fn keep(workflow: &mut Workflow, extract: &Workflow) {
    workflow.sources.clone_from(&extract.sources);
    workflow.recipe = Some(RecipeStatus::Proposed);
    for step in &mut workflow.steps {
        step.parts.retain(|part| !matches!(part, Part::Record(_)));
    }
    workflow.preface.retain(|part| !matches!(part, Part::Record(_)));
    // Headings that only held a record.
    let flags = workflow.step_flags();
    let empty: BTreeSet<usize> = (0..workflow.steps.len())
        .filter(|&at| {
            !flags[at]
                && workflow.steps[at].parts.is_empty()
                && workflow.steps.iter().all(|step| step.parent != Some(at))
        })
        .collect();
    if empty.iter().all(|at| *at + empty.len() >= workflow.steps.len()) {
        workflow.steps.truncate(workflow.steps.len() - empty.len());
    }
    let ((left, old), (right, new)) = (Features::all(extract), Features::all(workflow));
    let alignment = align(&old, &new);
    let pairs = alignment.pairs.iter().chain(&alignment.moved);
    let renamed: Vec<(String, String)> =
        pairs.map(|&(l, r)| (extract.steps[left[l]].title.clone(), workflow.steps[right[r]].title.clone())).collect();
    let titles: BTreeSet<String> = workflow.steps.iter().map(|step| step.title.to_lowercase()).collect();
    for step in &extract.steps {
        let records = step.parts.iter().filter_map(|part| match part {
            Part::Record(record) => Some(record.clone()),
            _ => None,
        });
        for mut record in records {
            let column = record.columns.iter().position(|name| name == "phase");
            for row in &mut record.rows {
                let cell = column.and_then(|column| row.get_mut(column));
                if let Some(cell) = cell
                    && let Some((_, now)) = renamed.iter().find(|(before, _)| before == cell)
                {
                    cell.clone_from(now);
                }
            }
            let mut title = step.title.clone();
            while titles.contains(&title.to_lowercase()) {
                title.push_str(" so far");
            }
            let parts = vec![Part::Record(record)];
            workflow.steps.push(Step { level: 2, title, parts, ..Step::default() });
        }
    }
    debug_assert!(Graph::of(workflow).order().len() == workflow.steps.len());
}
