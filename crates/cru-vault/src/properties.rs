//! Types of properties in Obsidian, which hold for a whole vault: those that other notes use are not this program's.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{Vault, Walk};
use cru_base::files;

/// Most notes that are looked into for the properties of other notes.
const MOST_NOTES: usize = 20_000;

/// The names of properties that notes of the vault have which are not of this program: those without a `type` that is.
pub(crate) fn foreign_properties(root: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let notes = Vault::open(root).map(|vault| Walk::of(&vault).notes).unwrap_or_default();
    for (note, _) in notes.iter().take(MOST_NOTES) {
        let Ok(mut file) = files::open_regular(&root.join(note.as_path())) else { continue };
        // Bytes of a note that are read for them.
        let Ok(head) = files::read_at(&mut file, 0, 16 << 10) else { continue };
        let head = String::from_utf8_lossy(&head);
        let keys = top_level_keys(&head);
        if !keys.iter().any(|(key, value)| *key == "type" && OWN_TYPES.contains(value)) {
            names.extend(keys.into_iter().map(|(key, _)| key.to_owned()));
        }
    }
    names
}

/// What the property `type` of a note of this program says.
const OWN_TYPES: &[&str] = &["session", "workflow", "case", "lesson", "project"];

/// The keys of a note's frontmatter with the rest of their lines.
fn top_level_keys(text: &str) -> Vec<(&str, &str)> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Vec::new();
    }
    let lines = lines.take_while(|line| line.trim_end() != "---");
    let keys = lines.filter(|line| !line.starts_with([' ', '\t', '-', '#'])).filter_map(|line| line.split_once(':'));
    let plain = |text| str::trim(text).trim_matches(['"', '\'']);
    keys.map(|(key, value)| (plain(key), plain(value))).collect()
}

/// The property types without those of some names.
pub(crate) fn without_types(content: &str, foreign: &BTreeSet<String>) -> String {
    let Ok(mut types) = serde_json::from_str::<Value>(content) else { return content.to_owned() };
    if let Some(types) = types.get_mut("types").and_then(Value::as_object_mut) {
        types.retain(|name, _| !foreign.contains(name));
    }
    format!("{types:#}\n")
}
