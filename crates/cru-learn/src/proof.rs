//! What a check that passed proves: a formatter or a linter says nothing of what code does.

use super::entry::Entry;
use cru_session::Step;

/// Programs that look at how code is written, and subcommands and scripts that do.
const STYLE: &[&str] = &[
    "biome",
    "black",
    "clippy",
    "eslint",
    "flake8",
    "fmt",
    "format",
    "gofmt",
    "golangci-lint",
    "isort",
    "lint",
    "prettier",
    "rubocop",
    "ruff",
    "rustfmt",
    "stylelint",
];

/// Words by which a person asks for just that, in lower case.
const ABOUT_STYLE: &[&str] = &["lint", "format", "style", "warning", "fmt"];

/// Ends of names of files that hold no code.
const PLAIN: &[&str] =
    &[".md", ".mdx", ".txt", ".rst", ".adoc", ".json", ".jsonc", ".yaml", ".yml", ".toml", ".lock", ".csv"];

/// Whether a check of that name only looks at how code is written.
fn is_style(key: &str) -> bool {
    key.split([' ', ':', '/']).any(|word| STYLE.contains(&word))
}

/// Whether the check proves nothing of what was done: code was changed, nobody asked about style, and it only looks at that.
pub(super) fn is_weak<'a>(key: &str, words: &str, mut done: impl Iterator<Item = (&'a Step, &'a Entry)>) -> bool {
    let words = words.to_lowercase();
    let asked = || ABOUT_STYLE.iter().chain(STYLE).any(|word| words.contains(word));
    is_style(key) && !asked() && done.any(|(step, entry)| changes_code(step, entry))
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
    use crate::entry;

    #[test]
    fn what_a_linter_does_not_prove() {
        let weak = |key: &str, words: &str, file: &str| {
            let step = Step { tool: "Edit".into(), args: file.into(), ..Step::default() };
            let entry = entry::of_step(&step, &str::to_owned);
            is_weak(key, words, [(&step, &entry)].into_iter())
        };
        assert!(weak("ruff check", "Make the pump faster.", "pump.py"));
        assert!(weak("npm run lint", "Make the pump faster.", "pump.ts"));
        assert!(!weak("npm run check", "Make the pump faster.", "pump.ts"));
        assert!(!weak("ruff check", "Mend what the linter says of the pump.", "pump.py"));
        assert!(!weak("ruff check", "Tell of the pump.", "README.md"));
    }
}
