//! Which bytes of a note its comments hide.
//!
//! Mostly the parse of the note says what a comment is. Beyond it, one that begins in one block and ends in a later block of
//! its section is a comment too (editors show it as one), a private one ends at the next mark wherever that stands, or at
//! the end of the note, and a private one inside code is one as well. Where it is not clear what was meant, more is hidden
//! rather than less.

use memchr::memmem;

use super::block::{Block, BlockKind, InlineKind};
use super::comment::{MARK, is_private};
use super::parse::Note;
use cru_base::Span;

/// Where the comments of a note stand, frontmatter included: in order, none touching another.
pub fn comments(note: &Note) -> Vec<Span> {
    let text = note.text();
    if memmem::find(text.as_bytes(), MARK).is_none() {
        return Vec::new();
    }
    let mut found = in_properties(note);
    let walk = Walk::of(note);
    let mut at = note.split().body_start;
    while let Some(mark) = memmem::find(&text.as_bytes()[at..], MARK).map(|len| at + len) {
        at = match walk.comment(mark) {
            Some(span) => {
                found.push(span);
                // What ends one may begin one that is private: then it is no end.
                let last = span.end.saturating_sub(MARK.len());
                let is_begin =
                    last > mark && text.as_bytes()[last..].starts_with(MARK) && is_private(&text[span.end..]);
                if is_begin { last } else { span.end.max(mark + 1) }
            }
            // The last two of three signs are a mark too.
            None => mark + 1,
        };
    }
    joined(found)
}

/// The comments of the frontmatter. One ends in the property that it begins in.
fn in_properties(note: &Note) -> Vec<Span> {
    let Some(bounds) = note.frontmatter() else { return Vec::new() };
    let (text, mut at, mut found) = (note.text(), bounds.yaml.start, Vec::new());
    while let Some(mark) = memmem::find(&text.as_bytes()[at..bounds.yaml.end], MARK).map(|len| at + len) {
        let (inside, end) = (mark + MARK.len(), property_end(text, mark, bounds.yaml.end));
        let close = memmem::find(&text.as_bytes()[inside..end], MARK).map(|len| inside + len + MARK.len());
        // What closes a quoted text or a list is no part of what it says.
        let rest = Span::new(inside, end).of(text);
        let rest = inside + rest.trim_end().trim_end_matches(['"', '\'', ']', '}']).len();
        let span = close.or_else(|| is_private(&text[inside..end]).then_some(rest)).map(|end| Span::new(mark, end));
        found.extend(span);
        at = span.map_or(inside, |span| span.end.max(inside));
    }
    found
}

/// Where the property ends that `at` stands in: before the next line that begins with neither a blank nor a bullet.
fn property_end(text: &str, at: usize, end: usize) -> usize {
    let next = |line: &str| !line.starts_with([' ', '\t', '-', '\r', '\n', '#']) && !line.is_empty();
    let mut breaks = memchr::memchr_iter(b'\n', &text.as_bytes()[at..end]).map(|len| at + len + 1);
    breaks.find(|line| next(&text[*line..end])).unwrap_or(end)
}

