//! What a check that passed proves: a formatter or a linter says nothing of what code does.

use std::collections::HashSet;

use crate::case::entry::Entry;
use cru_action::CheckKind;
use cru_session::Step;

/// Ends of names of files that hold no code.
const PLAIN: &[&str] =
    &[".md", ".mdx", ".txt", ".rst", ".adoc", ".json", ".jsonc", ".yaml", ".yml", ".toml", ".lock", ".csv"];

/// Ends of names of files that people read. `.mdx` is compiled, and tools read `.txt` (`requirements.txt`, `CMakeLists.txt`).
const WRITING: &[&str] = &[".md", ".rst", ".adoc"];

/// Whether the checks of a step prove nothing of what was done: code was changed, and they only look at its style, which
/// nobody asked about by the name of the program; or nothing but writing was changed, which no check of code reads.
pub(crate) fn is_weak(check: &Step, words: &str, done: &[(&Step, &Entry)]) -> bool {
    let action = check.action();
    let style = |check: cru_action::action::Check<'_, '_>| matches!(check.kind(), CheckKind::Lint | CheckKind::Format);
    let asked = || {
        let words = words.to_lowercase();
        let names: HashSet<&str> = words.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).collect();
        action.checks().any(|check| names.contains(check.command().program.as_ref()))
    };
    let changes = |ends: &[&str]| done.iter().any(|(step, entry)| changes_other_than(ends, step, entry));
    let is_style = action.checks().all(style);
    action.is_check() && (!changes(WRITING) || is_style && !asked() && changes(PLAIN))
}

/// Whether a step changes a file whose name has none of these ends.
fn changes_other_than(ends: &[&str], step: &Step, entry: &Entry) -> bool {
    let other = |path: &str| {
        let path = path.to_lowercase();
        !path.is_empty() && !ends.iter().any(|end| path.ends_with(end))
    };
    if entry.whole().is_some() {
        return entry.changes().iter().any(|change| other(change.path()))
            || step.writes.iter().any(|it| other(&it.path));
    }
    entry.is_edit() && other(step.args.split_whitespace().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::entry;

    #[test]
    fn what_a_linter_does_not_prove() {
        let weak = |words: &str, check: &str, file: &str| {
            let step = Step { tool: "Edit".into(), args: file.into(), ..Step::default() };
            let entry = entry::of_step(&step, &str::to_owned);
            let check = Step { tool: "Bash".into(), args: check.into(), ..Step::default() };
            is_weak(&check, words, &[(&step, &entry)])
        };
        assert!(weak("Mend it.", "ruff check", "pump.py"));
        assert!(weak("Mend it.", "npm run lint", "pump.ts"));
        assert!(!weak("Mend what Ruff says.", "ruff check", "pump.py"));
        assert!(!weak("Mend it.", "npm run check", "pump.ts"));
        assert!(weak("Mend it.", "ruff check", "README.md") && weak("Mend it.", "cargo test", "README.md"));
        assert!(!weak("Mend it.", "ruff check", "ruff.toml") && !weak("Mend it.", "cargo test", "Cargo.toml"));
        assert!(!weak("Mend it.", "make test", "CMakeLists.txt"), "tools read it");
    }
}
