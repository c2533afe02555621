//! A look at the lines of a note before the markdown parser sees them.
//!
//! Finds what that parser does not know (the first lines of callouts, comments over whole lines) and what would make it
//! slow (deep nesting, wide tables). Each such place becomes a [`Mark`], and in a view of the text of the same length
//! it becomes an empty heading `#` followed by blanks: the parser then reports a heading at that offset, inside the
//! right containers, and `tree` puts the real thing in its place.
//!
//! Two things are kept apart. The containers and the open leaf follow `CommonMark` closely and decide what is a callout
//! or a comment; where they were wrong, a block would read oddly. How deep the parser could nest is an upper bound that
//! does not depend on them, so no text can talk its way past the limit.

use std::borrow::Cow;

use memchr::memmem;

use super::callout::{self, Header};
use super::cursor::Cursor;
use super::marker::{self, HtmlEnd};
use super::table::{self, MAX_COLUMNS, Table};
use super::{comment, depth};
use cru_base::Span;

/// What the scan found.
#[derive(Debug, Default)]
pub(super) struct Prescan {
    /// What the markdown parser is to read from where the scan began, when it is not the text itself; as long as that.
    pub(super) view: Option<String>,
    /// Places that the parser reports as an empty heading, in order.
    pub(super) marks: Vec<Mark>,
    /// Whether the text ends inside something that goes on whatever line follows.
    pub(super) open: bool,
}

/// A place with something that the markdown parser does not see.
#[derive(Debug)]
pub(super) struct Mark {
    /// All of it; it starts where the parser sees a `#`.
    pub(super) span: Span,
    /// What it is.
    pub(super) kind: MarkKind,
}

/// What stands at a mark.
#[derive(Debug)]
pub(super) enum MarkKind {
    /// The first line of a callout.
    Callout(Header),
    /// A comment over whole lines.
    Comment {
        /// First word is `private`.
        private: bool,
        /// Whether it has an end.
        closed: bool,
        /// Text behind the end that is not read, because the comment stands in a quote or list.
        tail: bool,
    },
    /// Deeper than [`depth::MAX`].
    TooDeep,
    /// Wider than [`MAX_COLUMNS`].
    TooWide,
    /// The rest of a table whose rows lack too many cells.
    TooRagged,
}

#[derive(Clone, Copy, Debug)]
enum Container {
    Quote,
    Item { indent: usize, empty: bool },
    Footnote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeafScan {
    None,
    /// With the offset of its last line's text, and whether a comment mark in it waits for its partner.
    Paragraph {
        line: usize,
        open: bool,
    },
    Fence {
        mark: u8,
        len: usize,
    },
    Html(HtmlEnd),
    Code,
    Comment,
    WideTable,
    Deep,
}

/// Scans `text` from `body` on.
pub(super) fn scan(text: &str, body: usize) -> Prescan {
    let lines = without_lone_returns(text, body);
    let bytes = lines.as_bytes();
    let mut scan = Scan {
        text: &lines,
        base: body,
        view: None,
        marks: Vec::new(),
        containers: Vec::new(),
        leaf: LeafScan::None,
        table: None,
        bound: depth::Bound::default(),
        comments: memmem::find(&bytes[body..], comment::MARK).is_some(),
    };
    let mut start = body;
    for end in memchr::memchr_iter(b'\n', &bytes[body..]).map(|at| body + at) {
        scan.line(start, end);
        start = end + 1;
    }
    if start < bytes.len() {
        scan.line(start, bytes.len());
    }
    let open = scan.containers.is_empty()
        && matches!(scan.leaf, LeafScan::Fence { .. } | LeafScan::Html(HtmlEnd::Text(_)) | LeafScan::Comment);
    // The masks replace whole characters by ASCII, so the view is always text.
    let (view, marks) = (scan.view.and_then(|view| String::from_utf8(view).ok()), scan.marks);
    let view = view.or(match lines {
        Cow::Borrowed(_) => None,
        Cow::Owned(mut lines) => Some(lines.split_off(body)),
    });
    Prescan { view, marks, open }
}

/// The parser takes a lone carriage return for a line end; here, as in the files of an editor, it is a blank.
fn without_lone_returns(text: &str, body: usize) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_lone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    let mut lone = memchr::memchr_iter(b'\r', &bytes[body..]).map(|at| body + at).filter(is_lone).peekable();
    if lone.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut lines = bytes.to_vec();
    for at in lone {
        lines[at] = b' ';
    }
    String::from_utf8(lines).map_or(Cow::Borrowed(text), Cow::Owned)
}

