//! `cru workflow export`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::find;
use super::history::gather;
use crate::base::text::plural;
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, Raw, View};
use crate::workflow::export::{Trace, dot, graph, mermaid, ocel, skill, xes};
use crate::workflow::{RecipeStatus, Workflow};

/// Write what workflows record as an event log for process mining, or draw one
///
/// `xes` (IEEE 1849) and `ocel` (OCEL 2.0 in JSON) hold the recorded runs of all named workflows, a trace for each session.
/// `mermaid`, `dot` and `json` hold the steps of one. `skill` is one as a skill of an agent: with `--output` the folder NAME
/// with its `SKILL.md` is written into that folder. `command` is one as a slash command. Of a recipe both take only one that is
/// accepted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Paths, file names, titles, or parts of them; all workflows without one
    workflow: Vec<String>,
    /// What is written
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: To,
    /// Write to this file, which must not exist yet, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum To {
    Xes,
    Ocel,
    Mermaid,
    Dot,
    Json,
    Skill,
    Command,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let text = match args.to {
        To::Xes => xes::export(&traces(args, cx)?),
        To::Ocel => pretty(&ocel::export(&traces(args, cx)?))?,
        To::Mermaid => mermaid::export(&picture(args, cx)?),
        To::Dot => dot::export(&picture(args, cx)?),
        To::Json => pretty(&picture(args, cx)?)?,
        To::Skill => {
            let workflow = accepted(args, cx)?;
            let text = skill::skill(&workflow);
            if let Some(folder) = &args.output {
                let path = folder.join(skill::name(&workflow)).join("SKILL.md");
                return write(&path, &text, cx);
            }
            text
        }
        To::Command => skill::command(&accepted(args, cx)?),
    };
    let Some(output) = &args.output else { return Ok(Box::new(Raw { name: "export", text })) };
    write(output, &text, cx)
}

/// Writes a file that must not exist yet.
fn write(output: &Path, text: &str, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if !files::create(&cx.absolute(output), text.as_bytes())? {
        return Err(Error::usage(format!("{} exists already", output.display()))
            .with_hint("name another file, or move that one away"));
    }
    Ok(Box::new(Written { schema: 1, output: output.to_owned(), bytes: text.len() }))
}

fn pretty(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    Ok(text.map_err(|error| Error::io("write", "the export", error.into()))? + "\n")
}

fn picture(args: &Args, cx: &Context<'_>) -> Result<graph::Picture> {
    Ok(graph::picture(&one(args, cx)?))
}

fn one(args: &Args, cx: &Context<'_>) -> Result<Workflow> {
    let [name] = args.workflow.as_slice() else {
        return Err(Error::usage("one workflow at a time can be drawn or written so")
            .with_hint("name it: `cru workflow export NAME --to dot`"));
    };
    Ok(find::one(name, cx)?.workflow)
}

/// The workflow as hosts may follow it: of a recipe only one that a person has accepted.
fn accepted(args: &Args, cx: &Context<'_>) -> Result<Workflow> {
    let workflow = one(args, cx)?;
    match workflow.recipe {
        None | Some(RecipeStatus::Accepted) => Ok(workflow),
        Some(status) => {
            Err(Error::no(format!("the recipe is {}: an agent would follow what nobody has checked", status.as_str()))
                .with_hint("`cru show --evidence w:NAME` shows it beside the record; `cru review` accepts it"))
        }
    }
}

/// The recorded runs by workflow and session.
fn traces(args: &Args, cx: &Context<'_>) -> Result<Vec<Trace>> {
    let mut traces: Vec<Trace> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let rows = gather(&find::some(&args.workflow, cx)?, cx);
    if rows.is_empty() {
        return Err(Error::no("no run is recorded").with_hint("a run is a row of a `session-toon` fence of a workflow"));
    }
    for row in rows {
        let session = row.run.session().unwrap_or(&row.workflow).to_owned();
        let place = *places.entry((row.workflow.clone(), session.clone())).or_insert_with(|| {
            traces.push(Trace { workflow: row.workflow.clone(), session, started: None, runs: Vec::new() });
            traces.len() - 1
        });
        if let Some(trace) = traces.get_mut(place) {
            trace.started = trace.started.into_iter().chain(row.run.started).min();
            trace.runs.push(row.run);
        }
    }
    Ok(traces)
}

#[derive(Debug, Serialize)]
struct Written {
    schema: u32,
    output: PathBuf,
    bytes: usize,
}

impl PlainOutput for Written {
    fn shown(&self, _: &View) -> String {
        format!("{}  {}\n", paint(style::ID, self.output.display()), plural(self.bytes as u64, "byte"))
    }
}
