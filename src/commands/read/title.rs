//! The title of a brief that counts becomes the session's, and the note is renamed once, where no person has named or linked it.

use serde_json::Value as Json;

use super::source::Source;
use crate::base::Result;
use crate::commands::Context;
use crate::commands::derived::DerivedPages;
use crate::commands::reading;
use crate::note::{Note, frontmatter};
use crate::sync::rename::RenameGround;
use crate::vault::{Catalog, State, Vault, VaultPath, seals, state};

/// Types of notes that the program writes; a link in any other note is a person's.
const OWN: [&str; 6] = ["session", "project", "summary", "reading", "case", "lesson"];

/// Gives the session the title; where its note is then. A title that a person gave stays: one that neither the program wrote nor an
/// `earlier` reading gave.
pub(super) fn give(
    title: &str,
    earlier: &[&str],
    source: &Source,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<VaultPath> {
    let path = source.path.clone();
    let catalog = Catalog::read(vault);
    let Some(head) = catalog.sessions().find(|head| head.path == path) else { return Ok(path) };
    let key = state::key(&head.id());
    let old = head.meta.title.clone().unwrap_or_default();
    let is_of_reading = earlier.contains(&old.as_str());
    if old == title || !(is_of_reading || seals::read(vault, &key).has_property("title", &Json::String(old))) {
        return Ok(path);
    }
    let state = State::of(vault, cx.env)?;
    let ground = RenameGround { vault, catalog: &catalog, state: &state, now: cx.env.now() };
    // A note has its first name as long as it is called like the session.
    let is_first_name = head.path.stem() == head.id();
    let linked = || -> Result<bool> {
        let would = ground.rename(head, title, true)?;
        Ok(would.linking.iter().any(|(_, before, _)| !is_own(before)))
    };
    if !is_first_name || linked()? {
        ground.retitle(head, title)?;
        return Ok(path);
    }
    let pages = DerivedPages::begin(vault, &state, cx);
    let renamed = ground.rename(head, title, false)?;
    for (path, why) in &renamed.failed {
        cx.ui.warn(&format!("links in {path} are as they were: {why}"));
    }
    reading::refresh(vault, None, cx);
    pages.finish();
    Ok(VaultPath::new(&renamed.to).unwrap_or(path))
}

/// Whether the program writes notes of this type.
fn is_own(text: &str) -> bool {
    let note = Note::parse(text);
    let kind = note.frontmatter().and_then(|block| {
        let (values, _) = frontmatter::read(note.text(), &block);
        values.string("type").map(str::to_owned)
    });
    kind.is_some_and(|kind| OWN.contains(&kind.as_str()))
}
