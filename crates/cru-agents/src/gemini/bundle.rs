//! Which files are read as one: those of one session. A session that was carried on, copied, or written as a document
//! first and as lines later, stands in several.

use std::path::{Path, PathBuf};

use crate::bundles::{by_session, folder, stem};
use crate::file::document::{member, members};
use crate::record;
use cru_base::Result;
use cru_session::source::Bundle;

/// The files of each session: documents before lines, which hold what the document held, each in order of its start.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    by_session(files, place)
}

/// The session that a file is of.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    Ok(vec![place(path)?.0])
}

fn place(path: &Path) -> Result<(String, bool, Option<jiff::Timestamp>)> {
    let head = record::beginning(&Bundle::default(), path)?;
    let head = String::from_utf8_lossy(&head);
    let members = members(&head);
    let word = |name: &str| member(&members, name).map_or("", |piece| piece.text.trim_matches('"'));
    let session = match word("sessionId") {
        "" | "REDACTED" => path.to_string_lossy().into_owned(),
        // Sub-agents may carry the id of their parent.
        id if word("kind") == "subagent" => format!("{id}/{}/{}", folder(path).unwrap_or_default(), stem(path)),
        id => id.to_owned(),
    };
    let is_lines = path.extension().is_some_and(|end| end == "jsonl");
    Ok((session, is_lines, word("startTime").parse().ok()))
}

/// The transcript and the other files of its session, whose names end with the same part of its id.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    let part = |path: &Path| stem(path).rsplit_once('-').map(|(_, part)| part.to_owned());
    let own = part(transcript);
    let folder = transcript.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let others = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = others.filter(|path| own.is_some() && part(path) == own && path.is_file()).collect();
    files.push(transcript.to_owned());
    files.sort();
    files.dedup();
    files
}
