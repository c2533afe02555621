//! Which files are read as one: the graph of a folder and its open session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cru_session::source::Bundle;

/// Groups files by folder; the closed sessions come before the open one.
pub(super) fn bundle(mut files: Vec<PathBuf>) -> Vec<Bundle> {
    files.sort_by_key(|path| (is_open(path), path.clone()));
    files.dedup();
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in files {
        folders.entry(path.parent().map(Path::to_owned).unwrap_or_default()).or_default().push(path);
    }
    folders.into_values().map(Bundle::of).collect()
}

/// The folder of a file.
pub(super) fn folder(path: &Path) -> Option<String> {
    path.parent().map(|folder| format!("folder {}", folder.display()))
}

/// Whether a file holds the session that is worked in.
pub(super) fn is_open(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains("current"))
}
