//! Wikilinks, tags, inline fields and comments in the texts of a note.
//!
//! Works on the texts that the block parse found, without what it found to be code or a destination. Looks for the few
//! bytes that can start something and touches each byte a bounded number of times.

use std::cmp::Reverse;
use std::sync::LazyLock;

use memchr::memmem;
use rayon::prelude::*;

use super::block::{Inline, InlineKind};
use super::tree::Tree;
use super::{comment, leaf, tag};
use cru_base::Span;
use cru_base::lines::floor_char_boundary;

/// The longest key of an inline field, in bytes.
const LONGEST_KEY: usize = 80;

/// What stands behind the key of an inline field. Texts are many and short: to make it ready takes longer than to look.
static COLONS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("::"));

/// How many texts one thread looks at in one go.
const TEXTS: usize = 1024;

/// All inlines of `text`, ordered by start, the longer one first.
pub(super) fn scan(text: &str, tree: &Tree) -> Vec<Inline> {
    let mut opaque = tree.opaque.clone();
    opaque.sort_unstable_by_key(|span| span.start);
    let all = |texts: &[Span]| -> Vec<Inline> {
        let start = texts.first().map_or(0, |first| first.start);
        let next = opaque.partition_point(|opaque| opaque.end <= start);
        let mut scan = InlineScan { text, opaque: &opaque, found: Vec::new(), next };
        for span in texts {
            scan.span(*span);
        }
        scan.found
    };
    let mut found: Vec<Inline> = if tree.texts.len() > TEXTS {
        tree.texts.par_chunks(TEXTS).map(all).flatten_iter().collect()
    } else {
        all(&tree.texts)
    };
    found.sort_by_key(|inline| (inline.span.start, Reverse(inline.span.end)));
    links(tree, &mut found);
    found
}

/// Adds the markdown links that do not touch a wikilink or a comment.
fn links(tree: &Tree, found: &mut Vec<Inline>) {
    if tree.links.is_empty() {
        return;
    }
    let ours = |inline: &&Inline| matches!(inline.kind, InlineKind::Wikilink { .. } | InlineKind::Comment { .. });
    let taken: Vec<Span> = found.iter().filter(ours).map(|inline| inline.span).collect();
    let touches = |span: Span| {
        let next = taken.partition_point(|other| other.end <= span.start);
        taken.get(next).is_some_and(|other| other.start < span.end)
    };
    found.extend(tree.links.iter().filter(|link| !touches(link.span)).cloned());
    found.sort_by_key(|inline| (inline.span.start, Reverse(inline.span.end)));
}

struct InlineScan<'a> {
    text: &'a str,
    opaque: &'a [Span],
    /// Index of the first opaque place that can matter for the text at hand.
    next: usize,
    found: Vec<Inline>,
}

