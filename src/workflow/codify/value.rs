//! Words that are values: numbers, ids, commits, addresses. What is too common to be one is none.

/// Words of a text that could be values.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '=' | '<' | '>' | '|' | '$'
            )
    })
    .map(|word| word.trim_end_matches(['.', ':', '…', '/']).trim_start_matches(['#', '@']))
    .filter(|word| (5..=200).contains(&word.len()) && word.is_ascii())
}

/// What kind of value a word is; `None`: too common to be one.
pub(super) fn label(token: &str, core: &str) -> Option<&'static str> {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let hex = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if token.starts_with("https://") || token.starts_with("http://") {
        return (token.len() > 15).then_some("url");
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
    let word = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (word && token.len() >= 8 && digits >= 3 && token.bytes().any(|byte| byte.is_ascii_alphabetic())).then_some("id")
}

/// The type of a kind of value.
pub(super) fn value_type(label: &str) -> Option<String> {
    let ty = match label {
        "url" => "URL",
        "number" => "Number",
        "commit" => "Commit",
        "hash" => "Hash",
        "id" => "Id",
        _ => return None,
    };
    Some(ty.to_owned())
}
