//! Names in a text: paths, files, commands, programs. Whether a prompt names something new is a part of the phase rule.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Programs that people name in a prompt without any mark, in order.
static PROGRAMS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "ansible aws bazel biome black brew bun cargo clippy cmake composer curl cypress deno docker eslint ffmpeg \
    flutter gcloud gh git gradle grep helm jest jq kubectl make maven mypy mysql npm npx playwright pnpm podman \
    poetry prettier psql pyright pytest redis ripgrep rsync ruff rustfmt sqlite ssh swiftlint systemctl \
    terraform tox tsc uv vite vitest webpack wrangler xcodebuild yarn"
        .split(' ')
        .collect()
});

/// Names that were said or used so far.
#[derive(Debug, Default)]
pub(super) struct SaidNames {
    seen: HashSet<String>,
}

impl SaidNames {
    /// Takes in the names of `text`.
    pub(super) fn learn(&mut self, text: &str) {
        for name in names(text) {
            self.seen.insert(name);
        }
    }

    /// Whether `text` names something that was not there before.
    pub(super) fn is_new(&self, text: &str) -> bool {
        names(text).any(|name| !self.seen.contains(&name))
    }
}

/// The names of `text`, in lower case; a path gives its last part.
fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    // How much of a text is looked through; what stands further down in a long reply is rarely what a person means.
    let end = cru_base::lines::floor_char_boundary(text, 16 * 1024);
    text[..end].split(|c: char| c.is_whitespace() || "\"'()[]{}<>,;|&=".contains(c)).filter_map(name)
}

fn name(token: &str) -> Option<String> {
    let coded = token.contains('`');
    let token = token.trim_matches(|c: char| "`*.:!?…".contains(c)).trim_end_matches(['/', '\\']);
    let command = token.starts_with('/') && token.len() > 1;
    let mention = token.starts_with('@') && token.len() > 1;
    let last = token.trim_start_matches('@').rsplit(['/', '\\']).next().unwrap_or("");
    let slashes = token.matches(['/', '\\']).count();
    let path = slashes >= 2 || token.starts_with("./") || token.starts_with("~/") || (slashes == 1 && is_file(last));
    let named = coded || command || mention || path || is_file(last) || is_program(last);
    (named && last.chars().any(char::is_alphanumeric)).then(|| last.to_lowercase())
}

/// Whether it is one of the programs, in capitals or not.
fn is_program(word: &str) -> bool {
    let word = || word.bytes().map(|byte| byte.to_ascii_lowercase());
    PROGRAMS.binary_search_by(|program| program.bytes().cmp(word())).is_ok()
}

/// `auth.rs`, `README.md`; not `e.g`, `1.2`, `v1.2`.
fn is_file(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    let plain_stem = stem.chars().any(char::is_alphabetic) && stem.chars().count() >= 2;
    let letter_first = extension.chars().next().is_some_and(|c| c.is_ascii_lowercase());
    plain_stem && letter_first && extension.len() <= 5 && extension.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_names() {
        assert!(PROGRAMS.is_sorted());
        assert!(is_program("Cargo") && is_program("uv") && is_program("playwright") && !is_program("cargos"));
    }

    #[test]
    fn table_of_names() {
        let rows: &[(&str, &[&str])] = &[
            ("look at src/auth.rs, please", &["auth.rs"]),
            ("read @docs/plan.md and ~/notes", &["plan.md", "notes"]),
            ("run `just check` with Cargo", &["just", "check", "cargo"]),
            ("/review it", &["review"]),
            ("see https://example.org/a/7", &["7"]),
            ("yes and/or no, e.g. version 1.2 or v1.2.", &[]),
            ("go on", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(names(text).collect::<Vec<_>>(), *expected, "{text}");
        }
    }

    #[test]
    fn what_was_said_is_not_new() {
        let mut names = SaidNames::default();
        names.learn("Edit /srv/api/src/auth.rs");
        assert!(!names.is_new("now fix auth.rs"));
        assert!(names.is_new("now fix token.rs"));
    }
}
