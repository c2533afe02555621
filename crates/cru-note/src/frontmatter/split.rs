//! Where the frontmatter ends and the body begins.
//!
//! The rules are the editor's: the first line of the file is `---` (blanks may follow, a byte order mark may stand
//! before it), and the block lasts to the next such line. `...` does not end it. Knows nothing of YAML.

use crate::LineEnd;
use cru_base::{Diagnostic, Span};

/// A note cut into frontmatter and body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Whether the file starts with a byte order mark (three bytes that belong to neither part).
    pub bom: bool,
    /// The frontmatter, if the note has one; an empty block counts.
    pub block: Option<Bounds>,
    /// Where the body starts: behind the closing line, or behind the byte order mark.
    pub body_start: usize,
    /// How the first line of the file ends.
    pub line_end: LineEnd,
    /// `frontmatter-unclosed`, `frontmatter-toml`.
    pub diagnostics: Vec<Diagnostic>,
}

/// Where a frontmatter block stands; its three parts follow each other without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// All of it, both `---` lines and the last line end included.
    pub span: Span,
    /// The opening line with its line end.
    pub open: Span,
    /// What stands between, with the line end before the closing line; empty in an empty block.
    pub yaml: Span,
    /// The closing line with its line end, if it has one.
    pub close: Span,
}

/// Splits a note. Total and linear; `text` may hold anything.
pub fn split(text: &str) -> Split {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut split = Split { bom: start > 0, body_start: start, line_end: LineEnd::of(text), ..Split::default() };
    let open = line_at(text, start);
    if is_fence(open.of(text), "+++") && lines_from(text, open.end).any(|line| is_fence(line.of(text), "+++")) {
        split.diagnostics.push(
            Diagnostic::info("frontmatter-toml", open, "TOML frontmatter is not read")
                .help("write the properties as YAML between two `---` lines"),
        );
    }
    if !is_fence(open.of(text), "---") {
        return split;
    }
    let Some(close) = lines_from(text, open.end).find(|line| is_fence(line.of(text), "---")) else {
        // A note that is nothing but a rule, or begins with one, is no broken frontmatter.
        if lines_from(text, open.end).next().is_some_and(|line| looks_like_key(line.of(text))) {
            split.diagnostics.push(
                Diagnostic::error("frontmatter-unclosed", open, "the frontmatter has no closing `---` line")
                    .help("add a line `---` after the last property"),
            );
        }
        return split;
    };
    split.block =
        Some(Bounds { span: Span::new(open.start, close.end), open, yaml: Span::new(open.end, close.start), close });
    split.body_start = close.end;
    split
}

fn is_fence(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark).is_some_and(|rest| rest.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n')))
}

fn looks_like_key(line: &str) -> bool {
    let key = line.split_once(':').map_or("", |(key, _)| key);
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '"' | '\''))
}

/// The line that starts at `start`, with its line end.
pub(crate) fn line_at(text: &str, start: usize) -> Span {
    let rest = &text.as_bytes()[start.min(text.len())..];
    let end = memchr::memchr(b'\n', rest).map_or(text.len(), |at| start + at + 1);
    Span::new(start, end)
}

/// The lines from `start` on, each with its line end.
pub(crate) fn lines_from(text: &str, start: usize) -> impl Iterator<Item = Span> {
    let mut at = start;
    std::iter::from_fn(move || {
        (at < text.len()).then(|| {
            let line = line_at(text, at);
            at = line.end;
            line
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(yaml, body)`, or `None` without a block.
    fn parts(text: &str) -> (Option<&str>, &str) {
        let split = split(text);
        if let Some(block) = split.block {
            assert_eq!(block.open.end, block.yaml.start);
            assert_eq!(block.yaml.end, block.close.start);
            assert_eq!(block.span, Span::new(block.open.start, block.close.end));
            assert_eq!(block.close.end, split.body_start);
        }
        (split.block.map(|block| block.yaml.of(text)), &text[split.body_start..])
    }

    fn codes(text: &str) -> Vec<&'static str> {
        split(text).diagnostics.iter().map(|it| it.code).collect()
    }

    #[test]
    fn splits() {
        assert_eq!(parts("---\na: 1\n---\nbody\n"), (Some("a: 1\n"), "body\n"));
        assert_eq!(parts("---  \na: 1\n--- \t\nbody"), (Some("a: 1\n"), "body"));
        assert_eq!(parts("---\n---\nbody"), (Some(""), "body"));
        assert_eq!(parts("---\n\n---"), (Some("\n"), ""));
        assert_eq!(parts("---\na: 1\n---"), (Some("a: 1\n"), ""));
        assert_eq!(parts("---\r\na: 1\r\n---\r\nbody\r\n"), (Some("a: 1\r\n"), "body\r\n"));
        assert_eq!(split("---\r\na: 1\r\n---\r\n").line_end, LineEnd::CrLf);
    }

    #[test]
    fn byte_order_mark_belongs_to_neither_part() {
        let text = "\u{feff}---\na: 1\n---\nbody";
        assert_eq!(parts(text), (Some("a: 1\n"), "body"));
        assert!(split(text).bom);
        assert_eq!(parts("\u{feff}body"), (None, "body"));
        assert_eq!(parts("\u{feff}"), (None, ""));
    }

    #[test]
    fn only_the_first_line_opens_a_block() {
        for text in [
            "",
            "\n---\na: 1\n---\n",
            " ---\na: 1\n---\n",
            "----\na: 1\n----\n",
            "--- a\nb: 1\n---\n",
            "text\n---\na: 1\n---\n",
        ] {
            assert_eq!(parts(text), (None, text), "{text:?}");
            assert!(codes(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn three_dots_do_not_close() {
        assert_eq!(parts("---\na: 1\n...\nb: 2\n---\nbody"), (Some("a: 1\n...\nb: 2\n"), "body"));
        assert_eq!(parts("---\na: 1\n...\nbody"), (None, "---\na: 1\n...\nbody"));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(codes("---\ntitle: x\n# body"), ["frontmatter-unclosed"]);
        assert_eq!(codes("---\n\nA text below a rule.\n"), [] as [&str; 0]);
        assert_eq!(codes("---"), [] as [&str; 0]);
        assert_eq!(codes("+++\ntitle = \"x\"\n+++\n"), ["frontmatter-toml"]);
        assert_eq!(codes("+++\n"), [] as [&str; 0]);
    }
}
