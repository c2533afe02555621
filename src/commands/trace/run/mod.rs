//! `cru run`: a command as a step of the current session.

pub(super) mod cell;
pub(in crate::commands) mod record;
pub(super) mod snapshot;

use std::ffi::OsString;

use serde::Serialize;

use super::agree::{Agreement, Consenting};
use super::refs::References;
use crate::base::{Error, Result};
use crate::commands::{Context, Format, Output, Passing, PlainOutput, View};
use crate::trace::reference::{self, ReferenceText, StepReference};
use crate::vault::{Catalog, Vault};
use cell::Cell;
use record::{RecordedStep, RunCommand, RunRequest, StepRecorder};

/// Run a command as a step of the current session
///
/// Its output, its exit code and signals pass through. The step names the files that the command was given and those
/// that changed meanwhile; all of its output is kept in `evidence/SESSION/STEP.txt`, without secrets. `[[NOTE#^c-01]]`
/// in the place of CMD runs that cell of a note, `[[NOTE#Validation]]` all commands below a heading. A note may come
/// from anyone, so a cell is shown and asked for; see `cru replay --help`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: that of the command (128 and the signal where one ended it, 127 where there is no \
                        such program); 1 a cell was not run, 2 usage error, 3 I/O error."
)]
pub struct Args {
    /// A file that the command reads
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// A file that the command writes
    #[arg(long, value_name = "PATH")]
    write: Vec<String>,
    /// A step that it depends on: `^`, `n-014`, `@NAME`
    #[arg(long, value_name = "REF")]
    after: Vec<String>,
    /// Which session; else `CRU_SESSION`, the host's session, the only active one of this folder
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The command, or a cell
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let passing = if cx.global.format == Format::Text { Passing::Both } else { Passing::ToStderr };
    let recorder = StepRecorder::find(args.session.as_deref(), cx)?;
    let after = links(&args.after, &recorder, cx)?;
    let request = RunRequest {
        command: RunCommand::Words(args.command.clone()),
        shown: None,
        reads: args.read.clone(),
        writes: args.write.clone(),
        after,
        replays: None,
        cell: None,
        dir: cx.env.cwd().to_owned(),
        scratch: None,
    };
    let link = match args.command.as_slice() {
        [one] => one.to_str().and_then(cell::link_of),
        _ => None,
    };
    let Some(link) = link else {
        let step = recorder.run(&request, passing)?;
        return Ok(Box::new(RanSteps { schema: 1, steps: vec![step] }));
    };
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let catalog = Catalog::read(&vault);
    let cells = cell::find(&link, &vault, &catalog)?;
    let consenting = Consenting::of(&vault, cx)?;
    let project = recorder.target.meta.project.as_deref();
    let not_run = |cell: &Cell, why: &str| {
        Error::no(format!("{} was not run: {why}", cell.link))
            .with_hint(format!("run it by hand: {}", crate::base::text::sanitise(&cell.text)))
    };
    let folder = consenting.folder(project);
    let folder = folder.ok_or_else(|| match cells.first() {
        Some(cell) => not_run(cell, "its project is not on this machine"),
        None => Error::no("there is no cell"),
    })?;
    let decided = cells.iter().map(|cell| (cell.text.as_str(), consenting.decide(&cell.text, &folder))).collect();
    // All of them, before the first of them runs.
    let mut ready = Vec::new();
    for (cell, agreement) in cells.iter().zip(consenting.agree(decided, &folder)) {
        let command = match agreement {
            Agreement::Yes(command) => command.ready(&folder.path, cx),
            Agreement::No(why) => Err(why),
        };
        ready.push(command.map_err(|why| not_run(cell, &why))?);
    }
    let mut steps = Vec::new();
    for (cell, command) in cells.into_iter().zip(ready) {
        let dir = command.dir.clone();
        let shown = Some(cell.text);
        let command = RunCommand::Note(command);
        let request = RunRequest { command, shown, cell: Some(cell.link), dir, ..request.clone() };
        let step = recorder.run(&request, passing)?;
        let failed = step.exit != 0;
        steps.push(step);
        if failed {
            break;
        }
    }
    Ok(Box::new(RanSteps { schema: 1, steps }))
}

/// Steps as links of the session's note.
fn links(names: &[String], recorder: &StepRecorder<'_>, cx: &Context<'_>) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let catalog = Catalog::read(&vault);
    let references = References { vault: &vault, catalog: &catalog, cx, home: None, snapshot: None };
    names
        .iter()
        .map(|name| {
            // What names no session is of the one that the step is added to.
            let here = match reference::parse(name) {
                Some(ReferenceText::One(StepReference::Block { session: None, id })) => Some(id),
                Some(ReferenceText::One(StepReference::Back(back))) => {
                    let session = vault.load(&recorder.target.path)?.session;
                    let ids: Vec<String> = session.steps().filter_map(|(_, step)| step.id.clone()).collect();
                    ids.len().checked_sub(back).and_then(|at| ids.get(at).cloned())
                }
                _ => None,
            };
            let block = match here {
                Some(id) => references.block(&format!("{}#{id}", recorder.target.id))?,
                None => references.block(name)?,
            };
            if block.id().is_empty() {
                return Err(Error::usage(format!("`{name}` has no id, so nothing can point at it")));
            }
            let note = if block.path == recorder.target.path { String::new() } else { block.path.stem().into_owned() };
            Ok(format!("[[{note}#^{}]]", block.id()))
        })
        .collect()
}

/// What was run.
#[derive(Debug, Serialize)]
struct RanSteps {
    schema: u32,
    steps: Vec<RecordedStep>,
}

impl PlainOutput for RanSteps {
    /// The command said what there is to say.
    fn shown(&self, _: &View) -> String {
        String::new()
    }

    fn code(&self) -> u8 {
        self.steps.last().map_or(0, |step| step.exit)
    }
}
