//! The text of a JSON document, as other programs write it.
//!
//! Three things that strict readers refuse, and for which they would drop a whole line, are mended first: a byte order
//! mark before the text, bytes that are no UTF-8, and halves of characters. JavaScript cuts strings between two UTF-16
//! units and then writes `\ud83d` alone, which stands for no character.

use std::borrow::Cow;

/// The length of an escape with four digits, `\ud83d`.
const ESCAPE: usize = 6;

/// The text of these bytes without a byte order mark; what is no text in it is U+FFFD. Borrowed where nothing had to be
/// mended. Escapes keep their length, so places in the text hold.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match crate::text::lossy(bytes) {
        Cow::Borrowed(text) => whole_characters(text),
        Cow::Owned(text) => Cow::Owned(whole_characters(&text).into_owned()),
    }
}

/// `text` with `\ufffd` in place of each escape that is half of a character.
pub fn whole_characters(text: &str) -> Cow<'_, str> {
    // Most texts have escapes, and few have one that may be a half: a search for these alone is much faster.
    if !["\\ud", "\\uD"].iter().any(|half| memchr::memmem::find(text.as_bytes(), half.as_bytes()).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest.as_bytes())) {
        at += found;
        let rest = &text[at..];
        match (half(rest), rest.get(ESCAPE..).and_then(half)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
            (Some(_), _) => {
                mended.push_str(&text[copied..at]);
                mended.push_str("\\ufffd");
                at += ESCAPE;
                copied = at;
            }
            // An escape is two characters at least; its second may be a backslash.
            (None, _) => at += rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[copied..]);
    Cow::Owned(mended)
}

/// The half of a character that `text` begins with as an escape.
fn half(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..=0xdfff).contains(code))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_of_characters_are_mended() {
        let text = |line: &str| text(line.as_bytes()).into_owned();
        assert_eq!(text(r#""x\ud83dy""#), r#""x\ufffdy""#);
        assert_eq!(text(r#""\ud83d\ude00 \\ud83d""#), r#""\ud83d\ude00 \\ud83d""#);
        assert_eq!(text(r#""\udc00\ud83d\ud83d\ude00""#), r#""\ufffd\ufffd\ud83d\ude00""#);
        assert_eq!(text(r#""\\\ud83d\u00e9\""#), r#""\\\ufffd\u00e9\""#);
    }

    #[test]
    fn marks_and_odd_bytes_are_mended() {
        assert_eq!(text(b"\xef\xbb\xbf{}"), "{}");
        assert_eq!(text(b"\"a\xff\\ud83d\""), "\"a\u{fffd}\\ufffd\"");
        assert!(matches!(text(br#"{"a": "\u00e9\n"}"#), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn sound_text_stays_and_mending_is_total(text in "[\\\\ud83ce0\"é]{0,60}|\\PC{0,40}") {
            let mended = whole_characters(&text).into_owned();
            prop_assert_eq!(mended.len(), text.len());
            prop_assert_eq!(whole_characters(&mended), mended.as_str());
        }
    }
}
