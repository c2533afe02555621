//! Files that a session took away or gave another name by a command: what it wrote into them is superseded, and not gone.

use std::collections::HashMap;

use cru_action::Command;
use cru_session::{Step, StepStatus};

use crate::project::inside;

/// The files and folders below the project that a step removed or renamed, as far as its command says.
pub(crate) fn of_step(step: &Step, project: &str) -> Vec<String> {
    let text = step.full_args();
    if step.status != StepStatus::Complete || !(text.contains("rm ") || text.contains("mv ")) {
        return Vec::new();
    }
    let action = step.action();
    let mut paths = Vec::new();
    for command in &action.commands {
        let targets = targets(command);
        let Some(folder) = action.folder(command).filter(|_| !targets.is_empty()) else { continue };
        for target in targets {
            let path = match folder.as_str() {
                _ if target.starts_with(['/', '~']) => target.to_owned(),
                "" => target.to_owned(),
                folder => format!("{folder}/{target}"),
            };
            paths.extend(inside(project, &path).or_else(|| inside(project, &with_short_home(&path)?)));
        }
    }
    paths
}

/// Whether a later step took a file away, or a folder that it lies in.
pub(crate) fn is_removed(path: &str, at: usize, removed: &HashMap<String, usize>) -> bool {
    let is_later = |path: &str| removed.get(path).is_some_and(|later| *later > at);
    is_later(path) || path.match_indices('/').any(|(end, _)| is_later(&path[..end]))
}

/// What a command takes away: `rm a b`, `git rm a`, and `a` of `mv a b`.
fn targets<'c>(command: &'c Command<'_>) -> Vec<&'c str> {
    let words = || command.words.iter().skip(1).map(AsRef::as_ref).filter(|word: &&str| !word.starts_with('-'));
    let (mut plain, renames): (Vec<&str>, bool) = match (command.program.as_ref(), command.verb.as_str()) {
        ("rm" | "unlink", _) => (words().collect(), false),
        ("mv", _) => (words().collect(), true),
        ("git", "rm") => (words().skip_while(|word| *word != "rm").skip(1).collect(), false),
        ("git", "mv") => (words().skip_while(|word| *word != "mv").skip(1).collect(), true),
        _ => return Vec::new(),
    };
    if renames {
        plain.pop();
    }
    plain.retain(|word| !word.contains(['*', '?', '$', '`', '{']));
    plain
}

/// A path below a home folder as notes write it.
fn with_short_home(path: &str) -> Option<String> {
    let rest = ["/Users/", "/home/"].iter().find_map(|homes| path.strip_prefix(homes))?;
    let (_, rest) = rest.split_once('/')?;
    Some(format!("~/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let step = Step { tool: "Bash".to_owned(), args: text.to_owned(), ..Step::default() };
        of_step(&step, "~/code/api")
    }

    #[test]
    fn what_is_taken_away() {
        assert_eq!(told("rm -f src/a.rs src/b.rs"), ["src/a.rs", "src/b.rs"]);
        assert_eq!(told("cd /Users/ann/code/api && mv src/a.rs src/b.rs"), ["src/a.rs"]);
        assert_eq!(told("cd src && git mv a.rs b.rs"), ["src/a.rs"]);
        assert_eq!(told("git rm --cached x.lock; git rm old/"), ["x.lock", "old"]);
        assert_eq!(told("rm *.log"), Vec::<String>::new());
        assert_eq!(told("rm /etc/x"), Vec::<String>::new());
        assert_eq!(told("farm a"), Vec::<String>::new());
        let removed = HashMap::from([("old".to_owned(), 3), ("a".to_owned(), 1)]);
        assert!(
            is_removed("old/x/y", 2, &removed) && !is_removed("old/x", 3, &removed) && !is_removed("ab", 0, &removed)
        );
    }
}
