//! What a block says, without the marks of its containers, and the way back to the file.
//!
//! A line loses exactly the marks of the containers around the block and of the block itself: `> ` for a callout, the
//! columns of its marker for a list item. What stands deeper stays as written.

use super::block::{Block, BlockKind};
use super::cursor::Cursor;
use super::{leaf, marker};
use cru_base::Span;

/// Text taken out of a note, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unquoted {
    text: String,
    /// Where each line starts, here and in the note.
    lines: Vec<(usize, usize)>,
}

impl Unquoted {
    /// The text; lines end with `\n`, the last one without.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text alone.
    pub fn into_string(self) -> String {
        self.text
    }

    /// Where in the note the byte at `offset` of the text stands.
    pub fn source(&self, offset: usize) -> usize {
        let index = self.lines.partition_point(|&(here, _)| here <= offset);
        match index.checked_sub(1).and_then(|index| self.lines.get(index)) {
            Some((here, there)) => there + (offset.min(self.text.len()) - here.min(&offset)),
            None => 0,
        }
    }

    /// The range of the note from the first to the last byte of `part`; marks at line starts between lie inside.
    pub fn span(&self, part: std::ops::Range<usize>) -> Span {
        if part.is_empty() {
            return Span::at(self.source(part.start));
        }
        Span::new(self.source(part.start), self.source(part.end - 1) + 1)
    }

    /// Each line with the offset in the note where it starts.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let ends = self.lines.iter().skip(1).map(|&(here, _)| here - 1).chain([self.text.len()]);
        self.lines.iter().zip(ends).map(|(&(here, there), end)| (there, self.text.get(here..end).unwrap_or("")))
    }
}

/// What a container takes from the start of a line.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// `>` and a blank.
    Quote,
    /// Columns of a list item; where its marker stands, the marker's length, and the blanks behind it.
    Item { start: usize, marker: usize, width: usize, columns: usize },
    /// Four columns of a footnote; where it starts and the length of its label.
    Footnote { start: usize, label: usize },
}

impl Step {
    /// Takes the container's part of a line that starts at `line`.
    fn take(self, cursor: &mut Cursor<'_>, line: usize) -> bool {
        match self {
            Self::Quote => cursor.quote(),
            Self::Item { start, marker, width, .. } if start >= line => {
                cursor.advance(marker);
                cursor.skip(width);
                true
            }
            Self::Footnote { start, label } if start >= line => {
                cursor.advance(label);
                true
            }
            Self::Item { columns, .. } => blanks(cursor, columns),
            Self::Footnote { .. } => blanks(cursor, 4),
        }
    }
}

fn blanks(cursor: &mut Cursor<'_>, columns: usize) -> bool {
    let enough = cursor.indent().0 >= columns;
    cursor.skip(columns);
    enough
}

/// See [`super::Note::unquoted`].
pub(super) fn unquoted(text: &str, blocks: &[Block], block: &Block) -> Unquoted {
    let mut steps = path(text, blocks, block);
    let (from, indent) = match &block.kind {
        BlockKind::Callout { body, .. } => {
            steps.push(Step::Quote);
            (*body, 0)
        }
        BlockKind::Quote => {
            steps.push(Step::Quote);
            (block.content, 0)
        }
        BlockKind::ListItem { .. } => {
            let step = item(text, &steps, block.content.start);
            steps.push(step);
            let first = block.children.first().map_or(block.content.end, |child| child.content.start);
            let line = leaf::line_end(text, block.content.start, block.content.end);
            (Span::new(first.min(line), block.content.end), 0)
        }
        BlockKind::Fence { body, .. } => (*body, fence_indent(text, &steps, block.content.start)),
        BlockKind::Code => (block.content, 4),
        _ => (block.content, 0),
    };
    let mut out = Unquoted::default();
    if from.is_empty() {
        return out;
    }
    let mut at = from.start;
    // A range from a line's start has the marks of its first line in it.
    let mut strip = matches!(block.kind, BlockKind::Callout { .. } | BlockKind::Fence { .. });
    if matches!(block.kind, BlockKind::Quote) {
        let mut cursor = Cursor::new(&text.as_bytes()[at..from.end]);
        cursor.quote();
        at += cursor.at();
    }
    loop {
        let end = leaf::line_end(text, at, from.end);
        let mut start = at;
        if strip {
            let mut cursor = Cursor::new(&text.as_bytes()[at..end]);
            // A line that goes on lazily lacks the inner marks.
            let whole = steps.iter().all(|step| step.take(&mut cursor, at));
            if whole {
                cursor.skip(indent);
            }
            start += cursor.at();
        }
        if !out.lines.is_empty() {
            out.text.push('\n');
        }
        out.lines.push((out.text.len(), start));
        let line = text.get(start..end).unwrap_or("");
        out.text.push_str(line.strip_suffix('\r').unwrap_or(line));
        if end >= from.end {
            return out;
        }
        at = end + 1;
        strip = true;
        if at >= from.end {
            return out;
        }
    }
}

