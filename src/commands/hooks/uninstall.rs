//! `cru hooks uninstall`.

use super::change::{Change, ChangeReport, ChangeReports, Consent};
use super::install::{HookHosts, refuse_changed_script};
use super::place::Which;
use super::record::{Record, RecordKind};
use super::{manifest, settings};
use crate::base::{Error, Result};
use crate::commands::{Context, Output};
use crate::live::hook::Host;

/// Remove the hooks of `cru` from an agent's settings
///
/// Gives back the very bytes from before where nobody changed the file since; else takes out the commands of `cru` and
/// nothing more. Sessions and what waits in their journals stay: `cru flush` writes it. The vault stays in the user's
/// configuration, since other commands use it.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    whose: HookHosts,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    consent: Consent,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let hosts = args.whose.meant(cx.env)?;
    let Some(host) = hosts.first() else { return Err(Error::no("no host with hooks is found in the home folder")) };
    if hosts.len() == 1 {
        return Ok(Box::new(uninstall(args, host, cx)?));
    }
    let hosts = hosts.iter().filter(|host| args.which.place(host, cx).is_ok());
    Ok(Box::new(ChangeReports(hosts.map(|host| uninstall(args, host, cx)).collect::<Result<Vec<_>>>()?)))
}

fn uninstall(args: &Args, host: &Host, cx: &Context<'_>) -> Result<ChangeReport> {
    let place = args.which.place(host, cx)?;
    let old = place.read()?;
    let text = old.as_deref().unwrap_or("");
    let found = settings::find(text, host).map_err(|refused| place.refuse(&refused))?;
    refuse_changed_script(text, host, &place, cx)?;
    let (new, beside) = if found.is_empty() {
        (old.clone(), None)
    } else {
        let new = match Record::read(RecordKind::Hooks, &place, text, cx.env) {
            Some(record) => record.into_before(),
            None => settings::uninstall(text, host).map_err(|refused| place.refuse(&refused))?,
        };
        (new, manifest::change(host, &place, false)?)
    };
    let change = Change { place: place.clone(), old, new, beside: beside.into_iter().collect() };
    let report = change.make(args.consent, "uninstalled", "holds no hooks of cru", cx)?;
    if report.is_written() {
        Record::remove(RecordKind::Hooks, &place, cx.env);
    }
    Ok(report)
}
