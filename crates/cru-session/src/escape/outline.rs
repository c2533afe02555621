//! What each line of a text is: prose, heading, code.
//!
//! Follows the rules of `CommonMark` for lists and fences as far as it can be sure, and says "text" where it is not:
//! text is escaped, so a wrong "text" costs beauty and a wrong "code" would cost structure. A fence is code only at top
//! level or, with its end in sight, in a list whose columns are certain. Both directions of the escaping walk the same
//! states, since a line that is escaped is text in both. No recursion; linear but for a bounded look ahead.

use super::view::View;

/// Lists and quotes nested deeper than this are text.
const DEEPEST: usize = 8;
/// A fence in a list must end within this many lines.
const LOOK_AHEAD: usize = 400;

/// One line, classified. Offsets are bytes of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Blank, code or a rule: not to be touched.
    Verbatim,
    /// A heading whose `level` hashes stand at `at`.
    Heading { at: usize, level: usize },
    /// The first line of a fence; its info string starts at `info`.
    Open { info: usize },
    /// The last line of a fence: `len` marks at `at`, `extra` more than it opened with.
    Close { at: usize, len: usize, extra: usize, top: bool },
    /// Text that starts at `at`.
    Text {
        at: usize,
        /// A character to escape whatever it is followed by.
        force: Option<usize>,
        /// Directly behind a bullet at top level.
        bullet: bool,
        /// Possibly a row of a table.
        table: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct OpenFence {
    mark: u8,
    len: usize,
    /// Column of the list item's content it stands in; 0 at top level.
    base: usize,
}

/// The state between lines.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about where the walk stands")]
pub(crate) struct Outline<'a> {
    lines: &'a [&'a str],
    /// Content columns of the open list items, outermost first.
    items: Vec<usize>,
    fence: Option<OpenFence>,
    /// A paragraph may go on with the next line.
    paragraph: bool,
    /// That paragraph stands in a quote, so a list on a line without its mark starts anew.
    quoted: bool,
    /// The line before was blank (or there is none).
    blank: bool,
    /// The line before opened a list item and held nothing else.
    empty_item: bool,
    /// Which lists are open is not certain.
    doubt: bool,
    /// Some line could end a fence for one reader and not for another, so there are none.
    fenceless: bool,
    /// End of the lines without blank ones between that were looked through for a table, and its first line.
    stretch: usize,
    table: usize,
}

