//! `cru session codify`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::text::plural;
use crate::base::{Diagnostic, Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, View, reading};
use crate::note::Note;
use crate::session::read;
use crate::vault::template::{Kind, Template};
use crate::vault::{Catalog, Vault};
use crate::workflow::{self, Options, Workflow};

/// Make a workflow of a session
///
/// The phases become steps with their agents and channels, the files that went from one to the next, decisions,
/// commands that mattered, and the checks that passed in the end. SESSION is a path, a file name, a session id, or
/// enough of one to tell it apart; without it, the current session, else the one that was completed last.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which session
    session: Option<String>,
    /// Write to this file, which must not exist yet, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep the versions of agents: `@planner@1.2`
    #[arg(long)]
    agent_versions: bool,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (path, vault) = find(args.session.as_deref(), cx)?;
    let note = Note::parse(files::read(&path)?);
    let (session, _) = read::session(&note);
    let (workflow, remarks) = workflow::codify(&session, &Options { versions: args.agent_versions });
    let mut markdown = workflow::render(&workflow);
    if let Some(vault) = vault {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        markdown = Template::of(&vault, Kind::Workflow)?.frame(&markdown, &stem)?;
    }
    for remark in &remarks {
        match remark.severity {
            crate::base::Severity::Info => cx.ui.note(&remark.message),
            _ => cx.ui.warn(&remark.message),
        }
    }
    if let Some(output) = &args.output {
        let file = cx.absolute(output);
        if !files::create(&file, markdown.as_bytes())? {
            return Err(Error::usage(format!("{} exists already", output.display()))
                .with_hint("name another file, or move that one away"));
        }
    }
    Ok(Box::new(Made { schema: 1, output: args.output.clone(), workflow, markdown, remarks }))
}

/// The file of the session and its vault: a path that is there, vault or not, else whatever the vault knows by that name.
fn find(name: Option<&str>, cx: &Context<'_>) -> Result<(PathBuf, Option<Vault>)> {
    if let Some(name) = name {
        let path = cx.absolute(Path::new(name));
        if path.is_file() {
            return Ok((path, Vault::find(cx.vault_arg(), cx.env).ok()));
        }
    }
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let head = match name {
        Some(name) => catalog.session(name, &vault, cx.env)?,
        None => match catalog.current(&vault, cx.env)? {
            Some(head) => head,
            None => catalog.newest_completed().ok_or_else(|| {
                Error::usage("no session of this vault is completed")
                    .with_hint("name the session: `cru session codify <session>`")
            })?,
        },
    };
    Ok((vault.file(&head.path), Some(vault)))
}

#[derive(Debug, Serialize)]
struct Made {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
    workflow: Workflow,
    markdown: String,
    remarks: Vec<Diagnostic>,
}

impl Output for Made {
    fn text(&self, _: &View) -> String {
        let Some(output) = &self.output else { return self.markdown.clone() };
        let steps = self.workflow.step_flags().into_iter().filter(|flag| *flag).count();
        let mut text = format!("{}  {}", paint(style::ID, output.display()), plural(steps as u64, "step"));
        if !self.workflow.checks.is_empty() {
            let _ = write!(text, ", {}", plural(self.workflow.checks.len() as u64, "check"));
        }
        text.push('\n');
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn export(&self, format: crate::commands::Format) -> Option<String> {
        let picture = workflow::export::graph::picture(&self.workflow);
        match format {
            crate::commands::Format::Mermaid => Some(workflow::export::mermaid::export(&picture)),
            crate::commands::Format::Dot => Some(workflow::export::dot::export(&picture)),
            _ => None,
        }
    }

    fn paged(&self) -> bool {
        self.output.is_none()
    }
}