/// What the parse says of the places where marks stand.
struct Walk<'a> {
    note: &'a Note,
    /// Comments that are blocks.
    blocks: Vec<Span>,
    /// Code, HTML and destinations: what is inside, in order.
    code: Vec<Span>,
    /// Blocks of HTML, which may end before the comments in them do.
    html: Vec<Span>,
    /// Where sections begin.
    headings: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn of(note: &'a Note) -> Self {
        let mut walk = Self { note, blocks: Vec::new(), code: Vec::new(), html: Vec::new(), headings: Vec::new() };
        let text = note.text();
        let mut open: Vec<&Block> = note.blocks().iter().collect();
        while let Some(block) = open.pop() {
            match block.kind {
                BlockKind::Comment { .. } => walk.blocks.push(block.content),
                BlockKind::Fence { info, body, .. } => walk.code.extend([info, body]),
                BlockKind::Code => walk.code.push(block.content),
                BlockKind::Html => {
                    walk.code.push(block.content);
                    walk.html.push(block.content);
                }
                _ => {}
            }
            open.extend(&block.children);
        }
        walk.code.extend(note.opaque().iter().map(|span| {
            let ticks = span.of(text).bytes().take_while(|byte| *byte == b'`').count();
            Span::new(span.start + ticks, span.end.saturating_sub(ticks))
        }));
        let is_heading = |block: &&Block| matches!(block.kind, BlockKind::Heading { .. });
        walk.headings.extend(note.blocks().iter().filter(is_heading).map(|block| block.span.start));
        walk.blocks.sort_unstable();
        walk.code.sort_unstable();
        walk.html.sort_unstable();
        walk
    }

    /// The comment that the mark at `at` begins, if it begins one.
    fn comment(&self, at: usize) -> Option<Span> {
        let text = self.note.text();
        let inside = at + MARK.len();
        let private = is_private(&text[inside..]);
        if let Some(code) = around(&self.code, at) {
            let end = if around(&self.html, at).is_some() { text.len() } else { code.end };
            let rest = Span::new(inside, end).of(text);
            let private = is_private(rest) && !rest.trim_start().as_bytes().starts_with(MARK);
            let close = memmem::find(rest.as_bytes(), MARK);
            return private.then(|| Span::new(at, close.map_or(end, |len| inside + len + MARK.len())));
        }
        if let Some(block) = around(&self.blocks, at).filter(|block| block.start == at) {
            let closed = memmem::find(&text.as_bytes()[inside..block.end.max(inside)], MARK).is_some();
            let is_open = private && !closed;
            let rest = || Span::new(at, self.close(inside, text.len()).unwrap_or(text.len()));
            return Some(if is_open { rest() } else { block });
        }
        if is_escaped(text.as_bytes(), at) {
            return None;
        }
        let inline = self.note.inlines_in(Span::new(at, inside)).iter();
        let mut inline = inline.filter(|inline| matches!(inline.kind, InlineKind::Comment { .. }));
        if let Some(inline) = inline.find(|inline| inline.span.start == at) {
            return Some(inline.span);
        }
        if private {
            return Some(Span::new(at, self.close(inside, text.len()).unwrap_or(text.len())));
        }
        // `100%%` is a number.
        if text[..at].ends_with(|c: char| c.is_ascii_digit() || c == '%') {
            return None;
        }
        let next = self.headings.partition_point(|heading| *heading <= at);
        let end = self.headings.get(next).copied().unwrap_or(text.len());
        self.close(inside, end).map(|end| Span::new(at, end))
    }

    /// The end of the first mark in `from..to` that is neither in code nor escaped.
    fn close(&self, from: usize, to: usize) -> Option<usize> {
        let bytes = self.note.text().as_bytes();
        let mut marks = memmem::find_iter(&bytes[from..to], MARK).map(|len| from + len);
        marks.find(|at| around(&self.code, *at).is_none() && !is_escaped(bytes, *at)).map(|at| at + MARK.len())
    }
}

/// The one of `spans` that holds `at`.
fn around(spans: &[Span], at: usize) -> Option<Span> {
    let next = spans.partition_point(|span| span.end <= at);
    spans.get(next).copied().filter(|span| span.contains(at))
}

fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The spans in order, those that touch as one.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut whole: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match whole.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => whole.push(span),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a note with `…` for each comment.
    fn shown(text: &str) -> String {
        let mut out = text.to_owned();
        for span in comments(&Note::parse(text)).iter().rev() {
            out.replace_range(span.range(), "…");
        }
        out
    }

    #[test]
    fn comments_of_each_place() {
        for (text, wanted) in [
            ("a %%b%% c\n", "a … c\n"),
            (
                "# a %%b%%\n\n- [ ] c %%d%% e\n\n> [!x] f %%g%%\n> h %%i%%\n",
                "# a …\n\n- [ ] c … e\n\n> [!x] f …\n> h …\n",
            ),
            ("| a %%b%% |\n|---|\n| c %%d%% |\n", "| a … |\n|---|\n| c … |\n"),
            ("[[a|b %%c%%]] [d %%e%%](f)\n", "[[a|b …]] [d …](f)\n"),
            ("a\n%%\nb\n\nc\n%%\nd\n", "a\n…\nd\n"),
            ("%% open\n\n# a\n", "…\n"),
            ("`a %%b%% c` %%d%%\n", "`a %%b%% c` …\n"),
            ("`a %%private b%% c` d\n", "`a … c` d\n"),
            ("`a %%private b` c%% d\n", "`a …` c%% d\n"),
            ("```\n%%a%%\n%% Private b\nc\n```\nd\n", "```\n%%a%%\n…```\nd\n"),
            ("a %%b c\n\n> [!x] d\n> e %%private: f%% g\n", "a … g\n"),
            ("a %%b c `%%private f%%` g\n", "a …` g\n"),
            ("a %%b%%private c\n\nd%% e\n", "a … e\n"),
            ("```\n%%\nprivate b\n%%\nc\n```\n", "```\n…\nc\n```\n"),
            ("`%%\nprivate b%%` c\n", "`…` c\n"),
            ("<div>\n%%private a\n\nb\n\n%%\n</div>\n\nc\n", "<div>\n…\n</div>\n\nc\n"),
            ("a \\%%b%% c\n", "a \\%%b%% c\n"),
            ("a \\%\\%b\\%\\% c\n", "a \\%\\%b\\%\\% c\n"),
            ("%%%private a%%%\n", "…%\n"),
            ("a %%b%%%%c%% d\n", "a … d\n"),
            ("a %%private b\n\n## c\n\nd\n", "a …"),
            ("- a %%b\n- c%% d\n", "- a … d\n"),
            ("## a %%b @c\n\nd%% e\n", "## a … e\n"),
            ("a %%b\n\n## c\n\nd%% e\n", "a %%b\n\n## c\n\nd%% e\n"),
            ("a %%b\r\nc%%\r\n", "a …\r\n"),
            (
                "---\ntitle: a %%b%% c\ntags: [d, \"%%private e\"]\nf: |\n  g %%h\n  i%% j\nk: 100%%\n---\n",
                "---\ntitle: a … c\ntags: [d, \"…\"]\nf: |\n  g … j\nk: 100%%\n---\n",
            ),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_comment_may_begin_in_a_title() {
        assert_eq!(shown("> [!note] a %%private\n> b%% c\n\nd\n"), "> [!note] a … c\n\nd\n");
        assert_eq!(shown("> [!note] a %%private\n> b\n> %%\n> c\n\nd\n"), "> [!note] a …\n> c\n\nd\n");
        assert_eq!(shown("> [!note] a %%x%% b %%y\n>\n> z %% c\n>\n> %%d%% e\n"), "> [!note] a … b … c\n>\n> … e\n");
        assert_eq!(shown("> > [!note] %%a\n> > - b\n> > - c%%d\n"), "> > [!note] …d\n");
        assert_eq!(shown("> [!note] a %%y\n> z %% c %%d%% e\n"), "> [!note] a … c … e\n");
        assert_eq!(shown("> [!note] 100%% sure\n> a %%secret%% b\n"), "> [!note] 100%% sure\n> a … b\n");
    }

    #[test]
    fn what_looks_so_is_none() {
        for text in [
            "> [!note] `%%` a\n> b %% c\n",
            "> [!note] \\%%a\n> b %% c\n",
            "> [!note] %%a\n> ```\n> b%%\n> ```\n> `%%`\n",
            "> [!note] a\n> b %% c\n",
            "100 %% sure\n",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn many_are_found_at_once() {
        for piece in ["> [!note] %%a\n> b%%\n\n", "a %%b%%\n\n", "`%%` \\%% 1%% a\n\n"] {
            comments(&Note::parse(piece.repeat(5_000)));
        }
        assert_eq!(comments(&Note::parse("> [!note] %%a\n> b%%\n\n".repeat(5_000))).len(), 5_000);
    }
}
