//! What is said about frontmatter that cannot be read, or is read otherwise than it looks.
//!
//! The table of the diagnostics of this folder but for the two of `split`; words only, no decisions.

use super::split::{line_at, lines_from};
use super::tree::{Failure, Issue};
use cru_base::{Diagnostic, Span};

const QUOTE: &str = "put the value in double quotes";

/// Remark on a value that was read.
pub(super) fn issue(issue: &Issue, span: Span) -> Diagnostic {
    match issue {
        Issue::Tag(tag) => Diagnostic::warning(
            "frontmatter-tag",
            span,
            format!("the YAML tag `!{}` is ignored", tag.trim_start_matches('!')),
        )
        .help(QUOTE),
        Issue::Number(text) => Diagnostic::warning(
            "frontmatter-number",
            span,
            format!("`{}` is no number that can be used", cru_base::text::truncate(text, 40)),
        )
        .help("put it in double quotes if it is text"),
        Issue::DuplicateKey(key) => repeated_key(key, span),
    }
}

pub(super) fn repeated_key(key: &str, span: Span) -> Diagnostic {
    Diagnostic::error("frontmatter-duplicate-key", span, format!("the key `{key}` stands twice; the last one counts"))
        .help("remove one of them: the editor refuses the whole frontmatter otherwise")
}

pub(super) fn odd_key(key: &str, span: Span) -> Diagnostic {
    Diagnostic::info("frontmatter-key", span, format!("the key `{key}` is taken as text"))
        .help("put the key in double quotes")
}

pub(super) fn alias(span: Span) -> Diagnostic {
    Diagnostic::info("frontmatter-alias", span, "`&` and `*` mark a value that is used again in another place")
        .help("write the value itself, in double quotes if it begins with `&` or `*`")
}

/// Remark on lines that could not be read. `lines` is the part of `yaml` that was tried, `base` where `yaml` starts.
pub(super) fn failure(failure: &Failure, yaml: &str, lines: Span, base: usize) -> Diagnostic {
    let first = trimmed(yaml, line_at(yaml, lines.start)).shift(base);
    match failure {
        Failure::TooLong => {
            Diagnostic::error("frontmatter-too-long", first, "the frontmatter is too long to be read whole")
                .help("move the text into the body of the note")
        }
        Failure::TooDeep => {
            Diagnostic::error("frontmatter-too-deep", first, "this is nested or repeated too often to be read")
                .help("write it with fewer levels and without aliases")
        }
        Failure::NotAMap => {
            Diagnostic::error("frontmatter-not-a-map", first, "the frontmatter is no list of properties")
                .help("write each property as `name: value`")
        }
        Failure::Syntax { line, message } => {
            let line = nth_line(yaml, lines, *line);
            let (code, message, help) = explain(line.of(yaml), message);
            let diagnostic = Diagnostic::error(code, trimmed(yaml, line).shift(base), message);
            match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
        }
    }
}

/// The reader's words in ours, where the cause can be told.
fn explain(line: &str, message: &str) -> (&'static str, String, Option<&'static str>) {
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    let value = line.split_once(": ").map_or_else(|| line.trim().trim_start_matches("- "), |(_, value)| value.trim());
    if indent.contains('\t') {
        return ("frontmatter-tab", "a tab indents this line".to_owned(), Some("indent with blanks"));
    }
    if value.starts_with("{{") {
        let help = "put the value in double quotes, or keep templates in a folder of their own";
        return ("frontmatter-template", "an unfilled template stands here".to_owned(), Some(help));
    }
    if message.contains("control characters") {
        return ("frontmatter-syntax", "a control character stands here".to_owned(), Some("remove it"));
    }
    if message.contains("more than one document") {
        let help = "remove the line `...`";
        return ("frontmatter-syntax", "`...` ends the properties before the block ends".to_owned(), Some(help));
    }
    if message.contains("mapping values are not allowed") {
        return ("frontmatter-syntax", "a second `: ` stands in the value".to_owned(), Some(QUOTE));
    }
    if message.contains("unknown anchor") || value.starts_with('*') {
        return ("frontmatter-alias", "`*` names a value that stands nowhere".to_owned(), Some(QUOTE));
    }
    if let (true, Some(first)) = (message.contains("cannot start any token"), value.chars().next()) {
        return ("frontmatter-syntax", format!("a value cannot begin with `{first}`"), Some(QUOTE));
    }
    if message.contains("quoted scalar") {
        return ("frontmatter-syntax", "the quotation has no end".to_owned(), Some("close it with the same quote"));
    }
    if message.contains("invalid type") {
        return (
            "frontmatter-key",
            "a list or map stands where a key must stand".to_owned(),
            Some("use a plain word as the key"),
        );
    }
    ("frontmatter-syntax", message.to_owned(), None)
}

/// Line `number` (from 0) of `lines`; its last line when there are fewer. YAML counts more line ends than an editor.
fn nth_line(yaml: &str, lines: Span, number: usize) -> Span {
    let text = lines.of(yaml);
    let breaks = text.char_indices().filter(|&(at, c)| {
        matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}') || (c == '\r' && !text[at + 1..].starts_with('\n'))
    });
    let offset = match number.checked_sub(1) {
        None => 0,
        Some(before) => {
            breaks.map(|(at, c)| at + c.len_utf8()).nth(before).filter(|&at| at < text.len()).unwrap_or_else(|| {
                let body = text.trim_end();
                body.rfind('\n').map_or(0, |at| at + 1)
            })
        }
    };
    let target = lines.start + offset;
    lines_from(yaml, lines.start).find(|line| line.contains(target)).unwrap_or(lines)
}

/// A line without its indentation and end.
fn trimmed(yaml: &str, line: Span) -> Span {
    let text = line.of(yaml);
    let start = line.start + (text.len() - text.trim_start().len());
    Span::new(start, start + text.trim().len())
}
