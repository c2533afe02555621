//! The one place that writes workflow markup.
//!
//! Frontmatter first (`type: workflow`, title, source), because a vault finds notes by their properties and readers of
//! the markup pass over it; then one level-1 heading, goals, steps, validation. One blank line between blocks, none
//! between bullets, a newline at the end.

use super::flow;
use super::heading::Heading;
use super::model::{Command, Dialect, Part, Remark, RemarkKind, Step, Workflow};
use super::record;
use super::text::{code_span, escape, longest_run, opening_nothing, unescape};
use cru_note::frontmatter::{Value, emit};
use cru_session::Link;
use cru_session::escape::inert;
use rayon::prelude::*;

/// Bytes that a step takes, often.
const USUAL: usize = 1 << 10;

/// The note of a workflow in dialect A.
pub fn render(workflow: &Workflow) -> String {
    let workflow = &super::convert::to_a(workflow);
    let mut page = Page { text: String::new(), begun: false, tight: false, dialect: Dialect::A };
    if !workflow.title.is_empty() {
        page.block(["# ", &escape(&workflow.title)]);
    }
    page.parts(&workflow.preface);
    page.goals(workflow);
    // What stands after the last step (the record of runs) stands after the checks too.
    let last = workflow.step_flags().iter().rposition(|flag| *flag).map_or(0, |last| last + 1);
    let below = workflow.steps[last..].iter().take_while(|step| step.level > 2).count();
    let texts = steps(&workflow.steps, Dialect::A);
    let (above, below) = texts.split_at(last + below);
    page.append(above);
    page.checks(workflow);
    page.append(below);
    inert(&frontmatter(workflow), &[]) + &inert(&page.text, &[record::FENCE])
}

/// The note of a workflow in `dialect`.
pub fn render_as(workflow: &Workflow, dialect: Dialect) -> String {
    if dialect == Dialect::A {
        return render(workflow);
    }
    let workflow = &super::convert::to_crucible(workflow);
    let mut page = Page { text: String::new(), begun: false, tight: false, dialect };
    page.parts(&workflow.preface);
    page.goals(workflow);
    page.append(&steps(&workflow.steps, dialect));
    page.checks(workflow);
    inert(&frontmatter(workflow), &[]) + &inert(&page.text, &[record::FENCE])
}

/// The text of each step, with the blank line before it. None depends on another.
fn steps(steps: &[Step], dialect: Dialect) -> Vec<String> {
    let step = |step| {
        let mut page = Page { text: String::with_capacity(USUAL), begun: true, tight: false, dialect };
        page.step(step);
        page.text
    };
    steps.par_iter().map(step).collect()
}

fn links(links: &[Link]) -> String {
    links.iter().map(Link::to_string).collect::<Vec<_>>().join(", ")
}

fn frontmatter(workflow: &Workflow) -> String {
    let text = |text: &str| Value::String(text.to_owned());
    let mut entries = vec![("type", text("workflow"))];
    if !workflow.title.is_empty() {
        // As the heading is read back: what a plugin would run stands there so that none does.
        entries.push(("title", text(&unescape(&inert(&escape(&workflow.title), &[])))));
    }
    if let Some(description) = &workflow.description {
        entries.push(("description", text(description)));
    }
    let mut sources = workflow.sources.iter().map(|source| text(&source.to_string()));
    match workflow.sources.len() {
        0 => {}
        1 => entries.extend(sources.next().map(|source| ("source", source))),
        _ => entries.push(("source", Value::List(sources.collect()))),
    }
    entries.extend(workflow.recipe.map(|status| ("recipe", text(status.as_str()))));
    format!("---\n{}---\n", emit(&entries))
}

/// Text under construction.
struct Page {
    text: String,
    /// Whether anything stands below the frontmatter, which no blank line follows.
    begun: bool,
    /// Whether it ends with a bullet of ours, after which the next bullet follows at once.
    tight: bool,
    dialect: Dialect,
}

