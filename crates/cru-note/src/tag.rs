//! What a tag is: `#name`, with at least one character that is no digit.
//!
//! Letters, digits, `_`, `-`, `/` and what lies outside ASCII but for white space and general punctuation, as Obsidian
//! has it. Headings use the same grammar for channels.

/// The bytes of the tag name at the start of `text` (behind `#`), or `None`.
pub(super) fn name(text: &str) -> Option<usize> {
    let len = text.char_indices().find(|&(_, c)| !is_tag_char(c)).map_or(text.len(), |(at, _)| at);
    text[..len].bytes().any(|byte| !byte.is_ascii_digit()).then_some(len)
}

fn is_tag_char(c: char) -> bool {
    match c {
        '_' | '-' | '/' => true,
        '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}' => false,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => !c.is_whitespace() && !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names() {
        assert_eq!(name("dev"), Some(3));
        assert_eq!(name("a/b-c_d, e"), Some(7));
        assert_eq!(name("2026w47 x"), Some(7));
        assert_eq!(name("größe."), Some("größe".len()));
        assert_eq!(name("123"), None);
        assert_eq!(name(""), None);
        assert_eq!(name(" a"), None);
    }
}