impl<'a> Outline<'a> {
    /// Starts at the first of `lines`; `below_text`: a line of text stands above it.
    pub(crate) fn new(lines: &'a [&'a str], below_text: bool) -> Self {
        Self {
            lines,
            items: Vec::new(),
            fence: None,
            paragraph: below_text,
            quoted: false,
            blank: !below_text,
            empty_item: false,
            doubt: below_text,
            fenceless: lines.iter().any(|line| is_ambiguous(line)),
            stretch: 0,
            table: usize::MAX,
        }
    }

    /// The mark and length of a fence at top level that no line closed.
    pub(crate) fn left_open(&self) -> Option<(char, usize)> {
        self.fence.filter(|fence| fence.base == 0).map(|fence| (char::from(fence.mark), fence.len))
    }

    /// Whether no list or quote is open.
    pub(crate) fn is_at_top(&self) -> bool {
        self.items.is_empty() && !self.quoted
    }

    /// Whether the next line stands in a fence.
    pub(crate) fn in_code(&self) -> bool {
        self.fence.is_some()
    }

    /// The line `index`; lines must be asked for in order.
    pub(crate) fn next_line(&mut self, index: usize) -> Line {
        let Some(&line) = self.lines.get(index) else { return Line::Verbatim };
        if let Some(fence) = self.fence {
            return self.in_fence(line, fence);
        }
        let lead = line.len() - line.trim_start_matches([' ', '\t']).len();
        if lead == line.len() {
            if std::mem::take(&mut self.empty_item) {
                self.items.pop();
            }
            self.paragraph = false;
            self.blank = true;
            return Line::Verbatim;
        }
        self.empty_item = false;
        self.look_for_table(index);
        self.opened(index, line, lead)
    }

    fn in_fence(&mut self, line: &str, fence: OpenFence) -> Line {
        let lead = line.len() - line.trim_start_matches(' ').len();
        let indent = lead.saturating_sub(fence.base);
        let rest = &line.as_bytes()[lead..];
        let len = run(rest, fence.mark);
        if lead >= fence.base && indent < 4 && len >= fence.len && is_blank(&rest[len..]) {
            self.fence = None;
            return Line::Close { at: lead, len, extra: len - fence.len, top: fence.base == 0 };
        }
        Line::Verbatim
    }

    /// A line that is neither blank nor in a fence.
    fn opened(&mut self, index: usize, line: &str, lead: usize) -> Line {
        let below_blank = std::mem::take(&mut self.blank);
        let tab = line[..lead].contains('\t');
        let indent = columns(&line[..lead], 0);
        let matched = self.items.iter().take_while(|&&column| indent >= column).count();
        let direct = matched == self.items.len();
        if below_blank && indent <= 1 && !tab {
            self.doubt = false;
        }
        self.doubt |= tab;
        let mut base = matched.checked_sub(1).and_then(|last| self.items.get(last)).copied().unwrap_or(0);
        let table = index >= self.table;
        let text = |at, force| Line::Text { at, force, bullet: false, table };

        if indent - base >= 4 {
            // Inside a quote a tab can be narrower, and what is code or text here would open a block there.
            let slashes = run(&line.as_bytes()[lead..], b'\\');
            let force =
                tab.then(|| opening(&line.as_bytes()[lead + slashes..])).flatten().map(|at| lead + slashes + at);
            if self.paragraph {
                self.doubt |= !direct;
                return text(lead, force);
            }
            self.items.truncate(matched);
            // Code only where no container could make it text.
            return if matched == 0 && !self.doubt { Line::Verbatim } else { text(lead, force) };
        }

        let mut at = lead;
        let mut column = indent;
        let mut quoted = false;
        let mut markers = 0;
        let mut bullet = false;
        let mut depth = matched;
        loop {
            let rest = &line.as_bytes()[at..];
            let slashes = run(rest, b'\\');
            let bare = &rest[slashes..];
            let live = slashes == 0;
            let here = at + slashes;
            let mut force = None;
            if markers == 0 && !below_blank && is_underline(bare) {
                force = Some(here);
            } else if live && is_rule(rest) {
                self.close(matched, markers, quoted);
                self.paragraph = false;
                return Line::Verbatim;
            } else if live && let Some(level) = heading(rest) {
                self.close(matched, markers, quoted);
                self.paragraph = false;
                return Line::Heading { at, level };
            } else if let Some((mark, len)) = fence(bare) {
                if live && !quoted && self.is_code(index, indent, base, markers, mark, len) {
                    self.close(matched, markers, quoted);
                    self.paragraph = false;
                    self.fence = Some(OpenFence { mark, len, base });
                    return Line::Open { info: at + len };
                }
                force = (mark == b'~').then_some(here);
            } else if bare.first() == Some(&b'>') {
                if depth >= DEEPEST {
                    force = Some(here);
                } else if live {
                    self.close(matched, markers, quoted);
                    (quoted, depth) = (true, depth + 1);
                    at += 1;
                    at += line[at..].len() - line[at..].trim_start_matches([' ', '\t']).len();
                    if at == line.len() {
                        self.paragraph = false;
                        return Line::Verbatim;
                    }
                    continue;
                }
            } else if let Some(marker) = list_marker(bare) {
                let behind = &bare[marker.len..];
                let empty = is_blank(behind);
                let goes_on = self.paragraph && direct && !self.quoted && !quoted && markers == 0;
                if depth >= DEEPEST {
                    force = Some(here + marker.escape);
                } else if live && marker.live && goes_on && (empty || marker.number.is_some_and(|number| number != 1)) {
                    self.doubt = true;
                } else if live && marker.live {
                    self.close(matched, markers, quoted);
                    bullet = marker.number.is_none() && depth == 0 && !quoted;
                    (markers, depth) = (markers + 1, depth + 1);
                    let from = at + marker.len;
                    let gap = line[from..].len() - line[from..].trim_start_matches([' ', '\t']).len();
                    self.doubt |= line[from..from + gap].contains('\t');
                    let start = column + marker.len;
                    let end = columns(&line[from..from + gap], start);
                    base = if empty || end - start > 4 { start + 1 } else { end };
                    if !quoted {
                        self.items.push(base);
                    }
                    self.paragraph = false;
                    (at, column) = (from + gap, end);
                    if empty {
                        self.empty_item = !quoted;
                        return Line::Verbatim;
                    }
                    if end - start > 4 {
                        let slashes = run(&line.as_bytes()[at..], b'\\');
                        let tab = line[from..at].contains('\t');
                        let force = tab.then(|| opening(&line.as_bytes()[at + slashes..])).flatten();
                        let force = force.map(|opens| at + slashes + opens);
                        return self.text(at, force, false, table, (matched, direct, true));
                    }
                    continue;
                }
            }
            // Tables of more columns are text.
            if table && is_delimiter(&line[at..]) && memchr::memchr_iter(b'|', line.as_bytes()).count() > 100 {
                force = Some(here);
            }
            let bullet = bullet && markers == 1;
            self.quoted = quoted || (self.quoted && self.paragraph && markers == 0);
            return self.text(at, force, bullet, table, (matched, direct, markers > 0 || quoted));
        }
    }

    fn text(
        &mut self,
        at: usize,
        force: Option<usize>,
        bullet: bool,
        table: bool,
        (matched, direct, opened): (usize, bool, bool),
    ) -> Line {
        if !opened && !direct {
            if self.paragraph {
                self.doubt = true;
            } else {
                self.items.truncate(matched);
            }
        }
        self.paragraph = true;
        Line::Text { at, force, bullet, table }
    }

    /// A block starts: the list items that this line does not belong to end.
    fn close(&mut self, matched: usize, markers: usize, quoted: bool) {
        if markers == 0 && !quoted {
            self.items.truncate(matched);
        }
    }

    /// Whether a fence that opens here is one for every reader.
    fn is_code(&self, index: usize, indent: usize, base: usize, markers: usize, mark: u8, len: usize) -> bool {
        if self.fenceless {
            return false;
        }
        if base == 0 && markers == 0 {
            return indent <= 1 || !self.doubt;
        }
        if self.doubt {
            return false;
        }
        for line in self.lines.iter().skip(index + 1).take(LOOK_AHEAD) {
            let lead = line.len() - line.trim_start_matches(' ').len();
            let rest = &line.as_bytes()[lead..];
            if is_blank(rest) {
                continue;
            }
            if lead < base {
                return false;
            }
            let marks = run(rest, mark);
            if lead - base < 4 && marks >= len && is_blank(&rest[marks..]) {
                return true;
            }
        }
        false
    }

    fn look_for_table(&mut self, index: usize) {
        if index < self.stretch {
            return;
        }
        let rest = self.lines.get(index..).unwrap_or_default();
        let len = rest.iter().position(|line| line.trim_matches([' ', '\t']).is_empty()).unwrap_or(rest.len());
        self.stretch = index + len;
        let delimiter = rest[..len].iter().position(|line| is_delimiter(line));
        self.table = delimiter.map_or(usize::MAX, |at| (index + at).saturating_sub(1));
    }
}

