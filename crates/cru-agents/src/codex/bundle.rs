//! Which files are read as one: a session with its copies, its forks and its sub-agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::head::CodexHead;
use crate::bundles;
use cru_base::Result;
use cru_session::source::Bundle;

/// The longest way from a sub-agent up to the session that began it all.
const DEPTH: usize = 64;

/// Groups files by the session that began it all, so that what forks and sub-agents copied of their parents is told once.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let mut files = files;
    files.sort();
    files.dedup();
    let none = Bundle::default();
    let mut heads = Vec::with_capacity(files.len());
    for path in files {
        let head = CodexHead::read(&none, &path)?;
        heads.push((path, head));
    }
    let above: HashMap<String, String> =
        heads.iter().filter_map(|(_, head)| Some((head.id.clone(), head.above()?.to_owned()))).collect();
    let known: std::collections::HashSet<&str> = heads.iter().map(|(_, head)| head.id.as_str()).collect();
    let root = |id: &str| {
        let mut at = id.to_owned();
        let mut depth = 0;
        while let Some(next) = above.get(&at).filter(|next| known.contains(next.as_str()) && depth < DEPTH) {
            at.clone_from(next);
            depth += 1;
        }
        // A circle has no beginning: each of its members stands for itself.
        if depth < DEPTH { (at, depth) } else { (id.to_owned(), 0) }
    };
    // Parents first, then by time, then by name: a plain file stands before its compressed copy.
    let ranks: Vec<(String, usize)> = heads.iter().map(|(_, head)| root(&head.id)).collect();
    let grouped = heads.into_iter().zip(ranks).map(|((path, head), (root, depth))| (root, depth, head.time, path));
    Ok(bundles::grouped(grouped.collect()))
}

/// The session of a file and those before it, its parent and its origin.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let head = CodexHead::read(&Bundle::default(), path)?;
    Ok([Some(head.id), head.parent, head.forked_from].into_iter().flatten().collect())
}
