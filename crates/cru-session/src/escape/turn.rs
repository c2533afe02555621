//! The walk over a text's lines, in both directions.

use super::Place;
use super::active;
use super::danger::{self, may_end};
use super::heading;
use super::outline::{Line, Outline};
use super::slash::{Way, apply};

/// One line of text, which does not start one.
pub(super) fn line(text: &str, way: Way, place: Place<'_>) -> String {
    if way == Way::Undo && !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    apply(text, &danger::text(text, 0, false, place), way, &mut out);
    out
}

/// Lines of markdown.
pub(super) fn lines(text: &str, way: Way, place: Place<'_>) -> String {
    if way == Way::Undo && is_plain(text) {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let mut outline = Outline::new(&lines, place.below_text);
    let mut out = String::with_capacity(text.len() + text.len() / 32 + 8);
    for (index, line) in lines.iter().enumerate() {
        let last = index + 1 == lines.len();
        if index > 0 {
            out.push('\n');
        }
        let place = Place { last: place.quote && may_end(&lines, index), ..place };
        match outline.next_line(index) {
            Line::Verbatim => out.push_str(&active::code(line, way)),
            Line::Heading { at, level } => {
                let (head, rest) = line.split_at(at + level);
                out.push_str(&head[..at]);
                match way {
                    Way::Escape => {
                        let (marks, closing) = heading::demote(level, rest);
                        out.extend(std::iter::repeat_n('#', marks));
                        apply(rest, &danger::text(rest, 0, false, place), way, &mut out);
                        if let Some(closing) = closing {
                            out.push(' ');
                            out.extend(std::iter::repeat_n('#', closing));
                        }
                    }
                    Way::Undo => {
                        let (level, end) = heading::promote(level, rest);
                        out.extend(std::iter::repeat_n('#', level));
                        let rest = &rest[..end];
                        apply(rest, &danger::text(rest, 0, false, place), way, &mut out);
                    }
                }
            }
            Line::Open { info } => apply(line, &danger::info(line, info), way, &mut out),
            Line::Close { at, len, extra, top } => {
                // The last line closes with one mark more than it must exactly when the text itself left it open.
                match way {
                    Way::Escape if last && top && extra > 0 => {
                        out.push_str(line);
                        out.extend(line[at..at + len].chars().next());
                    }
                    Way::Undo if last && top && extra == 1 => {
                        out.pop();
                    }
                    Way::Undo if last && top && extra > 1 => {
                        out.push_str(&line[..at]);
                        out.push_str(&line[at + 1..]);
                    }
                    _ => out.push_str(line),
                }
            }
            Line::Text { .. } if way == Way::Undo && !line.contains('\\') => out.push_str(line),
            Line::Text { at, force, bullet, table } => {
                let mut dangers = danger::text(line, at, table, place);
                dangers.extend(danger::start(line, at, bullet, table, place));
                dangers.extend(force);
                dangers.sort_unstable();
                dangers.dedup();
                apply(line, &dangers, way, &mut out);
            }
        }
    }
    if way == Way::Escape
        && let Some((mark, len)) = outline.left_open()
    {
        out.push('\n');
        out.extend(std::iter::repeat_n(mark, len + 1));
    }
    out
}

/// Whether nothing can have been escaped: no backslash, no heading, no fence.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let fence = |at: usize| bytes[at..].starts_with(b"```") || bytes[at..].starts_with(b"~~~");
    memchr::memchr2(b'\\', b'#', bytes).is_none() && !memchr::memchr2_iter(b'`', b'~', bytes).any(fence)
}
