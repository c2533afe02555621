//! Reading a long note in parts, side by side.
//!
//! Markdown is read forwards, and behind a blank line a heading at the margin ends every container and every leaf but
//! code between fences, HTML that waits for its end, and a comment. So a note can be cut before such headings, unless
//! the part above ends inside one of those: then it and all that follows are read as one. What is defined for the whole
//! note (labels of links, footnotes) cannot be read in parts; a note that has any is read whole.

use rayon::prelude::*;

use super::block::BlockKind;
use super::builder;
use super::prescan;
use super::tree::Tree;
use cru_base::{Span, threads};

/// Reads `text` from `body` on.
pub(super) fn read(text: &str, body: usize) -> Tree {
    let mut parts = map(text, body, |_, tree| tree);
    if parts.len() == 1 { parts.swap_remove(0) } else { Tree::join(parts) }
}

/// The same, in one go.
pub(super) fn whole(text: &str, body: usize) -> Tree {
    part(text, Span::new(body, text.len())).0
}

/// What `of` makes of the parts of `text` from `body` on, in order, each with its number.
pub(super) fn map<T: Send>(text: &str, body: usize, of: impl Fn(usize, Tree) -> T + Sync) -> Vec<T> {
    if text.len() - body < threads::LONG {
        return vec![of(0, whole(text, body))];
    }
    // About how long a part is, in bytes.
    between(text, body, &cuts(text, body, (text.len() - body) / (64 << 10)), of)
}

/// Where a note is cut into about `count` parts of one length.
fn cuts(text: &str, body: usize, count: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = Vec::new();
    for number in 1..count {
        let wanted = body + (text.len() - body) / count * number;
        // No byte is looked at twice, however few headings there are.
        if cuts.last().is_some_and(|last| wanted <= *last) {
            continue;
        }
        match headings(text, wanted).next() {
            Some(cut) => cuts.push(cut),
            None => break,
        }
    }
    cuts
}

/// The phases' headings from `from` on that stand behind a blank line.
fn headings(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let rest = bytes.get(from..).unwrap_or_default();
    let is_behind_blank = |at: &usize| bytes[..*at].ends_with(b"\n\n") || bytes[..*at].ends_with(b"\n\r\n");
    memchr::memmem::find_iter(rest, b"\n## ").map(move |at| from + at + 1).filter(is_behind_blank)
}

/// What `of` makes of the parts between `cuts`.
fn between<T: Send>(text: &str, body: usize, cuts: &[usize], of: impl Fn(usize, Tree) -> T + Sync) -> Vec<T> {
    // Blank lines alone are no part: they belong to what follows them.
    let first = text.len() - text[body..].trim_ascii_start().len();
    let cuts = &cuts[cuts.partition_point(|at| *at <= first)..];
    let starts = std::iter::once(body).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([text.len()]);
    let spans: Vec<Span> = starts.zip(ends).map(|(start, end)| Span::new(start, end)).collect();
    let read = |(number, span): (usize, &Span)| {
        let (tree, open) = part(text, *span);
        (open, tree.defines, of(number, tree))
    };
    let mut made: Vec<(bool, bool, T)> = spans.par_iter().enumerate().map(read).collect();
    let last = made.len() - 1;
    if let Some(open) = made[..last].iter().position(|(open, ..)| *open) {
        made.truncate(open);
        made.push(read((open, &Span::new(spans[open].start, text.len()))));
    }
    if made.iter().any(|(_, defines, _)| *defines) {
        return vec![of(0, whole(text, body))];
    }
    made.into_iter().map(|(.., value)| value).collect()
}

/// The tree of a part by itself, and whether the part may end inside something that a heading does not end.
fn part(text: &str, span: Span) -> (Tree, bool) {
    let text = &text[..span.end];
    let scan = prescan::scan(text, span.start);
    let open = scan.open;
    let tree = builder::build(text, span.start, scan);
    // The scan knows what it takes the lines for, and this is what the parser took them for.
    let ends_open = tree.blocks.last().is_some_and(|block| match block.kind {
        BlockKind::Fence { closed, .. } => !closed,
        BlockKind::Html => {
            let html = block.content.of(text);
            !(html.starts_with("<!--") && html.contains("-->"))
        }
        _ => false,
    });
    (tree, open || ends_open)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(text: &str, body: usize, cuts: &[usize]) -> Tree {
        Tree::join(between(text, body, cuts, |_, tree| tree))
    }

    const LINES: &str = ";;;;text ^id;^id;- item;- item ^n-1;  more;    deep;1. one;> quote;>;> [!note] Title;> > in;```;\
                         ~~~;- ```;> ```;%%;%% a %%;a %%;> %%;- %%;<!-- -->;<!--;-->;- <!--;<div>;</div>;<script>;\
                         </script>;<?php;| a | b |;|---|---|;---;===;***;# one;## two @coder;## two @coder;## two;\
                         ### three;#no;[a]: b;[a];[^1]: note;see [^1];\\;\ttab;é;[x]:;- `Bash x` → ok ^n-2";

    fn text() -> impl Strategy<Value = String> {
        let line = prop::sample::select(LINES.split(';').collect::<Vec<_>>());
        prop::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        /// The parts say together what the whole says.
        #[test]
        fn parts_say_what_the_whole_says(text in text(), crlf: bool) {
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let cuts: Vec<usize> = headings(&text, 0).collect();
            let whole = whole(&text, 0);
            prop_assert_eq!(joined(&text, 0, &cuts), whole);
        }
    }

    #[test]
    fn a_long_note_is_cut_at_its_phases() {
        let phase = |number: usize| format!("## Part {number}\n\n- `Bash x` → ok\n\n```\n\n## no\n```\n\n");
        let text = format!("---\na: 1\n---\n\n{}", (0..2000).map(phase).collect::<String>());
        let cuts = cuts(&text, 13, 4);
        assert_eq!(cuts.len(), 3);
        assert!(cuts.iter().all(|at| text[*at..].starts_with("## ")), "{cuts:?}");
        let whole = whole(&text, 13);
        assert_eq!(joined(&text, 13, &cuts), whole);
        // A cut between fences is found out.
        let inside = text.find("## no").unwrap();
        assert_eq!(joined(&text, 13, &[inside, cuts[1]]), whole);
    }
}
