//! What a check that passed proves: a formatter or a linter says nothing of what code does.

use std::collections::HashSet;

use crate::case::entry::Entry;
use cru_action::CheckKind;
use cru_session::Step;

/// Ends of names of files that hold no code.
const PLAIN: &[&str] =
    &[".md", ".mdx", ".txt", ".rst", ".adoc", ".json", ".jsonc", ".yaml", ".yml", ".toml", ".lock", ".csv"];

/// Whether the checks of a step prove nothing of what was done: code was changed, and they only look at its style, which
/// nobody asked about by the name of the program.
pub(crate) fn is_weak<'a>(check: &Step, words: &str, mut done: impl Iterator<Item = (&'a Step, &'a Entry)>) -> bool {
    let action = check.action();
    let style = |check: cru_action::action::Check<'_, '_>| matches!(check.kind(), CheckKind::Lint | CheckKind::Format);
    let asked = || {
        let words = words.to_lowercase();
        let names: HashSet<&str> = words.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).collect();
        action.checks().any(|check| names.contains(check.command().program.as_ref()))
    };
    action.is_check() && action.checks().all(style) && !asked() && done.any(|(step, entry)| changes_code(step, entry))
}

fn changes_code(step: &Step, entry: &Entry) -> bool {
    let code = |path: &str| {
        let path = path.to_lowercase();
        !path.is_empty() && !PLAIN.iter().any(|end| path.ends_with(end))
    };
    if entry.whole().is_some() {
        return entry.changes().iter().any(|change| code(change.path()));
    }
    entry.is_edit() && code(step.args.split_whitespace().next().unwrap_or_default())
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
            is_weak(&check, words, [(&step, &entry)].into_iter())
        };
        assert!(weak("Mend it.", "ruff check", "pump.py"));
        assert!(weak("Mend it.", "npm run lint", "pump.ts"));
        assert!(!weak("Mend what Ruff says.", "ruff check", "pump.py"));
        assert!(!weak("Mend it.", "npm run check", "pump.ts"));
        assert!(!weak("Mend it.", "ruff check", "README.md"));
    }
}
