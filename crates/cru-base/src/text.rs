//! Small things about text: cutting, folding, cleaning, counting words for people.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

/// `text` cut to at most `max` characters (grapheme clusters), the last of them `…` when something was cut.
pub fn truncate(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let mut graphemes = text.grapheme_indices(true);
    let Some((cut, _)) = graphemes.by_ref().nth(max.saturating_sub(1)) else { return Cow::Borrowed(text) };
    if graphemes.next().is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", text[..cut].trim_end()))
}

/// The text of bytes, with U+FFFD for what is none. Text that is whole is known several times faster than by
/// [`String::from_utf8_lossy`].
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// For each byte whether it is one of `bytes`: quicker to ask than the bytes one by one.
pub const fn byte_table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Every run of white space as one blank, ends trimmed.
pub fn fold_whitespace(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

/// Without terminal escape sequences and control characters (tab and newline stay, `\r\n` becomes `\n`), and without
/// the bidirectional overrides that make text read otherwise than it is.
///
/// Everything that comes from a transcript goes through here before it reaches a note or a terminal.
pub fn sanitise(text: &str) -> Cow<'_, str> {
    if !has(text, is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            c if is_unsafe(c) => {}
            c => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// In lower case, with straight apostrophes: what is compared with words that are known.
pub fn lowered(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// Without control and bidirectional characters, but with the escape sequences of styles: for text of ours that is
/// printed, whose parts may come from elsewhere.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| c != '\u{1b}' && is_unsafe(c);
    if has(text, is_bad) { Cow::Owned(text.chars().filter(|&c| !is_bad(c)).collect()) } else { Cow::Borrowed(text) }
}

/// JSON that shows its control and bidirectional characters as escapes: the same value for every reader.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    use std::fmt::Write as _;
    if !has(json, is_unsafe) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside of strings JSON has none of them, and those below U+10000 are one escape.
        if is_unsafe(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A text without the percent signs of an address; `None` where what they stand for is no text.
pub fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digit = |place: usize| char::from(*bytes.get(place)?).to_digit(16).and_then(|it| u8::try_from(it).ok());
        let escaped = digit(at + 1).zip(digit(at + 2)).filter(|_| byte == b'%');
        plain.push(escaped.map_or(byte, |(high, low)| high * 16 + low));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8(plain).ok()
}

/// [`sanitise`]d and on one line.
pub fn one_line(text: &str) -> String {
    sanitise(text).replace(['\n', '\t'], " ")
}

fn is_unsafe(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        c => c.is_control(),
    }
}

/// Whether one of the characters that [`is_unsafe`] names, and that `is_bad` too, is in `text`. A line without a byte that
/// begins one is passed over at once.
fn has(text: &str, is_bad: impl Fn(char) -> bool) -> bool {
    let begins = |byte: u8| if byte.is_ascii() { is_bad(byte.into()) } else { matches!(byte, 0xc2 | 0xe2 | 0xef) };
    let may_have = |line: &&str| line.bytes().fold(false, |found, byte| found | begins(byte));
    text.split_inclusive('\n').filter(may_have).any(|line| line.chars().any(&is_bad))
}

/// Skips what follows ESC: a CSI sequence to its final byte, an OSC string to BEL or ESC `\`, else one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            while chars.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
            chars.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // An unfinished string is not allowed to swallow the text: it ends at the line.
            while let Some(&c) = chars.peek() {
                if c == '\n' {
                    break;
                }
                chars.next();
                if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some(c) if ('\u{20}'..='\u{7e}').contains(c) => {
            chars.next();
        }
        _ => {}
    }
}

/// The first `words` words of `text` as a file name part: letters and digits of any script in lower case, joined by
/// `-`; `""` when there are none.
pub fn slug(text: &str, words: usize) -> String {
    const MAX_BYTES: usize = 64;
    let mut slug = String::new();
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    for part in parts.take(words) {
        let part = part.to_lowercase();
        if slug.len() + part.len() + 1 > MAX_BYTES {
            if slug.is_empty() {
                slug.push_str(&part[..super::lines::floor_char_boundary(&part, MAX_BYTES)]);
            }
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&part);
    }
    slug
}

