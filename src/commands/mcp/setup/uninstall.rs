//! `cru mcp uninstall`.

use cru_settings::entry;

use super::{ServerPlace, text_of};
use crate::base::Result;
use crate::commands::hooks::change::{Change, Consent};
use crate::commands::hooks::record::{Record, RecordKind};
use crate::commands::{Context, Output, Raw};

/// Remove the server from an agent's settings
///
/// Gives back the very bytes from before where nobody changed the file since; else takes out the entry `cru` and nothing
/// more.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    place: ServerPlace,
    #[command(flatten)]
    consent: Consent,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (host, place) = args.place.find(cx)?;
    if host.is_by_hand() {
        let path = place.path.display();
        let text = format!("cru does not edit YAML. Remove `cru` below `extensions` in {path} by hand.\n");
        return Ok(Box::new(Raw { name: "text", text }));
    }
    let (old, text) = text_of(&place)?;
    let refuse = |refused| place.refuse(&refused);
    let is_there = entry::find(&text, host.format, &host.keys()).map_err(refuse)?.is_some();
    let new = if !is_there {
        old.clone()
    } else if let Some(record) = Record::read(RecordKind::Server, &place, &text, cx.env) {
        record.into_before()
    } else {
        Some(entry::take(&text, host.format, &host.keys()).map_err(refuse)?)
    };
    let change = Change { place: place.clone(), old, new, beside: Vec::new() };
    let report = change.make(args.consent, "uninstalled", "holds no server of cru", cx)?;
    if report.is_written() {
        Record::remove(RecordKind::Server, &place, cx.env);
    }
    Ok(Box::new(report))
}
