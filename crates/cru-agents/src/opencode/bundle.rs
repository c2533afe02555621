//! Whether a file holds sessions of this agent, in which of the three ways, and which files are read as one: a database, an
//! export, or a session of the older JSON files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::export::{self, messages};
use super::{database, tree};
use crate::file::document::{Piece, member, members};
use crate::file::sqlite::is_database;
use crate::file::value::{filled, millis, word};
use crate::record::beginning;
use cru_base::Result;
use cru_session::source::{Bundle, Sink};

/// Each session stands for itself. Databases come first: where a session is kept in several ways, theirs is the latest;
/// then exports, the latest first.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let files: BTreeSet<PathBuf> = files.into_iter().collect();
    let mut ranked = BTreeSet::new();
    // Channels of the host have databases of their own in one folder, which may hold the same sessions.
    let mut databases: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut places = BTreeSet::new();
    for path in files {
        if let Some(place) = tree::place(&path) {
            places.insert(place);
            continue;
        }
        let head = beginning(&Bundle::default(), &path)?;
        if is_database(&head) {
            // One that cannot be read keeps no other from being read.
            let folder = path.parent().filter(|_| database::has_tables(&path)).map(Path::to_owned);
            databases.entry(folder.unwrap_or_else(|| path.clone())).or_default().push(path);
        } else {
            let session = export::session(&members(&String::from_utf8_lossy(&head)), &path);
            let updated = millis(&session.row, "/time/updated");
            ranked.insert((0, std::cmp::Reverse(updated.map_or(0, jiff::Timestamp::as_millisecond)), path));
        }
    }
    // Many files are of one session.
    let sessions = places.iter().filter_map(tree::TreePlace::session_file);
    ranked.extend(sessions.map(|path| (1, std::cmp::Reverse(0), path)));
    let alone = ranked.into_iter().map(|(_, _, path)| vec![path]);
    Ok(databases.into_values().chain(alone).map(Bundle::of).collect())
}

/// The session that a file of the older ones belongs to, and the folder of a database. Exports stand for themselves.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    if tree::place(path).is_none() && is_database(&beginning(&Bundle::default(), path)?) {
        let folder = path.parent().map(|folder| format!("databases of {}", folder.display()));
        return Ok(folder.into_iter().collect());
    }
    Ok(tree::place(path).map(|place| place.session).filter(|it| !it.is_empty()).into_iter().collect())
}

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut databases = Vec::new();
    for path in &bundle.files {
        if is_database(&beginning(bundle, path)?) {
            databases.push(path.as_path());
        } else if let Some(place) = tree::place(path) {
            tree::read(&place, path, sink)?;
        } else {
            export::read(bundle, path, sink)?;
        }
    }
    database::read_all(&databases, sink)
}

/// Whether the file is one that is read, or that belongs to one.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    if is_database(head) {
        return super::database::is_own(path);
    }
    if !head.trim_ascii_start().starts_with(b"{") {
        return false;
    }
    if is_export(head) {
        return true;
    }
    super::tree::place(path).is_some() && {
        let head = String::from_utf8_lossy(head);
        let document = members(&head);
        member(&document, "id").is_some() && member(&document, "time").is_some()
    }
}

/// Whether a document is an export: a session's row and its messages.
pub(super) fn is_export(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let document = members(&head);
    let info = member(&document, "info").and_then(Piece::value);
    let session = info.is_some_and(|info| {
        let known = ["projectID", "directory", "version", "slug"].iter().any(|key| filled(&info, key).is_some());
        filled(&info, "id").is_some() && known && info.get("time").is_some_and(serde_json::Value::is_object)
    });
    let message = messages(&document).first().and_then(Piece::value);
    let message = message.is_some_and(|message| {
        let known = |info: &serde_json::Value| matches!(word(info, "role"), "user" | "assistant");
        message.get("info").is_some_and(known) && message.get("parts").is_some_and(serde_json::Value::is_array)
    });
    session || (message && member(&document, "sessionId").is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(path: &str, head: &str) -> bool {
        recognise(Path::new(path), head.as_bytes())
    }

    #[test]
    fn by_content() {
        let session = r#"{"info":{"id":"ses_1","projectID":"p","time":{"created":1}},"messages":["#;
        assert!(is("a.jsonl", session));
        assert!(is("a.json", r#"{"messages":[{"info":{"role":"user"},"parts":[]}],"info":{}}"#));
        assert!(is("/s/storage/session/p/ses_1.json", r#"{"id":"ses_1","projectID":"p","time":{}}"#));
        assert!(is("/s/storage/message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user","time":{}}"#));
        assert!(!is("/s/ses_1.json", r#"{"id":"ses_1","projectID":"p","time":{}}"#));
        assert!(!is("a.json", r#"{"sessionId":"x","projectHash":"y","messages":[]}"#));
        assert!(!is("a.jsonl", r#"{"type":"session","version":3,"id":"s","cwd":"/x"}"#));
        assert!(!is("a.json", "[]") && !is("a.json", "") && !is("a.json", "{\"info\":3}"));
    }
}
