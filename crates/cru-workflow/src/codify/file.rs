//! Files that steps read and write, put together by folder where they are many.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::call::Call;

/// Folders below which nothing is told apart, so that depth costs nothing.
const MAX_DEPTH: usize = 12;

/// Paths read before they were written, and paths written that lasted, in order of appearance, of calls that ended well.
pub(super) fn files<'a, 'c: 'a>(calls: &[&'a Call<'c>]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut reads, mut writes): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let (mut read, mut written) = (HashSet::default(), HashSet::default());
    // What was committed stays, whatever is restored later.
    let mut committed = 0;
    for call in calls.iter().filter(|call| call.succeeded()) {
        for path in call.reads.iter().map(AsRef::as_ref).filter(|path| !is_scratch(path)) {
            if !written.contains(path) && read.insert(path) {
                reads.push(path);
            }
        }
        for path in call.writes.iter().map(AsRef::as_ref).filter(|path| !is_scratch(path)) {
            if written.insert(path) {
                writes.push(path);
            }
        }
        let back = &call.taken_back;
        if back.all {
            for path in writes.drain(committed..) {
                written.remove(path);
            }
        } else if !back.restored.is_empty() || !back.removed.is_empty() {
            let mut at = 0;
            writes.retain(|path| {
                let gone = back.removed.iter().any(|word| is_named(path, word))
                    || (at >= committed && back.restored.iter().any(|word| is_named(path, word)));
                at += 1;
                if gone {
                    written.remove(path);
                }
                !gone
            });
            committed = committed.min(writes.len());
        }
        if call.commits {
            committed = writes.len();
        }
    }
    (reads, writes)
}

/// Whether a word of a command names a path; it may do so from within a folder.
fn is_named(path: &str, word: &str) -> bool {
    path.strip_suffix(word).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

/// Whether a file is one of the project: neither elsewhere on the machine nor one that nobody keeps.
pub(super) fn is_of_project(path: &str, project: Option<&str>) -> bool {
    !cru_action::is_outside(path, project) && !is_scratch(path)
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
    own || cru_action::is_scratch(path)
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
        let mut places: HashMap<Option<Cow<'_, str>>, usize> = HashMap::default();
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

    #[test]
    fn what_did_not_last_is_no_output() {
        let step =
            |tool: &str, args: &str| cru_session::Step { tool: tool.into(), args: args.into(), ..Default::default() };
        let write = |path| step("Write", path);
        let steps = [
            write("src/a.c"),
            step("Bash", "git commit -am 'Add a'"),
            write("b.c"),
            write("docs/c.md"),
            step("Bash", "git checkout -- src/a.c b.c && rm docs/c.md"),
            write("d.c"),
        ];
        let of = |steps: &[cru_session::Step]| -> Vec<String> {
            let place = cru_graph::Place { phase: None, item: None };
            let calls: Vec<Call<'_>> = steps.iter().map(|step| Call::of(step, place, None)).collect();
            files(&calls.iter().collect::<Vec<_>>()).1.into_iter().map(str::to_owned).collect()
        };
        assert_eq!(of(&steps), ["src/a.c", "d.c"]);
        let steps = [write("a.c"), step("Bash", "git commit -am a"), write("b.c"), step("Bash", "git checkout -- .")];
        assert_eq!(of(&steps), ["a.c"]);
    }

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
