//! Which files are read as one: those of one session, which is a file and its copies and slices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::head::PiHead;
use cru_base::Result;
use cru_session::source::Bundle;

/// Groups files by session, the earliest first. A fork is a session of its own.
pub(super) fn bundle(mut files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    files.sort();
    files.dedup();
    let none = Bundle::default();
    let mut sessions: BTreeMap<String, Vec<(Option<jiff::Timestamp>, PathBuf)>> = BTreeMap::new();
    for path in files {
        let head = PiHead::read(&none, &path)?;
        sessions.entry(head.session).or_default().push((head.time, path));
    }
    let mut bundles: Vec<_> = sessions.into_values().collect();
    for files in &mut bundles {
        files.sort();
    }
    bundles.sort();
    Ok(bundles.into_iter().map(|files| Bundle::of(files.into_iter().map(|(_, path)| path).collect())).collect())
}

/// The session of a file, and the file of a fork's origin by its name.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let head = PiHead::read(&Bundle::default(), path)?;
    let named = |path: &str| path.rsplit(['/', '\\']).next().map(|name| format!("file {name}"));
    let own = path.file_name().and_then(|name| named(&name.to_string_lossy()));
    let before = head.before(path);
    Ok([Some(head.session), own, head.origin.as_deref().and_then(named), before].into_iter().flatten().collect())
}

/// A session has no files beside its own.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    vec![transcript.to_owned()]
}
