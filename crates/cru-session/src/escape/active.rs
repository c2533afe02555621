//! What editors and their plugins run when a note is opened, beside what markdown itself opens: fences and inline code by
//! their name, templates, destinations of links.
//!
//! What may stay is named, since nobody knows all plugins: languages of fences (`data/languages.txt`), beginnings of inline
//! code, schemes of links.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::slash::{self, Way, slashes_before};

/// Languages whose fences stay what they are, in lower case.
static LANGUAGES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../data/languages.txt").lines().filter(|line| !line.starts_with("# "));
    lines.flat_map(str::split_whitespace).collect()
});

/// Schemes of destinations that a click may follow.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// What plugins take inline code for by its first word.
const TAKEN: [&str; 7] = ["button-", "dice:", "dice+", "dice-", "stat:", "emera:", "iframe:"];

/// Whether a fence with this info string is of a language that is only shown.
pub(super) fn is_shown(info: &str) -> bool {
    let word = info.split_whitespace().next().unwrap_or_default();
    let name = word.split([',', ':', ';', '{', '=']).next().unwrap_or_default();
    word.is_empty() || LANGUAGES.contains(name.to_lowercase().as_str())
}

/// Where a backslash takes the name from a fence with this info string, not counting those that are there; `None` where its
/// language is only shown. Markdown drops one that stands before punctuation, so it stands behind that.
pub(super) fn name_of(info: &str) -> Option<usize> {
    let at = info.len() - info.trim_start_matches(|c: char| c.is_ascii_punctuation()).len();
    let is_bare = info[..at].bytes().all(|byte| byte == b'\\');
    (!is_bare || !is_shown(&info[at..])).then_some(at)
}

/// Whether inline code of this text is run, or holds what is.
pub(super) fn is_run(code: &str) -> bool {
    is_called(code) || has_mark(code)
}

/// Whether inline code of this text is run by how it begins.
pub(super) fn is_called(code: &str) -> bool {
    let code = code.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut chars = code.chars();
    let (first, second) = (chars.next(), chars.next());
    let begins = match first {
        None => true,
        Some('$') => second != Some('='),
        Some('[') => second != Some('!'),
        Some('{') => second != Some('{'),
        Some('!') => second != Some('='),
        Some(c) => c.is_alphanumeric() || c == '_' || (c != '=' && c.is_ascii_punctuation()) || !c.is_ascii(),
    };
    let word = code.len() - code.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == '_').len();
    // A `_` before it makes it another word.
    let is_input = word > 1 && !code.starts_with('_') && code[word..].starts_with('[');
    !begins || is_input || TAKEN.iter().any(|taken| code.starts_with(taken))
}

/// Whether something begins in code of this text all the same.
pub(super) fn has_mark(text: &str) -> bool {
    marks(text).next().is_some()
}

/// Where the second sign of each mark stands that counts in code too, backslashes between its two signs not counted: of a
/// template, which its plugin looks for in the bytes of a new note, and of a private comment.
pub(super) fn marks(text: &str) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'%', text.as_bytes()).filter(|&at| match before_slashes(text, at) {
        Some(b'<') => true,
        Some(b'%') => is_private(&text[at + 1..]),
        _ => false,
    })
}

fn before_slashes(text: &str, at: usize) -> Option<u8> {
    let before = at - slashes_before(text, at, 0);
    before.checked_sub(1).map(|at| text.as_bytes()[at])
}

/// Whether `private` stands behind the marks of a comment, in the widest reading.
fn is_private(behind: &str) -> bool {
    let word = behind.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '%' | '\\'));
    word.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("private"))
}

/// Code in which nothing begins, and back: a backslash stands between the two signs of each mark.
pub(super) fn code(text: &str, way: Way) -> Cow<'_, str> {
    if !has_mark(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 4);
    let at: Vec<usize> = marks(text).collect();
    slash::apply(text, &at, way, &mut out);
    Cow::Owned(out)
}

/// JSON in which nothing begins.
pub(super) fn json(text: &str) -> String {
    text.replace("<%", "\\u003c%").replace("%%", "%\\u0025")
}

