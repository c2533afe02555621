//! The first line of a callout: `[!kind|metadata]± title`.

use cru_base::Span;

/// The parts of a callout's first line, as ranges of the note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The kind as written, blanks around it left out.
    pub(super) kind: Span,
    /// What stands behind `|` in the brackets.
    pub(super) metadata: Option<Span>,
    /// `-` or `+` behind the bracket.
    pub(super) fold: Option<char>,
    /// The title; empty where there is none.
    pub(super) title: Span,
}

/// Reads the line that starts at `start` of `text` (its `[`) and ends at `end` (before the line end).
pub(super) fn header(text: &str, start: usize, end: usize) -> Option<Header> {
    let line = text.get(start..end)?.trim_end();
    let inner = line.strip_prefix("[!")?;
    let close = memchr::memchr(b']', inner.as_bytes())?;
    let (kind, metadata) = match memchr::memchr(b'|', &inner.as_bytes()[..close]) {
        Some(bar) => (2..2 + bar, Some(2 + bar + 1..2 + close)),
        None => (2..2 + close, None),
    };
    let kind = trim(line, kind.start, kind.end);
    if kind.is_empty() || memchr::memchr(b'[', kind.of(line).as_bytes()).is_some() {
        return None;
    }
    let mut behind = 2 + close + 1;
    let fold = match line.as_bytes().get(behind) {
        Some(b'-') => Some('-'),
        Some(b'+') => Some('+'),
        _ => None,
    };
    behind += usize::from(fold.is_some());
    // `[!a](b)` is a link and `[!a]b` is text.
    if line[behind..].chars().next().is_some_and(|c| !c.is_whitespace()) {
        return None;
    }
    let metadata = metadata.map(|range| trim(line, range.start, range.end).shift(start));
    Some(Header { kind: kind.shift(start), metadata, fold, title: trim(line, behind, line.len()).shift(start) })
}

/// The range `start..end` of `line` without white space at its ends.
fn trim(line: &str, start: usize, end: usize) -> Span {
    let part = line.get(start..end).unwrap_or("");
    let start = start + (part.len() - part.trim_start().len());
    Span::new(start, start + part.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(&str, Option<char>, &str)> {
        let header = header(line, 0, line.len())?;
        Some((header.kind.of(line), header.fold, header.title.of(line)))
    }

    #[test]
    fn forms() {
        assert_eq!(read("[!note]"), Some(("note", None, "")));
        assert_eq!(read("[!Error]- It broke  "), Some(("Error", Some('-'), "It broke")));
        assert_eq!(read("[!my-kind]+ a [[b]]"), Some(("my-kind", Some('+'), "a [[b]]")));
        assert_eq!(read("[!info|wide] t"), Some(("info", None, "t")));
        let line = "[!info| wide ] t";
        assert_eq!(header(line, 0, line.len()).and_then(|header| header.metadata).map(|m| m.of(line)), Some("wide"));
    }

    #[test]
    fn not_a_callout() {
        for line in ["[!]", "[! ]", "[!a", "[a]", "[!a](b)", "[!a]b", "[![image](x)](y)", "[!|a]"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
