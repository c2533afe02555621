//! Commits that the output of a command shows: `[main 4f1c2ab] Short tokens`; and those of which the command alone tells,
//! whose id a later output may show.

use std::borrow::Cow;

use cru_action::Action;
use cru_base::text::{fold_whitespace, sanitise, truncate};

/// Characters of a subject.
const SUBJECT: usize = 120;

/// A commit that a step made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MadeCommit {
    /// Its id, as short as it was shown.
    pub(super) sha: String,
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
        if self.sha.is_empty() {
            return self.subject.clone();
        }
        if self.subject.is_empty() { format!("`{}`", self.sha) } else { format!("`{}` {}", self.sha, self.subject) }
    }
}

/// A commit that a command makes without showing it.
#[derive(Debug)]
pub(super) struct QuietCommit {
    /// The step that makes it.
    pub(super) step: usize,
    subject: String,
    /// Whether success of the call proves that it was made.
    pub(super) proved: bool,
}

impl QuietCommit {
    /// The commit of a call of `git commit` that names its message.
    pub(super) fn of(step: usize, action: &Action<'_>) -> Option<Self> {
        let commit = action.commands.iter().find(|it| it.program == "git" && it.verb == "commit")?;
        let words = commit.words.get(2..).unwrap_or_default();
        let subject = subject(action, words)?;
        let is_quiet = |word: &str| {
            word == "--quiet"
                || (word.starts_with('-')
                    && !word.starts_with("--")
                    && word[1..].chars().take_while(|c| !matches!(c, 'm' | 'F')).any(|c| c == 'q'))
        };
        let proved = commit.hidden.is_none() && words.iter().any(|word| is_quiet(word));
        Some(Self { step, subject, proved })
    }

    /// The commit with the id that `output` shows beside its subject, or as what was pushed last.
    pub(super) fn shown(&self, output: &str) -> Option<MadeCommit> {
        let mut last: Option<&str> = None;
        for line in output.lines() {
            let line = line.trim_start_matches(['*', '|', ' ']);
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            let id = if first == "commit" { words.next().unwrap_or_default() } else { first };
            if is_sha(id) {
                last = Some(id);
            }
            let pushed = || first.split_once("..").map(|(_, to)| to).filter(|to| is_sha(to) && line.contains(" -> "));
            if let Some(id) = last.filter(|_| line.contains(&self.subject)).or_else(pushed) {
                return Some(MadeCommit { sha: id.to_owned(), subject: self.subject.clone() });
            }
        }
        None
    }

    /// The commit without its id.
    pub(super) fn bare(self) -> MadeCommit {
        MadeCommit { sha: String::new(), subject: self.subject }
    }
}

/// The first line of the message that a commit is given: by `-m`, by a here-document.
fn subject(action: &Action<'_>, words: &[Cow<'_, str>]) -> Option<String> {
    let mut words = words.iter().map(AsRef::as_ref);
    let mut message = None;
    while let Some(word) = words.next() {
        let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-') && !rest.is_empty());
        message = match word.split_once('=') {
            Some(("--message", text)) => Some(text),
            _ if word == "--message" || short.is_some_and(|it| it.ends_with('m')) => words.next(),
            _ => continue,
        };
        break;
    }
    let body = || {
        let body = action.commands.iter().flat_map(|it| &it.bodies).next()?;
        action.args.get(body.clone())
    };
    let message = match message {
        // The body of a here-document within the word.
        Some(text) if text.starts_with("$(") => text.split_once('\n')?.1,
        Some(text) => text,
        None => body()?,
    };
    let line = message.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let line = truncate(&fold_whitespace(&sanitise(line)), SUBJECT).into_owned();
    Some(line).filter(|line| line.chars().any(char::is_alphanumeric) && !line.contains('$'))
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
        // Commits that are told of one step.
        if made.len() < 50 && !made.iter().any(same) {
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
    fn a_commit_that_says_nothing_is_told_by_its_command() {
        let quiet = |args: &str| {
            let action = Action::of("Bash", args);
            QuietCommit::of(0, &action).map(|it| (it.subject.clone(), it.proved))
        };
        let heredoc = "git add -A && git commit -q -F - <<'EOF'\n\nShort tokens\n\nWhy: leaks\nEOF";
        assert_eq!(quiet(heredoc), Some(("Short tokens".to_owned(), true)));
        assert_eq!(quiet("git commit -m 'Short tokens' | tail -1"), Some(("Short tokens".to_owned(), false)));
        let word = "git commit -qm \"$(cat <<'EOF'\nShort tokens\nEOF\n)\"";
        assert_eq!(quiet(word), Some(("Short tokens".to_owned(), true)));
        assert_eq!(quiet("git commit --amend --no-edit"), None);
        let action = Action::of("Bash", heredoc);
        let commit = QuietCommit::of(0, &action).unwrap();
        let field = |output: &str| commit.shown(output).map(|it| it.field());
        assert_eq!(field("4f1c2ab Short tokens\n77aa88b Older\n").as_deref(), Some("`4f1c2ab` Short tokens"));
        assert_eq!(field("To host:x\n   77aa88b..4f1c2ab  main -> main\n").as_deref(), Some("`4f1c2ab` Short tokens"));
        assert_eq!(field("4f1c2ab Longer tokens\n"), None);
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
