//! Which lines belong to which property.
//!
//! A line scan, not a YAML reader: a property begins with a key at column 0 and lasts to the next. It works on text
//! that YAML refuses, and gives the places that the reader does not.

use std::borrow::Cow;

use super::split::{line_at, lines_from};
use cru_base::Span;

/// A property's lines, as byte ranges of the scanned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyLines<'a> {
    /// The key, quotes taken off.
    pub key: Cow<'a, str>,
    /// Its lines, without the comments and blank lines that follow.
    pub span: Span,
    /// What stands behind the colon: a scalar without comment and blanks, or all lines of a longer value.
    pub value: Span,
    /// Whether lines follow that belong to no property: somebody's words.
    pub has_rest: bool,
}

/// The properties of `yaml` in order. Linear.
pub(crate) fn scan(yaml: &str) -> Vec<KeyLines<'_>> {
    let mut found: Vec<(Head<'_>, Span)> = Vec::new();
    for line in lines_from(yaml, 0) {
        if let Some(head) = head(yaml, line) {
            found.push((head, line));
        } else if let Some((_, span)) = found.last_mut() {
            span.end = line.end;
        }
    }
    found.into_iter().map(|(head, lines)| finish(yaml, head, lines)).collect()
}

/// A key and where the text behind its colon starts.
struct Head<'a> {
    key: Cow<'a, str>,
    after: usize,
}

fn head(yaml: &str, line: Span) -> Option<Head<'_>> {
    let text = line.of(yaml).trim_end_matches(['\n', '\r']);
    let first = text.chars().next()?;
    let (key, colon): (Cow<'_, str>, _) = match first {
        ' ' | '\t' | '#' | '[' | '{' => return None,
        '-' | '?' | ':' if text[1..].is_empty() || text[1..].starts_with([' ', '\t']) => return None,
        '"' | '\'' => {
            let end = quoted_end(text)?;
            let colon = end + text[end..].find(|c| c != ' ').filter(|&at| text[end + at..].starts_with(':'))?;
            let inner = &text[1..end - 1];
            let key = match first {
                '\'' => Cow::Owned(inner.replace("''", "'")),
                _ if !inner.contains('\\') => Cow::Borrowed(inner),
                // Escapes are the reader's business: it is asked for this one key.
                _ => Cow::Owned(serde_yaml::from_str(&text[..end]).ok()?),
            };
            (key, colon)
        }
        _ => {
            let ends = |at: &usize| text[at + 1..].is_empty() || text[at + 1..].starts_with([' ', '\t']);
            let colon = memchr::memchr_iter(b':', text.as_bytes()).find(ends)?;
            if text[..colon].contains(" #") {
                return None;
            }
            (Cow::Borrowed(text[..colon].trim_end()), colon)
        }
    };
    let behind = &text[colon + 1..];
    (behind.is_empty() || behind.starts_with([' ', '\t'])).then(|| Head { key, after: line.start + colon + 1 })
}

fn finish<'a>(yaml: &'a str, head: Head<'a>, lines: Span) -> KeyLines<'a> {
    let value = Span::new(head.after, lines.end).of(yaml).trim_start_matches([' ', '\t']);
    let (form, from) = (Form::of(value), lines.end - value.len());
    let mut end = line_at(yaml, lines.start).end;
    let mut has_rest = false;
    for line in lines_from(yaml, end).take_while(|line| line.end <= lines.end) {
        let text = line.of(yaml);
        let content = text.trim();
        if form.is_literal() && text.starts_with('#') {
            // Text in such a block is indented; whatever follows this comment is comment too.
            break;
        }
        let is_blank = content.is_empty() || (content.starts_with('#') && !form.is_literal());
        if !is_blank && !form.goes_on(text, line.start - from) {
            has_rest = true;
            break;
        }
        if !is_blank || form == (Form::Block { keeps: true }) {
            end = line.end;
        }
    }
    let span = Span::new(lines.start, end);
    KeyLines { key: head.key, span, value: value_span(yaml, head.after, end), has_rest }
}

/// What the first line of a value says of those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A block of text; `keeps` its last blank lines.
    Block { keeps: bool },
    /// Nothing stands behind the colon: a list or a map follows.
    Below,
    /// In quotes or brackets that are closed at this byte of the value.
    Closed(usize),
    /// Plain text, or quotes and brackets that nothing closes.
    Plain,
}

impl Form {
    fn of(value: &str) -> Self {
        let first = value.lines().next().unwrap_or_default();
        let bare = first.split('#').next().unwrap_or_default().trim_end();
        match bare.chars().next() {
            Some('|' | '>') => Self::Block { keeps: bare.contains('+') },
            None | Some('&' | '!') => Self::Below,
            Some('"' | '\'') => quoted_end(value).map_or(Self::Plain, Self::Closed),
            Some('[' | '{') => closed(value).map_or(Self::Plain, Self::Closed),
            Some(_) => Self::Plain,
        }
    }

    const fn is_literal(self) -> bool {
        matches!(self, Self::Block { .. })
    }

