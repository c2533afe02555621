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

/// A session has no files beside its own.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    vec![transcript.to_owned()]
}
