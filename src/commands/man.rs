//! `cru admin man`.

use clap::CommandFactory as _;

use super::{Cli, Output, Raw};
use crate::base::{Error, Result};

/// Print the manual page
///
/// Read it with `cru admin man | man -l -`; a command's own page with `cru admin man session show`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Page of one command, `session show`
    command: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Box<dyn Output>> {
    let mut command = Cli::command();
    command.build();
    for part in &args.command {
        let Some(sub) = command.find_subcommand(part) else {
            return Err(Error::usage(format!("no command `cru {}`", args.command.join(" ")))
                .with_hint("`cru --help` lists all commands"));
        };
        command = sub.clone();
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| Error::io("render", "the manual page", error))?;
    Ok(Box::new(Raw { name: "page", text: String::from_utf8_lossy(&page).into_owned() }))
}
