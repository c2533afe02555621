//! What stands in comments (`%%`), and so is in no entry and in no excerpt.
//!
//! Mostly the parse of the note says it. A comment that begins in a callout's title and ends below it is two texts there;
//! here it is one comment, as the person meant who wrote it. Where it is not clear what was meant, more is left out
//! rather than less.

use memchr::memmem;

use cru_base::Span;
use cru_note::{Block, BlockKind, InlineKind, Note};

const MARK: &str = "%%";

/// Where comments stand, in order, none inside another.
pub fn spans(note: &Note) -> Vec<Span> {
    if memmem::find(note.text().as_bytes(), MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let inline = |kind: &InlineKind| matches!(kind, InlineKind::Comment { .. });
    let mut all: Vec<Span> =
        note.inlines().iter().filter(|inlined| inline(&inlined.kind)).map(|inlined| inlined.span).collect();
    let mut titles = Titles { note, opaque: None, found: Vec::new() };
    let mut open: Vec<&Block> = note.blocks().iter().collect();
    while let Some(block) = open.pop() {
        match block.kind {
            BlockKind::Comment { .. } => all.push(block.content),
            BlockKind::Callout { title, body, .. } => titles.look(block, title, body),
            _ => {}
        }
        open.extend(&block.children);
    }
    if !titles.found.is_empty() {
        // What looked like the beginning of a comment was the end of one.
        let ends: Vec<usize> = titles.found.iter().map(|span| span.end - MARK.len()).collect();
        let single = |span: &Span| memmem::find_iter(span.of(note.text()).as_bytes(), MARK).count() == 1;
        all.retain(|span| !(ends.contains(&span.start) && single(span)));
        all.append(&mut titles.found);
    }
    all.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut whole: Vec<Span> = Vec::with_capacity(all.len());
    for span in all {
        match whole.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => whole.push(span),
        }
    }
    whole
}

/// The note's text of the same length, lines and places with `…` and control characters where comments stand; text that
/// is shown is rid of those anyway.
pub fn blanked(note: &Note) -> String {
    const FILL: char = '\u{1}';
    const CUT: char = '…';
    let text = note.text();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans(note) {
        out.push_str(Span::new(at, span.start).of(text));
        let hidden = span.of(text).as_bytes();
        let head = hidden.iter().take(CUT.len_utf8()).filter(|byte| **byte != b'\n').count();
        let head = if head == CUT.len_utf8() { head } else { 0 };
        out.extend((head > 0).then_some(CUT));
        out.extend(
            hidden.iter().skip(head).map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(*byte) } else { FILL }),
        );
        at = span.end;
    }
    out.push_str(Span::new(at, text.len()).of(text));
    out
}

/// Looks for comments that begin in titles.
struct Titles<'a> {
    note: &'a Note,
    /// Code in texts, in order; only made where it is asked for.
    opaque: Option<Vec<Span>>,
    found: Vec<Span>,
}

impl Titles<'_> {
    fn look(&mut self, callout: &Block, title: Span, body: Span) {
        let open = self.marks(title, &[]);
        let comments = self.note.inlines_in(title);
        let comment =
            |at: usize| comments.iter().any(|it| matches!(it.kind, InlineKind::Comment { .. }) && it.span.contains(at));
        let Some(start) = open.into_iter().find(|at| !comment(*at)) else { return };
        let mut code = Vec::new();
        fences(&callout.children, &mut code);
        let mut marks = vec![start];
        marks.extend(self.marks(body, &code));
        self.found.extend(marks.chunks_exact(2).map(|pair| Span::new(pair[0], pair[1] + MARK.len())));
    }

    /// Marks in `span` that are neither in code nor escaped.
    fn marks(&mut self, span: Span, code: &[Span]) -> Vec<usize> {
        let text = self.note.text();
        let all = memmem::find_iter(span.of(text).as_bytes(), MARK).map(|at| span.start + at);
        let bytes = text.as_bytes();
        let escaped = |at: usize| bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
        let mut marks: Vec<usize> = all.filter(|at| !escaped(*at)).collect();
        if marks.is_empty() {
            return marks;
        }
        let opaque = self.opaque.get_or_insert_with(|| {
            let mut opaque = self.note.opaque().to_vec();
            opaque.sort_unstable();
            opaque
        });
        let within = |spans: &[Span], at: usize| {
            let next = spans.partition_point(|span| span.end <= at);
            spans.get(next).is_some_and(|span| span.start <= at)
        };
        marks.retain(|at| !within(opaque, *at) && !within(code, *at));
        marks
    }
}

/// Blocks of code, in order.
fn fences(blocks: &[Block], out: &mut Vec<Span>) {
    for block in blocks {
        match block.kind {
            BlockKind::Fence { .. } | BlockKind::Code | BlockKind::Html => out.push(block.content),
            _ => fences(&block.children, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a note with `…` for each comment.
    fn shown(text: &str) -> String {
        let note = Note::parse(text);
        let mut out = text.to_owned();
        for span in spans(&note).iter().rev() {
            out.replace_range(span.range(), "…");
        }
        out
    }

    #[test]
    fn a_comment_may_begin_in_a_title() {
        assert_eq!(shown("> [!note] a %%private\n> b%% c\n\nd\n"), "> [!note] a … c\n\nd\n");
        assert_eq!(shown("> [!note] a %%private\n> b\n> %%\n> c\n\nd\n"), "> [!note] a …\n> c\n\nd\n");
        assert_eq!(shown("> [!note] a %%x%% b %%y\n>\n> z %% c\n>\n> %%d%% e\n"), "> [!note] a … b … c\n>\n> … e\n");
        assert_eq!(shown("> > [!note] %%a\n> > - b\n> > - c%%d\n"), "> > [!note] …d\n");
    }

    #[test]
    fn what_looks_so_is_none() {
        for text in [
            "> [!note] a %%b\n> c\n\nd %%\n",
            "> [!note] `%%` a\n> b %% c\n",
            "> [!note] \\%%a\n> b %% c\n",
            "> [!note] %%a\n> ```\n> b%%\n> ```\n> `%%`\n",
            "> [!note] a\n> b %% c\n",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn more_is_left_out_rather_than_less() {
        assert_eq!(shown("> [!note] a %%y\n> z %% c %%d%% e\n"), "> [!note] a … e\n");
        assert_eq!(shown("> [!note] 100%% sure\n> a %%secret%% b\n"), "> [!note] 100… b\n");
    }

    #[test]
    fn blanked_text_keeps_its_places() {
        let text = "> [!note] a %%pä\n> b%% c\n\n%%\nx\n%%\n\n%%%% d %%\n\n%%";
        let note = Note::parse(text);
        let blanked = blanked(&note);
        assert_eq!(blanked.len(), text.len());
        let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(lines(&blanked), lines(text));
        assert_eq!(blanked.replace('\u{1}', ""), "> [!note] a …\n c\n\n\n\n\n\n… d %%\n\n");
    }

    #[test]
    fn many_titles_are_read_at_once() {
        let text = "> [!note] %%a\n> b%%\n\n".repeat(5_000);
        assert_eq!(spans(&Note::parse(text.as_str())).len(), 5_000);
    }
}
