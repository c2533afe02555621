//! Texts of calls and answers as a person reads them: without secrets, pictures and other data.

use std::borrow::Cow;

use cru_base::lines::floor_char_boundary;
use cru_session::mask;

/// `text` without secrets and data, at most `limit` bytes of it.
pub(crate) fn readable(text: &str, limit: usize) -> String {
    shortened(mask::mask(&legible(text)), limit)
}

/// The same of a text that has lost its secrets already.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    shortened(legible(text), limit)
}

/// `text` without data; nothing of one that is no text.
pub(crate) fn legible(text: &str) -> Cow<'_, str> {
    if is_binary(text) { Cow::Borrowed("") } else { without_data(text) }
}

/// At most `limit` bytes: of a longer one the beginning and the end.
fn shortened(text: Cow<'_, str>, limit: usize) -> String {
    if text.len() <= limit {
        return text.into_owned();
    }
    let end = limit / 4;
    let head = floor_char_boundary(&text, limit - end);
    let tail = floor_char_boundary(&text, text.len() - end);
    format!("{}\n…\n{}", &text[..head], &text[tail..])
}

/// Whether it is no text: more than a tenth of its beginning are bytes that no text has.
fn is_binary(text: &str) -> bool {
    const HEAD: usize = 4096;
    let odd = |c: &char| matches!(c, '\0'..='\x08' | '\x0e'..='\x1a' | '\x1c'..='\x1f' | '\u{fffd}');
    text.chars().take(HEAD).filter(odd).count() * 10 > text.chars().take(HEAD).count()
}

/// Leaves out long runs of what encodes data: pictures, keys, archives.
fn without_data(text: &str) -> Cow<'_, str> {
    let is_data = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let mut out = String::new();
    let (mut kept, mut start) = (0, 0);
    for (at, byte) in text.bytes().enumerate().chain([(text.len(), b' ')]) {
        if is_data(byte) {
            continue;
        }
        if at - start >= 512 {
            out.push_str(&text[kept..start]);
            kept = at;
        }
        start = at + 1;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_left_out() {
        let data = "iVBORw0KGgo".repeat(60);
        assert_eq!(readable(&format!("before {data} behind"), 100), "before  behind");
        assert_eq!(readable(&data, 100), "");
        assert_eq!(readable("PNG\0\0\0\u{fffd}\u{fffd}", 100), "");
        assert_eq!(readable("plain", 100), "plain");
    }

    #[test]
    fn long_texts_keep_both_ends() {
        let text = format!("first{}last", " é".repeat(1000));
        let cut = readable(&text, 100);
        assert!(cut.starts_with("first") && cut.ends_with("last") && cut.len() < 120, "{cut}");
    }
}