/// The name of a note in its path: `a` of `sessions/a.md`.
pub fn note_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// `1 note`, `2 notes`.
pub fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Text with what links to blocks and headings of the same note show in their place, `n-005` for `[[#^n-005]]`, where they lead
/// nowhere; with `others` what links to other notes show, too. `[[ -f x ]]` is no link. Linear in the text.
pub fn without_links(text: &str, others: bool) -> String {
    let is_link = |inner: &str| match inner.strip_prefix('#') {
        Some(own) => own.trim_start_matches('^').starts_with(char::is_alphanumeric),
        None => others && !inner.is_empty() && inner.trim() == inner,
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("[[") {
        // No further than to the next bracket or line, so that nothing is looked at twice.
        let (inner, behind) = after.split_at(after.find(['[', ']', '\n']).unwrap_or(after.len()));
        if let Some(tail) = behind.strip_prefix("]]").filter(|_| is_link(inner)) {
            out.push_str(before.strip_suffix('!').unwrap_or(before));
            let own = inner.strip_prefix('#').map(|id| id.trim_start_matches('^'));
            out.push_str(own.unwrap_or(inner).rsplit('|').next().unwrap_or_default());
            rest = tail;
        } else {
            out.extend([before, "[["]);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_unsafe_character_is_passed_over() {
        for c in '\0'..=char::MAX {
            assert_eq!(has(&format!("a\nb{c}"), is_unsafe), is_unsafe(c), "{c:?}");
        }
    }

    proptest::proptest! {
        /// Nothing unsafe is left, and what is safe stays as it is.
        #[test]
        fn nothing_unsafe_is_left(
            text in "([a-z\\t\\n ]{0,70}|[\u{80}-\u{a0}\u{202a}-\u{2030}\u{2066}-\u{206b}\u{feff}éß—…]|\\PC|[\u{0}-\u{1f}\u{7f}]){0,4}",
        ) {
            let clean = sanitise(&text);
            proptest::prop_assert!(!clean.chars().any(is_unsafe), "{:?}", text);
            proptest::prop_assert_eq!(sanitise(&clean), clean.clone());
        }

        /// However it is told, white space is folded as Unicode tells it.
        #[test]
        fn white_space_is_folded(text in "[ ab\\t\\n\\r\\x0b\\x1c\\u{85}\\u{a0}\\u{2003}é]{0,8}") {
            let words: Vec<&str> = text.split_whitespace().collect();
            proptest::prop_assert_eq!(fold_whitespace(&text), words.join(" "));
        }
    }

    #[test]
    fn links_become_what_they_show() {
        for (text, own, all) in [
            ("passed in [[#^n-021]].", "passed in n-021.", "passed in n-021."),
            ("![[#^n-005|the fix]] of [[#Build]]", "the fix of Build", "the fix of Build"),
            ("[[adr-12|the ADR]], [[b#^n-1]]", "[[adr-12|the ADR]], [[b#^n-1]]", "the ADR, b#^n-1"),
            (
                "[[[[#^n-1]]]] [[#^a\nb]] [[a]b]] [[[",
                "[[n-1]] [[#^a\nb]] [[a]b]] [[[",
                "[[n-1]] [[#^a\nb]] [[a]b]] [[[",
            ),
            (
                "if [[ -f x ]]; [[#^]] [[]] a[0] [[d",
                "if [[ -f x ]]; [[#^]] [[]] a[0] [[d",
                "if [[ -f x ]]; [[#^]] [[]] a[0] [[d",
            ),
        ] {
            assert_eq!([without_links(text, false), without_links(text, true)], [own, all]);
        }
    }

    #[test]
    fn truncates_by_grapheme() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab…");
        assert_eq!(truncate("e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}e\u{301}");
        assert_eq!(truncate("👩‍👩‍👧 family of many", 3), "👩‍👩‍👧…");
    }

    #[test]
    fn strips_escape_sequences() {
        assert_eq!(sanitise("\u{1b}[31mred\u{1b}[0m\r\nnext\u{7}"), "red\nnext");
        assert_eq!(sanitise("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}"), "link");
        assert_eq!(sanitise("a\u{1b}]unfinished\nb"), "a\nb");
        assert_eq!(sanitise("user\u{202e}gpj.exe"), "usergpj.exe");
    }

    #[test]
    fn slugs() {
        assert_eq!(slug("Fix the  login-bug, please! And more words", 6), "fix-the-login-bug-please-and");
        assert_eq!(slug("../../etc/passwd", 6), "etc-passwd");
        assert_eq!(slug("…", 6), "");
        assert_eq!(slug(&"x".repeat(300), 6).len(), 64);
    }

    #[test]
    fn counts() {
        assert_eq!(plural(1, "note"), "1 note");
        assert_eq!(plural(1234, "note"), "1,234 notes");
    }
}
