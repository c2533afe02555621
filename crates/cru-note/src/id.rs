//! Block ids: `^name` at the end of a line, or alone on one.
//!
//! Letters, digits and dashes, as Obsidian has them. The one place that knows this grammar.

use cru_base::Span;

/// Whether `name` (without `^`) can be a block id.
pub fn is_id(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The id that ends `span` of `text`, and where the text before it ends; a blank or the span's start stands before `^`.
pub(super) fn trailing(text: &str, span: Span) -> Option<(Span, usize)> {
    let bytes = span.of(text).trim_ascii_end().as_bytes();
    let name = bytes.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let caret = (bytes.len() - name).checked_sub(1)?;
    if name == 0 || bytes[caret] != b'^' || caret > 0 && !bytes[caret - 1].is_ascii_whitespace() {
        return None;
    }
    let before = bytes[..caret].trim_ascii_end().len();
    let id = Span::new(span.start + caret + 1, span.start + bytes.len());
    Some((id, span.start + before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(&str, &str)> {
        let (id, end) = trailing(text, Span::new(0, text.len()))?;
        Some((id.of(text), &text[..end]))
    }

    #[test]
    fn at_the_end() {
        assert_eq!(read("a step ^n-001"), Some(("n-001", "a step")));
        assert_eq!(read("a step\t^n-001 \r\n"), Some(("n-001", "a step")));
        assert_eq!(read("^n-001"), Some(("n-001", "")));
        assert_eq!(read("text\n^n-001"), Some(("n-001", "text")));
    }

    #[test]
    fn not_an_id() {
        for text in ["", "^", "a ^", "a^b", "a \\^b", "a ^b c", "a ^b_c", "a ^é", "a b"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn names() {
        assert!(is_id("cp-20261120-100212") && !is_id("") && !is_id("a b") && !is_id("n_1"));
    }
}
