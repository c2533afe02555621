//! `cru workflow validate`.

use serde::Serialize;

use super::find::{self, FoundWorkflow};
use super::show::DialectArg;
use crate::base::text::plural;
use crate::base::{Diagnostic, Lines, Result, Severity};
use crate::commands::{Context, Output, View, frame};
use crate::workflow::{dialect, validate};

/// Look for what is wrong in workflows
///
/// Cycles, conditions that lead nowhere, names made twice, types that differ, records that cannot be read. Without
/// WORKFLOW all of the vault. Exit code 1 when there are errors; warnings alone are no error.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Paths, file names, titles, or parts of them
    workflow: Vec<String>,
    /// Whether a strict reader of this dialect takes it too
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectArg>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let found = find::some(&args.workflow, cx)?;
    let checked = found.into_iter().map(|found| {
        let mut diagnostics = found.diagnostics.clone();
        diagnostics.extend(validate(&found.workflow));
        if args.dialect == Some(DialectArg::Crucible) {
            diagnostics.extend(dialect::strict(&found.note));
        }
        found.lead_back(&mut diagnostics);
        diagnostics.sort_by_key(|it| (it.span.start, it.code));
        (found, diagnostics)
    });
    Ok(Box::new(ValidationReport { workflows: checked.collect(), verbose: cx.global.verbose > 0 }))
}

struct ValidationReport {
    workflows: Vec<(FoundWorkflow, Vec<Diagnostic>)>,
    verbose: bool,
}

impl ValidationReport {
    fn count(&self, severity: Severity) -> u64 {
        self.workflows.iter().flat_map(|(_, found)| found).filter(|it| it.severity == severity).count() as u64
    }
}

#[derive(Serialize)]
struct ValidationRow<'a> {
    path: &'a str,
    line: usize,
    column: usize,
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
}

impl Output for ValidationReport {
    fn text(&self, view: &View) -> String {
        let mut text = String::new();
        for (found, diagnostics) in &self.workflows {
            let lines = Lines::of(&found.shown);
            for diagnostic in diagnostics.iter().filter(|it| self.verbose || it.severity > Severity::Info) {
                text.push_str(&frame::render(&found.path, &found.shown, &lines, diagnostic, view));
                text.push_str("\n\n");
            }
        }
        let told = frame::verdict(self.count(Severity::Error), self.count(Severity::Warning));
        text.push_str(&format!("{}: {told}\n", plural(self.workflows.len() as u64, "workflow")));
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut rows = Vec::new();
        for (found, diagnostics) in &self.workflows {
            let lines = Lines::of(&found.shown);
            for diagnostic in diagnostics {
                let (line, column) = lines.place(&found.shown, diagnostic.span.start);
                rows.push(serde_json::to_value(ValidationRow { path: &found.path, line, column, diagnostic })?);
            }
        }
        Ok(serde_json::json!({
            "schema": 1,
            "workflows": self.workflows.len(),
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "diagnostics": rows,
        }))
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.count(Severity::Error) > 0)
    }
}