impl InlineScan<'_> {
    fn span(&mut self, span: Span) {
        let bytes = &self.text.as_bytes()[..span.end];
        while self.opaque.get(self.next).is_some_and(|opaque| opaque.end <= span.start) {
            self.next += 1;
        }
        let first = self.found.len();
        let mut next = self.next;
        let mut at = span.start;
        let mut has_close = true;
        while let Some(len) = memchr::memchr3(b'[', b'#', b'%', &bytes[at..]) {
            let start = at + len;
            if let Some(opaque) = hidden(self.opaque, &mut next, start) {
                at = opaque.end.min(span.end).max(start + 1);
                continue;
            }
            at = start + 1;
            if is_escaped(bytes, span.start, start) {
                continue;
            }
            match bytes[start] {
                b'%' if bytes.get(start + 1) == Some(&b'%') => {
                    at = start + 2;
                    if !has_close {
                        continue;
                    }
                    match memmem::find(&bytes[at..], comment::MARK) {
                        Some(len) => at = self.comment(start, at + len + 2),
                        None => has_close = false,
                    }
                }
                b'[' if bytes.get(start + 1) == Some(&b'[') => {
                    if let Some(end) = self.wikilink(span, start, next) {
                        at = end;
                    } else if bytes.get(start + 2) != Some(&b'[') {
                        at = start + 2;
                    }
                }
                b'#' => {
                    if let Some(end) = self.tag(span, start) {
                        at = end;
                    }
                }
                _ => {}
            }
        }
        self.fields(span, first);
    }

    fn comment(&mut self, start: usize, end: usize) -> usize {
        let private = comment::is_private(&self.text[start + 2..end]);
        self.found.push(Inline { kind: InlineKind::Comment { private }, span: Span::new(start, end) });
        end
    }

    /// The wikilink whose first bracket stands at `start`.
    fn wikilink(&mut self, span: Span, start: usize, next: usize) -> Option<usize> {
        let bytes = &self.text.as_bytes()[..span.end];
        let from = start + 2;
        let len = memchr::memchr3(b'[', b']', b'\n', &bytes[from..])?;
        let to = from + len;
        if len == 0 || !bytes[to..].starts_with(b"]]") {
            return None;
        }
        // A code span that starts inside is stronger than the brackets.
        if self.opaque.get(next).is_some_and(|opaque| opaque.start < to && opaque.start >= from) {
            return None;
        }
        let embed = start > span.start && bytes[start - 1] == b'!' && !is_escaped(bytes, span.start, start - 1);
        let kind = InlineKind::Wikilink { inner: Span::new(from, to), embed };
        self.found.push(Inline { kind, span: Span::new(start - usize::from(embed), to + 2) });
        Some(to + 2)
    }

    /// The tag whose `#` stands at `start`.
    fn tag(&mut self, span: Span, start: usize) -> Option<usize> {
        let before = self.text[span.start..start].chars().next_back();
        let in_front = before.is_none_or(char::is_whitespace)
            || before == Some('>') && is_line_start(self.text.as_bytes(), span.start, start);
        if !in_front {
            return None;
        }
        let end = start + 1 + tag::name(&self.text[start + 1..span.end])?;
        self.found.push(Inline { kind: InlineKind::Tag(Span::new(start + 1, end)), span: Span::new(start, end) });
        Some(end)
    }

    /// The inline fields of a text; what was found in it before starts at index `first`.
    fn fields(&mut self, span: Span, first: usize) {
        let bytes = &self.text.as_bytes()[..span.end];
        let mut next = self.next;
        let mut comment = first;
        let mut from = span.start;
        let mut fields = Vec::new();
        for colons in COLONS.find_iter(&bytes[span.start..]).map(|at| span.start + at) {
            if colons < from
                || !matches!(bytes.get(colons + 2), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
                || hidden(self.opaque, &mut next, colons).is_some()
            {
                continue;
            }
            while self.found.get(comment).is_some_and(|inline| inline.span.end <= colons) {
                comment += 1;
            }
            if self.found.get(comment).is_some_and(|inline| inline.span.start < colons) {
                continue;
            }
            if let Some(field) = field(self.text, span, from, colons) {
                from = colons + 2;
                fields.push(field);
            }
        }
        self.found.append(&mut fields);
    }
}

/// The field whose `::` stands at `colons`; its key starts at `from` or later.
fn field(text: &str, span: Span, from: usize, colons: usize) -> Option<Inline> {
    let bytes = &text.as_bytes()[..span.end];
    let floor = from.max(floor_char_boundary(text, colons.saturating_sub(LONGEST_KEY)));
    let behind = |at: usize| at + text[at..].chars().next().map_or(0, char::len_utf8);
    let start = text[floor..colons].rfind(|c| !is_key_char(c)).map_or(floor, |at| behind(floor + at));
    let key = trim(text, Span::new(start, colons));
    let key = trim_stars(text, key);
    if !key.of(text).contains(char::is_alphanumeric) {
        return None;
    }
    let open = start.checked_sub(1).filter(|&at| at >= span.start).map(|at| bytes[at]);
    let (start, value, end) = match open {
        Some(open @ (b'[' | b'(')) => {
            let close = closing(bytes, colons + 2, open)?;
            (start - 1, Span::new(colons + 2, close), close + 1)
        }
        _ if is_line_start(bytes, span.start, start) => {
            let end = leaf::trimmed(text, Span::new(colons, leaf::line_end(text, colons, span.end))).end;
            (key.start, Span::new(colons + 2, end), end)
        }
        _ => return None,
    };
    Some(Inline { kind: InlineKind::Field { key, value: trim(text, value) }, span: Span::new(start, end) })
}

fn is_key_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '*' | '/')
}

/// Without the stars of `**key**`.
fn trim_stars(text: &str, key: Span) -> Span {
    let part = key.of(text);
    let start = key.start + (part.len() - part.trim_start_matches('*').len());
    trim(text, Span::new(start, start + part.trim_matches('*').len()))
}

/// The bracket that closes `open`, on the same line, at most three brackets deep.
fn closing(bytes: &[u8], from: usize, open: u8) -> Option<usize> {
    let close = if open == b'[' { b']' } else { b')' };
    let mut depth = 0;
    for at in memchr::memchr3_iter(open, close, b'\n', &bytes[from..]).map(|at| from + at) {
        match bytes[at] {
            b'\n' => return None,
            byte if byte == open && depth == 3 => return None,
            byte if byte == open => depth += 1,
            _ if depth == 0 => return Some(at),
            _ => depth -= 1,
        }
    }
    None
}

/// The opaque place that holds `at`; `next` only ever moves on.
fn hidden(opaque: &[Span], next: &mut usize, at: usize) -> Option<Span> {
    while opaque.get(*next).is_some_and(|span| span.end <= at) {
        *next += 1;
    }
    opaque.get(*next).copied().filter(|span| span.start <= at)
}

