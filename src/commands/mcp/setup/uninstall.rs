//! `cru disconnect`: the server.

use cru_settings::entry;

use super::{EntryOwner, ServerTarget, is_theirs, text_of};
use crate::base::{Error, Result};
use crate::commands::hooks::change::Change;
use crate::commands::hooks::record::{Record, RecordKind};
use crate::commands::{Context, Output, Raw};

/// Takes the entry of the server out of the settings of a program.
pub(in crate::commands) fn run(target: &ServerTarget, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (host, place) = target.find(cx)?;
    if host.is_by_hand() {
        let path = place.path.display();
        let text = format!("cru does not edit YAML. Remove `cru` below `extensions` in {path} by hand.\n");
        return Ok(Box::new(Raw { name: "text", text }));
    }
    let (old, text) = text_of(&place)?;
    let refuse = |refused| place.refuse(&refused);
    let name = target.name.as_str();
    let (keys, kind) = (host.keys(name), RecordKind::Server(name));
    let new = match entry::find(&text, host.format, &keys).map_err(refuse)? {
        None => old.clone(),
        Some(entry) => match Record::read(kind, &place, &text, cx.env) {
            Some(record) => record.into_before(),
            None => match EntryOwner::of(&entry, name, &place, cx) {
                EntryOwner::Theirs => return Err(is_theirs(&entry, name, &place).with_hint("remove it by hand")),
                EntryOwner::Form if host.has_more(&entry) => {
                    let what =
                        format!("{}: the entry `{name}` has fields that cru did not write", place.path.display());
                    return Err(Error::usage(what).with_hint("remove it by hand"));
                }
                _ => Some(entry::take(&text, host.format, &keys).map_err(refuse)?),
            },
        },
    };
    let change = Change { place: place.clone(), old, new, beside: Vec::new() };
    let report = change.make(target.consent, "uninstalled", "holds no server of cru", cx)?;
    if report.is_written() {
        Record::remove(kind, &place, cx.env);
    }
    Ok(Box::new(report))
}
