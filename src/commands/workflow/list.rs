//! `cru workflow list`.

use serde::Serialize;

use super::find::{self, FoundWorkflow};
use crate::base::text::plural;
use crate::base::{Result, Severity};
use crate::commands::output::{Align, Cell, Table, style};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::vault::Catalog;
use crate::workflow::history::runs;
use crate::workflow::{Dialect, validate};

/// List workflows
#[derive(Debug, clap::Args)]
pub struct Args {}

pub(super) fn run(_: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let found = find::all(&vault, &catalog, cx);
    if found.is_empty() {
        return Err(find::none());
    }
    Ok(Box::new(List { schema: 1, workflows: found.iter().map(row).collect() }))
}

#[derive(Debug, Serialize)]
struct List {
    schema: u32,
    workflows: Vec<WorkflowRow>,
}

#[derive(Debug, Serialize)]
struct WorkflowRow {
    workflow: String,
    path: String,
    title: String,
    dialect: Dialect,
    steps: usize,
    checks: usize,
    agents: Vec<String>,
    sources: Vec<String>,
    /// Rows of its execution records.
    runs: usize,
    /// Those that did not succeed.
    failed: usize,
    errors: usize,
    warnings: usize,
}

fn row(found: &FoundWorkflow) -> WorkflowRow {
    let workflow = &found.workflow;
    let runs = runs(workflow);
    let odd: Vec<Severity> =
        found.diagnostics.iter().chain(&validate(workflow)).map(|diagnostic| diagnostic.severity).collect();
    let count = |severity| odd.iter().filter(|own| **own == severity).count();
    let mut agents: Vec<String> =
        workflow.steps.iter().filter_map(|step| Some(step.agent.as_ref()?.name.clone())).collect();
    agents.sort();
    agents.dedup();
    WorkflowRow {
        workflow: found.stem.clone(),
        path: found.path.clone(),
        title: found.title().to_owned(),
        dialect: workflow.dialect,
        steps: workflow.step_flags().into_iter().filter(|flag| *flag).count(),
        checks: workflow.checks.len(),
        agents,
        sources: workflow.sources.iter().map(|link| link.target.clone()).collect(),
        failed: runs.iter().filter(|run| matches!(run.status.as_str(), "failed" | "timeout")).count(),
        runs: runs.len(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
    }
}

impl PlainOutput for List {
    fn shown(&self, view: &View) -> String {
        let mut table = Table::new(&[
            ("workflow", Align::Left),
            ("steps", Align::Right),
            ("checks", Align::Right),
            ("runs", Align::Right),
            ("agents", Align::Left),
            ("", Align::Left),
            ("title", Align::Left),
        ]);
        for row in &self.workflows {
            let (odd, look) = match (row.errors, row.warnings) {
                (0, 0) => ("", style::DIM),
                (0, _) => ("!", style::WARN),
                _ => ("✗", style::BAD),
            };
            table.row([
                Cell::new(&row.workflow).style(style::ID),
                Cell::new(row.steps.to_string()),
                Cell::new(row.checks.to_string()),
                Cell::new(row.runs.to_string()).style(style::DIM),
                Cell::new(row.agents.join(", ")).style(style::AGENT),
                Cell::new(odd).style(look),
                Cell::new(&row.title),
            ]);
        }
        let mut text = table.render(view);
        let odd = self.workflows.iter().filter(|row| row.errors + row.warnings > 0).count();
        if odd > 0 {
            let number = plural(odd as u64, "workflow");
            text.push_str(&format!("\n{number} with remarks: `cru workflow validate` shows them\n"));
        }
        text
    }
}
