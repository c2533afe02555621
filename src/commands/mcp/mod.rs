//! `cru mcp`: the vault for agents, by the Model Context Protocol on stdin and stdout.
//!
//! Each tool calls the commands that a person would call and arranges their values: none finds, reads or counts anything
//! itself. What leaves is bounded by a budget of tokens, masked, and framed as a record. There is no network, no child
//! process and no model; the server ends with its stdin.

mod answer;
mod argument;
mod catalogue;
mod prompt;
mod reference;
mod resource;
mod serve;
pub(super) mod setup;
mod tool;

use std::io::IsTerminal as _;

use super::{Context, Output, Raw};
use crate::base::{Error, Result};

/// Serve the vault to an agent, by the Model Context Protocol
///
/// Speaks the protocol on stdin and stdout and ends with stdin. Tools: search, read, before (ask before acting), decisions,
/// query, status; log with --write. Sessions with `export: false` or the tag `no-mcp`, and comments, are never given.
/// `cru connect` adds the server to an agent's settings.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Offer `log`, which writes into the note of the current session
    #[arg(long)]
    write: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if std::io::stdin().is_terminal() {
        return Err(Error::usage("stdin is a terminal: an agent's program starts this command").with_hint(
            "`cru connect HOST` adds it to an agent's settings; `cru connect --plugin DIR` writes a plugin that has it",
        ));
    }
    serve::run(args.write, cx)?;
    Ok(Box::new(Raw { name: "mcp", text: String::new() }))
}
