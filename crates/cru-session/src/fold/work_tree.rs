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
    /// Files that git does not know; a folder counts as one.
    untracked: usize,
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

    /// Whether nothing is left to commit.
    pub(super) fn is_clean(&self) -> bool {
        self.changed.is_empty() && self.untracked == 0
    }

    /// `2 files changed (a.rs, b.rs), 1 untracked`.
    pub(super) fn told(&self) -> String {
        // Characters of a path.
        let mut names: Vec<String> = self.changed.iter().take(NAMED).map(|path| shorten::at_word(path, 80)).collect();
        if self.changed.len() > NAMED {
            names.push(format!("… {} more", self.changed.len() - NAMED));
        }
        let changed = match self.changed.len() {
            0 => None,
            count => Some(format!("{} changed ({})", plural(count as u64, "file"), names.join(", "))),
        };
        let untracked = (self.untracked > 0).then(|| format!("{} untracked", self.untracked));
        let parts: Vec<String> = changed.into_iter().chain(untracked).collect();
        parts.join(", ")
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
                self.add(path);
            } else if in_untracked && line.starts_with(['\t', ' ']) && !text.starts_with('(') && !text.is_empty() {
                self.untracked += 1;
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
                "??" => (is_told, self.untracked) = (true, self.untracked + 1),
                "##" => is_told = true,
                _ if state.bytes().all(|byte| b" MADRCUT".contains(&byte)) && !state.trim().is_empty() => {
                    is_told = true;
                    self.add(path);
                }
                _ => {}
            }
        }
        is_told
    }

    fn add(&mut self, path: &str) {
        let path = fold_whitespace(&sanitise(path));
        if !path.is_empty()
            && self.changed.len() < MOST
            && self.changed.last() != Some(&path)
            && !self.changed.contains(&path)
        {
            self.changed.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str, output: &str) -> Option<String> {
        WorkTree::of(&Action::of("Bash", command), output).map(|tree| tree.told())
    }

    #[test]
    fn what_git_status_shows() {
        let long = "On branch main\nChanges not staged for commit:\n  (use \"git add\")\n\tmodified:   src/a.rs\n\tdeleted:    b.rs\n\n\
                    Untracked files:\n  (use \"git add\")\n\tnew/\n\tc.rs\n\nno changes added to commit\n";
        let wanted = "2 files changed (src/a.rs, b.rs), 2 untracked";
        assert_eq!(told("git status", long).as_deref(), Some(wanted));
        assert_eq!(told("git commit -m x && git status", long).as_deref(), Some(wanted));
        assert_eq!(told("git status --short", "M src/a.rs\n D b.rs\n?? c.rs\n?? new/\n").as_deref(), Some(wanted));
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
        let is_clean =
            |command: &str, output: &str| WorkTree::of(&Action::of("Bash", command), output).map(|it| it.is_clean());
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
