//! A line as pieces, marked and not, cut to what a person looks at.

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::base::Span;
use crate::base::text::sanitise;
use crate::commands::output::style::{self, paint};

/// Text before the first mark where a line is cut at its start.
const BEFORE: usize = 40;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Piece {
    /// The text, without control characters.
    pub(super) text: String,
    /// Whether it was looked for.
    #[serde(rename = "match")]
    pub(super) marked: bool,
}

impl Piece {
    /// A line cut at its marks.
    pub(super) fn cut(line: &str, marks: &[Span]) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut at = 0;
        let mut push = |span: Span, marked| {
            let text = sanitise(span.of(line)).replace(['\t', '\n'], " ");
            if !text.is_empty() {
                pieces.push(Self { text, marked });
            }
        };
        for mark in marks {
            push(Span::new(at, mark.start), false);
            push(*mark, true);
            at = mark.end;
        }
        push(Span::new(at, line.len()), false);
        if let Some(first) = pieces.first_mut().filter(|piece| !piece.marked) {
            first.text = first.text.trim_start().to_owned();
        }
        pieces
    }

    /// The pieces as one text.
    pub(super) fn plain(pieces: &[Self]) -> String {
        pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// The pieces within `width` columns around the first mark, painted.
    pub(super) fn paint(pieces: &[Self], width: usize) -> String {
        let mut out = String::new();
        let mut left = width;
        let whole: usize = pieces.iter().map(|piece| piece.text.width()).sum();
        let mut pieces = pieces.iter();
        let first = pieces.as_slice().first().filter(|piece| !piece.marked && whole > width);
        if let Some(first) = first {
            pieces.next();
            let skip = if pieces.len() == 0 { 0 } else { first.text.chars().count().saturating_sub(BEFORE) };
            let text: String = first.text.chars().skip(skip).collect();
            let text = if skip > 0 { format!("…{}", from_word(&text)) } else { text };
            take(&mut out, &text, &mut left, false);
        }
        for piece in pieces {
            if left == 0 {
                break;
            }
            take(&mut out, &piece.text, &mut left, piece.marked);
        }
        out.trim_end().to_owned()
    }
}

/// `text` from its first whole word on, where that is near.
fn from_word(text: &str) -> &str {
    match text.find(' ') {
        Some(at) if at < BEFORE / 2 => &text[at + 1..],
        _ => text,
    }
}

fn take(out: &mut String, text: &str, left: &mut usize, marked: bool) {
    let shown = crate::commands::output::cut(text, (*left).max(1));
    *left = if shown.len() < text.len() { 0 } else { left.saturating_sub(text.width()) };
    out.push_str(&if marked { paint(style::MATCH, shown) } else { shown });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, marks: &[Span], width: usize) -> String {
        anstream::adapter::strip_str(&Piece::paint(&Piece::cut(line, marks), width)).to_string()
    }

    #[test]
    fn long_lines_are_cut_around_the_first_mark() {
        let line = format!("{}needle{}", "before ".repeat(40), " behind".repeat(40));
        let shown = shown(&line, &[Span::new(280, 286)], 80);
        assert!(shown.contains("needle") && shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.width() <= 82, "{shown}");
    }

    #[test]
    fn a_line_is_not_cut_within_a_word() {
        let line = format!("{}something like this: needle {}", "before, ".repeat(20), "behind ".repeat(20));
        let at = line.find("needle").unwrap();
        let shown = shown(&line, &[Span::new(at, at + 6)], 80);
        assert!(shown.starts_with("…before, before, something like this: needle"), "{shown}");
        let line = format!("{}needle{}", "x".repeat(200), "y".repeat(200));
        assert!(self::shown(&line, &[Span::new(200, 206)], 80).starts_with(&format!("…{}needle", "x".repeat(40))));
    }

    #[test]
    fn short_lines_are_whole() {
        assert_eq!(shown("  - a \u{1b}[31mred\u{1b}[0m\tthing", &[], 80), "- a red thing");
        assert_eq!(shown(&"x".repeat(200), &[], 10), format!("{}…", "x".repeat(9)));
    }
}
