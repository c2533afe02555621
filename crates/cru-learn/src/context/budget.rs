//! Bounds for context: what is too long loses its middle, and says how much.
//!
//! Only contexts and failures are cut. An answer is what is trained on or graded by: it stays whole.

use std::borrow::Cow;

/// Characters of a failure, of what the agent did wrong, or of a person's words in a prompt.
pub(crate) const PART: usize = 6_000;

/// Characters of words that somebody has pasted: nobody writes so many.
pub(crate) const PASTED: usize = 16_000;

/// Turns of a prompt: the first, and the last ones.
pub(crate) const TURNS: usize = 6;

/// Turns before the one that a case is about, also where that opens a phase: its words answer what was said there.
pub(crate) const BEFORE: usize = 2;

/// Things done in one turn of a context: the first ones, and those that led to the failure; those that the answer needs
/// come on top.
pub(crate) const FIRST: usize = 3;
pub(crate) const LAST: usize = 32;

/// `text` within `max` characters (and a few for the mark): the beginning and the end of it.
pub(crate) fn cut_middle(text: &str, max: usize) -> Cow<'_, str> {
    // Most texts are short: their length in bytes already tells.
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let chars = text.chars().count();
    if chars <= max {
        return Cow::Borrowed(text);
    }
    let head = offset(text, max / 2);
    let tail = offset(text, chars - (max - max / 2));
    // Whole lines where a line ends near the cut.
    let head = text[..head].rfind('\n').filter(|&at| at * 2 > head).unwrap_or(head);
    let tail = text[tail..]
        .find('\n')
        .map(|at| tail + at + 1)
        .filter(|&at| at < tail + (text.len() - tail) / 2)
        .unwrap_or(tail);
    // What stands for a secret stays whole: half of it looks like one.
    let head = mark_around(text, head).map_or(head, |(start, _)| start);
    let tail = mark_around(text, tail).map_or(tail, |(_, end)| end);
    let left_out = crate::context::excerpt::left_out(&text[head..tail.max(head)]);
    let tail = tail.max(head);
    let left_out = cru_base::text::plural(left_out as u64, "character");
    Cow::Owned(format!("{}\n\n[… {left_out} left out …]\n\n{}", text[..head].trim_end(), text[tail..].trim_start()))
}

/// The mark of a secret that the byte at `at` is inside of.
fn mark_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let start = text[..at].rfind('[')?;
    let end = start + text[start..].find(']')? + 1;
    (text[start..].starts_with("[secret:") && at < end).then_some((start, end))
}

/// Byte offset of character number `index`.
fn offset(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_goes() {
        assert_eq!(cut_middle("short", 5), "short");
        assert_eq!(cut_middle("äöü", 3), "äöü");
        let lines: Vec<String> = (0..100).map(|line| format!("line {line}\n")).collect();
        let lines = lines.concat();
        insta::assert_snapshot!(cut_middle(&lines, 40), @r"
        line 0
        line 1

        [… 761 characters left out …]

        line 98
        line 99
        ");
        let secret = format!("{}password=[secret:password-1] {}", "x".repeat(20), "y".repeat(40));
        assert!(cut_middle(&secret, 80).starts_with(&format!("{}password=\n\n[… ", "x".repeat(20))));
        let long = "x".repeat(1_000);
        assert_eq!(cut_middle(&long, 10), "xxxxx\n\n[… 990 characters left out …]\n\nxxxxx");
    }
}
