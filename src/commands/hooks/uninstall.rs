//! `cru disconnect`: the hooks.

use super::change::{Change, Consent};
use super::install::refuse_changed_script;
use super::place::Which;
use super::record::{Record, RecordKind};
use super::{manifest, settings};
use crate::base::Result;
use crate::commands::{Context, Output};
use crate::live::hook::Host;

/// Takes the hooks out of the settings of a host.
pub(in crate::commands) fn uninstall(
    host: &'static Host,
    (which, consent): (&Which, Consent),
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let place = which.place(host, cx)?;
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
    let report = change.make(consent, "uninstalled", "holds no hooks of cru", cx)?;
    if report.is_written() {
        Record::remove(RecordKind::Hooks, &place, cx.env);
    }
    Ok(Box::new(report))
}
