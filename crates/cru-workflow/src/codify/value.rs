//! Words that are values: numbers, ids, commits, addresses. What is too common to be one is none.

/// Bytes of a value.
const SHORTEST: usize = 5;
const LONGEST: usize = 200;
/// Bytes of an address that leads somewhere.
const SHORTEST_ADDRESS: usize = 16;

/// The values of a text, each with what kind it is; `core` is the command it belongs to.
pub(super) fn values<'t>(text: &'t str, core: &str) -> impl Iterator<Item = (&'t str, &'static str)> {
    words(text).filter_map(move |word| Some((word, label(word, core)?)))
}

/// Words of a text that could be values.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    // Most words are none: every value has a digit in it, or is an address.
    std::iter::from_fn(move || {
        loop {
            let mark = at + text.as_bytes()[at..].iter().position(|byte| byte.is_ascii_digit() || *byte == b':')?;
            let before = text[at..mark].char_indices().rfind(|(_, c)| separates(*c));
            let start = before.map_or(at, |(offset, c)| at + offset + c.len_utf8());
            let end = text[mark..].find(separates).map_or(text.len(), |len| mark + len);
            let word = &text[start..end];
            at = end;
            if word.len() >= SHORTEST && is_marked(word) {
                return Some(word);
            }
        }
    })
    .map(|word| word.trim_end_matches(['.', ':', '…', '/']).trim_start_matches(['#', '@']))
    .filter(|word| (SHORTEST..=LONGEST).contains(&word.len()) && word.is_ascii())
}

/// Whether a character stands between words.
fn separates(c: char) -> bool {
    matches!(
        c,
        ' ' | '\n' | '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '=' | '<' | '>' | '|' | '$'
    ) || c.is_whitespace()
}

/// Whether a word has a digit in it, or is an address.
fn is_marked(word: &str) -> bool {
    let address = || word.len() >= SHORTEST_ADDRESS && memchr::memmem::find(word.as_bytes(), b"://").is_some();
    word.bytes().any(|byte| byte.is_ascii_digit()) || address()
}

/// What kind of value a word is; `None`: too common to be one.
pub(super) fn label(token: &str, core: &str) -> Option<&'static str> {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 && !token.starts_with("http") {
        return None;
    }
    let hex = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if token.starts_with("https://") || token.starts_with("http://") {
        return (token.len() >= SHORTEST_ADDRESS).then_some("url");
    }
    if token.contains(['/', '\\', '.', '%', '*', '…']) {
        return None;
    }
    if digits == token.len() {
        return (5..=20).contains(&digits).then_some("number");
    }
    if hex && (7..=64).contains(&token.len()) && digits > 0 {
        return Some(if core.contains("git ") { "commit" } else { "hash" });
    }
    // `2490x1620` is a size.
    let is_size = token.split_once(['x', '×']).is_some_and(|(a, b)| [a, b].iter().all(|part| is_number(part)));
    if is_size {
        return None;
    }
    // Plain words and a small number (`text-slate-400`) name a thing, and no single one of its kind.
    let is_plain =
        |part: &str| (part.len() <= 3 && is_number(part)) || part.bytes().all(|byte| byte.is_ascii_lowercase());
    if token.split(['-', '_']).all(is_plain) {
        return None;
    }
    let word = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (word && token.len() >= 8 && digits >= 3 && token.bytes().any(|byte| byte.is_ascii_alphabetic())).then_some("id")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The name and type of a kind of value.
pub(super) fn named(label: &str) -> Option<(&'static str, &'static str)> {
    Some(match label {
        "url" => ("url", "URL"),
        "number" => ("number", "Number"),
        "commit" => ("commit", "Commit"),
        "hash" => ("hash", "Hash"),
        "id" => ("id", "Id"),
        _ => return None,
    })
}

/// The type of a kind of value.
pub(super) fn value_type(label: &str) -> Option<String> {
    named(label).map(|(_, ty)| ty.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Looking only where a digit or a colon stands finds what looking at each word finds.
        #[test]
        fn no_word_is_passed_over(text in "[a1:/. ,é\\u{2003}…#]{0,60}") {
            let all = text.split(separates).filter(|word| word.len() >= SHORTEST && is_marked(word));
            let all = all.map(|word| word.trim_end_matches(['.', ':', '…', '/']).trim_start_matches(['#', '@']));
            let all: Vec<&str> = all.filter(|word| (SHORTEST..=LONGEST).contains(&word.len()) && word.is_ascii()).collect();
            prop_assert_eq!(words(&text).collect::<Vec<_>>(), all);
        }
    }
}
