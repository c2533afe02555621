//! Plain text of one line inside markdown: escaped so that it neither opens structure nor vanishes, and back.
//!
//! [`unescape`] undoes [`escape`] exactly. Code spans pass through both untouched, since a backslash inside one would be
//! shown.

/// A stretch of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text in which backslashes escape.
    Text(&'a str),
    /// A code span with its backticks.
    Code(&'a str),
}

/// Cuts `line` into text and code spans. With `escapes`, a backslash outside a code span hides the character after it.
/// Linear: for each length of a run of backticks its places are known.
pub(super) fn pieces(line: &str, escapes: bool) -> Vec<Piece<'_>> {
    let bytes = line.as_bytes();
    if memchr::memchr(b'`', bytes).is_none() {
        return if line.is_empty() { Vec::new() } else { vec![Piece::Text(line)] };
    }
    let run = |at: usize| bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
    // Where runs of each length begin; there are few lengths.
    let mut runs: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut at = 0;
    while let Some(skipped) = memchr::memchr(b'`', &bytes[at..]) {
        at += skipped;
        let len = run(at);
        match runs.iter_mut().find(|(other, _)| *other == len) {
            Some((_, places)) => places.push(at),
            None => runs.push((len, vec![at])),
        }
        at += len;
    }
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mark = |at: usize| {
        let rest = bytes.get(at..)?;
        if escapes { memchr::memchr2(b'`', b'\\', rest) } else { memchr::memchr(b'`', rest) }
    };
    while let Some(skipped) = mark(at) {
        at += skipped;
        if bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        let len = run(at);
        let closing = runs.iter().find(|(other, _)| *other == len).map_or(&[][..], |(_, places)| places);
        let Some(&close) = closing.get(closing.partition_point(|&start| start < at + len)) else {
            at += len;
            continue;
        };
        if from < at {
            pieces.push(Piece::Text(&line[from..at]));
        }
        pieces.push(Piece::Code(&line[at..close + len]));
        at = close + len;
        from = at;
    }
    if from < line.len() {
        pieces.push(Piece::Text(&line[from..]));
    }
    pieces
}

/// A line whose code spans stay, and of whose other text `write` writes what takes its place.
pub(super) fn outside_code(line: &str, escapes: bool, mut write: impl FnMut(&str, &mut String)) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    for piece in pieces(line, escapes) {
        match piece {
            Piece::Code(code) => out.push_str(code),
            Piece::Text(text) => write(text, &mut out),
        }
    }
    out
}

/// `text` (one line) as markdown that shows the same and opens nothing.
pub(super) fn escape(text: &str) -> String {
    outside_code(text, false, escape_plain)
}

/// An escaped line with a backslash before what would open a block at its beginning: a list, a quotation, a rule.
pub(super) fn opening_nothing(mut escaped: String) -> String {
    if escaped.starts_with(['>', '-', '+', '*', '=', '~', '|', '_', '$', ':', '[']) {
        escaped.insert(0, '\\');
    } else if is_numbered(&escaped) {
        let at = escaped.find(['.', ')']).unwrap_or(0);
        escaped.insert(at, '\\');
    }
    escaped
}

/// Whether a line would begin a numbered list.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['.', ')'])
}

/// As [`escape`] for a line of somebody's markdown: what makes a heading or a list at its beginning stays.
pub(super) fn escape_words(line: &str) -> String {
    let marks = line.bytes().take_while(|&byte| byte == b'#').count();
    match line.get(marks..) {
        Some(rest) if marks > 0 && rest.starts_with(' ') => format!("{}{}", &line[..marks], escape(rest)),
        _ => escape(line),
    }
}

/// The length of a link to a block, `[[note#^n-014|n-014]]`, that begins `text`; such a link stays one.
fn block_link(text: &str) -> Option<usize> {
    const LONGEST: usize = 400;
    let bytes = text.as_bytes();
    let end = bytes.iter().take(LONGEST).position(|&byte| byte == b']')?;
    let inner = text.get(2..end).filter(|_| bytes.get(end + 1) == Some(&b']'))?;
    let (note, id) = inner.split_once("#^")?;
    let plain = |byte: u8| !matches!(byte, b'[' | b']' | b'\\' | b'`' | b'#' | b'^' | b'<' | b'%' | b'@' | b'!' | b'?');
    let is_note = !note.is_empty() && note.bytes().all(plain) && note.trim() == note && !note.contains('|');
    let is_id = id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'|'));
    (is_note && is_id).then_some(end + 2)
}