/// Behind `](`: whether a click on the destination may do something else than open a page or a file, or may, as it stands on
/// another line.
pub(super) fn is_command(after: &str) -> bool {
    let rest = after.trim_start().trim_start_matches('<');
    let target = rest.split([' ', '\t', ')', '>']).next().unwrap_or_default();
    if rest.is_empty() {
        return true;
    }
    let head = target.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((scheme, behind)) = head.split_once(':') else { return head.contains('&') };
    let line = !behind.is_empty() && behind.bytes().all(|byte| byte.is_ascii_digit() || b":-,".contains(&byte));
    !line && !SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
}

/// Whether what stands before `::` names a field that ends there.
pub(super) fn is_key(before: &str) -> bool {
    const LONGEST: usize = 80;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '/');
    let bare = before.trim_end_matches(['_', '*', '~']);
    let key = bare.len() - bare.trim_end_matches(is_part).len();
    if key == 0 || key > LONGEST || !bare[bare.len() - key..].contains(char::is_alphanumeric) {
        return false;
    }
    let head = &bare[..bare.len() - key];
    head.ends_with(['[', '(']) || (head.len() <= LONGEST && !head.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_that_are_shown() {
        for info in
            ["", " ", "rust", "Rust", "rust,ignore", "js {1,3}", "python title=a", "c++", "sh", "ts:src/a.ts", "go.mod"]
        {
            assert!(is_shown(info), "{info}");
        }
        for info in [
            "dataviewjs",
            "DataviewJS",
            "query",
            "base",
            "tasks",
            "button",
            "mermaid",
            "{dataviewjs}",
            "js-engine",
            "data&#118;iewjs",
            "js&#45;engine",
            "meta-bind-button",
            "templater",
            "dot",
            "run-python",
            "<%",
        ] {
            assert!(!is_shown(info), "{info}");
        }
    }

    #[test]
    fn inline_code_that_is_run() {
        for code in [
            "= this.file.name",
            "=1",
            "$= app",
            " $= app",
            "\u{a0}=x",
            "$=x",
            "INPUT[text:a]",
            "VIEW[{a}]",
            "[!!a|b]",
            "{{date}}",
            "!=x",
            "button-a",
            "dice: 1d6",
            "a <% x %>",
            "<\\%x",
        ] {
            assert!(is_run(code), "{code}");
        }
        for code in [
            "",
            "ls",
            "$HOME/x",
            "${a}",
            "$",
            "$(ls)",
            "$ tsc",
            "-x = y",
            "[a]",
            "{a}",
            "!important",
            "a[0]",
            "A[0]",
            "x = y",
            "/a",
            "→",
            "key: value",
            "%d",
            "A_B",
        ] {
            assert!(!is_run(code.trim()), "{code}");
        }
    }

    #[test]
    fn templates_are_broken_in_code() {
        for (text, written) in [
            ("a <% b %>", "a <\\% b %>"),
            ("<\\%", "<\\\\\\%"),
            ("50% < 60%", "50% < 60%"),
            ("<%%", "<\\%%"),
            ("# %% a", "# %% a"),
            ("%%%Private b", "%\\%\\%Private b"),
        ] {
            assert_eq!(code(text, Way::Escape), written);
            assert_eq!(code(written, Way::Undo), text);
        }
        assert_eq!(code("a <\\\\% b", Way::Undo), "a <\\\\% b");
        assert_eq!(json("{\"a\":\"<% x\"}"), "{\"a\":\"\\u003c% x\"}");
    }

    #[test]
    fn destinations() {
        for target in [
            "https://a.b)",
            "http://a:80)",
            "mailto:a@b.c)",
            "a.md)",
            "a/b:c)",
            "#x)",
            "a.rs:12)",
            "a.rs:12:3)",
            "a.rs:1:0-20:1)",
            "<a b>)",
            "?a:b)",
        ] {
            assert!(!is_command(target), "{target}");
        }
        for target in
            ["obsidian://open?vault=x)", "javascript:x)", "JavaScript&colon;x)", "<data:x>)", "file:///a)", "", " "]
        {
            assert!(is_command(target), "{target}");
        }
    }
}
