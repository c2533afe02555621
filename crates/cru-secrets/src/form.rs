//! Long words, and which of them are tokens of services that no rule names: a short word that says whose they are, and
//! what was drawn by chance.

use std::ops::Range;

use super::allow;
use super::entropy::entropy;
use super::letters::is_namelike;
use super::prefix::Bytes;
use super::words::IDS;

/// The shortest run that may be one.
const LEAST: usize = 23;

/// How long what was drawn is at least.
const BODY: usize = 20;

/// Calls `each` with every run of letters, digits, `_` and `-` that may hold a token, in order. A run of at least
/// [`LEAST`] bytes has one at each multiple of that number, so most of the text is not looked at.
pub(crate) fn each_run(bytes: &[u8], mut each: impl FnMut(Range<usize>)) {
    let part = |at: usize| Bytes::Dashed.has(bytes[at]);
    let mut at = LEAST - 1;
    let mut floor = 0;
    while at < bytes.len() {
        if !part(at) {
            at += LEAST;
            continue;
        }
        let start = (floor..at).rev().take_while(|at| part(*at)).last().unwrap_or(at);
        let end = Bytes::Dashed.run(bytes, at);
        // The `n` of `\n` in a quoted text is none of its bytes.
        let escaped = bytes[..start].ends_with(b"\\") && matches!(bytes[start], b'n' | b't' | b'r');
        let start = start + usize::from(escaped);
        if end - start >= LEAST {
            each(start..end);
        }
        floor = end;
        at = end + LEAST;
    }
}

/// Whether a run is a token that only its form tells.
pub(crate) fn is_token(bytes: &[u8], Range { start, end }: Range<usize>) -> bool {
    // A part of something longer: of a signed token, of an escaped address.
    let inside = bytes[..start].last().is_some_and(|byte| b"+%.~".contains(byte));
    let more = bytes.get(end).is_some_and(|byte| b"/+.".contains(byte))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
    let run = &bytes[start..end];
    // The longest one; what is longer is data.
    run.len() <= 240 && !inside && !more && body(run).is_some_and(|from| is_drawn(&run[from..]))
}

/// Whether the token that would begin at `at` lies inside of what was encoded, where each beginning stands somewhere.
pub(crate) fn is_inside_data(bytes: &[u8], at: usize) -> bool {
    const DATA: usize = 96;
    let before = bytes[..at].iter().rev().take(DATA);
    before.take_while(|byte| Bytes::Dashed.has(**byte) || matches!(byte, b'/' | b'+')).count() == DATA
}

/// Where what was drawn begins: behind up to three words of one case that `_` or `-` end, of which none names an id.
fn body(run: &[u8]) -> Option<usize> {
    const WORDS: usize = 3;
    const WORD: std::ops::RangeInclusive<usize> = 2..=10;
    let mut from = 0;
    for count in 0..=WORDS {
        let rest = &run[from..];
        let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let word = &rest[..len];
        let one_case = !(word.iter().any(u8::is_ascii_lowercase) && word.iter().any(u8::is_ascii_uppercase));
        let is_word = len < rest.len()
            && one_case
            && if count == 0 { WORD.contains(&len) && word[0].is_ascii_alphabetic() } else { (1..=10).contains(&len) };
        if !is_word || count == WORDS {
            return (count > 0).then_some(from);
        }
        if IDS.iter().any(|id| word.eq_ignore_ascii_case(id.as_bytes())) {
            return None;
        }
        from += len + 1;
    }
    None
}

/// Whether it looks as if it was drawn by chance from digits and letters of both cases.
fn is_drawn(body: &[u8]) -> bool {
    const BITS: f64 = 3.6;
    let count = |is: fn(&u8) -> bool| body.iter().filter(|byte| is(byte)).count();
    let signs = count(|byte| !byte.is_ascii_alphanumeric());
    body.len() >= BODY
        && signs * 12 <= body.len()
        && count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_lowercase) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && entropy(body) >= BITS
        && !is_namelike(body)
        && !allow::is_example(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        each_run(text.as_bytes(), |range| {
            if is_token(text.as_bytes(), range.clone()) {
                found.push(&text[range]);
            }
        });
        found
    }

    #[test]
    fn a_word_and_what_was_drawn_is_a_token() {
        for token in
            ["zq_aB3dE5gH7jK9mN1pQ2rS4tU6", "acme_live_9xKd02LmQw73RtYvBn5HzPc1", "ACME-v1-h3Kq9ZpLx2Wn7RtV4cYb"]
        {
            for text in [
                token.to_owned(),
                format!("use {token}, now"),
                format!("\"a\\n{token}\\n\""),
                format!("https://api.example.org/v1/{token}?x=1"),
                format!("{}{token}", "word ".repeat(9)),
            ] {
                assert_eq!(found(&text), [token], "{text}");
            }
        }
    }

    #[test]
    fn ids_hashes_names_and_data_are_none() {
        for text in [
            "toolu_01K82wMSU6y6RAsxB7AYwtt5 and call_X3JAlK6wDYD5F8Ols1t47bW9",
            "cache-key-0123456789abcdef0123456789abcdee",
            "test_parseJSON2XmlWithUtf8And16Bits",
            "sha512-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2aB3dE5gH7jK9mN1pQ2rS4tU6",
            "https://cdn.example.org/assets/index-aB3dE5gH7jK9mN1pQ2rS4tU6.js",
            "MyClass_SomeVeryLongMethodName2_WithUtf8",
            "libfoo-3f2a9c1b7d8e4f60-5a5b5c5d5e5f",
            "0b5e1c1a-7a4c-4c5e-9d1f-0c00f0a0b000",
            "user_01HY48YY9VQFKGFGHEKQKB2BZ0",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
