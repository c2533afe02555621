//! `cru view`: the vault in a browser, served on this machine alone or as files.
//!
//! A page asks the commands that a person would call and lays their values out by a template: none finds, reads or counts anything
//! itself. What is decided in it goes through the same commands. [`site`] has the pages, [`serve`] answers requests.

mod act;
mod export;
mod http;
mod inbox;
mod live;
mod serve;
mod site;
mod vault;

use std::path::PathBuf;

use super::{Context, Output, Raw};
use crate::base::Result;

/// Open the vault in a browser
///
/// Serves pages of sessions, projects, files, lessons, workflows, cases, what waits for a decision, and costs, to this machine alone,
/// until it is stopped. Pages follow notes as they grow. Accepting, rejecting and ticking tasks write what the commands of the same
/// name write; nothing else is changed. Sessions with `export: false` or the tag `no-mcp`, and comments, are never shown.
///
/// With `--html` the same pages become files that link to each other: they need no server, and
/// their search (titles, requests, decisions, errors) works from a folder.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the pages into a folder and end
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_open", "port"])]
    html: Option<PathBuf>,
    /// Only print the address
    #[arg(long)]
    no_open: bool,
    /// The port; else one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if let Some(folder) = &args.html {
        return export::run(&cx.absolute(folder), cx);
    }
    serve::run(args.port, !args.no_open, cx)?;
    Ok(Box::new(Raw { name: "view", text: String::new() }))
}
