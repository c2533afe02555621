//! `cru connect` and `cru disconnect`: an agent's program and the vault, by hooks and by the MCP server.

use std::path::PathBuf;

use super::hooks;
use super::hooks::change::Consent;
use super::hooks::place::{Level, Which};
use super::mcp::setup::{self, ServerTarget, entry_name};
use super::output::Several;
use super::{Context, Output, agent};
use crate::base::{Error, Result};
use crate::live::hook::Host;

/// Have an agent's program record its sessions here, and ask the vault
///
/// Adds hooks, so that what the agent does arrives in the vault, and the MCP server, so that it can ask the vault, to the settings of
/// the program, as far as it has them. Everything else in the settings stays as it is, to the byte. All changes are shown first. Running
/// it again renews what is ours, or changes nothing.
///
/// Where the user's configuration names no vault, the vault of this folder (or of --vault) is added to it, so that events from all other
/// folders arrive there. Settings in YAML are not edited: what to add is printed.
#[derive(Debug, clap::Args)]
pub struct ConnectArgs {
    #[command(flatten)]
    target: ConnectTarget,
    /// Let the server offer `log`, which writes into the note of the current session
    #[arg(long)]
    write: bool,
    /// Replace an entry of that name that was not written by cru
    #[arg(long)]
    replace: bool,
    /// The program that is called; else this one (`cru` for --project)
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,
    /// Change no settings and write the plugin folder of Claude Code: the same hooks and server, a skill for the agent and commands for you.
    /// It calls `cru` by that name, so `cru` has to be on `PATH`
    #[arg(long, value_name = "DIR", exclusive = true)]
    plugin: Option<PathBuf>,
}

/// Whose settings, and what in them.
#[derive(Clone, Debug, clap::Args)]
pub struct ConnectTarget {
    /// Whose settings: claude-code (where none is named), codex, cursor, gemini-cli, copilot-cli, opencode, pi, vscode, zed, goose,
    /// qwen-code, kimi-cli
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// The same, as an option
    #[arg(long = "host", value_name = "HOST", hide = true)]
    named: Option<String>,
    /// Those of every host that is found in the home folder
    #[arg(long, conflicts_with_all = ["hosts", "named", "settings"])]
    all: bool,
    /// Only the hooks, or only the server
    #[arg(long, value_enum, value_name = "PART")]
    only: Option<ConnectPart>,
    #[command(flatten)]
    which: Which,
    /// The name of the server's entry
    #[arg(long, value_name = "NAME", default_value = setup::NAME, value_parser = entry_name)]
    name: String,
    #[command(flatten)]
    consent: Consent,
}

/// What is added to settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ConnectPart {
    /// The hooks: what the agent does arrives in the vault
    Hooks,
    /// The server: the agent can ask the vault
    Mcp,
}

pub(super) fn connect(args: &ConnectArgs, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if let Some(dir) = &args.plugin {
        return hooks::plugin(dir, cx);
    }
    let program = args.program.as_deref();
    let hook = |host| hooks::install::install(host, args.target.place(), program, cx);
    let server = |target: &ServerTarget| setup::install::run(target, args.write, args.replace, program, cx);
    let reports = args.target.each([ConnectPart::Hooks, ConnectPart::Mcp], &hook, &server, cx)?;
    if args.target.only.is_none() && agent::agent(cx, "").is_err() {
        cx.ui.note(
            "no agent reads the sessions: `[agent] preset = \"claude\"` in your own configuration lets `cru read` give them titles and briefs",
        );
    }
    Ok(Several::of("changes", reports))
}

pub(super) fn disconnect(target: &ConnectTarget, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let hook = |host| hooks::uninstall::uninstall(host, target.place(), cx);
    let server = |target: &ServerTarget| setup::uninstall::run(target, cx);
    // What came last goes first: both may stand in one file, which is then as it was before each.
    let parts = [ConnectPart::Mcp, ConnectPart::Hooks];
    Ok(Several::of("changes", target.each(parts, &hook, &server, cx)?))
}

impl ConnectTarget {
    /// Does something to the hooks and to the server of each host that is meant, in the order of `parts`.
    fn each(
        &self,
        parts: [ConnectPart; 2],
        hook: &dyn Fn(&'static Host) -> Result<Box<dyn Output>>,
        server: &dyn Fn(&ServerTarget) -> Result<Box<dyn Output>>,
        cx: &Context<'_>,
    ) -> Result<Vec<Box<dyn Output>>> {
        let file = self.which.file();
        if file.is_some() && self.only.is_none() {
            return Err(Error::usage("--settings names one file: say with --only what it holds, hooks or mcp"));
        }
        let mut reports = Vec::new();
        for name in self.names(cx)? {
            let mut is_known = false;
            for part in parts.into_iter().filter(|part| self.only.is_none_or(|only| only == *part)) {
                let host = Host::find(&name).filter(|_| part == ConnectPart::Hooks);
                is_known |= host.is_some();
                if let Some(host) = host.filter(|host| !self.is_optional() || self.which.place(host, cx).is_ok()) {
                    reports.push(hook(host)?);
                }
                if part == ConnectPart::Mcp && setup::is_known(&name) {
                    is_known = true;
                    let target = ServerTarget {
                        host: name.clone(),
                        project: self.which.level() == Level::Project,
                        settings: file.map(PathBuf::from),
                        name: self.name.clone(),
                        consent: self.consent,
                    };
                    if !self.is_optional() || target.has_place(cx) {
                        reports.push(server(&target)?);
                    }
                }
            }
            if !is_known {
                return Err(self.unknown(&name));
            }
        }
        if reports.is_empty() {
            return Err(Error::no("no host with such settings is found"));
        }
        Ok(reports)
    }

    /// Which settings, and whether they may be written.
    const fn place(&self) -> (&Which, Consent) {
        (&self.which, self.consent)
    }

    /// Whether a part that a host does not have is left out.
    const fn is_optional(&self) -> bool {
        self.all || self.only.is_none()
    }

    /// The hosts that are meant.
    fn names(&self, cx: &Context<'_>) -> Result<Vec<String>> {
        if self.all {
            let found: Vec<String> =
                hooks::install::found_hosts(cx.env).into_iter().map(|host| host.id.to_owned()).collect();
            return if found.is_empty() {
                Err(Error::no("no host with hooks is found in the home folder"))
            } else {
                Ok(found)
            };
        }
        let named: Vec<String> = self.hosts.iter().chain(&self.named).cloned().collect();
        Ok(if named.is_empty() { vec!["claude-code".to_owned()] } else { named })
    }

    fn unknown(&self, name: &str) -> Error {
        let (hooks, servers) = (hooks::known_hosts(), setup::known_hosts());
        match self.only {
            Some(ConnectPart::Hooks) => Error::usage(format!("no hooks of a host '{name}' are known")).with_hint(hooks),
            Some(ConnectPart::Mcp) => {
                Error::usage(format!("no settings of a host '{name}' are known")).with_hint(servers)
            }
            None => Error::usage(format!("the host '{name}' is unknown"))
                .with_hint(format!("hooks: {hooks}; server: {servers}")),
        }
    }
}