/// Whether an odd number of backslashes stands before `at`.
fn is_escaped(bytes: &[u8], start: usize, at: usize) -> bool {
    bytes[start..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Whether nothing but quote marks and blanks stands before `at` on its line.
fn is_line_start(bytes: &[u8], start: usize, at: usize) -> bool {
    let marks = bytes[start..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    at - marks == start || bytes[at - marks - 1] == b'\n'
}

fn trim(text: &str, span: Span) -> Span {
    let part = span.of(text);
    let start = span.start + (part.len() - part.trim_start().len());
    Span::new(start, start + part.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Note;

    fn read(text: &str) -> Vec<String> {
        let note = Note::parse(text);
        let show = |inline: &Inline| match &inline.kind {
            InlineKind::Wikilink { inner, embed } => format!("{}[{}]", if *embed { "!" } else { "" }, inner.of(text)),
            InlineKind::Link { dest } => format!("({dest})"),
            InlineKind::Tag(name) => format!("#{}", name.of(text)),
            InlineKind::Field { key, value } => format!("{}={}", key.of(text), value.of(text)),
            InlineKind::Comment { private } => format!("{}%", if *private { "private " } else { "" }),
        };
        note.inlines().iter().map(show).collect()
    }

    #[test]
    fn wikilinks() {
        assert_eq!(read("a [[b|c]] ![[d#^e]] [[#^f]]"), ["[b|c]", "![d#^e]", "[#^f]"]);
        assert_eq!(read("`[[a]]` \\[[b]] [[c\nd]] [[]] [[[e]]]"), ["[e]"]);
        assert_eq!(read("\\![[a]]"), ["[a]"]);
        assert_eq!(read("| a |\n|---|\n| [[b\\|c]] |\n"), ["[b\\|c]"]);
        assert_eq!(read("[[a `b]] c`"), [""; 0], "code is stronger");
        assert_eq!(read("[a]: b\n\n[[a]]"), ["[a]"]);
    }

    #[test]
    fn everywhere_but_in_code() {
        assert_eq!(
            read("# h [[a]] ^x\n\n> [!k] t [[b]] `[[no]]`\n> - c [[d]]\n>   [[e]]\n"),
            ["[a]", "[b]", "[d]", "[e]"]
        );
        assert_eq!(read("```\n[[a]] #b\n```\n\n    [[c]]\n\n<div>\n[[d]]\n</div>\n"), [""; 0]);
        assert_eq!(read("---\na: \"[[b]]\"\n---\n[[c]]"), ["[c]"]);
    }

    #[test]
    fn links() {
        assert_eq!(
            read("[a](b#c) ![d](e.png) <https://f#g> [h][i]\n\n[i]: j\n"),
            ["(b#c)", "(e.png)", "(https://f#g)", "(j)"]
        );
        assert_eq!(read("[a #tag](b \"c #no\")"), ["(b)", "#tag"]);
        assert_eq!(read("> [!k] [a](b)\n"), ["(b)"]);
    }

    #[test]
    fn tags() {
        assert_eq!(read("#a b#no #c/d, #123 #1a (#no) \\#no C# #é"), ["#a", "#c/d", "#1a", "#é"]);
        assert_eq!(read("> #a\n>#b\n- #c\n"), ["#a", "#b", "#c"]);
        assert_eq!(read("https://a/#b"), [""; 0]);
    }

    #[test]
    fn fields() {
        assert_eq!(read("key:: a value \nno key:: b"), ["key=a value", "no key=b"]);
        assert_eq!(read("a [k:: v] (long key:: w [[x]])"), ["k=v", "long key=w [[x]]", "[x]"]);
        assert_eq!(read("- **Due**:: soon\n> > a-b:: c\n"), ["Due=soon", "a-b=c"]);
        assert_eq!(read("std::io is used, (std::vec) [a::b] `k:: v`, x. y:: z"), [""; 0]);
        assert_eq!(read("[reads:: [[a]]]"), ["reads=[[a]]", "[a]"]);
    }

    #[test]
    fn comments() {
        assert_eq!(read("a %%b [[no]] #no k:: v%% [[c]]"), ["%", "[c]"]);
        assert_eq!(read("a %%private [b](c)\nd%% 100%% e"), ["private %"]);
        assert_eq!(read("`%%` a %%b"), [""; 0]);
        assert_eq!(read("%%\n[[no]]\n%%\n"), [""; 0]);
    }

    #[test]
    fn by_range() {
        let text = "[[a]]\n\n[[b]] #c\n\n[[d]]\n";
        let note = Note::parse(text);
        let found = note.inlines_in(note.blocks()[1].span);
        assert_eq!(found.iter().map(|inline| inline.span.of(text)).collect::<Vec<_>>(), ["[[b]]", "#c"]);
    }
}
