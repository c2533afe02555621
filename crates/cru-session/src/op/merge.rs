//! A block that two have changed: by lines, where their changes stand apart.

use similar::{Algorithm, DiffOp};

use super::unit::normal;
use cru_base::{Span, diff};
use cru_note::Note;
use cru_note::patch::Edit;

/// Some lines of a text that become others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk<'a> {
    /// Lines of the old text.
    from: usize,
    to: usize,
    lines: &'a [&'a str],
    /// The first line of the new text.
    at: usize,
}

impl Hunk<'_> {
    /// Whether both change the same line, or lines next to one another. New lines may stand next to a line that the
    /// other changed: their place is certain.
    const fn meets(&self, other: &Self) -> bool {
        if self.is_new() && other.is_changed() {
            return other.from < self.from && self.from < other.to;
        }
        if self.is_changed() && other.is_new() {
            return self.from < other.from && other.from < self.to;
        }
        self.from <= other.to && other.from <= self.to
    }

    const fn is_new(&self) -> bool {
        self.from == self.to
    }

    const fn is_changed(&self) -> bool {
        self.from < self.to && !self.lines.is_empty()
    }
}

/// The edits that bring what changed from `old` to `new` into `span` of `note`, which may have been changed too;
/// `None` where both changed the same or neighbouring lines.
pub(super) fn edits(note: &Note, span: Span, old: &str, new: &str) -> Option<Vec<Edit>> {
    let current = span.of(note.text());
    let (old, theirs, new) = (normal(old), normal(current), normal(new));
    let [old, theirs, new] = [&old, &theirs, &new].map(|text| text.split('\n').collect::<Vec<_>>());
    let (their_hunks, our_hunks) = (hunks(&old, &theirs), hunks(&old, &new));
    let mut edits = Vec::new();
    let starts = starts(current, span.start);
    let eol = note.split().line_end.as_str();
    for ours in &our_hunks {
        if their_hunks.iter().any(|it| (it.from, it.to, it.lines) == (ours.from, ours.to, ours.lines)) {
            continue;
        }
        if their_hunks.iter().any(|it| it.meets(ours)) {
            return None;
        }
        // Lines before that they added or took away move ours.
        let before = their_hunks.iter().rfind(|it| it.to <= ours.from);
        let line = before.map_or(ours.from, |it| it.at + it.lines.len() + (ours.from - it.to));
        edits.push(edit(current, span, &starts, line, ours, eol)?);
    }
    Some(edits)
}

/// The edit of one hunk, whose first line is `line` of the text in `span`.
fn edit(current: &str, span: Span, starts: &[usize], line: usize, hunk: &Hunk<'_>, eol: &str) -> Option<Edit> {
    let lines = starts.len() - 1;
    let (count, end) = (hunk.to - hunk.from, line + hunk.to - hunk.from);
    let (&from, &to) = (starts.get(line)?, starts.get(end)?);
    let text = hunk.lines.join(eol);
    let (span, text) = if end < lines {
        // Whole lines, with their ends.
        (Span::new(from, to), if hunk.lines.is_empty() { text } else { text + eol })
    } else if line == 0 {
        (span, text)
    } else if count == 0 {
        (Span::at(span.end), format!("{eol}{text}"))
    } else if hunk.lines.is_empty() {
        // The last line has no end of its own here: that of the line before goes.
        let head = &current[..from - span.start];
        (Span::new(span.start + head.trim_end_matches(['\r', '\n']).len(), span.end), text)
    } else {
        (Span::new(from, span.end), text)
    };
    Some(Edit { span, text })
}

/// Where each line starts, and where one behind the last would.
fn starts(text: &str, from: usize) -> Vec<usize> {
    let mut starts = vec![from];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| from + at + 1));
    starts.push(from + text.len());
    starts
}

fn hunks<'a>(old: &[&'a str], new: &'a [&'a str]) -> Vec<Hunk<'a>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (from, to, end) = (head, old.len() - tail, new.len() - tail);
    if from == to && head == end {
        return Vec::new();
    }
    // Texts whose changed lines, multiplied, are more than this are compared as wholes.
    if (to - from).saturating_mul(end - head) > 4_000_000 {
        return vec![Hunk { from, to, lines: &new[head..end], at: head }];
    }
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    for op in diff(Algorithm::Myers, old, new, None) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (from, at) = (op.old_range(), op.new_range());
        match hunks.last_mut() {
            Some(last) if last.to == from.start && last.at + last.lines.len() == at.start => {
                last.to = from.end;
                last.lines = &new[last.at..at.end];
            }
            _ => hunks.push(Hunk { from: from.start, to: from.end, lines: &new[at.clone()], at: at.start }),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Patch;

    fn merged(theirs: &str, old: &str, new: &str) -> Option<String> {
        let note = Note::parse(theirs);
        let edits = edits(&note, Span::new(0, theirs.len()), old, new)?;
        Some(Patch::new(edits).unwrap().apply_to(theirs))
    }

    #[test]
    fn changes_apart_from_one_another_are_both_made() {
        assert_eq!(merged("A\nb\nc\nd", "a\nb\nc\nd", "a\nb\nc\nd\ne").unwrap(), "A\nb\nc\nd\ne");
        assert_eq!(merged("x\na\nb\nc\nd", "a\nb\nc\nd", "a\nb\nc").unwrap(), "x\na\nb\nc");
        assert_eq!(merged("a\nb\nc\nD", "a\nb\nc\nd", "A\nx\nb\nc\nd").unwrap(), "A\nx\nb\nc\nD");
        assert_eq!(merged("a\r\nb\r\nC\r\n", "a\nb\nc\n", "A\nb\nc\n").unwrap(), "A\r\nb\r\nC\r\n");
        assert_eq!(merged("A\nB", "A\nb", "A\nb\nours").unwrap(), "A\nB\nours");
        assert_eq!(merged("A\nB", "A\nb", "A\nours\nb").unwrap(), "A\nours\nB");
        assert_eq!(merged("A\nmine\nb", "A\nb", "a\nb").unwrap(), "a\nmine\nb");
        assert_eq!(merged("A\nmine\nb", "A\nb", "A\nB").unwrap(), "A\nmine\nB");
        assert_eq!(merged("mine\nA\nb", "A\nb", "a\nb").unwrap(), "mine\na\nb");
        assert_eq!(merged("a\nb", "a\nb", "x").unwrap(), "x");
        assert_eq!(merged("a\nb", "a\nb", "a\nB").unwrap(), "a\nB");
    }

    #[test]
    fn changes_that_meet_are_not_made() {
        assert_eq!(merged("A\nb", "a\nb", "a2\nb"), None);
        assert_eq!(merged("A\nb", "a\nb", "a\nB"), None, "neighbouring lines");
        assert_eq!(merged("a\nb\nmine", "a\nb", "a\nb\nours"), None);
    }

    #[test]
    fn the_same_change_is_made_once() {
        assert_eq!(merged("A\nb", "a\nb", "A\nb").unwrap(), "A\nb");
    }
}
