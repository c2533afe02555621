//! Whether a file holds nodes of pi-brain, by its beginning, where in it they stand, and which files are read as one: those
//! whose nodes are of one session.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::file::document::{self, Piece, items, member, members, told};
use cru_base::Result;
use cru_session::source::Bundle;

/// Groups files that have a session in common. A file without any is alone.
pub(super) fn bundle(mut files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    files.sort();
    files.dedup();
    let none = Bundle::default();
    // Each file points to an earlier one of its group, the first to itself.
    let mut group: Vec<usize> = (0..files.len()).collect();
    let mut first: HashMap<String, usize> = HashMap::new();
    for (index, path) in files.iter().enumerate() {
        let Some(text) = document::read_json(&none, path)? else { continue };
        for node in parts(&text).0 {
            let other = *first.entry(session(&node)).or_insert(index);
            let (one, other) = (root(&mut group, index), root(&mut group, other));
            group[one.max(other)] = one.min(other);
        }
    }
    let mut bundles: BTreeMap<usize, Vec<PathBuf>> = BTreeMap::new();
    for (index, path) in files.into_iter().enumerate() {
        bundles.entry(root(&mut group, index)).or_default().push(path);
    }
    Ok(bundles.into_values().map(Bundle::of).collect())
}

/// The sessions of a file's nodes.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let text = document::read_json(&Bundle::default(), path)?;
    Ok(text.map(|text| parts(&text).0.iter().map(session).collect()).unwrap_or_default())
}

/// The session that a node reads.
pub(super) fn session(node: &Piece<'_>) -> String {
    let node = members(node.text);
    let source = member(&node, "source").map(|source| members(source.text)).unwrap_or_default();
    let named =
        told(&source, &["sessionId"]).or_else(|| told(&source, &["sessionFile"]).map(|path| id_in(&path).to_owned()));
    named.or_else(|| told(&node, &["id"])).unwrap_or_default()
}

/// The session in the name of its file, `<time>_<id>.jsonl`, or an id as it is.
pub(super) fn id_in(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    stem.rsplit_once('_').map_or(stem, |(_, id)| id)
}

fn root(group: &mut [usize], mut at: usize) -> usize {
    while group[at] != at {
        group[at] = group[group[at]];
        at = group[at];
    }
    at
}

/// Whether the file that begins with `head` is one.
pub(super) fn recognise(_: &Path, head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let (nodes, edges) = parts(&head);
    let has = |piece: &Piece<'_>, names: &[&str]| {
        let members = members(piece.text);
        names.iter().all(|name| member(&members, name).is_some())
    };
    nodes.first().is_some_and(|node| is_node(node))
        || edges.first().is_some_and(|edge| has(edge, &["sourceNodeId", "targetNodeId"]))
}

/// A node has a source, and a reading of it.
fn is_node(node: &Piece<'_>) -> bool {
    let members = members(node.text);
    let has = |name: &str| member(&members, name).is_some();
    // The source may be cut off, but then it is long, and nothing else begins so.
    member(&members, "source").is_some_and(|source| source.text.starts_with('{'))
        && (["classification", "content", "lessons", "semantic", "daemonMeta", "observations"]
            .iter()
            .any(|name| has(name))
            || has("version"))
}

/// The nodes and edges of a document: one node, a list, or both lists by name.
pub(super) fn parts(document: &str) -> (Vec<Piece<'_>>, Vec<Piece<'_>>) {
    let document = document.trim_start_matches('\u{feff}').trim_start();
    let root = members(document);
    let list = |name: &str| member(&root, name).map(|piece| items(piece.text)).unwrap_or_default();
    if member(&root, "nodes").is_some() || member(&root, "edges").is_some() {
        return (list("nodes"), list("edges"));
    }
    let listed = items(document);
    if !listed.is_empty() {
        let is_edge = |piece: &Piece<'_>| member(&members(piece.text), "sourceNodeId").is_some();
        let (edges, nodes) = listed.into_iter().partition(is_edge);
        return (nodes, edges);
    }
    let whole = document.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(document).is_ok();
    if root.is_empty() { (Vec::new(), Vec::new()) } else { (vec![Piece { text: document, whole }], Vec::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(head: &str) -> bool {
        recognise(Path::new("a.json"), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is(r#"{"id":"a1","version":1,"source":{"sessionId":"s"},"content":{"summary":"cut"#));
        assert!(is(r#"[{"id":"a1","source":{},"classification":{}}]"#));
        assert!(is(r#"{"nodes":[{"source":{},"semantic":{}}],"edges":[]}"#));
        assert!(is(r#"{"edges":[{"id":"e","sourceNodeId":"a","targetNodeId":"b"}]}"#));
        assert!(!is(r#"{"id":"s","nodes":[{"id":"n_001","raw":"dx"}]}"#));
        assert!(!is(r#"{"version":"1.0","sessions":[]}"#));
        assert!(!is(r#"{"source":"x"}"#) && !is(r#"{"version":1,"session_id":"s","source":"cli"}"#));
        assert!(!is("[]") && !is("") && !is("[1]"));
    }
}