/// The containers around `block`, outermost first.
fn path(text: &str, blocks: &[Block], block: &Block) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut level = blocks;
    loop {
        let index = level.partition_point(|other| other.span.start <= block.content.start);
        let Some(outer) = index.checked_sub(1).and_then(|index| level.get(index)) else { return steps };
        if std::ptr::eq(outer, block) || outer == block {
            return steps;
        }
        match outer.kind {
            BlockKind::Quote | BlockKind::Callout { .. } => steps.push(Step::Quote),
            BlockKind::ListItem { .. } => {
                let step = item(text, &steps, outer.content.start);
                steps.push(step);
            }
            BlockKind::Footnote => {
                let label = marker::footnote(&text.as_bytes()[outer.content.range()]).unwrap_or(0);
                steps.push(Step::Footnote { start: outer.content.start, label });
            }
            _ => {}
        }
        level = &outer.children;
    }
}

/// The cursor on the line of `start`, behind the marks of `steps`.
fn behind<'a>(text: &'a str, steps: &[Step], start: usize) -> Cursor<'a> {
    let line = leaf::line_start(text, 0, start);
    let end = leaf::line_end(text, start, text.len());
    let mut cursor = Cursor::new(&text.as_bytes()[line..end]);
    let _ = steps.iter().all(|step| step.take(&mut cursor, line));
    cursor
}

fn item(text: &str, steps: &[Step], start: usize) -> Step {
    let mut cursor = behind(text, steps, start);
    let (indent, at) = cursor.indent();
    let rest = &cursor.rest()[at - cursor.at()..];
    let marker = marker::list_marker(rest).map_or(1, |marker| marker.len.min(rest.len()));
    cursor.advance(marker.min(rest.len()));
    let width = match cursor.indent() {
        (columns @ 1..=4, _) if !marker::is_blank(cursor.rest()) => columns,
        _ => 1,
    };
    Step::Item { start, marker, width, columns: indent + marker + width }
}

fn fence_indent(text: &str, steps: &[Step], start: usize) -> usize {
    behind(text, steps, start).indent().0
}

#[cfg(test)]
mod tests {
    use crate::{Block, BlockKind, Note};

    fn find<'a>(blocks: &'a [Block], wanted: &dyn Fn(&BlockKind) -> bool) -> Option<&'a Block> {
        blocks.iter().find_map(|block| if wanted(&block.kind) { Some(block) } else { find(&block.children, wanted) })
    }

    fn read(text: &str, wanted: &dyn Fn(&BlockKind) -> bool) -> String {
        let note = Note::parse(text);
        let block = find(note.blocks(), wanted).expect("the block");
        let unquoted = note.unquoted(block);
        for (at, line) in unquoted.lines() {
            assert_eq!(note.text().get(at..at + line.len()), Some(line));
        }
        unquoted.into_string()
    }

    fn callout(text: &str) -> String {
        read(text, &|kind| matches!(kind, BlockKind::Callout { .. }))
    }

    fn fence(text: &str) -> String {
        read(text, &|kind| matches!(kind, BlockKind::Fence { .. }))
    }

    #[test]
    fn callout_bodies() {
        assert_eq!(callout("> [!user] T\n> a\n>  b\n>\n>> c\n>d\n"), "a\n b\n\n> c\nd");
        assert_eq!(callout("> [!user] T\r\n> a\r\n> b\r\n"), "a\nb");
        assert_eq!(callout("> [!user]\n> a\nlazy\n"), "a\nlazy");
        assert_eq!(callout("- x\n  - > [!user]\n    > a\n    >   b\n"), "a\n  b");
        assert_eq!(callout("> - > [!user]\n>   > a\n"), "a");
        assert_eq!(callout("> [!user] T\n"), "");
    }

    #[test]
    fn fence_bodies() {
        assert_eq!(fence("```rs\na\n  b\n```\n"), "a\n  b");
        assert_eq!(fence("- x\n  ```\n  a\n    b\n\n  c\n  ```\n"), "a\n  b\n\nc");
        assert_eq!(fence("> ```\n> a\n> ```\n"), "a");
        assert_eq!(fence("  ```\n   a\n b\n  ```\n"), " a\nb");
        assert_eq!(fence("```\n```\n"), "");
    }

    #[test]
    fn list_items() {
        let item = |text: &str| read(text, &|kind| matches!(kind, BlockKind::ListItem { .. }));
        assert_eq!(item("- a\n  b\n    - c\n- d\n"), "a\nb\n  - c");
        assert_eq!(item("10. [x] a\n    b\n"), "a\nb");
        assert_eq!(item("-\n"), "");
    }

    #[test]
    fn maps_back() {
        let text = "> [!user] T\n> first\n> second\n";
        let note = Note::parse(text);
        let unquoted = note.unquoted(&note.blocks()[0]);
        let at = unquoted.as_str().find("second").expect("it is there");
        assert_eq!(unquoted.span(at..at + 6).of(text), "second");
        assert_eq!(unquoted.span(0..unquoted.as_str().len()).of(text), "first\n> second");
    }
}
