//! `cru mcp install`.

use cru_settings::entry;

use super::hosts::McpHost;
use super::{ServerPlace, text_of};
use crate::base::Result;
use crate::commands::hooks::change::{Change, Consent};
use crate::commands::hooks::install::{program_path, utf8};
use crate::commands::hooks::record::{Record, RecordKind};
use crate::commands::{Context, Output, Raw};

/// Add the server to an agent's settings
///
/// Adds one entry named `cru` that starts `cru mcp`, and leaves everything else in the settings as it is, to the byte. An
/// entry that is there is renewed where it stands; fields that somebody added to it stay. Shows the change first. For goose,
/// whose YAML is not edited, prints what to add.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    place: ServerPlace,
    #[command(flatten)]
    consent: Consent,
    /// Offer `log`, which writes into the note of the current session
    #[arg(long)]
    write: bool,
    /// The program that is started; else this one (`cru` for --project)
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (host, place) = args.place.find(cx)?;
    let program = program_path(args.program.as_deref(), place.level, cx.env)?;
    let mut arguments = Vec::new();
    if let Some(vault) = cx.vault_arg() {
        arguments.extend(["--vault".to_owned(), utf8(&cx.absolute(vault))?]);
    }
    arguments.push("mcp".to_owned());
    arguments.extend(args.write.then(|| "--write".to_owned()));
    if host.is_by_hand() {
        let path = place.path.display();
        let text = McpHost::by_hand(&program, &arguments);
        let text = format!("cru does not edit YAML. Add this by hand to {path}:\n\n{text}");
        return Ok(Box::new(Raw { name: "text", text }));
    }
    let (old, text) = text_of(&place)?;
    let keys = host.keys();
    let refuse = |refused| place.refuse(&refused);
    let is_there = entry::find(&text, host.format, &keys).map_err(refuse)?.is_some();
    let new = entry::put(&text, host.format, &keys, &host.fields(&program, &arguments)).map_err(refuse)?;
    let before = if !is_there {
        old.clone()
    } else if let Some(record) = Record::read(RecordKind::Server, &place, &text, cx.env) {
        record.into_before()
    } else {
        Some(entry::take(&text, host.format, &keys).map_err(refuse)?)
    };
    let change = Change { place: place.clone(), old, new: Some(new.clone()), beside: Vec::new() };
    let done = if is_there { "renewed" } else { "installed" };
    let report = change.make(args.consent, done, "already installed", cx)?;
    if report.is_written() {
        Record::write(RecordKind::Server, &place, before.as_deref(), &new, cx.env);
    }
    let next = format!("{} starts the server with its next session", host.title);
    Ok(Box::new(report.note(Some(next))))
}
