//! `cru session start`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::{Error, Result};
use crate::commands::events::{self, ChangedNote};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, derived, flush};
use crate::live::git;
use crate::live::log::Log;
use crate::live::start::{Start, start};
use crate::session::{Agent, fold};
use crate::vault::{Catalog, State, Vault};

/// Start a session
///
/// Makes its note and prints its id. `export CRU_SESSION=$(cru session start "Refresh tokens")` makes it the session that
/// `cru log` means. With --host-session the same one is found again instead of a second one made.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What it is about
    words: Vec<String>,
    /// Who works: `coder@2.0`; else `[session] agent` of the configuration
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Channel; else `[session] channel`, else the project folder's name
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Primary model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Folder of the work; else this one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The session this one comes from
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// The program that runs it: `claude-code`
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// That program's own id for it
    #[arg(long, value_name = "ID")]
    host_session: Option<String>,
    /// Tag; may be given again
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let log = Log::new(&vault, &state, cx.env.now())?;
    derived::catch_up(&vault, &state, cx);
    // What an earlier session left is nothing that keeps this one from its start.
    if let Err(error) = flush::write(None, &vault, &state, cx) {
        cx.ui.warn(&format!("what earlier sessions left could not be written: {error}"));
    }
    let agent = match args.agent.as_deref().map(Agent::parse) {
        Some(agent) if agent.name.is_empty() => {
            return Err(Error::usage("--agent is empty").with_hint("write it as coder@2.0"));
        }
        agent => agent.or_else(|| log.agent().cloned()),
    };
    let parent = match args.parent.as_deref() {
        Some(name) => Some(Catalog::read(&vault).session(name, &vault, cx.env)?.path.stem().into_owned()),
        None => None,
    };
    let folder = args.project.as_deref().map_or_else(|| cx.env.cwd().to_owned(), |path| plain(cx.absolute(path)));
    let git::Checkout { branch, commit } = git::checkout(&folder);
    let home = cx.env.home().map(Path::to_string_lossy);
    let project = fold::shorten(&folder.to_string_lossy(), home.as_deref());
    let channel = args.channel.as_deref().map(|name| name.trim().trim_start_matches('#').to_owned());
    let channel = channel.or_else(|| vault.config().channel.clone()).or_else(|| fold::channel(&project));
    let title = (!args.words.is_empty()).then(|| args.words.join(" "));
    let started = start(
        &vault,
        &state,
        &Start {
            title,
            started: log.now,
            agent,
            channel,
            model: args.model.clone(),
            project: Some(project),
            branch,
            commit,
            parent,
            host: args.host.clone(),
            host_session: args.host_session.clone(),
            tags: args.tag.clone(),
            ..Start::default()
        },
    )?;
    if let Some(fault) = &started.fault {
        cx.ui.warn(fault);
    }
    if started.created {
        events::tell(&[ChangedNote::there(started.target.path.clone())], &vault, &state, cx);
    }
    let session = started.target.id;
    if started.created {
        cx.ui.note(&format!("hint: export CRU_SESSION={session}"));
    } else {
        cx.ui.note(&format!("the session exists already: {}", started.target.path));
    }
    let note = started.target.path.to_string();
    Ok(Box::new(Begun { schema: 1, session, note, created: started.created }))
}

/// Without links and `..`, where it is there.
fn plain(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
}

#[derive(Debug, Serialize)]
struct Begun {
    schema: u32,
    session: String,
    note: String,
    created: bool,
}

impl PlainOutput for Begun {
    fn shown(&self, _: &View) -> String {
        format!("{}\n", paint(style::ID, &self.session))
    }
}