#[derive(Clone, Copy, Debug)]
struct Marker {
    /// Bytes of the marker.
    len: usize,
    /// Offset of the byte that a backslash takes its meaning from.
    escape: usize,
    /// No backslash stands in it.
    live: bool,
    number: Option<u32>,
}

/// A bullet or number, backslashes before its point counted in.
fn list_marker(bare: &[u8]) -> Option<Marker> {
    let marker = match bare.first()? {
        b'-' | b'*' | b'+' => Marker { len: 1, escape: 0, live: true, number: None },
        b'0'..=b'9' => {
            let digits = bare.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let slashes = run(&bare[digits..], b'\\');
            let escape = digits + slashes;
            if digits > 9 || !matches!(bare.get(escape), Some(b'.' | b')')) {
                return None;
            }
            let number = bare[..digits].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
            Marker { len: escape + 1, escape, live: slashes == 0, number: Some(number) }
        }
        _ => return None,
    };
    matches!(bare.get(marker.len), None | Some(b' ' | b'\t')).then_some(marker)
}

/// The byte to escape in a line that opens a block.
fn opening(bare: &[u8]) -> Option<usize> {
    let opens = is_underline(bare) || heading(bare).is_some() || fence(bare).is_some() || bare.first() == Some(&b'>');
    if opens { Some(0) } else { list_marker(bare).map(|marker| marker.escape) }
}

/// Columns after `blanks`, which start at column `from`; a tab goes to the next multiple of four.
fn columns(blanks: &str, from: usize) -> usize {
    blanks.bytes().fold(from, |column, byte| if byte == b'\t' { column / 4 * 4 + 4 } else { column + 1 })
}

fn run(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|byte| **byte == mark).count()
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

fn is_underline(bare: &[u8]) -> bool {
    matches!(bare.first(), Some(mark @ (b'-' | b'=')) if is_blank(&bare[run(bare, *mark)..]))
}

fn is_rule(rest: &[u8]) -> bool {
    let Some(&mark @ (b'-' | b'*' | b'_')) = rest.first() else { return false };
    rest.iter().all(|byte| *byte == mark || is_blank(&[*byte])) && memchr::memchr_iter(mark, rest).count() >= 3
}

fn heading(rest: &[u8]) -> Option<usize> {
    let level = run(rest, b'#');
    ((1..=6).contains(&level) && matches!(rest.get(level), None | Some(b' ' | b'\t'))).then_some(level)
}

fn fence(bare: &[u8]) -> Option<(u8, usize)> {
    let &mark @ (b'`' | b'~') = bare.first()? else { return None };
    let len = run(bare, mark);
    (len >= 3 && (mark == b'~' || !bare[len..].contains(&b'`'))).then_some((mark, len))
}

/// A line of nothing but what the second line of a table is made of, containers around it allowed.
fn is_delimiter(line: &str) -> bool {
    let only = |byte: u8| matches!(byte, b'|' | b':' | b'-' | b' ' | b'\t' | b'>' | b'\\' | b'\r');
    line.bytes().all(only) && line.contains('-') && line.contains(['|', ':'])
}

/// A line that ends a fence or not, depending on how wide its tabs are.
fn is_ambiguous(line: &str) -> bool {
    let rest = line.trim_start_matches([' ', '\t']);
    if !line[..line.len() - rest.len()].contains('\t') || !rest.starts_with(['`', '~', '\\']) {
        return false;
    }
    let plain = View::without_slashes(rest);
    plain.starts_with("```") || plain.starts_with("~~~")
}
