//! The rows of `cru list workflows`.

use serde::Serialize;
use serde_json::{Value, json};

use super::find::FoundWorkflow;
use crate::base::Severity;
use crate::workflow::history::runs;
use crate::workflow::{Dialect, validate};

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

/// What is told of a workflow.
pub(in crate::commands) fn row(found: &FoundWorkflow) -> Value {
    let workflow = &found.workflow;
    let runs = runs(workflow);
    let odd: Vec<Severity> =
        found.diagnostics.iter().chain(&validate(workflow)).map(|diagnostic| diagnostic.severity).collect();
    let count = |severity| odd.iter().filter(|own| **own == severity).count();
    let mut agents: Vec<String> =
        workflow.steps.iter().filter_map(|step| Some(step.agent.as_ref()?.name.clone())).collect();
    agents.sort();
    agents.dedup();
    json!(WorkflowRow {
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
    })
}
