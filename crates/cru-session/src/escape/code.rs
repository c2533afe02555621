//! The code spans of one line.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::active;
use super::slash::slashes_before;

/// Byte ranges of the code spans of `line`, backticks included, ascending.
///
/// A span that would go on over the line's end is none. With `table`, a span that holds a bare `|` is none either: the
/// row is cut there first. Linear: a run of a length that found no partner once is not looked for again.
pub(crate) fn spans(line: &str, table: bool) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut spans = Vec::new();
    if memchr::memchr(b'`', bytes).is_none() {
        return spans;
    }
    let runs = runs(bytes);
    let mut alone: HashSet<usize> = HashSet::new();
    let mut from = 0;
    for (index, run) in runs.iter().enumerate() {
        if run.start < from {
            continue;
        }
        // An odd number of backslashes takes the first backtick out of the run.
        let open = run.start + slashes_before(line, run.start, from) % 2;
        let len = run.end - open;
        if len == 0 || alone.contains(&len) {
            continue;
        }
        let Some(close) = runs[index + 1..].iter().find(|close| close.len() == len) else {
            alone.insert(len);
            continue;
        };
        if table && has_bare_pipe(&line[run.end..close.start]) {
            continue;
        }
        spans.push(open..close.end);
        from = close.end;
    }
    spans
}

/// [`spans`] without those that an editor runs: these are text.
pub(super) fn inert_spans(line: &str, table: bool) -> Vec<Range<usize>> {
    let mut spans = spans(line, table);
    spans.retain(|span| !active::is_run(text(&line[span.clone()])));
    spans
}

/// The end of the code span that `line` begins with: what [`spans`] gives first, without looking for the others.
pub(crate) fn leading(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let run = |at: usize| bytes[at..].iter().take_while(|byte| **byte == b'`').count();
    let len = run(0);
    let mut at = len;
    while let Some(next) = memchr::memchr(b'`', &bytes[at..]).filter(|_| len > 0) {
        let found = run(at + next);
        at += next + found;
        if found == len {
            return Some(at);
        }
    }
    None
}

fn runs(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in memchr::memchr_iter(b'`', bytes) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn has_bare_pipe(code: &str) -> bool {
    memchr::memchr_iter(b'|', code.as_bytes()).any(|at| slashes_before(code, at, 0).is_multiple_of(2))
}

/// `text` as a code span: a run of backticks that it does not hold around it, a blank where it would be eaten, and blanks
/// for line ends, behind which there would be markdown.
pub(crate) fn span(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let text = if text.contains(is_break) { Cow::Owned(text.replace(is_break, " ")) } else { Cow::Borrowed(text) };
    let text = text.as_ref();
    let longest = runs(text.as_bytes()).iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let held: HashSet<usize> = runs(text.as_bytes()).iter().map(ExactSizeIterator::len).collect();
    let len = (1..=longest + 1).find(|len| !held.contains(len)).unwrap_or(longest + 1);
    let ticks = "`".repeat(len);
    let blank = text.bytes().any(|byte| byte != b' ');
    let pad = text.starts_with('`')
        || text.ends_with('`')
        || text.is_empty()
        || (blank && text.starts_with(' ') && text.ends_with(' '));
    let pad = if pad { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// The text of a code span (`span` with its backticks): one blank taken off both ends where both have one.
pub(crate) fn text(span: &str) -> &str {
    let inner = span.trim_start_matches('`');
    // A span that begins with an escaped-looking pad has equal runs on both sides, so the length says where it ends.
    let len = span.len() - inner.len();
    let inner = span.get(len..span.len().saturating_sub(len)).unwrap_or("");
    let padded = inner.len() >= 2 && inner.starts_with(' ') && inner.ends_with(' ');
    if padded && (inner.bytes().any(|byte| byte != b' ') || inner.len() == 2) {
        return &inner[1..inner.len() - 1];
    }
    inner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<&str> {
        spans(line, false).into_iter().map(|range| &line[range]).collect()
    }

    #[test]
    fn finds_spans() {
        assert_eq!(found("a `b` c ``d ` e`` f"), ["`b`", "``d ` e``"]);
        assert_eq!(found("a ` b"), Vec::<&str>::new());
        assert_eq!(found("\\`a` b`"), ["` b`"]);
        assert_eq!(found("``a` `b`"), ["` `"]);
        assert_eq!(found("`a\\` b`"), ["`a\\`"]);
    }

    #[test]
    fn the_span_that_a_line_begins_with() {
        for line in ["`a` b `c`", "``a` `b`", "``a`` b", "a `b`", "", "`", "`a", "`a``b`c`", "``` `` ```x"] {
            let first = spans(line, false).into_iter().next().filter(|span| span.start == 0);
            assert_eq!(leading(line), first.map(|span| span.end), "{line:?}");
        }
    }

    #[test]
    fn a_table_row_is_cut_before_code_is_read() {
        assert_eq!(spans("`a|b` `c`", true), vec![4..7]);
        assert_eq!(spans("`a\\|b`", true), vec![0..6]);
    }

    #[test]
    fn writes_spans_that_read_back() {
        for it in ["ls", "a`b", "`", "``", " a", " a ", "` `", "a ``` b ` c"] {
            let written = span(it);
            assert_eq!(spans(&written, false), vec![0..written.len()], "{it:?}");
            assert_eq!(text(&written), it, "{written:?}");
        }
    }
}