struct Scan<'a> {
    text: &'a str,
    /// Where the scan began.
    base: usize,
    /// The text from there on, with what is hidden.
    view: Option<Vec<u8>>,
    marks: Vec<Mark>,
    containers: Vec<Container>,
    leaf: LeafScan,
    /// The table that the open paragraph is.
    table: Option<Table>,
    bound: depth::Bound,
    /// Whether the text holds any `%%` at all.
    comments: bool,
}

impl Scan<'_> {
    /// Reads the line `start..end` (line end left out).
    fn line(&mut self, start: usize, end: usize) {
        let line = &self.text.as_bytes()[start..end];
        if self.containers.is_empty() && self.plain(line, start) {
            return;
        }
        let prefix = depth::Prefix::of(line);
        let after_blank = self.bound.after_blank();
        let before = self.bound;
        self.bound.line(line, prefix);
        let too_deep = self.bound.is_too_deep();
        if self.leaf == LeafScan::Deep {
            if too_deep || !ends_deep(line, prefix, after_blank) {
                self.bound = before.seen(line);
                self.blank(start, end);
                self.extend(start, end);
                return;
            }
            self.leaf = LeafScan::None;
        }
        let mut cursor = Cursor::new(line);
        let matched = self.matched(&mut cursor);
        if matched == self.containers.len() && self.inside(&cursor, start, end) {
            if too_deep {
                self.neutralise(start + cursor.at(), start + prefix.end);
                self.bound = before.seen(line);
            }
            return;
        }
        if too_deep {
            self.containers.clear();
            self.mark(start, end, MarkKind::TooDeep);
            self.leaf = LeafScan::Deep;
            self.bound = before.seen(line);
            return;
        }
        if !matches!(self.leaf, LeafScan::None | LeafScan::Paragraph { .. }) {
            self.leaf = LeafScan::None;
            self.containers.truncate(matched);
        }
        self.open(cursor, matched, start, end);
    }

    /// Reads a line that opens and closes nothing, as most lines outside containers do; `false` when it may.
    fn plain(&mut self, line: &[u8], start: usize) -> bool {
        let indent = line.iter().take_while(|&&byte| byte == b' ').count();
        let Some(&byte) = line.get(indent) else {
            if matches!(self.leaf, LeafScan::None | LeafScan::Paragraph { .. }) {
                self.leaf = LeafScan::None;
                self.table = None;
            } else if !matches!(self.leaf, LeafScan::Fence { .. }) {
                return false;
            }
            self.bound.blank();
            return true;
        };
        match self.leaf {
            LeafScan::Fence { mark, .. } if byte != mark && line.len() <= 2 * MAX_COLUMNS => {
                if !marker::can_start_something(byte) {
                    self.bound.text(indent);
                    return true;
                }
                let before = self.bound;
                self.bound.line(line, depth::Prefix::of(line));
                if self.bound.is_too_deep() {
                    self.bound = before;
                    return false;
                }
                true
            }
            LeafScan::None | LeafScan::Paragraph { .. }
                if indent < 4 && !self.comments && self.table.is_none() && !marker::can_start_something(byte) =>
            {
                self.leaf = LeafScan::Paragraph { line: start + indent, open: false };
                self.bound.text(indent);
                true
            }
            _ => false,
        }
    }

    /// How many of the open containers go on in this line.
    fn matched(&self, cursor: &mut Cursor<'_>) -> usize {
        let goes_on = |container: &&Container| match **container {
            Container::Quote => cursor.quote(),
            Container::Item { indent, .. } => take(cursor, indent),
            Container::Footnote => take(cursor, 4),
        };
        self.containers.iter().take_while(goes_on).count()
    }

    /// Whether the open leaf swallows the line whatever it says.
    fn inside(&mut self, cursor: &Cursor<'_>, start: usize, end: usize) -> bool {
        let (indent, at) = cursor.indent();
        let rest = &self.text.as_bytes()[start + at..end];
        match self.leaf {
            LeafScan::None | LeafScan::Paragraph { .. } | LeafScan::Deep => return false,
            LeafScan::Fence { mark, len } => {
                if indent < 4 && marker::closes_fence(rest, mark, len) {
                    self.leaf = LeafScan::None;
                }
            }
            LeafScan::Html(HtmlEnd::Text(text)) => {
                if memmem::find(rest, text.as_bytes()).is_some() {
                    self.leaf = LeafScan::None;
                }
            }
            LeafScan::Html(HtmlEnd::Blank) => {
                if marker::is_blank(rest) {
                    self.leaf = LeafScan::None;
                    return false;
                }
            }
            LeafScan::Code => {
                if indent < 4 && !marker::is_blank(rest) {
                    self.leaf = LeafScan::None;
                    return false;
                }
            }
            LeafScan::Comment => {
                self.comment_line(start + cursor.at(), end);
                return true;
            }
            LeafScan::WideTable => {
                if marker::is_blank(rest) {
                    self.leaf = LeafScan::None;
                    return false;
                }
                self.blank(start + at, end);
                self.extend(start + at, end);
                return true;
            }
        }
        if table::is_wide(rest) {
            self.neutralise(start + at, start + at + 1);
        }
        true
    }

    /// Opens what the line opens; `matched` containers go on and `cursor` stands behind their marks.
    fn open(&mut self, mut cursor: Cursor<'_>, mut matched: usize, start: usize, end: usize) {
        let line = &self.text.as_bytes()[start..end];
        let mut fresh = false;
        loop {
            let (indent, at) = cursor.indent();
            let rest = &line[at..];
            let paragraph = matches!(self.leaf, LeafScan::Paragraph { .. }) && !fresh;
            let current = matched == self.containers.len();
            if marker::is_blank(rest) {
                return self.blank_line(matched, fresh);
            }
            match table::columns(rest) {
                Some(columns) if columns > MAX_COLUMNS => match self.leaf {
                    LeafScan::Paragraph { line, .. } if paragraph && current => {
                        return self.wide_table(line, start + at, end);
                    }
                    _ => self.neutralise(start + at, start + at + 1),
                },
                Some(columns) if paragraph && current && self.table.is_none() => {
                    self.table = Some(Table::new(columns));
                    return;
                }
                _ => {}
            }
            if indent >= 4 {
                if !paragraph {
                    self.put(matched, LeafScan::Code);
                }
                return;
            }
            if paragraph && current && marker::is_underline(rest) {
                return self.put(matched, LeafScan::None);
            }
            match rest[0] {
                b'>' => {
                    self.push(&mut matched, Container::Quote);
                    fresh = true;
                    cursor.quote();
                    if self.callout(&cursor, start, end) {
                        return;
                    }
                    continue;
                }
                b'-' | b'*' | b'_' if marker::is_rule(rest) => return self.put(matched, LeafScan::None),
                b'#' if marker::is_heading(rest) => return self.put(matched, LeafScan::None),
                b'-' | b'+' | b'*' | b'0'..=b'9' => {
                    if let Some(marker) = marker::list_marker(rest) {
                        let empty = marker::is_blank(&rest[marker.len..]);
                        let opens = !empty && matches!(marker.number, None | Some(1));
                        if !paragraph || !current || opens {
                            cursor.advance(marker.len);
                            let width = match cursor.indent().0 {
                                _ if empty => 1,
                                columns @ 1..=4 => columns,
                                _ => 1,
                            };
                            cursor.skip(width);
                            let item = Container::Item { indent: indent + marker.len + width, empty };
                            self.push(&mut matched, item);
                            fresh = true;
                            continue;
                        }
                    }
                }
                b'[' => {
                    if let Some(len) = marker::footnote(rest) {
                        self.containers.truncate(matched);
                        if matches!(self.containers.last(), Some(Container::Footnote)) {
                            self.containers.pop();
                        }
                        matched = self.containers.len();
                        self.push(&mut matched, Container::Footnote);
                        cursor.advance(len);
                        cursor.skip(usize::MAX);
                        fresh = true;
                        continue;
                    }
                }
                b'`' | b'~' => {
                    if let Some((mark, len)) = marker::fence(rest) {
                        return self.put(matched, LeafScan::Fence { mark, len });
                    }
                }
                b'<' => {
                    if let Some(html) = marker::html(rest, paragraph) {
                        let ends = matches!(html, HtmlEnd::Text(text) if memmem::find(rest, text.as_bytes()).is_some());
                        return self.put(matched, if ends { LeafScan::None } else { LeafScan::Html(html) });
                    }
                }
                b'%' if rest.starts_with(comment::MARK) => {
                    let waits = matches!(self.leaf, LeafScan::Paragraph { open: true, .. }) && paragraph;
                    let in_marker_line = fresh && matches!(self.containers.last(), Some(Container::Item { .. }));
                    if !waits && !in_marker_line && self.comment(matched, start + at, end) {
                        return;
                    }
                }
                _ => {}
            }
            return self.text_line(matched, paragraph, start + at, end);
        }
    }

    fn blank_line(&mut self, matched: usize, fresh: bool) {
        self.leaf = LeafScan::None;
        self.table = None;
        if fresh {
            return;
        }
        self.containers.truncate(matched);
        if let Some(Container::Item { empty: true, .. }) = self.containers.last() {
            self.containers.pop();
        }
    }

    fn text_line(&mut self, matched: usize, paragraph: bool, at: usize, end: usize) {
        let mut open = false;
        if paragraph {
            if let Some(table) = &mut self.table
                && !table.row(&self.text.as_bytes()[at..end])
            {
                self.mark(at, end, MarkKind::TooRagged);
                return self.put(matched, LeafScan::WideTable);
            }
            open = matches!(self.leaf, LeafScan::Paragraph { open: true, .. });
        } else {
            self.put(matched, LeafScan::None);
        }
        if self.comments {
            let marks = memmem::find_iter(&self.text.as_bytes()[at..end], comment::MARK).count();
            open ^= marks % 2 == 1;
        }
        self.leaf = LeafScan::Paragraph { line: at, open };
    }

    /// Closes what does not go on, and stands in `leaf`.
    fn put(&mut self, matched: usize, leaf: LeafScan) {
        self.containers.truncate(matched);
        if let Some(Container::Item { empty, .. }) = self.containers.last_mut() {
            *empty = false;
        }
        self.leaf = leaf;
        self.table = None;
    }

    fn push(&mut self, matched: &mut usize, container: Container) {
        self.put(*matched, LeafScan::None);
        self.containers.push(container);
        *matched = self.containers.len();
    }

    /// The first line of a callout, right behind a quote mark that opened a quote.
    fn callout(&mut self, cursor: &Cursor<'_>, start: usize, end: usize) -> bool {
        let (indent, at) = cursor.indent();
        if indent > 3 || !self.text.as_bytes()[start + at..end].starts_with(b"[!") {
            return false;
        }
        let Some(header) = callout::header(self.text, start + at, end) else { return false };
        self.mark(start + at, end, MarkKind::Callout(header));
        true
    }

    /// A comment that starts a block at `at`; `false` when more text follows it on its line.
    fn comment(&mut self, matched: usize, at: usize, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        let private = comment::is_private(&self.text[at + 2..]);
        let close = memmem::find(&bytes[at + 2..end], comment::MARK).map(|close| at + 2 + close + 2);
        if close.is_some_and(|close| !marker::is_blank(&bytes[close..end])) {
            return false;
        }
        self.put(matched, if close.is_some() { LeafScan::None } else { LeafScan::Comment });
        self.mark(at, end, MarkKind::Comment { private, closed: close.is_some(), tail: false });
        true
    }

    /// A further line of an open comment, from behind its containers' marks.
    fn comment_line(&mut self, at: usize, end: usize) {
        let bytes = self.text.as_bytes();
        let Some(close) = memmem::find(&bytes[at..end], comment::MARK).map(|close| at + close + 2) else {
            self.blank(at, end);
            self.extend(at, end);
            return;
        };
        self.leaf = LeafScan::None;
        let has_tail = !marker::is_blank(&bytes[close..end]);
        let splits = has_tail && self.containers.is_empty();
        if let Some(Mark { kind: MarkKind::Comment { closed, tail, .. }, .. }) = self.marks.last_mut() {
            *closed = true;
            *tail = has_tail && !splits;
        }
        self.extend(at, if splits { close } else { end });
        self.blank(at, if splits { close } else { end });
        if splits {
            // What follows the comment is read as if it stood on a line of its own.
            if let Some(view) = &mut self.view {
                view[close - 1 - self.base] = b'\n';
            }
            self.line(close, end);
        }
    }

    fn wide_table(&mut self, header: usize, at: usize, end: usize) {
        let header_end = memchr::memchr(b'\n', &self.text.as_bytes()[header..]).map_or(end, |len| header + len);
        self.mark(header, header_end, MarkKind::TooWide);
        self.blank(at, end);
        self.extend(at, end);
        self.leaf = LeafScan::WideTable;
    }

    /// Puts a mark at `at` and hides the line from there on.
    fn mark(&mut self, at: usize, end: usize, kind: MarkKind) {
        self.blank(at, end);
        if let Some(view) = &mut self.view {
            // `at` is the first byte of what was just blanked.
            view[at - self.base] = b'#';
        }
        self.marks.push(Mark { span: Span::new(at, end), kind });
    }

    /// The last mark goes on to `end`, if the line has anything from `at` on.
    fn extend(&mut self, at: usize, end: usize) {
        if marker::is_blank(&self.text.as_bytes()[at..end]) {
            return;
        }
        if let Some(mark) = self.marks.last_mut() {
            mark.span.end = end;
        }
    }

    fn blank(&mut self, start: usize, end: usize) {
        let base = self.base;
        self.view_mut()[start - base..end - base].fill(b' ');
    }

    /// Hides what could open containers in text that should be code, in case the parser sees it otherwise.
    fn neutralise(&mut self, start: usize, end: usize) {
        let base = self.base;
        for byte in self.view_mut().get_mut(start - base..end - base).unwrap_or_default() {
            if !matches!(byte, b' ' | b'\t') {
                *byte = b'x';
            }
        }
    }

    fn view_mut(&mut self) -> &mut Vec<u8> {
        let rest = &self.text.as_bytes()[self.base..];
        self.view.get_or_insert_with(|| rest.to_vec())
    }
}

/// Takes `columns` blanks, or none where the rest of the line is blank.
fn take(cursor: &mut Cursor<'_>, columns: usize) -> bool {
    let (indent, at) = cursor.indent();
    if indent >= columns {
        cursor.skip(columns);
        return true;
    }
    marker::is_blank(&cursor.rest()[at - cursor.at()..])
}

/// Whether a line ends a place that is too deep: it starts something at the margin.
fn ends_deep(line: &[u8], prefix: depth::Prefix, after_blank: bool) -> bool {
    let (indent, at) = Cursor::new(line).indent();
    let rest = &line[at..];
    indent < 2
        && !marker::is_blank(rest)
        && (after_blank || prefix.markers > 0 || marker::is_heading(rest) || marker::fence(rest).is_some())
}
