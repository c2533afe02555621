//! Blocks without blocks inside, from the ranges the markdown parser gives: headings, fences, tables, checkboxes.
//!
//! Everything here looks at a handful of bytes at the ends of a block; nothing is copied.

use super::block::BlockKind;
use super::id;
use cru_base::Span;

/// What a leaf is, where its bytes that matter end, its id and the end of the id.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) kind: BlockKind,
    pub(super) content: Span,
    pub(super) id: Option<Span>,
}

/// `span` without white space at its end.
pub(super) fn trimmed(text: &str, span: Span) -> Span {
    Span::new(span.start, span.start + span.of(text).trim_ascii_end().len())
}

/// Offset of the first line end at or after `at`, at most `end`.
pub(super) fn line_end(text: &str, at: usize, end: usize) -> usize {
    let rest = text.as_bytes().get(at..end).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(end, |len| at + len)
}

/// Start of the line that holds `at`, at least `start`.
pub(super) fn line_start(text: &str, start: usize, at: usize) -> usize {
    let before = text.as_bytes().get(start..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(start, |len| start + len + 1)
}

/// A heading from its first `#` (or its text, when underlined).
pub(super) fn heading(text: &str, span: Span, level: u8) -> Leaf {
    let content = trimmed(text, span);
    let raw = content.of(text);
    let inner = if raw.starts_with('#') {
        let start = raw.trim_start_matches('#');
        let start = content.start + (raw.len() - start.trim_ascii_start().len());
        Span::new(start, start.max(closing_marks(text, start, content.end)))
    } else {
        // The underline is the last line; quote marks may stand before it.
        let underline = line_start(text, content.start, content.end);
        trimmed(text, Span::new(content.start, underline))
    };
    let inner = strip_quote_end(text, inner);
    match id::trailing(text, inner) {
        Some((id, end)) => {
            Leaf { kind: BlockKind::Heading { level, text: Span::new(inner.start, end) }, content, id: Some(id) }
        }
        None => Leaf { kind: BlockKind::Heading { level, text: inner }, content, id: None },
    }
}

/// Where the text of `start..end` ends when a closing row of `#` is left out.
fn closing_marks(text: &str, start: usize, end: usize) -> usize {
    let line = text.get(start..end).unwrap_or("");
    let open = line.trim_end_matches('#');
    match open.as_bytes().last() {
        None => start,
        Some(b' ' | b'\t') => start + open.trim_ascii_end().len(),
        Some(_) => end,
    }
}

/// Without an empty line of quote marks at the end, which an underlined heading leaves in a quote.
fn strip_quote_end(text: &str, span: Span) -> Span {
    let last = line_start(text, span.start, span.end);
    let marks_only = last > span.start && text[last..span.end].bytes().all(|b| matches!(b, b'>' | b' ' | b'\t'));
    if marks_only { trimmed(text, Span::new(span.start, last)) } else { span }
}

/// A fence from its first mark; `code_end` is where the last piece of code in it ends, if there is any.
pub(super) fn fence(text: &str, span: Span, code_end: Option<usize>) -> Leaf {
    let content = trimmed(text, span);
    let first_end = line_end(text, span.start, content.end);
    let first = &text[span.start..first_end];
    let mark = first.chars().next().unwrap_or('`');
    let marks = first.trim_start_matches(mark);
    let info_start = span.start + (first.len() - marks.trim_ascii_start().len());
    let info = trimmed(text, Span::new(info_start, first_end));
    let body_start = (first_end + 1).min(content.end);
    let behind = code_end.unwrap_or(body_start).clamp(body_start, content.end);
    // Behind the code stand the closing marks, or nothing but quote marks and blanks.
    let closed = text[behind..content.end].bytes().any(|byte| matches!(byte, b'`' | b'~'));
    let body_end = if closed { line_start(text, body_start, content.end) } else { content.end };
    let body = Span::new(body_start, body_end.max(body_start));
    Leaf { kind: BlockKind::Fence { info, body, closed }, content, id: None }
}

/// A table; a last row that is nothing but `^id` is its id.
pub(super) fn table(text: &str, span: Span) -> Leaf {
    let content = trimmed(text, span);
    let last = line_start(text, content.start, content.end);
    let row = &text[last..content.end];
    let lead = row.len() - row.trim_start_matches([' ', '\t', '>']).len();
    let cell = Span::new(last + lead, content.end);
    match id::trailing(text, cell) {
        Some((id, end)) if end == cell.start && last > content.start => {
            Leaf { kind: BlockKind::Table, content: trimmed(text, Span::new(content.start, last)), id: Some(id) }
        }
        _ => Leaf { kind: BlockKind::Table, content, id: None },
    }
}

/// The character of a checkbox at the start of `span`, and where the text behind it starts.
pub(super) fn checkbox(text: &str, span: Span) -> Option<(char, usize)> {
    let rest = span.of(text).strip_prefix('[')?;
    let mark = rest.chars().next().filter(|c| !matches!(c, '\n' | '\r'))?;
    let behind = rest[mark.len_utf8()..].strip_prefix(']')?;
    if !behind.is_empty() && !behind.starts_with([' ', '\t', '\n', '\r']) {
        return None;
    }
    let start = behind.trim_ascii_start();
    // A checkbox alone on its line has no text, whatever the next line says.
    let skipped = &behind[..behind.len() - start.len()];
    let len = memchr::memchr(b'\n', skipped.as_bytes()).unwrap_or(skipped.len());
    Some((mark, span.end - behind.len() + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let read = |text: &str| {
            let leaf = heading(text, Span::new(0, text.len()), 2);
            let BlockKind::Heading { text: inner, .. } = leaf.kind else { panic!("no heading") };
            (inner.of(text).to_owned(), leaf.id.map(|id| id.of(text).to_owned()))
        };
        assert_eq!(read("## A b\n"), ("A b".into(), None));
        assert_eq!(read("## A ^p-01"), ("A".into(), Some("p-01".into())));
        assert_eq!(read("## A ## \r\n"), ("A".into(), None));
        assert_eq!(read("## A#\n"), ("A#".into(), None));
        assert_eq!(read("##\n"), (String::new(), None));
        assert_eq!(read("## ##\n"), (String::new(), None));
        assert_eq!(read("A\nb\n---\n"), ("A\nb".into(), None));
    }

    #[test]
    fn checkboxes() {
        let read =
            |text: &str| checkbox(text, Span::new(0, text.len())).map(|(mark, at)| (mark, text[at..].to_owned()));
        assert_eq!(read("[ ] a"), Some((' ', "a".into())));
        assert_eq!(read("[é] a"), Some(('é', "a".into())));
        assert_eq!(read("[x]"), Some(('x', String::new())));
        assert_eq!(read("[x](y)"), None);
        assert_eq!(read("[[x]] a"), None);
        assert_eq!(read("[]"), None);
    }
}
