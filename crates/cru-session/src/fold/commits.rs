//! Commits that the output of a command shows: `[main 4f1c2ab] Short tokens`.

use cru_base::text::{fold_whitespace, sanitise, truncate};

/// Commits that are told of one step.
const MOST: usize = 50;

/// Characters of a subject.
const SUBJECT: usize = 120;

/// A commit that a step made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MadeCommit {
    /// Its id, as short as it was shown.
    sha: String,
    /// Its subject; empty where it was not shown.
    subject: String,
}

impl MadeCommit {
    /// Its subject; empty where it was not shown.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    /// What stands behind `commit:`.
    pub(super) fn field(&self) -> String {
        if self.subject.is_empty() { format!("`{}`", self.sha) } else { format!("`{}` {}", self.sha, self.subject) }
    }
}

/// The commits that `output` shows, in order, each once; then those of `named` that it does not show.
pub(super) fn made<'n>(output: &str, named: impl IntoIterator<Item = &'n str>) -> Vec<MadeCommit> {
    let mut made: Vec<MadeCommit> = Vec::new();
    let shown = memchr::memmem::find(output.as_bytes(), b"] ").is_some();
    let lines = output.lines().filter(|_| shown).filter_map(of_line);
    let named = named.into_iter().filter(|sha| is_sha(sha));
    let named = named.map(|sha| MadeCommit { sha: sha.to_owned(), subject: String::new() });
    for commit in lines.chain(named) {
        // A short id and a long one of the same commit.
        let same = |known: &MadeCommit| known.sha.starts_with(&commit.sha) || commit.sha.starts_with(&known.sha);
        if made.len() < MOST && !made.iter().any(same) {
            made.push(commit);
        }
    }
    made
}

/// The line that `git commit`, `cherry-pick`, `revert` print: branch or state, perhaps `(root-commit)`, the id, the subject.
fn of_line(line: &str) -> Option<MadeCommit> {
    const WORDS: usize = 4;
    let (head, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (state, sha) = head.rsplit_once(' ')?;
    if !is_sha(sha) || state.trim().is_empty() || state.split_whitespace().count() > WORDS {
        return None;
    }
    let subject = truncate(&fold_whitespace(&sanitise(subject)), SUBJECT).into_owned();
    Some(MadeCommit { sha: sha.to_owned(), subject })
}

fn is_sha(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(output: &str, named: &[&str]) -> Vec<String> {
        made(output, named.iter().copied()).iter().map(MadeCommit::field).collect()
    }

    #[test]
    fn lines_of_git() {
        let output =
            "hook ran\n[main (root-commit) 4f1c2ab] Start  over\n 1 file changed\n[feature/x 0123456789abcdef] y\n";
        assert_eq!(told(output, &[]), ["`4f1c2ab` Start over", "`0123456789abcdef` y"]);
        assert_eq!(told("[detached HEAD 9851ee3] Fix\nfatal: no upstream\n", &[]), ["`9851ee3` Fix"]);
        assert_eq!(
            told("[main 4f1c2ab] a\n[main 4f1c2ab] a\n", &["4f1c2ab99", "77aa88bb"]),
            ["`4f1c2ab` a", "`77aa88bb`"]
        );
    }

    #[test]
    fn lines_that_are_none() {
        let none =
            ["[4f1c2ab] y", "[INFO done] x", "  [main 4f1c2ab] quoted", "[main 4F1C2AB] x", "[a b c d e 4f1c2ab] x"];
        for line in none {
            assert_eq!(told(line, &["HEAD", ""]), [""; 0], "{line}");
        }
    }
}
