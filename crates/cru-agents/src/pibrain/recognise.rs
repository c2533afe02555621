//! Whether a file holds nodes of pi-brain, by its beginning; and where in a document they stand.

use std::path::Path;

use crate::file::document::{Piece, items, member, members};

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
