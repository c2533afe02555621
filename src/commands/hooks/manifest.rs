//! The manifest of the plugin folder that some hosts want beside a file of hooks.

use serde_json::json;

use super::change::FileChange;
use super::place::{SettingsPlace, settings_text};
use crate::base::Result;
use crate::live::hook::Host;

/// How the file of hooks ends where it lies in a plugin folder.
const IN_PLUGIN: &str = "/plugins/cru/hooks/hooks.json";

/// The change of the manifest with the hooks, or without them; `None` for a host that wants none.
pub(super) fn change(host: &Host, place: &SettingsPlace, wanted: bool) -> Result<Option<FileChange>> {
    if !host.settings.user.ends_with(IN_PLUGIN) {
        return Ok(None);
    }
    let Some(folder) = place.path.parent().and_then(|hooks| hooks.parent()) else { return Ok(None) };
    let path = folder.join("plugin.json");
    let old = if wanted || path.is_file() { settings_text(&path)? } else { None };
    let manifest = json!({
        "name": "cru",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Tells cru what happens, one short line for each event.",
    });
    let own = format!("{manifest:#}\n");
    // One that somebody changed stays.
    let new = match (&old, wanted) {
        (None, true) => Some(own),
        (Some(text), false) if *text == own => None,
        (old, _) => old.clone(),
    };
    Ok(Some(FileChange { path, old, new }))
}
