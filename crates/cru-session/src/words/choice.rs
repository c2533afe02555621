//! Titles from commits, and what phases and files take of one.

use cru_base::text::slug;

use super::list::{NEGATION, QUANTIFIER, STOP};
use super::shorten::at_word;
use super::title::{MAX, capital, given};

/// Words that the heading of a phase may have.
const HEADING_WORDS: usize = 8;

/// Content words of a title that a file name takes.
const NAME_WORDS: usize = 6;

/// Types of commits by the convention of that name, as its tools know them.
const COMMIT_TYPES: &[&str] =
    &["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test", "wip"];

/// Whether a title is code or names of files rather than words: more than a third of it.
pub fn is_code(title: &str) -> bool {
    if title.contains("\"\"\"") {
        return true;
    }
    let words = title.split_whitespace().count();
    let signs = |c: char| "(){}[]<>=;_$|\\".contains(c);
    let is_name = |word: &str| word.trim_end_matches(|c: char| !c.is_alphanumeric()).contains('.');
    let code = title.split_whitespace().filter(|word| word.contains(signs) || is_name(word)).count();
    code * 3 > words
}

/// A title as the heading of a phase: at most eight words.
pub fn heading(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().take(HEADING_WORDS + 1).collect();
    if words.len() <= HEADING_WORDS {
        return title.to_owned();
    }
    let kept = words[..HEADING_WORDS].join(" ");
    format!("{}…", kept.trim_end_matches(['…', ',', ';', ':', '-', '–', '.', ' ']))
}

/// The part of a file name that a title gives: its content words, at most six, and what denies or counts. An issue or
/// pull request loses its owner. Empty where the title has no letters or digits.
pub fn name_part(title: &str) -> String {
    let plain: Vec<&str> = title.split_whitespace().map(without_owner).collect();
    let is_kept = |word: &&&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let stops = STOP.has(bare) && !NEGATION.has(bare) && !QUANTIFIER.has(bare);
        !stops && !bare.is_empty()
    };
    let content: Vec<&str> = plain.iter().filter(is_kept).copied().collect();
    let words = if content.len() < 2 { plain } else { content };
    slug(&words.join(" ").replace(['\'', '’'], ""), NAME_WORDS)
}

/// `owner/repo#7714` as `repo#7714`.
fn without_owner(word: &str) -> &str {
    let numbered = word.rsplit_once('#').is_some_and(|(_, number)| number.starts_with(|c: char| c.is_ascii_digit()));
    if numbered { word.rsplit('/').next().unwrap_or(word) } else { word }
}

/// The subject of a commit as a title: without the type that some projects write before it, and the number of a pull
/// request behind it.
pub fn of_commit(subject: &str) -> Option<String> {
    let bare = match subject.rsplit_once(" (#") {
        Some((rest, number)) if number.trim_end_matches(')').bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => subject,
    };
    let bare = bare.split_once(": ").map_or_else(
        || bare.to_owned(),
        |(kind, rest)| {
            let kind = kind.trim_end_matches('!');
            let (word, scope) = kind.split_once('(').map_or((kind, None), |(word, rest)| (word, Some(rest)));
            let scope = scope.and_then(|scope| scope.strip_suffix(')'));
            match (COMMIT_TYPES.contains(&word.to_lowercase().as_str()), scope) {
                (true, Some(scope)) => format!("{scope}: {rest}"),
                (true, None) if !kind.contains('(') => capital(rest),
                _ => bare.to_owned(),
            }
        },
    );
    given(&bare).map(|title| at_word(&title, MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_commits() {
        let rows = [
            ("authcode: reject query parameters", "authcode: reject query parameters"),
            ("fix: mend the pump (#12)", "Mend the pump"),
            ("feat(ui)!: a red button", "ui: a red button"),
            ("Merge: keep both", "Merge: keep both"),
        ];
        for (subject, title) in rows {
            assert_eq!(of_commit(subject).as_deref(), Some(title), "{subject}");
        }
        assert_eq!(of_commit("…"), None);
    }

    #[test]
    fn table_of_file_names() {
        let rows = [
            ("Fix the success message of the login flow", "fix-success-message-login-flow"),
            ("owner/repo#7714", "repo-7714"),
            ("Do not touch the docs", "not-touch-docs"),
            ("What is this?", "what-is-this"),
            ("The test isn't green", "test-isnt-green"),
            ("Add a Github Action to run tests and linting on every push", "add-github-action-run-tests-linting"),
            ("启动应用时确保环境变量", "启动应用时确保环境变量"),
            ("…", ""),
        ];
        for (title, name) in rows {
            assert_eq!(name_part(title), name, "{title}");
        }
    }

    #[test]
    fn headings_have_eight_words() {
        assert_eq!(heading("One two"), "One two");
        assert_eq!(heading("one two three four five six seven eight"), "one two three four five six seven eight");
        assert_eq!(
            heading("one two three four five six seven, eight, nine"),
            "one two three four five six seven, eight…"
        );
    }

    #[test]
    fn code_is_no_title() {
        for title in ["def test_row()", "In CONVENTIONS.md", "folders: Optional[List[str]] = None"] {
            assert!(is_code(title), "{title}");
        }
        for title in ["Look at token.rs and fix it", "Add tests for cache.py", "repo#7714"] {
            assert!(!is_code(title), "{title}");
        }
    }
}
