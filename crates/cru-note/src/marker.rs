//! What a line can start with: list markers, fences, rules, headings, HTML blocks, footnote definitions.
//!
//! Each function looks at the bytes of one line from its first character that is no blank, and says what opens there by
//! the rules of `CommonMark`. It knows nothing of what stands around the line; `prescan` does.

use cru_base::text::byte_table;

/// A list marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListMarker {
    /// Bytes of the marker itself: 1 for a bullet, digits + 1 for a number.
    pub(super) len: usize,
    /// The number of an ordered item.
    pub(super) number: Option<u32>,
}

/// How an HTML block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlEnd {
    /// With the line that holds this text.
    Text(&'static str),
    /// Before the next blank line.
    Blank,
}

/// Whether something other than a paragraph can start with `byte`, or a line of blanks.
pub(super) fn can_start_something(byte: u8) -> bool {
    const SOME: [bool; 256] = byte_table(b"\t\r >-+*0123456789[`~#<%=|:_");
    SOME[byte as usize]
}

/// Whether `line` holds nothing but blanks.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// `-`, `+`, `*`, `1.` or `1)`, with a blank or the line's end behind it.
pub(super) fn list_marker(rest: &[u8]) -> Option<ListMarker> {
    let (len, number) = match rest.first()? {
        b'-' | b'+' | b'*' => (1, None),
        b'0'..=b'9' => {
            let digits = rest.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 9 || !matches!(rest.get(digits), Some(b'.' | b')')) {
                return None;
            }
            let number = rest[..digits].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
            (digits + 1, Some(number))
        }
        _ => return None,
    };
    matches!(rest.get(len), None | Some(b' ' | b'\t' | b'\r')).then_some(ListMarker { len, number })
}

/// What a line that begins an item of a list says behind the marker; `None` for another line.
pub fn list_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    list_marker(line.as_bytes()).map(|marker| line[marker.len..].trim_start())
}

/// Three or more of one of `-`, `*`, `_`, with nothing but blanks between.
pub(super) fn is_rule(rest: &[u8]) -> bool {
    let Some(&mark @ (b'-' | b'*' | b'_')) = rest.first() else { return false };
    let mut count = 0;
    for &byte in rest {
        match byte {
            byte if byte == mark => count += 1,
            b' ' | b'\t' | b'\r' => {}
            _ => return false,
        }
    }
    count >= 3
}

/// One to six `#` with a blank or the line's end behind.
pub(super) fn is_heading(rest: &[u8]) -> bool {
    let level = rest.iter().take(7).take_while(|&&byte| byte == b'#').count();
    (1..=6).contains(&level) && matches!(rest.get(level), None | Some(b' ' | b'\t' | b'\r'))
}

/// The underline of a setext heading: only `=` or only `-`.
pub(super) fn is_underline(rest: &[u8]) -> bool {
    let Some(&mark @ (b'=' | b'-')) = rest.first() else { return false };
    let marks = rest.iter().take_while(|&&byte| byte == mark).count();
    is_blank(&rest[marks..])
}

/// The opening of a fence: its character and how many of it stand there.
pub(super) fn fence(rest: &[u8]) -> Option<(u8, usize)> {
    let &mark @ (b'`' | b'~') = rest.first()? else { return None };
    let len = rest.iter().take_while(|&&byte| byte == mark).count();
    (len >= 3 && (mark == b'~' || memchr::memchr(b'`', &rest[len..]).is_none())).then_some((mark, len))
}

/// Whether a fence of `len` times `mark` ends with this line.
pub(super) fn closes_fence(rest: &[u8], mark: u8, len: usize) -> bool {
    let run = rest.iter().take_while(|&&byte| byte == mark).count();
    run >= len && is_blank(&rest[run..])
}

/// The bytes of `[^label]:`.
pub(super) fn footnote(rest: &[u8]) -> Option<usize> {
    let label = rest.strip_prefix(b"[^")?;
    let mut bytes = label.iter().take(1004).enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'[' => return None,
            b']' => return (at > 0 && label.get(at + 1) == Some(&b':')).then_some(at + 4),
            _ => {}
        }
    }
    None
}