    /// Whether a line, which begins at this byte of the value, can belong to it. Nothing of a value stands at
    /// the start of a line but the items of a list, and what is in quotes or brackets.
    fn goes_on(self, line: &str, at: usize) -> bool {
        let is_item = line.starts_with('-') && line[1..].starts_with([' ', '\t', '\r', '\n']);
        line.starts_with(' ')
            || match self {
                Self::Below => is_item,
                Self::Closed(end) => at <= end,
                Self::Block { .. } | Self::Plain => false,
            }
    }
}

/// Where the brackets that a text begins with are closed.
fn closed(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 1 => return Some(at),
            b']' | b'}' => depth -= 1,
            b'"' | b'\'' => at += quoted_end(&text[at..])? - 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The value that starts behind the colon at `from`, in lines that end at `end`.
fn value_span(yaml: &str, from: usize, end: usize) -> Span {
    let text = Span::new(from, end).of(yaml);
    let one_line = text.find('\n').is_none_or(|at| at + 1 == text.len());
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    let start = from + blanks;
    let text = text[blanks..].trim_end();
    if !one_line {
        return Span::new(start, start + text.len());
    }
    let len = match text.chars().next() {
        Some('"' | '\'') => match quoted_end(text) {
            Some(len) if text[len..].trim_start().is_empty() || text[len..].trim_start().starts_with('#') => len,
            _ => text.len(),
        },
        Some('#') if blanks > 0 => 0,
        _ => text.find(" #").or_else(|| text.find("\t#")).map_or(text, |at| &text[..at]).trim_end().len(),
    };
    Span::new(start, start + len)
}

/// Where the quoted scalar at the start of `text` ends (its closing quote included), if it does on this line.
pub(crate) fn quoted_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.first()?;
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 2,
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(yaml: &str) -> Vec<(String, &str, &str)> {
        scan(yaml).into_iter().map(|it| (it.key.into_owned(), it.span.of(yaml), it.value.of(yaml))).collect()
    }

    #[test]
    fn finds_lines_and_values() {
        let yaml = "# head\na: 1 # one\n\"b c\": \"x # y\"  # two\ntags:\n- p\n- q\n# between\n\nlast: ''\n";
        assert_eq!(
            parts(yaml),
            [
                ("a".to_owned(), "a: 1 # one\n", "1"),
                ("b c".to_owned(), "\"b c\": \"x # y\"  # two\n", "\"x # y\""),
                ("tags".to_owned(), "tags:\n- p\n- q\n", "\n- p\n- q"),
                ("last".to_owned(), "last: ''\n", "''"),
            ]
        );
    }

    #[test]
    fn a_block_of_lines_keeps_what_looks_like_a_comment() {
        let yaml = "a: |\n  x\n  # y\n\n# c\nb: |+\n  x\n\nc: 1\n";
        let spans: Vec<&str> = parts(yaml).into_iter().map(|(_, span, _)| span).collect();
        assert_eq!(spans, ["a: |\n  x\n  # y\n", "b: |+\n  x\n\n", "c: 1\n"]);
    }

    #[test]
    fn words_of_somebody_belong_to_no_property() {
        for words in
            ["reviewer:Ann", "ask Mia", "\n\nwords", "%% x %%", "<!-- x -->", "> x", "- x", "\"x\"", "\tx", "<<<<<<<"]
        {
            for value in [
                "r1 2 c0 :3",
                "\"a b\"",
                "[a, b]",
                "{a: [b, 'c]'],\n d: e}",
                "\"a\n  b\"",
                "\n  - p\n  - q",
                "|\n  x",
                "a\n  b",
            ] {
                let yaml = format!("k: {value}\n{words}\n  more\nlast: 1\n");
                let found = scan(&yaml);
                assert_eq!(found.len(), 2, "{yaml}");
                // A list may stand at the start of its lines.
                if !(value.starts_with('\n') && words.starts_with('-')) {
                    assert_eq!(found[0].span.of(&yaml), format!("k: {value}\n"), "{yaml}");
                    assert!(found[0].has_rest && !found[1].has_rest);
                }
            }
        }
        assert_eq!(parts("k:\n- a\n- b\nx\n")[0].1, "k:\n- a\n- b\n");
    }

    #[test]
    fn odd_keys() {
        assert_eq!(parts("a:b: c\r\n"), [("a:b".to_owned(), "a:b: c\r\n", "c")]);
        assert_eq!(parts("k:\n"), [("k".to_owned(), "k:\n", "")]);
        assert_eq!(parts("k: # none\n"), [("k".to_owned(), "k: # none\n", "")]);
        assert_eq!(parts("'it''s': x"), [("it's".to_owned(), "'it''s': x", "x")]);
        assert_eq!(parts("\"\\u00e9\": x"), [("é".to_owned(), "\"\\u00e9\": x", "x")]);
        assert_eq!(parts("? a\n: b\n- c: d\nno colon\n{a: 1}\n"), []);
    }
}
