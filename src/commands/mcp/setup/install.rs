//! `cru mcp install`.

use cru_settings::entry;

use super::hosts::McpHost;
use super::{EntryOwner, ServerPlace, is_theirs, text_of};
use crate::base::Result;
use crate::commands::hooks::change::{Change, Consent};
use crate::commands::hooks::install::{program_path, utf8};
use crate::commands::hooks::record::{Record, RecordKind};
use crate::commands::{Context, Output, Raw};

/// Add the server to an agent's settings
///
/// Adds one entry named `cru` that starts `cru mcp`, and leaves everything else in the settings as it is, to the byte. An
/// entry of ours is renewed where it stands; fields that somebody added to it stay. One of that name that starts anything
/// else is left: give ours another `--name`, or `--replace` it, which `uninstall` takes back. Shows the change first. For
/// goose, whose YAML is not edited, prints what to add.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    place: ServerPlace,
    #[command(flatten)]
    consent: Consent,
    /// Offer `log`, which writes into the note of the current session
    #[arg(long)]
    write: bool,
    /// Replace an entry of that name that was not written by cru
    #[arg(long)]
    replace: bool,
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
    let name = args.place.name.as_str();
    let (keys, kind) = (host.keys(name), RecordKind::Server(name));
    let refuse = |refused| place.refuse(&refused);
    let there = entry::find(&text, host.format, &keys).map_err(refuse)?;
    let is_there = there.is_some();
    let owner = there.as_ref().map(|entry| EntryOwner::of(entry, name, &place, cx));
    let mut base = text.clone();
    if let (Some(entry), Some(EntryOwner::Theirs)) = (&there, owner) {
        if !args.replace {
            let other = format!("`--name {name}-notes` adds ours beside it, `--replace` replaces it until `uninstall`");
            return Err(is_theirs(entry, name, &place).with_hint(other));
        }
        base = entry::take(&text, host.format, &keys).map_err(refuse)?;
    }
    let new = entry::put(&base, host.format, &keys, &host.fields(&program, &arguments)).map_err(refuse)?;
    let before = match Record::read(kind, &place, &text, cx.env) {
        Some(record) if is_there => record.into_before(),
        _ if owner == Some(EntryOwner::Ours) => Some(entry::take(&text, host.format, &keys).map_err(refuse)?),
        // What nobody is known to have written is given back.
        _ => old.clone(),
    };
    let written = entry::find(&new, host.format, &keys).map_err(refuse)?;
    let change = Change { place: place.clone(), old, new: Some(new.clone()), beside: Vec::new() };
    let done = if is_there { "renewed" } else { "installed" };
    let report = change.make(args.consent, done, "already installed", cx)?;
    if report.is_written() {
        Record::write(kind, &place, before.as_deref(), &new, written, cx.env);
    }
    let next = format!("{} starts the server with its next session", host.title);
    Ok(Box::new(report.note(Some(next))))
}
