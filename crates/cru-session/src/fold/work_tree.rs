//! The state of the work tree that the output of `git status` shows.

use cru_action::{Action, Class};
use cru_base::text::{fold_whitespace, plural, sanitise};

use crate::words::shorten;

/// Files that are kept, and those that are named.
const MOST: usize = 200;
const NAMED: usize = 3;

/// What is not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkTree {
    /// Files that git knows and that differ from the last commit.
    changed: Vec<String>,
    /// Files and folders that git does not know.
    untracked: Vec<String>,
}

impl WorkTree {
    /// The state after a call that ends by looking: `git status` is the last of its commands of git.
    pub(super) fn of(action: &Action<'_>, output: &str) -> Option<Self> {
        let mut gits = action.commands.iter().filter(|it| it.program == "git");
        let status = gits.rfind(|it| it.verb == "status" || it.class != Class::GitLook)?;
        let is_own = status.verb == "status" && status.pipe.len == 1 && !status.diverts_output;
        // Of a folder below only a part would be told.
        if !is_own || status.words.iter().skip(2).any(|word| !word.starts_with('-')) {
            return None;
        }
        let is_short = status.words.iter().any(|word| {
            matches!(word.as_ref(), "--short" | "--porcelain")
                || (word.starts_with('-') && !word.starts_with("--") && word.contains('s'))
        });
        let mut tree = Self::default();
        let is_told = if is_short { tree.short(output, action.commands.len() == 1) } else { tree.long(output) };
        is_told.then_some(tree)
    }

    /// `2 files changed (a.rs, b.rs), 1 untracked`: those of them that are the session's own, where there are any. What a
    /// session found changed and left so is not its own.
    pub(super) fn told(&self, is_own: impl Fn(&str) -> bool) -> Option<String> {
        let own: Vec<&String> = self.changed.iter().filter(|path| is_own(path)).collect();
        // Characters of a path.
        let mut names: Vec<String> = own.iter().take(NAMED).map(|path| shorten::at_word(path, 80)).collect();
        if own.len() > NAMED {
            names.push(format!("… {} more", own.len() - NAMED));
        }
        let changed =
            (!own.is_empty()).then(|| format!("{} changed ({})", plural(own.len() as u64, "file"), names.join(", ")));
        let untracked = Some(self.untracked.iter().filter(|path| is_own(path)).count()).filter(|count| *count > 0);
        let parts: Vec<String> = changed.into_iter().chain(untracked.map(|it| format!("{it} untracked"))).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Reads `git status`. `false` where the output is not its.
    fn long(&mut self, output: &str) -> bool {
        const CHANGES: &[&str] =
            &["modified:", "new file:", "deleted:", "renamed:", "copied:", "typechange:", "both modified:"];
        let (mut is_told, mut in_untracked) = (false, false);
        for line in output.lines() {
            let text = line.trim();
            is_told |= text.starts_with("nothing to commit")
                || text.starts_with("On branch ")
                || text.starts_with("HEAD detached ");
            if text.starts_with("Untracked files:") {
                in_untracked = true;
            } else if let Some(path) = CHANGES.iter().find_map(|word| text.strip_prefix(word)) {
                in_untracked = false;
                add(&mut self.changed, path);
            } else if in_untracked && line.starts_with(['\t', ' ']) && !text.starts_with('(') && !text.is_empty() {
                add(&mut self.untracked, text);
            } else if !text.is_empty() && !line.starts_with(['\t', ' ']) {
                in_untracked = false;
            }
        }
        is_told
    }

    /// Reads `git status --short`; `alone` says whether an empty output is its, too.
    fn short(&mut self, output: &str, alone: bool) -> bool {
        let mut is_told = alone && output.trim().is_empty();
        for (at, line) in output.lines().enumerate() {
            let line = line.trim_end();
            // Hosts take the blank off the first line.
            let is_bare = at == 0 && line.as_bytes().get(1) == Some(&b' ') && !line.starts_with(' ');
            let (state, path) =
                match line.get(..if is_bare { 1 } else { 2 }).zip(line.get(if is_bare { 2 } else { 3 }..)) {
                    Some((state, path)) if is_bare || line.as_bytes().get(2) == Some(&b' ') => (state, path),
                    _ => continue,
                };
            match state {
                "??" => {
                    is_told = true;
                    add(&mut self.untracked, path);
                }
                "##" => is_told = true,
                _ if state.bytes().all(|byte| b" MADRCUT".contains(&byte)) && !state.trim().is_empty() => {
                    is_told = true;
                    add(&mut self.changed, path);
                }
                _ => {}
            }
        }
        is_told
    }
}

/// Adds a path, of a renamed file its new one.
fn add(paths: &mut Vec<String>, path: &str) {
    let path = fold_whitespace(&sanitise(path.rsplit(" -> ").next().unwrap_or(path)));
    if !path.is_empty() && paths.len() < MOST && !paths.contains(&path) {
        paths.push(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str, output: &str) -> Option<String> {
        WorkTree::of(&Action::of("Bash", command), output).and_then(|tree| tree.told(|_| true))
    }

    #[test]
    fn what_git_status_shows() {
        let long = "On branch main\nChanges not staged for commit:\n  (use \"git add\")\n\tmodified:   src/a.rs\n\tdeleted:    b.rs\n\n\
                    Untracked files:\n  (use \"git add\")\n\tnew/\n\tc.rs\n\nno changes added to commit\n";
        let wanted = "2 files changed (src/a.rs, b.rs), 2 untracked";
        assert_eq!(told("git status", long).as_deref(), Some(wanted));
        assert_eq!(told("git commit -m x && git status", long).as_deref(), Some(wanted));
        assert_eq!(told("git status --short", "M src/a.rs\n D b.rs\n?? c.rs\n?? new/\n").as_deref(), Some(wanted));
        let tree = WorkTree::of(&Action::of("Bash", "git status"), long).unwrap();
        assert_eq!(
            tree.told(|path| path == "b.rs" || path == "new/").as_deref(),
            Some("1 file changed (b.rs), 1 untracked")
        );
        assert_eq!(tree.told(|_| false), None);
        for (command, output) in [
            ("git status && git commit -am x", long),
            ("git status src", long),
            ("git status | head -3", long),
            ("git log", long),
            ("git status", "fatal: not a git repository\n"),
        ] {
            assert_eq!(told(command, output), None, "{command}");
        }
    }

    #[test]
    fn a_clean_tree() {
        let is_clean = |command: &str, output: &str| {
            WorkTree::of(&Action::of("Bash", command), output)
                .map(|it| it.changed.is_empty() && it.untracked.is_empty())
        };
        assert_eq!(is_clean("git status", "On branch main\nnothing to commit, working tree clean\n"), Some(true));
        assert_eq!(is_clean("git status -s", ""), Some(true));
        assert_eq!(is_clean("git status -sb", "## main...origin/main\n"), Some(true));
        assert_eq!(is_clean("make; git status -s", ""), None);
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_read(output in "([ MAD?a-z:\\t/]|\\n|Untracked files:\\n|modified: |é){0,60}") {
            for command in ["git status", "git status -s"] {
                let _ = told(command, &output);
            }
        }
    }
}
