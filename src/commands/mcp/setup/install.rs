//! `cru connect`: the server.

use cru_settings::entry;

use super::hosts::McpHost;
use super::{EntryOwner, ServerTarget, is_theirs, text_of};
use crate::base::Result;
use crate::commands::hooks::change::Change;
use crate::commands::hooks::install::{program_path, utf8};
use crate::commands::hooks::record::{Record, RecordKind};
use crate::commands::{Context, Output, Raw};

/// Adds the entry that starts the server of `program`, else of this one, or renews it where it stands. With `write` the server offers
/// `log`; with `replace` an entry of that name which somebody else made gives way.
pub(in crate::commands) fn run(
    target: &ServerTarget,
    write: bool,
    replace: bool,
    program: Option<&str>,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let (host, place) = target.find(cx)?;
    let program = program_path(program, place.level, cx.env)?;
    let mut arguments = Vec::new();
    if let Some(vault) = cx.vault_arg() {
        arguments.extend(["--vault".to_owned(), utf8(&cx.absolute(vault))?]);
    }
    arguments.push("mcp".to_owned());
    arguments.extend(write.then(|| "--write".to_owned()));
    if host.is_by_hand() {
        let path = place.path.display();
        let text = McpHost::by_hand(&program, &arguments);
        let text = format!("cru does not edit YAML. Add this by hand to {path}:\n\n{text}");
        return Ok(Box::new(Raw { name: "text", text }));
    }
    let (old, text) = text_of(&place)?;
    let name = target.name.as_str();
    let (keys, kind) = (host.keys(name), RecordKind::Server(name));
    let refuse = |refused| place.refuse(&refused);
    let there = entry::find(&text, host.format, &keys).map_err(refuse)?;
    let is_there = there.is_some();
    let owner = there.as_ref().map(|entry| EntryOwner::of(entry, name, &place, cx));
    let mut base = text.clone();
    if let (Some(entry), Some(EntryOwner::Theirs)) = (&there, owner) {
        if !replace {
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
    let report = change.make(target.consent, done, "already installed", cx)?;
    if report.is_written() {
        Record::write(kind, &place, before.as_deref(), &new, written, cx.env);
    }
    let next = format!("{} starts the server with its next session", host.title);
    Ok(Box::new(report.note(Some(next))))
}
