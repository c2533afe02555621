//! Branch and commit of a working copy, read from its `.git` without running git.

use std::path::{Path, PathBuf};

use cru_base::files;

/// What is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    /// `feature/x`; `None` on no branch.
    pub branch: Option<String>,
    /// The first digits; `None` before the first commit.
    pub commit: Option<String>,
}

/// What is checked out in `dir` or the nearest folder above it; nothing where that is no working copy.
pub fn checkout(dir: &Path) -> Checkout {
    let Some(git) = dir.ancestors().find_map(git_dir) else { return Checkout::default() };
    // A worktree has its own HEAD; branches are in the folder that all share.
    let common = line(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
    let Some(head) = line(&git.join("HEAD")) else { return Checkout::default() };
    let mut name = head;
    let mut branch = None;
    // `HEAD` may name a name that names a name; nobody needs more.
    for _ in 0..5 {
        let Some(reference) = name.strip_prefix("ref:").map(|name| name.trim().to_owned()) else { break };
        if !is_reference(&reference) {
            return Checkout::default();
        }
        if branch.is_none() {
            branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
        }
        let places = [git.join(&reference), common.join(&reference)];
        let Some(next) = places.iter().find_map(|path| line(path)).or_else(|| packed(&common, &reference)) else {
            return Checkout { branch, commit: None };
        };
        name = next;
    }
    let commit =
        // Hexadecimal digits of a commit that a note shows.
        (name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name[..7].to_owned());
    Checkout { branch, commit }
}

/// The folder of git's own files: `.git`, or where the file `.git` says.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let path = line(&git)?.strip_prefix("gitdir:").map(|path| dir.join(path.trim()))?;
    path.is_dir().then_some(path)
}

/// The only line of a small file.
fn line(path: &Path) -> Option<String> {
    let small = path.metadata().ok().filter(|it| it.is_file() && it.len() <= 4096);
    let text = small.and_then(|_| files::read(path).ok()).and_then(|bytes| String::from_utf8(bytes).ok())?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The commit of a branch in `packed-refs`.
fn packed(common: &Path, reference: &str) -> Option<String> {
    let bytes = files::read(&common.join("packed-refs")).ok()?;
    let mut lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.find_map(|line| line.strip_suffix(reference)?.strip_suffix(' ').map(str::to_owned))
}

/// A name below `refs/` that leads nowhere else.
fn is_reference(name: &str) -> bool {
    name.starts_with("refs/") && !name.split('/').any(|part| part.is_empty() || part == ".." || part == ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        files::put(&root.join(path), text.as_bytes()).unwrap();
    }

    fn shown(dir: &Path) -> (Option<String>, Option<String>) {
        let Checkout { branch, commit } = checkout(dir);
        (branch, commit)
    }

    const ONE: &str = "4f1c2ab09e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b";

    #[test]
    fn a_branch_loose_and_packed() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        put(root, ".git/HEAD", "ref: refs/heads/feature/x\n");
        assert_eq!(shown(root), (Some("feature/x".into()), None), "no commit yet");
        put(
            root,
            ".git/packed-refs",
            &format!("# pack-refs with: peeled\n{} refs/heads/y\n{ONE} refs/heads/feature/x\n", ONE.replace('4', "5")),
        );
        assert_eq!(shown(root), (Some("feature/x".into()), Some("4f1c2ab".into())));
        put(root, ".git/refs/heads/feature/x", &format!("{}\n", ONE.replace('4', "6")));
        assert_eq!(shown(&root.join(".git/..")).1.as_deref(), Some("6f1c2ab"));
    }

    #[test]
    fn worktrees_and_no_branch() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        put(root, "main/.git/refs/heads/side", ONE);
        put(root, "main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
        put(root, "main/.git/worktrees/side/commondir", "../..\n");
        put(root, "side/.git", "gitdir: ../main/.git/worktrees/side\n");
        put(root, "side/src/a.rs", "");
        assert_eq!(shown(&root.join("side/src")), (Some("side".into()), Some("4f1c2ab".into())));
        put(root, "main/.git/HEAD", ONE);
        assert_eq!(shown(&root.join("main")), (None, Some("4f1c2ab".into())));
    }

    #[test]
    fn names_that_lead_out_are_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        put(temp.path(), "secret", ONE);
        put(temp.path(), "r/.git/HEAD", "ref: refs/../../../secret\n");
        assert_eq!(shown(&temp.path().join("r")), (None, None));
    }
}
