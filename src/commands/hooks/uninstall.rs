//! `cru hooks uninstall`.

use super::change::{Change, Consent};
use super::place::Which;
use super::record::Record;
use super::settings;
use crate::base::Result;
use crate::commands::{Context, Output};

/// Remove the hooks of `cru` from an agent's settings
///
/// Gives back the very bytes from before where nobody changed the file since; else takes out the commands of `cru` and
/// nothing more. Sessions and what waits in their journals stay: `cru flush` writes it. The vault stays in the user's
/// configuration, since other commands use it.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    consent: Consent,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let place = args.which.place(cx)?;
    let old = place.read()?;
    let text = old.as_deref().unwrap_or("");
    let found = settings::find(text).map_err(|refused| place.refuse(&refused))?;
    let new = if found.is_empty() {
        old.clone()
    } else if let Some(record) = Record::read(&place, text, cx.env) {
        record.into_before()
    } else {
        Some(settings::uninstall(text).map_err(|refused| place.refuse(&refused))?)
    };
    let change = Change { place: place.clone(), old, new, beside: None };
    let report = change.make(args.consent, "uninstalled", "holds no hooks of cru", cx)?;
    if report.is_written() {
        Record::remove(&place, cx.env);
    }
    Ok(Box::new(report))
}
