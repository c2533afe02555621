//! `cru show w:NAME`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{evidence, find};
use crate::base::Result;
use crate::base::text::one_line;
use crate::commands::output::style::{self, paint};
use crate::commands::words::explained;
use crate::commands::{Context, Output, Raw, View};
use crate::workflow::export::graph::{Picture, picture};
use crate::workflow::{Dialect, Flow, Operand, Part, RemarkKind, Workflow, render_as};

/// How a workflow is shown.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct WorkflowOptions {
    /// A workflow as markdown in this dialect
    #[arg(long, value_name = "DIALECT", value_parser = explained(DIALECTS))]
    dialect: Option<Dialect>,
    /// A workflow with the steps and words of the session that each line cites below it
    #[arg(long, conflicts_with = "dialect")]
    evidence: bool,
}

/// The dialects on the command line.
pub(in crate::commands) const DIALECTS: &[(Dialect, &str)] =
    &[(Dialect::A, "Titles, channels, marks, types"), (Dialect::Crucible, "The syntax that Crucible ships")];

impl WorkflowOptions {
    /// One that is given.
    pub(in crate::commands) fn given(&self) -> Option<&'static str> {
        self.evidence.then_some("--evidence").or_else(|| self.dialect.map(|_| "--dialect"))
    }
}

/// A workflow: what goes in, the steps in order, what comes out.
pub(in crate::commands) fn show(name: &str, args: &WorkflowOptions, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let found = find::one(name, cx)?;
    if let Some(dialect) = args.dialect {
        let text = render_as(&found.workflow, dialect);
        return Ok(Box::new(Raw { name: "markdown", text }));
    }
    if args.evidence {
        let text = evidence::beside(&found.shown, &found.workflow, cx)?;
        return Ok(Box::new(Raw { name: "markdown", text }));
    }
    let picture = picture(&found.workflow);
    Ok(Box::new(Shown { path: found.path, workflow: found.workflow, picture }))
}

struct Shown {
    path: String,
    workflow: Workflow,
    picture: Picture,
}

impl Output for Shown {
    fn text(&self, _: &View) -> String {
        let workflow = &self.workflow;
        let mut out =
            format!("{}  {}\n", paint(style::TITLE, one_line(&workflow.title)), paint(style::DIM, &self.path));
        if let Some(description) = &workflow.description {
            let _ = writeln!(out, "{}", one_line(description));
        }
        for goal in &workflow.goals {
            let _ = writeln!(out, "  {} {}", if goal.done { "☑" } else { "☐" }, one_line(&goal.text));
        }
        for (name, data) in [("takes", &self.picture.inputs), ("gives", &self.picture.results)] {
            if !data.is_empty() {
                let _ = writeln!(out, "{} {}", paint(style::DIM, name), one_line(&data.join(", ")));
            }
        }
        // Children stay below their parents, whatever the order of data.
        let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for step in &self.picture.steps {
            children.entry(step.parent).or_default().push(step.index);
        }
        let tops: BTreeSet<usize> = children.remove(&None).unwrap_or_default().into_iter().collect();
        for (number, &index) in self.picture.order.iter().filter(|index| tops.contains(index)).enumerate() {
            out.push('\n');
            self.step(&mut out, index, &format!("{}.", number + 1), 0, &children);
        }
        if !workflow.checks.is_empty() {
            let _ = writeln!(out, "\n{}", paint(style::TITLE, "Validation"));
            for check in &workflow.checks {
                let text = match &check.command {
                    Some(command) => format!("{}  {}", paint(style::GOOD, one_line(command)), one_line(&check.text)),
                    None => one_line(&check.text),
                };
                let _ = writeln!(out, "  {text}");
            }
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::json!({
            "schema": 1,
            "path": self.path,
            "workflow": self.workflow,
            "order": self.picture.order,
            "inputs": self.picture.inputs,
            "results": self.picture.results,
        }))
    }
}

impl Shown {
    fn step(
        &self,
        out: &mut String,
        index: usize,
        lead: &str,
        depth: usize,
        children: &BTreeMap<Option<usize>, Vec<usize>>,
    ) {
        let step = &self.workflow.steps[index];
        let pad = "   ".repeat(depth);
        let mut line = format!("{pad}{lead} {}", paint(style::TITLE, one_line(&step.title)));
        if let Some(agent) = &step.agent {
            let _ = write!(line, " {}", paint(style::AGENT, format!("@{}", one_line(&agent.to_string()))));
        }
        if let Some(channel) = &step.channel {
            let _ = write!(line, " {}", paint(style::CHANNEL, format!("#{}", one_line(channel))));
        }
        let mark = step.need.mark();
        if !mark.is_empty() {
            let _ = write!(line, " {}", paint(style::WARN, mark));
        }
        let _ = writeln!(out, "{line}");
        for part in &step.parts {
            let text = match part {
                Part::Prose(prose) => one_line(prose.markdown.lines().next().unwrap_or("")),
                Part::Flow(flow) => paint(style::DIM, flow_line(flow)),
                Part::Branch(branch) => match &branch.condition {
                    Some(condition) => format!("if {} → {}", one_line(condition), one_line(&branch.target)),
                    None => format!("otherwise → {}", one_line(&branch.target)),
                },
                Part::Gate(gate) => format!("{} {}", paint(style::WARN, "gate"), one_line(&gate.title)),
                Part::Command(command) => paint(style::GOOD, format!("$ {}", one_line(&command.command))),
                Part::Script(script) => {
                    paint(style::GOOD, format!("$ {} …", one_line(script.text.lines().next().unwrap_or(""))))
                }
                Part::Remark(remark) if remark.kind == RemarkKind::Plain => one_line(&remark.text),
                Part::Remark(remark) => format!("{}: {}", remark.kind.as_str(), one_line(&remark.text)),
                Part::Record(_) => continue,
            };
            if !text.trim().is_empty() {
                let _ = writeln!(out, "{pad}   {text}");
            }
        }
        // Nested deeper than headings go it cannot be.
        for &child in children.get(&Some(index)).into_iter().flatten() {
            self.step(out, child, "-", depth + 1, children);
        }
    }
}

fn flow_line(flow: &Flow) -> String {
    let operand = |it: &Operand| {
        let ty = it.ty.as_ref().map_or(String::new(), |ty| format!("::{ty}"));
        let files = it.files.map_or(String::new(), |files| format!("{files} files in "));
        format!("{files}{}{ty}", it.name)
    };
    let stage = |stage: &Vec<Operand>| stage.iter().map(operand).collect::<Vec<_>>().join(", ");
    one_line(&flow.stages.iter().map(stage).collect::<Vec<_>>().join(" → "))
}
