//! Which files are read as one: those of one session, wherever they lie.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::file::{self, RlmKind};
use crate::record;
use cru_base::Result;
use cru_session::source::Bundle;

/// Groups files by session. A context that names none is of the session that the host ran when it was written.
pub(super) fn bundle(mut files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    files.sort();
    files.dedup();
    let none = Bundle::default();
    let mut rows = Vec::with_capacity(files.len());
    let mut running: HashMap<PathBuf, String> = HashMap::new();
    // What a session's own state calls it counts for all that lies in its folder.
    let mut folders: HashMap<PathBuf, String> = HashMap::new();
    for path in files {
        let (kind, session) = look(&none, &path)?;
        if let (Some(RlmKind::Metadata), Some(session), Some(folder)) = (kind, &session, path.parent()) {
            running.insert(folder.to_owned(), session.clone());
        }
        let folder = file::of_session(&path).filter(|_| path.file_stem().is_some_and(|stem| stem == "session"));
        if let (Some(RlmKind::State), Some(session), Some(folder)) = (kind, &session, folder) {
            folders.insert(folder.to_owned(), session.clone());
        }
        rows.push((kind, session, path));
    }
    let mut sessions: BTreeMap<String, Vec<(Option<RlmKind>, PathBuf)>> = BTreeMap::new();
    for (kind, session, path) in rows {
        let inner = kind.filter(|kind| kind.is_of_folder()).and(file::of_session(&path));
        let session = inner.and_then(|folder| folders.get(folder)).cloned().or(session);
        let of_folder = || path.parent().and_then(|folder| running.get(folder)).cloned();
        sessions.entry(session.or_else(of_folder).unwrap_or_default()).or_default().push((kind, path));
    }
    let bundle = |mut files: Vec<(Option<RlmKind>, PathBuf)>| {
        files.sort();
        Bundle::of(files.into_iter().map(|(_, path)| path).collect())
    };
    Ok(sessions.into_values().map(bundle).collect())
}

/// The session that a file names, and its folder, of whose session a file is that names none.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let (_, session) = look(&Bundle::default(), path)?;
    let folder = file::of_session(path).map(|folder| format!("folder {}", folder.display()));
    Ok(session.into_iter().chain(folder).collect())
}

/// What a file is, and the session that it names.
pub(super) fn look(bundle: &Bundle, path: &Path) -> Result<(Option<RlmKind>, Option<String>)> {
    let head = record::beginning(bundle, path)?;
    let head = String::from_utf8_lossy(&head);
    let kind = file::kind(path, &head);
    Ok((kind, kind.and_then(|kind| file::session(kind, path, &head))))
}
