//! `cru admin man`.

use std::ffi::OsString;

use clap::CommandFactory as _;

use super::{Cli, Output, Raw, renamed};
use crate::base::{Error, Result};

/// Print the manual page
///
/// Read it with `cru admin man | man -l -`; a command's own page with `cru admin man log tool`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Page of one command, `log tool`
    command: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Box<dyn Output>> {
    let mut command = Cli::command();
    command.build();
    let named: Vec<OsString> =
        std::iter::once("cru").chain(args.command.iter().map(String::as_str)).map(Into::into).collect();
    // A second or an old name has the page of the command that it means.
    let (meant, _) = renamed::in_todays_names(&named);
    let meant = meant.iter().skip(1).map(|word| word.to_string_lossy());
    for part in meant.take_while(|word| !word.starts_with('-') && !word.ends_with(':')) {
        let Some(sub) = command.find_subcommand(&*part) else {
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