impl Page {
    fn goals(&mut self, workflow: &Workflow) {
        if workflow.goals.is_empty() {
            return;
        }
        self.block(["## Goals"]);
        for goal in &workflow.goals {
            let id = goal.id.as_ref().map_or(String::new(), |id| format!(" [id:: {id}]"));
            let text = escape(&goal.text);
            match (goal.plain, goal.done) {
                (true, _) => self.bullet([&opening_nothing(text), &id]),
                (false, true) => self.bullet(["[x] ", &text, &id]),
                (false, false) => self.bullet(["[ ] ", &text, &id]),
            }
        }
    }

    fn checks(&mut self, workflow: &Workflow) {
        if workflow.checks.is_empty() {
            return;
        }
        self.block(["## Validation"]);
        for check in &workflow.checks {
            let id = check.id.as_ref().map_or(String::new(), |id| format!(" ^{id}"));
            match &check.command {
                Some(command) => self.bullet([&code_span(command), " — ", &escape(&check.text), &id]),
                None => self.bullet([&escape(&check.text), &id]),
            }
        }
    }

    fn arrow(&self) -> &'static str {
        if self.dialect == Dialect::A { "→" } else { "->" }
    }

    /// The blank line between what stands there and what follows.
    fn part(&mut self) {
        if self.begun {
            self.text.push('\n');
        }
        self.begun = true;
    }

    /// A block of these pieces of text.
    fn block<const N: usize>(&mut self, block: [&str; N]) {
        self.part();
        self.text.extend(block);
        self.text.push('\n');
        self.tight = false;
    }

    /// A bullet of these pieces of text.
    fn bullet<const N: usize>(&mut self, text: [&str; N]) {
        if !self.tight {
            self.part();
            self.tight = true;
        }
        self.text.push_str("- ");
        self.text.extend(text);
        self.text.push('\n');
    }

    /// Adds steps as [`steps`] gives them.
    fn append(&mut self, steps: &[String]) {
        self.text.reserve(steps.iter().map(String::len).sum());
        for step in steps {
            self.text.push_str(if self.begun { step } else { step.trim_start_matches('\n') });
            (self.begun, self.tight) = (true, false);
        }
    }

    fn step(&mut self, step: &Step) {
        let marks = "#".repeat(usize::from(step.level.clamp(2, 6)));
        self.block([format!("{marks} {}", Heading::write(step, self.dialect)).trim_end()]);
        self.parts(&step.parts);
        if !step.origin.is_empty() {
            self.block(["From ", &links(&step.origin), "."]);
        }
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Prose(prose) => self.block([&prose.markdown]),
                Part::Flow(it) => self.block([&flow::write(it, self.arrow())]),
                Part::Branch(it) => self.block([&flow::write_branch(it, self.arrow())]),
                Part::Gate(gate) => {
                    let mut callout = format!("> [!gate] {}", escape(&gate.title)).trim_end().to_owned();
                    for line in gate.body.lines() {
                        callout.push_str("\n> ");
                        callout.push_str(line);
                    }
                    self.block([&callout]);
                }
                Part::Command(Command { command, note, .. }) => match note {
                    Some(note) => self.bullet([&code_span(command), " — ", &escape(note)]),
                    None => self.bullet([&code_span(command)]),
                },
                Part::Script(script) => self.block([&fence("sh", &script.text)]),
                Part::Remark(Remark { kind: RemarkKind::Plain, text, .. }) => self.bullet([&escape(text)]),
                Part::Remark(Remark { kind, text, .. }) => self.bullet([kind.as_str(), ": ", &escape(text)]),
                Part::Record(it) => self.block([&fence(record::FENCE, &record::encode(it))]),
            }
        }
    }
}

fn fence(info: &str, body: &str) -> String {
    let ticks = "`".repeat(longest_run(body).max(2) + 1);
    format!("{ticks}{info}\n{body}\n{ticks}")
}
