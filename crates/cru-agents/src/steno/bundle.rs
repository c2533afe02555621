//! Whether a file is a graph of steno, by its beginning, and which files are read as one: the graph of a folder and its open
//! session.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::file::document::{Piece, items, member, members, told};
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

/// Whether the file that begins with `head` is one.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let root = members(&head);
    let has = |name: &str| member(&root, name).is_some();
    let lies_there = path.parent().and_then(Path::file_name).is_some_and(|name| name == ".steno");
    match sessions(&root) {
        Some(sessions) => {
            let is_graph = has("bookmarks") || has("fileIndex") || has("version");
            let first = sessions.first().map(|piece| members(piece.text));
            // A graph without sessions says little: then its place must say the rest.
            is_graph && first.map_or(lies_there, |first| is_session(&first))
        }
        // The index may stand first and take all of the beginning.
        None => is_session(&root) || (lies_there && has("fileIndex")),
    }
}

/// The sessions of a graph: a list, or by their ids.
pub(super) fn sessions<'a>(root: &[(Cow<'a, str>, Piece<'a>)]) -> Option<Vec<Piece<'a>>> {
    let piece = member(root, "sessions")?;
    let listed = items(piece.text);
    if !listed.is_empty() {
        return Some(listed);
    }
    Some(members(piece.text).into_iter().map(|(_, piece)| piece).collect())
}

fn is_session(session: &[(Cow<'_, str>, Piece<'_>)]) -> bool {
    let Some(nodes) = member(session, "nodes") else { return false };
    let known_id = || told(session, &["id"]).is_some_and(|id| id.starts_with("sess_"));
    items(nodes.text).first().map_or_else(known_id, |node| {
        let node = members(node.text);
        let has = |name: &str| member(&node, name).is_some();
        has("raw") || has("intent") || known_id()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(path: &str, head: &str) -> bool {
        recognise(Path::new(path), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("a.json", r#"{"version":"1.0","sessions":[{"id":"s","nodes":[{"id":"n_001","raw":"dx"}]}]}"#));
        assert!(is("a.json", r#"{"sessions":{"s":{"nodes":[{"intent":{}}]}},"bookmarks":{}}"#));
        assert!(is("a.json", r#"{"id":"sess_20260105_100000","created":"2026","nodes":[]}"#));
        assert!(is("a.json", r#"{"id":"x","nodes":[{"id":"n_001","timestamp":"t","raw":"dx:@a.c"#));
        assert!(is(".steno/graph.json", r#"{"version":"1.0","sessions":[]}"#));
        assert!(!is("graph.json", r#"{"version":"1.0","sessions":[]}"#));
        assert!(!is("a.json", r#"{"nodes":[{"id":"a1","source":{}}],"edges":[]}"#));
        assert!(!is("a.json", r#"{"sessionId":"s","messages":[]}"#));
        assert!(!is("a.json", "[1,2]"));
        assert!(!is("a.json", ""));
    }
}
