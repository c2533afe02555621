//! Looking at a change where it is made, instead of at the whole note again.
//!
//! Markdown is read forwards, line by line: what stands before a heading of the first order of blocks says nothing of
//! what stands behind it, and what is inserted behind it changes nothing before it. So the part from such a heading on is
//! read by itself, before and after. That it reads by itself as it does in the note is not assumed but looked at; where
//! it does not, or would be most of the note, the whole note is read.

use super::compare::{parse, same};
use crate::patch::Edit;
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

/// A part that is larger than this share of the note is not worth reading twice.
const SHARE: usize = 4;

/// Whether `holds` of a note and what `patch` makes of it. `patch` changes nothing before the block `top`; `holds` is
/// given both texts, or the same part of both, with the index that `top` has there, and compares blocks alone.
pub fn holds(note: &Note, top: usize, patch: &Patch, holds: impl Fn(&Note, &Note, usize) -> bool) -> bool {
    match window(note, top, patch) {
        Some((old, new, first)) => holds(&old, &new, top - first),
        None => holds(note, &parse(note, patch), top),
    }
}

/// The part of the note from the last heading on that is not behind `top`, before and after, and the heading's index.
fn window(note: &Note, top: usize, patch: &Patch) -> Option<(Note, Note, usize)> {
    let whole = note.text();
    // Without one, a changed text could turn out to begin with one.
    note.frontmatter()?;
    if note.bytes().len() != whole.len() || note.bytes() != whole.as_bytes() {
        return None;
    }
    let blocks = note.blocks();
    let first = (0..=top.min(blocks.len().checked_sub(1)?)).rev().find(|&at| is_start(note, &blocks[at]))?;
    let start = blocks[first].content.start;
    if (whole.len() - start).saturating_mul(SHARE) > whole.len() {
        return None;
    }
    let old = Note::parse(Span::new(start, whole.len()).of(whole));
    if !same(note, &blocks[first..], &old, old.blocks()) {
        return None;
    }
    let shifted = |edit: &Edit| {
        let from = edit.span.start.checked_sub(start).filter(|from| *from > 0)?;
        let span = Span::new(from, edit.span.end.checked_sub(start)?);
        Some(Edit { span, text: edit.text.clone() })
    };
    let edits: Option<Vec<Edit>> = patch.edits().iter().map(shifted).collect();
    let new = parse(&old, &Patch::new(edits?).ok()?);
    Some((old, new, first))
}

/// Whether nothing before the block reaches into it: a heading with its marks at the start of a line, behind a blank
/// one.
fn is_start(note: &Note, block: &Block) -> bool {
    let before = &note.text()[..block.content.start];
    matches!(block.kind, BlockKind::Heading { .. })
        && block.content.of(note.text()).starts_with('#')
        && (before.ends_with("\n\n") || before.ends_with("\n\r\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::place::keeps_blocks_of;
    use super::*;

    const LINES: &str = ";;;text ^id;^id;- item;- item ^n-1;  more;    deep;1. one;> quote;>;> [!note] Title;> > in;```;\
                         ~~~;%%;%% a %%;a %%;<!-- -->;<!--;-->;<div>;</div>;| a | b |;|---|---|;---;===;***;# one;\
                         ## two @coder;### three;#no;[a]: b;[^1]: note;\\;\ttab;é;- `Bash x` → ok ^n-2;\
                         **Tool calls:**";

    fn line() -> impl Strategy<Value = &'static str> {
        prop::sample::select(LINES.split(';').collect::<Vec<_>>())
    }

    fn text(most: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(line(), 0..most).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

        /// What is said of a part is what is said of the whole.
        #[test]
        fn a_part_says_what_the_whole_says(
            head in text(30), tail in text(12), put in text(5), place in 0usize..40, crlf: bool, gap in 0usize..3,
        ) {
            let filler = "Some words of a paragraph.\n\n".repeat(20);
            let text = format!("---\na: 1\n---\n{head}\n\n{filler}{head}\n\n## Last\n\n{tail}\n");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let note = Note::parse(text);
            let count = note.blocks().len();
            let before = count - place.min(count - 1);
            let block = &note.blocks()[before - 1];
            let at = super::super::place::end_of_line(&note, block.id.map_or(0, |id| id.end).max(block.content.end));
            let patch = Patch::insert(at, format!("{}{put}\n{}", "\n".repeat(gap), "\n".repeat(gap)));
            let whole = keeps_blocks_of(&note, &parse(&note, &patch), before, &patch);
            if let Some((old, new, first)) = window(&note, before - 1, &patch) {
                prop_assert_eq!(keeps_blocks_of(&old, &new, before - first, &patch), whole);
                // And all that stands before is as it was.
                let after = parse(&note, &patch);
                prop_assert!(same(&note, &note.blocks()[..first], &after, &after.blocks()[..first]));
                prop_assert!(same(&new, new.blocks(), &after, &after.blocks()[first..]));
            }
        }
    }

    #[test]
    fn a_long_note_is_read_in_part_and_a_short_one_whole() {
        let text = format!("---\na: 1\n---\n{}\n## Last\n\n- x\n", "words\n\n".repeat(100));
        let note = Note::parse(text.clone());
        let patch = Patch::insert(text.len(), "- y\n");
        assert!(window(&note, note.blocks().len() - 1, &patch).is_some());
        assert!(window(&note, 3, &patch).is_none(), "no heading above");
        let bare = Note::parse(text.replace("---\na: 1\n---\n", ""));
        assert!(window(&bare, bare.blocks().len() - 1, &Patch::insert(text.len() - 13, "- y\n")).is_none());
    }
}
