//! Commits that a call takes back: by amending the last one, or by setting the branch back.

use super::{Action, Command};

impl Action<'_> {
    /// Whether it makes a commit that takes the place of the one before it: `git commit --amend`.
    pub fn amends(&self) -> bool {
        let is_amend = |it: &Command<'_>| it.key() == "git commit" && it.words.iter().any(|word| word == "--amend");
        self.commands.iter().any(is_amend)
    }

    /// How many of the commits before it the call takes out of the branch by `git reset`, the last ones. `known` are the
    /// ids of these commits, the last one at the end, empty where an id is not known.
    pub fn undone(&self, known: &[&str]) -> usize {
        let undone = self.commands.iter().map(|command| undone(command, known)).sum::<usize>();
        undone.min(known.len())
    }
}

fn undone(command: &Command<'_>, known: &[&str]) -> usize {
    if command.program != "git" || command.verb.split(' ').next() != Some("reset") {
        return 0;
    }
    let words: Vec<&str> =
        command.words.iter().map(AsRef::as_ref).skip_while(|word| *word != "reset").skip(1).collect();
    let mut named = words.iter().filter(|word| !word.starts_with('-'));
    // With paths the index alone is set back.
    let (Some(target), None, false) = (named.next(), named.next(), words.contains(&"--")) else { return 0 };
    if let Some(count) = before_head(target) {
        return count;
    }
    let is_id = target.len() >= 7 && target.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_it = |id: &&str| !id.is_empty() && (id.starts_with(target) || target.starts_with(*id));
    match known.iter().position(is_it) {
        Some(at) => known.len() - at - 1,
        // A commit before all of them.
        None if is_id => known.len(),
        // A branch that is the base of this one: what was committed since becomes one commit. With `--hard` it is one that
        // holds them already, more often than not.
        None if words.contains(&"--soft") => known.len(),
        None => 0,
    }
}

/// How many commits lie behind the one that a word names: `HEAD^`, `HEAD~2`.
fn before_head(word: &str) -> Option<usize> {
    let rest = word.strip_prefix("HEAD").or_else(|| word.strip_prefix('@'))?;
    if rest.bytes().all(|byte| byte == b'^') {
        return Some(rest.len());
    }
    match rest.strip_prefix('~')? {
        "" => Some(1),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_that_are_taken_back() {
        let known = ["1111111", "", "3333333aa"];
        for (args, undone) in [
            ("git reset --soft HEAD~2 && git commit -m x", 2),
            ("git reset HEAD^", 1),
            ("git -C web reset --hard @~", 1),
            ("git reset --soft HEAD~9", 3),
            ("git reset HEAD", 0),
            ("git reset HEAD~1 -- a.rs", 0),
            ("git reset HEAD~1 a.rs", 0),
            ("git reset --hard 1111111", 2),
            ("git reset --hard 3333333", 0),
            ("git reset --hard abcdef012", 3),
            ("git reset --soft main", 3),
            ("git reset --hard origin/main", 0),
            ("git reset", 0),
            ("git commit --amend", 0),
        ] {
            assert_eq!(Action::of("Bash", args).undone(&known), undone, "{args}");
        }
        assert!(Action::of("Bash", "git add . && git commit --amend --no-edit").amends());
    }
}
