//! Which files are read as one: a file is a session, and one that was carried on as lines stands in those.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::file::document::{member, members};
use cru_base::{Error, Result};
use cru_session::source::Bundle;

/// What of a file is looked at.
const HEAD: u64 = 16 * 1024;

/// Each file stands for itself; of one session the lines come first, for they hold what the document held.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let mut ranked = BTreeSet::new();
    for path in files {
        let failed = |source| Error::io("read", &path, source);
        let mut head = Vec::new();
        let file = std::fs::File::open(&path).map_err(failed)?;
        file.take(HEAD).read_to_end(&mut head).map_err(failed)?;
        let head = String::from_utf8_lossy(&head);
        let session = member(&members(&head), "sessionId").map(|piece| piece.text.to_owned()).unwrap_or_default();
        let is_lines = path.extension().is_some_and(|end| end == "jsonl");
        ranked.insert((session, !is_lines, path));
    }
    Ok(ranked.into_iter().map(|(_, _, path)| Bundle::of(vec![path])).collect())
}

/// A session stands alone: its sub-agents have files of their own.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    vec![transcript.to_owned()]
}
