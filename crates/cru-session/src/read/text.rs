//! Text of blocks as a reader sees it: container marks and comments taken out, escapes still in.

use cru_base::Span;
use cru_note::{Block, InlineKind, Note, Unquoted};

/// The text of neighbouring blocks. `within` is the container they stand in, taken out of its marks; `None` at top
/// level.
pub(super) fn of_blocks(note: &Note, within: Option<&Unquoted>, blocks: &[&Block]) -> String {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return String::new() };
    let span = Span::new(first.content.start, last.content.end);
    match within {
        None if comments(note, span).next().is_none() && !span.of(note.text()).contains('\r') => {
            span.of(note.text()).to_owned()
        }
        None => visible(note, lines(note.text(), span)),
        Some(unquoted) => {
            // A line of the container stands here with its own offset, so it is inside when its text meets the span.
            let inside = unquoted
                .lines()
                .filter(|(at, line)| at + line.len() > span.start || (line.is_empty() && *at > span.start));
            visible(note, inside.filter(|(at, _)| *at < span.end).map(|(at, line)| cut(at, line, span)))
        }
    }
}

/// The text of one container.
pub(super) fn of(note: &Note, unquoted: &Unquoted) -> String {
    visible(note, unquoted.lines())
}

/// The part of a line that lies in `span`.
fn cut(at: usize, line: &str, span: Span) -> (usize, &str) {
    let from = span.start.saturating_sub(at).min(line.len());
    let to = span.end.saturating_sub(at).min(line.len());
    match line.get(from..to.max(from)) {
        Some(part) => (at + from, part),
        None => (at, line),
    }
}

fn lines(text: &str, span: Span) -> impl Iterator<Item = (usize, &str)> {
    let mut at = span.start;
    span.of(text).split('\n').map(move |line| {
        let here = at;
        at += line.len() + 1;
        (here, line.strip_suffix('\r').unwrap_or(line))
    })
}

/// Joins lines; what stands in a comment is left out, and so is a line that was nothing but comment.
fn visible<'a>(note: &Note, lines: impl Iterator<Item = (usize, &'a str)>) -> String {
    let mut out = String::new();
    let mut first = true;
    for (at, line) in lines {
        let span = Span::new(at, at + line.len());
        let mut text = String::new();
        let mut from = at;
        for comment in comments(note, span) {
            text.push_str(Span::new(from, comment.start.max(from)).of(note.text()));
            from = comment.end.max(from).min(span.end);
        }
        let hidden = from > at;
        if hidden {
            text.push_str(Span::new(from, span.end).of(note.text()));
            if text.trim().is_empty() {
                continue;
            }
        }
        if !first {
            out.push('\n');
        }
        first = false;
        out.push_str(if hidden { text.trim_end() } else { line });
    }
    out
}

/// Comments that meet `span`, in order.
fn comments(note: &Note, span: Span) -> impl Iterator<Item = Span> {
    let all = note.inlines();
    // A comment over several lines starts before this one; it is the last inline that does.
    let from = all.partition_point(|inline| inline.span.end <= span.start);
    let meets = move |comment: &Span| comment.start < span.end && comment.end > span.start;
    all[from..]
        .iter()
        .take_while(move |inline| inline.span.start < span.end)
        .filter(|inline| matches!(inline.kind, InlineKind::Comment { .. }))
        .map(|inline| inline.span)
        .filter(meets)
}