/// The opening of an HTML block. The last kind, any tag alone on its line, does not end a paragraph.
pub(super) fn html(rest: &[u8], in_paragraph: bool) -> Option<HtmlEnd> {
    let tag = rest.strip_prefix(b"<")?;
    for (start, end) in RAW_TAGS {
        if tag.len() >= start.len()
            && tag[..start.len()].eq_ignore_ascii_case(start.as_bytes())
            && matches!(tag.get(start.len()), None | Some(b' ' | b'\t' | b'\r' | b'>'))
        {
            return Some(HtmlEnd::Text(end));
        }
    }
    for (start, end) in [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")] {
        if tag.starts_with(start.as_bytes()) {
            return Some(HtmlEnd::Text(end));
        }
    }
    if tag.first() == Some(&b'!') && tag.get(1).is_some_and(u8::is_ascii_alphabetic) {
        return Some(HtmlEnd::Text(">"));
    }
    let name = tag.strip_prefix(b"/").unwrap_or(tag);
    let len = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let known = BLOCK_TAGS.split(' ').any(|known| name[..len].eq_ignore_ascii_case(known.as_bytes()));
    let behind = &name[len..];
    if known && (matches!(behind.first(), None | Some(b' ' | b'\t' | b'\r' | b'>')) || behind.starts_with(b"/>")) {
        return Some(HtmlEnd::Blank);
    }
    (!in_paragraph && is_whole_tag(tag)).then_some(HtmlEnd::Blank)
}

const RAW_TAGS: [(&str, &str); 4] =
    [("pre", "</pre>"), ("style", "</style>"), ("script", "</script>"), ("textarea", "</textarea>")];

const BLOCK_TAGS: &str = "\
    address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl \
    dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend \
    li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td \
    tfoot th thead title tr track ul";

/// Whether `tag` (behind its `<`) is one tag with nothing but blanks behind it.
fn is_whole_tag(tag: &[u8]) -> bool {
    let closing = tag.first() == Some(&b'/');
    let tag = &tag[usize::from(closing)..];
    if !tag.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let len = tag.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let mut quote = None;
    let mut last = b' ';
    for (at, &byte) in tag.iter().enumerate().skip(len) {
        match (quote, byte) {
            (Some(mark), byte) if byte == mark => quote = None,
            (None, b'"' | b'\'') if closing || last != b'=' => return false,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return is_blank(&tag[at + 1..]),
            (None, b'<' | b'`') => return false,
            (None, byte) if at == len && !matches!(byte, b' ' | b'\t' | b'/') => return false,
            _ => {}
        }
        if !matches!(byte, b' ' | b'\t') {
            last = byte;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_markers() {
        let len = |line: &str| list_marker(line.as_bytes()).map(|marker| marker.len);
        assert_eq!(len("- a"), Some(1));
        assert_eq!(len("-"), Some(1));
        assert_eq!(len("-a"), None);
        assert_eq!(len("12) a"), Some(3));
        assert_eq!(len("123456789. a"), Some(10));
        assert_eq!(len("1234567890. a"), None);
        assert_eq!(list_marker(b"7. a").and_then(|marker| marker.number), Some(7));
    }

    #[test]
    fn rules_headings_underlines() {
        assert!(is_rule(b"- - -") && is_rule(b"***") && is_rule(b"_ _ _ ") && !is_rule(b"--") && !is_rule(b"--- a"));
        assert!(is_heading(b"# a") && is_heading(b"######") && !is_heading(b"####### a") && !is_heading(b"#a"));
        assert!(is_underline(b"===  ") && is_underline(b"-") && !is_underline(b"= ="));
    }

    #[test]
    fn fences() {
        assert_eq!(fence(b"```rust"), Some((b'`', 3)));
        assert_eq!(fence(b"``` a`b"), None);
        assert_eq!(fence(b"~~~~ a`b"), Some((b'~', 4)));
        assert!(closes_fence(b"````  ", b'`', 3) && !closes_fence(b"``", b'`', 3) && !closes_fence(b"``` x", b'`', 3));
    }

    #[test]
    fn footnotes() {
        assert_eq!(footnote(b"[^1]: text"), Some(5));
        assert_eq!(footnote(b"[^a\\]b]: text"), Some(8));
        assert_eq!(footnote(b"[^1] text"), None);
        assert_eq!(footnote(b"[^]: text"), None);
    }

    #[test]
    fn html_blocks() {
        assert_eq!(html(b"<!-- a", false), Some(HtmlEnd::Text("-->")));
        assert_eq!(html(b"<SCRIPT>", true), Some(HtmlEnd::Text("</script>")));
        assert_eq!(html(b"<details>", true), Some(HtmlEnd::Blank));
        assert_eq!(html(b"<my-tag a=\"b\">", false), Some(HtmlEnd::Blank));
        assert_eq!(html(b"<my-tag a=\"b\">", true), None);
        assert_eq!(html(b"<my-tag> text", false), None);
        assert_eq!(html(b"<http://example.org>", false), None);
    }
}
