//! What stands between the values of a JSON text: white space, commas and comments.

use std::ops::Range;

/// What follows a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Where its comma is.
    pub(crate) comma: Option<usize>,
    /// The end of its line, before the line break, where nothing else follows on it.
    pub(crate) line_end: Option<usize>,
    /// Whether there is a comment.
    pub(crate) has_comment: bool,
}

/// What stands in a range that holds no value: the first comma, the end of the line that the range begins on (or that
/// of the comma, where it stands on a later one), and whether there is a comment.
pub(crate) fn rest(text: &str, range: Range<usize>) -> Rest {
    let bytes = text.as_bytes();
    let mut rest = Rest { comma: None, line_end: None, has_comment: false };
    let mut at = range.start;
    while at < range.end {
        let step = match bytes[at] {
            b'/' => {
                rest.has_comment = true;
                let comment = comment(bytes, at, range.end);
                // A comment that goes on below belongs to no single line.
                if rest.line_end.is_none() && bytes[at..comment].contains(&b'\n') {
                    rest.line_end = Some(at);
                }
                comment
            }
            b',' if rest.comma.is_none() => {
                rest.comma = Some(at);
                rest.line_end = None;
                at + 1
            }
            b'\n' => {
                let end = if at > range.start && bytes[at - 1] == b'\r' { at - 1 } else { at };
                rest.line_end = rest.line_end.or(Some(end));
                at + 1
            }
            _ => at + 1,
        };
        at = step;
    }
    rest
}

/// The end of a comment, without the line break of one that ends with its line.
fn comment(bytes: &[u8], start: usize, limit: usize) -> usize {
    let find = |from: usize, wanted: &[u8]| {
        let found = bytes.get(from..limit).and_then(|rest| rest.windows(wanted.len()).position(|it| it == wanted));
        found.map(|at| from + at)
    };
    match bytes.get(start + 1) {
        Some(b'*') => find(start + 2, b"*/").map_or(limit, |at| at + 2),
        Some(b'/') => match find(start + 2, b"\n") {
            Some(at) if bytes[at - 1] == b'\r' => at - 1,
            Some(at) => at,
            None => limit,
        },
        _ => start + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_comments_do_not_count() {
        let of = |text: &str| rest(text, 0..text.len());
        assert_eq!(of(" // a, b\n}"), Rest { comma: None, line_end: Some(8), has_comment: true });
        assert_eq!(of(", // a\r\n}"), Rest { comma: Some(0), line_end: Some(6), has_comment: true });
        assert_eq!(of("\n /* , */ , x"), Rest { comma: Some(10), line_end: None, has_comment: true });
        assert_eq!(of(" /* a\n b */ "), Rest { comma: None, line_end: Some(1), has_comment: true });
        assert_eq!(of(" }"), Rest { comma: None, line_end: None, has_comment: false });
    }
}
