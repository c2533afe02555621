//! Which files are read as one: those whose nodes are of one session.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::recognise::parts;
use crate::file::document::{self, Piece, member, members, told};
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
