//! Lines of text by what they say: two lines are one where they differ in blanks alone, in the number that a tool
//! writes before a line of a file, or in the mark of a difference.
//!
//! What an answer quotes is looked for by these: a hash for each line, so that a whole session is looked through once.

use std::hash::{DefaultHasher, Hasher};

/// Characters, blanks not counted, of a line that says something by itself, and letters and digits among them.
const LEAST: usize = 12;
const WORDS: usize = 6;

/// Characters of a line that is looked for at all.
const SHORT: usize = 4;

/// What a line says; `None` where it is too short to be known again.
pub(crate) fn key(line: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let mut count = 0;
    let mut buffer = [0; 4];
    for c in line.chars().filter(|c| !c.is_whitespace()) {
        hasher.write(c.encode_utf8(&mut buffer).as_bytes());
        count += 1;
    }
    (count >= SHORT).then(|| hasher.finish())
}

/// A text without blanks.
pub(crate) fn squashed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Whether a line says something by itself.
pub(crate) fn says_something(line: &str) -> bool {
    line.chars().filter(|c| !c.is_whitespace()).nth(LEAST - 1).is_some()
        && line.chars().filter(|c| c.is_alphanumeric()).nth(WORDS - 1).is_some()
}

/// All that a line of a text may be: as it stands, behind the number of its line or behind the mark of a difference.
pub(crate) fn keys(line: &str) -> impl Iterator<Item = u64> {
    let plain = key(line);
    let numbered = numbered(line).and_then(key);
    let marked = line.strip_prefix(['+', '-', '>', '<']).and_then(key);
    plain.into_iter().chain(numbered).chain(marked)
}

/// What stands behind the number of a line: `  12→text`, `12: text`, `src/a.rs:12:text`.
fn numbered(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let rest = start.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < start.len() {
        return rest.strip_prefix(['→', '\t', ':', '|', '-', ' ']);
    }
    let (_, behind) = start.split_once(':')?;
    let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < behind.len() { rest.strip_prefix(':') } else { None }
}

/// The names of files in a text: the last parts of paths, with an extension.
pub(crate) fn names(text: &str) -> impl Iterator<Item = u64> + '_ {
    let part = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    text.split(part).filter_map(|word| {
        let word = word.trim_matches(['.', '-']);
        let (name, extension) = word.rsplit_once('.')?;
        let plain = (1..=6).contains(&extension.len()) && extension.starts_with(|c: char| c.is_ascii_alphabetic());
        (plain && !name.is_empty()).then(|| key(word)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let wanted = key(a);
        wanted.is_some() && keys(b).any(|key| Some(key) == wanted)
    }

    #[test]
    fn lines_that_are_one() {
        let line = "    let sails = count(masts);";
        for other in [
            "let sails=count(masts);",
            "    12→    let sails = count(masts);",
            "7: let sails = count(masts);",
            "src/ship.rs:12:    let sails = count(masts);",
            "-    let sails = count(masts);",
        ] {
            assert!(same(line, other), "{other}");
        }
        assert!(!same(line, "let sails = count(mast);"));
        assert!(!same("}", "}"));
    }

    #[test]
    fn names_of_files() {
        let found: Vec<u64> = names("see docs/hooks.md, `src/ship.rs:12` and e.g. v1.2.").collect();
        assert_eq!(found, [key("hooks.md").unwrap(), key("ship.rs").unwrap()]);
    }
}
