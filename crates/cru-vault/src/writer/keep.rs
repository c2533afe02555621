//! Copies of a note that are kept for a person.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::State;
use cru_base::{Result, files};

/// Keeps a copy of a note as it is before a write; where it lies. The oldest beyond twenty go.
pub(super) fn copy(state: &State, key: &str, bytes: &[u8], revision: u64, now: Timestamp) -> Result<PathBuf> {
    let dir = state.recovery(key);
    let time = now.strftime("%Y%m%dT%H%M%S");
    let mut path = dir.join(format!("{time}Z-r{revision}.md"));
    let mut number = 1;
    while !files::create_private(&path, bytes)? && files::read(&path)? != bytes {
        number += 1;
        path = dir.join(format!("{time}Z-r{revision}-{number}.md"));
    }
    let mut copies = names(&dir);
    copies.sort();
    // How many recovery copies of a note are kept.
    let surplus = copies.len().saturating_sub(20);
    for name in copies.iter().take(surplus) {
        files::remove(&dir.join(name))?;
    }
    Ok(path)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
