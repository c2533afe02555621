//! `cru session codify`.

mod evidence;
mod extract;
mod interactive;
mod made;
mod refine;
mod split;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::base::text::slug;
use crate::base::{Error, Result, Severity, files};
use crate::commands::output::Raw;
use crate::commands::read::text_of;
use crate::commands::words::explained;
use crate::commands::workflow::DIALECTS;
use crate::commands::{Context, Output, agent};
use crate::vault::{Vault, VaultPath};
use crate::workflow::{Dialect, Options, Shape};
use made::Made;
pub(in crate::commands) use made::recipe_as;

/// Turn a session, or several, into a workflow
///
/// It is the skeleton of the work on one page, from facts alone: steps as somebody named them or asked for them, with their
/// agents and channels, the files that went from one to the next, decisions, what a person agreed to or set right, the commands
/// that changed or checked something and how they ended, and what is open. --full tells all of it: every edit, command and
/// word. SESSION is a path, a file name, a session id, or enough of one to tell it apart; without it, the current session,
/// else the one that was completed last.
///
/// Several sessions are laid side by side: what most of them did is the common path, what some did is optional, what was
/// done in both orders may run side by side. Sessions that failed only tell how not to do it.
///
/// Where a reading of the session is accepted, its groups of steps and their titles are used; commands come from the record.
///
/// A session in which nothing was changed, checked or decided gives no workflow; the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Formats: text (markdown), json, toon, mermaid, dot (Graphviz).")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Args {
    /// Which sessions
    session: Vec<String>,
    /// Write to this file, which must not exist yet, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which dialect of the markup is written
    #[arg(long, value_name = "DIALECT", default_value = "a", value_parser = explained(DIALECTS))]
    dialect: Dialect,
    /// Tell all of it, however long it is: edits with their lines, all commands, the agent's words
    #[arg(long)]
    full: bool,
    /// Keep the versions of agents: `@planner@1.2`
    #[arg(long)]
    agent_versions: bool,
    /// Have a recipe written from it: how to do the work again. The agent that `[agent]` of your own configuration names is asked, and
    /// each line is compared with the record: what no session has is set apart, what gets lost is named
    #[arg(long, conflicts_with = "full")]
    refine: bool,
    /// Print what an agent would be asked for the recipe, and start nothing
    #[arg(long, conflicts_with_all = ["full", "output", "interactive", "split"])]
    prompt: bool,
    /// Take a recipe that somebody has written, from a file or from stdin with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "prompt", "split"])]
    from: Option<PathBuf>,
    /// Open it in `$VISUAL` or `$EDITOR` before it is written; it is checked when you save. Without a terminal it is
    /// written and shown. Without `--output` it goes into `workflows/` of the vault
    #[arg(short, long)]
    interactive: bool,
    /// Write one workflow for each job: turns that share a file or a value stay together. With `--output` the files go
    /// into that folder
    #[arg(long, conflicts_with_all = ["refine", "interactive"])]
    split: bool,
}

impl Args {
    /// Whether it is about a recipe.
    const fn is_refined(&self) -> bool {
        self.refine || self.prompt || self.from.is_some()
    }

    fn options(&self) -> Options {
        Options { versions: self.agent_versions, shape: if self.full { Shape::Replay } else { Shape::Skeleton } }
    }
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let output = args.output.as_ref().map(|output| cx.absolute(output));
    if args.split {
        return split::run(args, output.as_deref(), cx);
    }
    if let (Some(shown), Some(file)) = (&args.output, &output)
        && file.symlink_metadata().is_ok()
    {
        return Err(taken(shown));
    }
    // Without an agent nothing is read: the message comes at once.
    let asks = args.refine && !args.prompt && args.from.is_none();
    let otherwise = "; without one, `--prompt` prints the question and `--from FILE` takes the answer";
    let agent = if asks { Some(agent::agent(cx, otherwise)?) } else { None };
    let answer = args.from.as_deref().map(|file| text_of(file, cx)).transpose()?;
    let extract = extract::extract(args, cx)?;
    for remark in &extract.remarks {
        match remark.severity {
            Severity::Info => cx.ui.note(&remark.message),
            _ => cx.ui.warn(&remark.message),
        }
    }
    let mut made = Made::new(extract, args);
    if args.prompt {
        return Ok(Box::new(Raw { name: "prompt", text: refine::prompt(&made, cx)? }));
    }
    if let Some(answer) = answer {
        refine::take(&answer, &mut made, cx)?;
    }
    if let Some(agent) = agent {
        refine::refine(&agent, &mut made, output.as_deref(), cx)?;
    }
    let mut draft = None;
    if args.interactive {
        draft = interactive::edit(&mut made, cx)?;
        // Who has looked through a recipe and saved it has accepted it.
        if draft.is_some() && !made.shown && made.refined.is_some() {
            made.accept()?;
        }
    }
    if let (Some(shown), Some(file)) = (&args.output, &output) {
        if !files::create(file, made.markdown.as_bytes())? {
            return Err(taken(shown));
        }
        // What was edited is in the output now.
        if let Some(draft) = draft {
            files::remove(&draft)?;
        }
    } else if let Some(draft) = draft {
        let file = into_vault(&made, cx)?;
        files::remove(&draft)?;
        cx.ui.note(&format!("written to {}", file.display()));
    }
    Ok(Box::new(made))
}

/// Writes it below `workflows/` under the first name that no file has.
fn into_vault(made: &Made, cx: &Context<'_>) -> Result<PathBuf> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let name =
        Some(slug(&made.workflow.title, 8)).filter(|name| !name.is_empty()).unwrap_or_else(|| "workflow".to_owned());
    for number in 1..10_000 {
        let name = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        let Some(path) = VaultPath::new(format!("workflows/{name}.md")) else { break };
        if files::create(&vault.file(&path), made.markdown.as_bytes())? {
            return Ok(vault.file(&path));
        }
    }
    Err(Error::usage("no name for the workflow is free").with_hint("name the file: `--output FILE`"))
}

fn taken(output: &std::path::Path) -> Error {
    Error::usage(format!("{} exists already", output.display())).with_hint("name another file, or move that one away")
}
