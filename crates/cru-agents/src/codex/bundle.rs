//! Which files are read as one: a session with its copies, its forks and its sub-agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::head::CodexHead;
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
    let ranks: Vec<(String, usize)> = heads.iter().map(|(_, head)| root(&head.id)).collect();
    let mut groups: HashMap<String, Vec<(usize, PathBuf, CodexHead)>> = HashMap::new();
    for ((path, head), (root, depth)) in heads.into_iter().zip(ranks) {
        groups.entry(root).or_default().push((depth, path, head));
    }
    let mut bundles: Vec<_> = groups.into_values().map(ordered).collect();
    bundles.sort_by(|(time, first, _), (other, other_first, _)| (time, first).cmp(&(other, other_first)));
    Ok(bundles.into_iter().map(|(_, _, bundle)| bundle).collect())
}

/// The session of a file and those before it, its parent and its origin.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let head = CodexHead::read(&Bundle::default(), path)?;
    Ok([Some(head.id), head.parent, head.forked_from].into_iter().flatten().collect())
}

/// Files of a bundle in the order they are to be read: parents first, then by time, then by name. A plain file stands
/// before its compressed copy.
fn ordered(mut files: Vec<(usize, PathBuf, CodexHead)>) -> (Option<jiff::Timestamp>, PathBuf, Bundle) {
    files.sort_by(|(depth, path, head), (other_depth, other_path, other)| {
        (depth, head.time, path).cmp(&(other_depth, other.time, other_path))
    });
    let time = files.iter().filter_map(|(_, _, head)| head.time).min();
    let files: Vec<_> = files.into_iter().map(|(_, path, _)| path).collect();
    (time, files.first().cloned().unwrap_or_default(), Bundle::of(files))
}

/// A rollout alone: sub-agents have files of their own, which nothing but their content joins to it.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    vec![transcript.to_owned()]
}
