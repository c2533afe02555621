//! What of a note tells of something, with all that is nested below it.
//!
//! Words below an item of a list, the title of a callout or a heading are about what stands there, though they do not name it.

use crate::{Block, BlockKind, Note};
use cru_base::Span;

/// Whole lines of `note` that tell, as `tells` says of a text, and those nested below them: in order, none in another.
pub fn lines_about(note: &Note, tells: &dyn Fn(&str) -> bool) -> Vec<Span> {
    let mut found = Telling { text: note.text(), tells, spans: Vec::new() };
    if let Some(bounds) = note.frontmatter() {
        found.leaf(bounds.span);
    }
    found.blocks(note.blocks());
    found.spans
}

/// The text of a note without what [`lines_about`] finds.
pub fn without(text: String, tells: &dyn Fn(&str) -> bool) -> String {
    if !tells(&text) {
        return text;
    }
    let note = Note::parse(text);
    let (mut kept, mut at) = (String::new(), 0);
    for span in lines_about(&note, tells) {
        kept.push_str(Span::new(at, span.start.max(at)).of(note.text()));
        at = span.end.max(at);
    }
    kept + &note.text()[at..]
}

struct Telling<'a> {
    text: &'a str,
    tells: &'a dyn Fn(&str) -> bool,
    spans: Vec<Span>,
}

impl Telling<'_> {
    fn blocks(&mut self, blocks: &[Block]) {
        let level = |block: &Block| match block.kind {
            BlockKind::Heading { level, .. } => Some(level),
            _ => None,
        };
        let mut rest = blocks;
        while let [block, behind @ ..] = rest {
            rest = behind;
            if let Some(own) = level(block) {
                if self.tell(block.content) {
                    let nested = behind.iter().take_while(|it| level(it).is_none_or(|other| other > own)).count();
                    let last = nested.checked_sub(1).map_or(block, |last| &behind[last]);
                    self.take(Span::new(block.span.start, last.span.end.max(last.content.end)));
                    rest = &behind[nested..];
                }
            } else {
                self.block(block);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        let (start, end) = (block.content.start, block.content.end);
        let own = match &block.kind {
            BlockKind::Callout { body, .. } if !body.is_empty() => body.start,
            BlockKind::ListItem { .. } => match &block.children[..] {
                [first, ..] if first.kind == BlockKind::Paragraph => first.content.end,
                // What stands behind the mark on its line, a list or a quote.
                _ => start + block.content.of(self.text).find('\n').unwrap_or(end - start),
            },
            BlockKind::List { .. } | BlockKind::Quote => start,
            BlockKind::Table => return self.lines(block.content),
            _ => return self.leaf(block.content),
        };
        if self.tell(Span::new(start, own)) {
            self.take(block.content);
        } else {
            self.blocks(&block.children);
        }
    }

    /// A row of a table stands for itself; without the first there is no table.
    fn lines(&mut self, table: Span) {
        let rows = table.of(self.text);
        if self.tell(Span::new(table.start, table.start + rows.find('\n').unwrap_or(rows.len()))) {
            return self.take(table);
        }
        let mut at = table.start;
        for row in rows.split_inclusive('\n') {
            self.leaf(Span::new(at, at + row.len()));
            at += row.len();
        }
    }

    fn leaf(&mut self, span: Span) {
        if self.tell(span) {
            self.take(span);
        }
    }

    fn tell(&self, span: Span) -> bool {
        (self.tells)(span.of(self.text))
    }

    /// Takes the whole lines of `span`.
    fn take(&mut self, span: Span) {
        let start = self.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let ends = |end: usize| end == start || self.text[..end].ends_with('\n');
        let end = if ends(span.end) {
            span.end
        } else {
            self.text[span.end..].find('\n').map_or(self.text.len(), |at| span.end + at + 1)
        };
        self.spans.push(Span::new(start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nested_goes_with_it() {
        let shown = |text: &str| without(text.to_owned(), &|text: &str| text.contains("[[s]]"));
        for (text, left) in [
            ("- [[s]] a\n  - b\n    - c\n\n  d\n- e\n", "- e\n"),
            ("- a\n  - [[s]]\n    - b\n  - c\n- d\n", "- a\n  - c\n- d\n"),
            ("- a\n  more [[s]]\n  - b\n\n1. c\n", "\n1. c\n"),
            ("> [!note] [[s]]\n> a\n\nb\n", "\nb\n"),
            ("> [!note] a\n> b\n> - [[s]]\n>   - c\n> - d\n", "> [!note] a\n> b\n> - d\n"),
            ("# a\n\n## [[s]]\n\nb\n\n### c\n\n- d\n\n## e\n", "# a\n\n## e\n"),
            ("# [[s]]\n\n## b\n\nc", ""),
            ("> # [[s]]\n> a\n\nb\n", "\nb\n"),
            ("| a | b |\n| - | - |\n| [[s]] | 1 |\n| t | 2 |\n", "| a | b |\n| - | - |\n| t | 2 |\n"),
            ("```\n[[s]]\na\n```\nb\n", "b\n"),
            ("---\na: b\nc:\n- d: \"[[s]]\"\n  e: f\n---\ng\n", "g\n"),
            ("a\nb [[s]]\nc\n\nd\n", "\nd\n"),
            ("- - [[s]]\n  - a\n- b\r\n", "- b\r\n"),
            ("a\n", "a\n"),
        ] {
            assert_eq!(shown(text), left, "{text:?}");
        }
    }
}
