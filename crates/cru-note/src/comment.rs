//! What begins a `%% comment %%`, and whether it is private.

/// What opens and closes a comment.
pub(super) const MARK: &[u8] = b"%%";

/// Whether the first word of `text`, which stands behind an opening mark, is `private`; quote marks do not count.
pub(super) fn is_private(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '>' || c == '%');
    let Some(word) = text.get(..7) else { return false };
    word.eq_ignore_ascii_case("private") && !text[7..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_decides() {
        assert!(is_private("private notes %%") && is_private(" Private%%") && is_private("\n> private\n"));
        assert!(!is_private("privately") && !is_private("not private") && !is_private("priv") && !is_private("€€€"));
    }
}