/// Whether a byte can be one that is to be hidden.
const fn is_special(byte: u8) -> bool {
    matches!(byte, b'`' | b'\\' | b'<' | b'%' | b'[' | b'#' | b'@' | b'^' | b'!' | b'?')
}

fn escape_plain(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_special) {
        out.push_str(&rest[..at]);
        if rest[at..].starts_with("[[")
            && let Some(link) = block_link(&rest[at..])
        {
            out.push_str(&rest[at..at + link]);
            rest = &rest[at + link..];
            continue;
        }
        let mut chars = rest[at..].chars();
        // There is one at `at`.
        let c = chars.next().unwrap_or_default();
        rest = chars.as_str();
        let next = chars.clone().next();
        let word_start = out.is_empty() || out.ends_with(char::is_whitespace);
        let hide = match c {
            '`' => true,
            '\\' => next.is_none_or(|c| c.is_ascii_punctuation()),
            '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
            '%' => next == Some('%'),
            '[' => next == Some('[') || next == Some('^'),
            '#' => out.is_empty() || (word_start && opens_tag(&chars)),
            '@' => word_start && next.is_some_and(char::is_alphabetic),
            '^' => word_start && next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-'),
            '!' | '?' => word_start && next.is_none(),
            _ => false,
        };
        if hide {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str(rest);
}

/// Whether what follows `#` would make a tag, or the closing marks of a heading: digits alone make none.
fn opens_tag(rest: &(impl Iterator<Item = char> + Clone)) -> bool {
    let word = || rest.clone().take_while(|c| !c.is_whitespace());
    let mut tag = word().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/'));
    let closes = word().all(|c| c == '#') && rest.clone().all(|c| c == '#' || c.is_whitespace());
    closes || tag.any(|c| !c.is_ascii_digit()) || word().any(|c| !c.is_ascii())
}

/// Markdown text of one line with backslash escapes undone.
pub(super) fn unescape(text: &str) -> String {
    outside_code(text, true, |text, out| {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let hidden = if c == '\\' { chars.next_if(char::is_ascii_punctuation) } else { None };
            out.push(hidden.unwrap_or(c));
        }
    })
}

/// `code` as a code span: backticks enough, blanks where it starts or ends with one.
pub(super) fn code_span(code: &str) -> String {
    let longest = longest_run(code);
    let ticks = "`".repeat(if longest == 0 { 1 } else { longest + 1 });
    let pad = code.starts_with('`')
        || code.ends_with('`')
        || (code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty());
    let pad = if pad { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

/// The code of a code span that begins `text`, and what follows it.
pub(super) fn leading_code(text: &str) -> Option<(&str, &str)> {
    let ticks = text.bytes().take_while(|&byte| byte == b'`').count();
    if ticks == 0 {
        return None;
    }
    let mut at = ticks;
    loop {
        let start = at + text.get(at..)?.find('`')?;
        let len = text[start..].bytes().take_while(|&byte| byte == b'`').count();
        if len == ticks {
            return Some((strip_pad(&text[ticks..start]), &text[start + len..]));
        }
        at = start + len;
    }
}

fn strip_pad(code: &str) -> &str {
    match code.strip_prefix(' ').and_then(|code| code.strip_suffix(' ')) {
        Some(inner) if !code.trim().is_empty() => inner,
        _ => code,
    }
}

/// The longest run of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hides_what_would_open_structure() {
        assert_eq!(escape("#dev and @me <b> 50%% a\\b \\#"), "\\#dev and \\@me \\<b> 50\\%% a\\b \\\\#");
        assert_eq!(escape("use `Vec<T>` or ` alone"), "use `Vec<T>` or \\` alone");
        assert_eq!(escape("really ?"), "really \\?");
        assert_eq!(escape("really?"), "really?");
        assert_eq!(escape("see [[x]] ^id"), "see \\[[x]] \\^id");
        assert_eq!(escape("see [[x y#^n-1|n-1]] #a"), "see [[x y#^n-1|n-1]] \\#a");
        assert_eq!(escape("see [[x#^n-1] and [[#^n]]"), "see \\[[x#^n-1] and \\[[#^n]]");
    }

    #[test]
    fn code_spans_hold_backticks() {
        for code in ["a", "`", "a``b", "`a`", " a ", "  "] {
            assert_eq!(leading_code(&format!("{} rest", code_span(code))), Some((code, " rest")));
        }
        assert_eq!(leading_code("``a` b"), None);
    }

    proptest! {
        #[test]
        fn escapes_are_undone(text in "[a-c `\\\\<#@!?^%\\[\\]*_→]{0,24}") {
            let written = escape(&text);
            prop_assert_eq!(unescape(&written), text);
        }
    }
}
