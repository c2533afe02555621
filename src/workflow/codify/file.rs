//! Files that steps read and write, put together by folder where they are many.

use std::collections::{BTreeMap, HashSet};

use super::deed::Deed;
use super::kind;

/// Folders below which nothing is told apart, so that depth costs nothing.
const MAX_DEPTH: usize = 12;

/// Paths read before they were written, and paths written, in order of appearance, of deeds that ended well.
pub(super) fn files<'a>(deeds: &'a [Deed<'_>]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let (mut read, mut written) = (HashSet::new(), HashSet::new());
    for deed in deeds.iter().filter(|deed| deed.succeeded()) {
        for path in deed.reads.iter().map(AsRef::as_ref).filter(|path| !is_scratch(path)) {
            if !written.contains(path) && read.insert(path) {
                reads.push(path);
            }
        }
        for path in deed.writes.iter().map(AsRef::as_ref).filter(|path| !is_scratch(path)) {
            if written.insert(path) {
                writes.push(path);
            }
        }
    }
    (reads, writes)
}

/// Files of nobody's interest: temporary ones, the agent's own.
fn is_scratch(path: &str) -> bool {
    const OWN: &[&str] = &[
        "~/.claude/",
        "/.claude/projects/",
        "/.claude/plans/",
        "/.copilot/session-state/",
        "/.local/share/opencode/",
        "/.gemini/tmp/",
        "~/.codex/",
        "~/.pi/",
    ];
    let own = OWN.iter().any(|own| if own.starts_with('~') { path.starts_with(own) } else { path.contains(own) });
    own || kind::is_scratch(path)
}

/// Paths put together by folder, as deep as gives at most `limit` groups; a group of one is the file itself.
pub(super) fn groups<'a>(paths: &[&'a str], limit: usize) -> Vec<(String, Vec<&'a str>)> {
    let folder = |path: &str, depth: usize| {
        let parts: Vec<&str> = path.split(['/', '\\']).collect();
        let parts = &parts[..parts.len().saturating_sub(1).min(depth)];
        if parts.is_empty() { "./".to_owned() } else { parts.join("/") + "/" }
    };
    if paths.len() <= limit {
        return paths.iter().map(|path| ((*path).to_owned(), vec![*path])).collect();
    }
    let mut best = Vec::new();
    for depth in (0..=MAX_DEPTH).rev() {
        let mut order: Vec<(String, Vec<&str>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for path in paths {
            let key = folder(path, depth);
            let place = *places.entry(key.clone()).or_insert_with(|| {
                order.push((key, Vec::new()));
                order.len() - 1
            });
            order[place].1.push(path);
        }
        best = order;
        if best.len() <= limit {
            break;
        }
    }
    best
}
