//! Files that steps read and write, put together by folder where they are many.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

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
    let holds = |part: &str| memchr::memmem::find(path.as_bytes(), part.as_bytes()).is_some();
    let own =
        holds("/.") && OWN.iter().any(|own| if own.starts_with('~') { path.starts_with(own) } else { holds(own) });
    own || kind::is_scratch(path)
}

/// Paths with the folder that they are put together by; a group of one goes by the file itself.
pub(super) type Groups<'a> = Vec<(String, Vec<&'a str>)>;

/// Paths put together by folder, as deep as gives at most `limit` groups; a group of one is the file itself.
pub(super) fn groups<'a>(paths: &[&'a str], limit: usize) -> Groups<'a> {
    if paths.len() <= limit {
        return paths.iter().map(|path| ((*path).to_owned(), vec![*path])).collect();
    }
    let deepest = paths.iter().map(|path| separators(path).count()).max().unwrap_or(0);
    let mut best = Vec::new();
    for depth in (0..=deepest.min(MAX_DEPTH)).rev() {
        best.clear();
        let mut places: HashMap<Option<Cow<'_, str>>, usize> = HashMap::new();
        for path in paths {
            let place = *places.entry(folder(path, depth)).or_insert_with_key(|key| {
                best.push((format!("{}/", key.as_deref().unwrap_or(".")), Vec::new()));
                best.len() - 1
            });
            best[place].1.push(*path);
        }
        if best.len() <= limit {
            break;
        }
    }
    best
}

/// Where the parts of a path of any system end.
fn separators(path: &str) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'/', b'\\', path.as_bytes())
}

/// The first `depth` folders of a path, if it has any.
fn folder(path: &str, depth: usize) -> Option<Cow<'_, str>> {
    let folder = &path[..separators(path).take(depth).last()?];
    Some(if folder.contains('\\') { Cow::Owned(folder.replace('\\', "/")) } else { Cow::Borrowed(folder) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(paths: &[&str], limit: usize) -> Vec<(String, usize)> {
        groups(paths, limit).into_iter().map(|(base, members)| (base, members.len())).collect()
    }

    #[test]
    fn folders_are_as_deep_as_the_limit_allows() {
        let paths = ["src/a/x.rs", "src/a/y.rs", "src/b/z.rs", "README.md"];
        assert_eq!(bases(&paths, 4).len(), 4);
        assert_eq!(bases(&paths, 3), [("src/a/".into(), 2), ("src/b/".into(), 1), ("./".into(), 1)]);
        assert_eq!(bases(&paths, 2), [("src/".into(), 3), ("./".into(), 1)]);
        assert_eq!(bases(&paths, 1), [("./".into(), 4)]);
    }

    #[test]
    fn roots_and_other_systems_have_folders_too() {
        assert_eq!(bases(&["/x", "/y", "z"], 2), [("/".into(), 2), ("./".into(), 1)]);
        assert_eq!(bases(&["a\\b\\x", "a/b/y", "c"], 2), [("a/b/".into(), 2), ("./".into(), 1)]);
    }
}
