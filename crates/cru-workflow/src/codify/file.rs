//! Files that steps read and write, put together by folder where they are many.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::deed::Deed;
use super::{kind, shell};

/// Folders below which nothing is told apart, so that depth costs nothing.
const MAX_DEPTH: usize = 12;

/// Paths read before they were written, and paths written that lasted, in order of appearance, of deeds that ended well.
pub(super) fn files<'a>(deeds: &'a [Deed<'_>]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let (mut read, mut written) = (HashSet::default(), HashSet::default());
    // What was committed stays, whatever is restored later.
    let mut committed = 0;
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
        if deed.shell && restores_all(deed.command()) {
            for path in writes.drain(committed..) {
                written.remove(path);
            }
        } else if deed.shell && !writes.is_empty() && takes_back(deed.command()) {
            take_back(deed.command(), committed, &mut writes, &mut written);
        }
        if deed.shell && memchr::memmem::find(deed.command().as_bytes(), b"git commit").is_some() {
            committed = writes.len();
        }
    }
    (reads, writes)
}

/// Whether a command puts every file back to what was committed.
pub(super) fn restores_all(command: &str) -> bool {
    let holds = |part: &str| memchr::memmem::find(command.as_bytes(), part.as_bytes()).is_some();
    // Nearly every command is another; to cut one into words takes long.
    holds("git ")
        && ["git checkout", "git restore", "git reset --hard"].into_iter().any(holds)
        && shell::split(command).iter().any(|part| {
            matches!(
                shell::words(part.text).as_slice(),
                ["git", "checkout", "--", "."]
                    | ["git", "checkout" | "restore", "."]
                    | ["git", "reset", "--hard"]
                    | ["git", "reset", "--hard", "HEAD"]
            )
        })
}

/// Whether a command may delete files or restore what they were; most do not.
fn takes_back(command: &str) -> bool {
    ["rm ", "git checkout ", "git restore "]
        .iter()
        .any(|verb| memchr::memmem::find(command.as_bytes(), verb.as_bytes()).is_some())
}

/// Forgets the writes that `command` deletes, or restores unless they are among the first `committed`.
fn take_back<'a>(command: &str, committed: usize, writes: &mut Vec<&'a str>, written: &mut HashSet<&'a str>) {
    for part in shell::split(command) {
        let words = shell::words(part.text);
        let (from, named) = match words.as_slice() {
            ["rm", named @ ..] | ["git", "rm", named @ ..] => (0, named),
            ["git", "checkout" | "restore", named @ ..] => (committed, named),
            _ => continue,
        };
        let named: Vec<&str> = named.iter().map(|word| word.trim_matches(['"', '\''])).collect();
        let mut at = 0;
        writes.retain(|path| {
            // A command may name it from within a folder.
            let whole = |word: &&str| {
                !word.starts_with('-')
                    && path.strip_suffix(*word).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
            };
            let gone = at >= from && named.iter().any(whole);
            at += 1;
            if gone {
                written.remove(path);
            }
            !gone
        });
    }
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
        let deeds: Vec<_> = steps.iter().map(|step| super::super::deed::deed(step, None)).collect();
        assert_eq!(files(&deeds).1, ["src/a.c", "d.c"]);
        let steps = [write("a.c"), step("Bash", "git commit -am a"), write("b.c"), step("Bash", "git checkout -- .")];
        let deeds: Vec<_> = steps.iter().map(|step| super::super::deed::deed(step, None)).collect();
        assert_eq!(files(&deeds).1, ["a.c"]);
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
