//! Values of names that say that they are secret: `password=…`, `API_TOKEN: …`, `Authorization: …`, `--token …`.
//!
//! A password may be any word, so the name decides; of a token or key the value must look random as well, for code is
//! full of names like these.

use std::ops::Range;

use super::Text;
use super::prefix::is_mixed;

/// The longest name that is looked at.
const NAME: usize = 64;

/// How much of a value is looked at to judge it.
const JUDGED: usize = 512;

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=` without blanks.
    Close,
    /// `:` or `=` with blanks.
    Open,
    /// A blank behind `--name`.
    Flag,
}

struct Assignment<'a> {
    name: &'a str,
    sign: Sign,
    /// The value, without quotes.
    value: Range<usize>,
    quoted: bool,
    /// Whether it is a part of an address or form: `?name=`, `&name=`.
    query: bool,
}

/// `password=…`
pub(super) fn password(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let found = assignment(text, at)?;
    let name = found.name.to_ascii_lowercase();
    let is_one = ["password", "passwd", "passphrase", "pwd", "passwort"].iter().any(|end| name.ends_with(end));
    if !is_one || name == "pwd" || name == "oldpwd" {
        return None;
    }
    let value = text.bytes.get(found.value.clone())?;
    let plain = value.iter().all(|byte| byte.is_ascii_alphabetic() || b"_.".contains(byte));
    let loud = !found.name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_secret = match (found.quoted, found.sign) {
        (true, _) => value.len() >= 4,
        (false, Sign::Close) => value.len() >= 4 && (!plain || loud || found.query) && !value.contains(&b'('),
        (false, Sign::Flag) => value.len() >= 4 && value[0] != b'-',
        (false, Sign::Open) => value.len() >= 6 && !plain && !value.iter().any(|byte| b"(<[{&|".contains(byte)),
    };
    is_secret.then(|| whole(text, &found))
}

/// `API_TOKEN=…`
pub(super) fn secret(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const PUBLIC: &[&str] = &["public", "primary", "foreign", "sort", "cache", "partition"];
    let found = assignment(text, at)?;
    let name = found.name.to_ascii_lowercase().replace('-', "_");
    let is_one = ["token", "secret", "apikey", "credential", "credentials", "_key", "accesskey", "secretkey", "_auth"]
        .iter()
        .any(|end| name.ends_with(end));
    if !is_one || PUBLIC.iter().any(|word| name.contains(word)) {
        return None;
    }
    let value = text.bytes.get(found.value.clone())?;
    let made = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_.-~:".contains(byte));
    (made && value.len() >= 12 && is_mixed(value, 2) && entropy(value) >= 3.0).then(|| whole(text, &found))
}

/// What stands behind `Authorization:`, without the name of the scheme.
pub(super) fn authorization(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let found = assignment(text, at)?;
    let name = found.name.to_ascii_lowercase();
    if found.sign == Sign::Flag || !["authorization", "x-api-key", "x-auth-token"].iter().any(|end| name.ends_with(end))
    {
        return None;
    }
    let value = text.bytes.get(found.value.clone())?;
    let is_scheme = ["bearer", "basic", "token", "digest", "negotiate", "apikey"]
        .iter()
        .any(|scheme| value.eq_ignore_ascii_case(scheme.as_bytes()));
    if !is_scheme {
        return (value.len() >= 6 && is_mixed(value, 1)).then(|| whole(text, &found));
    }
    let from = found.value.end + text.bytes[found.value.end..].iter().take_while(|&&byte| byte == b' ').count();
    let value = Assignment { value: run(text, from, found.quoted)?, ..found };
    (value.value.len() >= 6).then(|| whole(text, &value))
}

/// The value, to its end.
fn whole(text: &Text<'_>, found: &Assignment<'_>) -> Range<usize> {
    let rest = &text.bytes[found.value.end..];
    let more = if found.value.len() < JUDGED { 0 } else { rest.iter().take_while(|byte| !ends(**byte)).count() };
    found.value.start..found.value.end + more
}

/// The assignment whose sign is the byte at `at`.
fn assignment<'t>(text: &Text<'t>, at: usize) -> Option<Assignment<'t>> {
    let bytes = text.bytes;
    let floor = at.saturating_sub(NAME);
    let mut end = at;
    let flag = bytes[at] == b' ';
    if !flag {
        while end > floor && bytes[end - 1] == b' ' {
            end -= 1;
        }
        // Quotes around the name, also escaped ones.
        while end > floor && matches!(bytes[end - 1], b'"' | b'\'' | b'\\') {
            end -= 1;
        }
    }
    let len = bytes[floor..end].iter().rev().take_while(|byte| is_name(**byte)).count();
    let name = text.text.get(end - len..end)?;
    let trimmed = name.trim_start_matches('-');
    if trimmed.len() < 3 || (flag && !name.starts_with("--")) {
        return None;
    }
    let before = (end - len).checked_sub(1).map(|at| bytes[at]);
    let mut from = at + 1;
    if !flag {
        // `=>`, `==`, `:=`, `::`
        match bytes.get(from) {
            Some(b'>' | b'=') if bytes[at] == b'=' || bytes.get(from) == Some(&b'=') => from += 1,
            Some(b':') => return None,
            _ => {}
        }
    }
    let blanks = bytes[from..].iter().take(8).take_while(|&&byte| byte == b' ').count();
    let sign = match (flag, bytes[at]) {
        (true, _) => Sign::Flag,
        (false, b'=') if blanks == 0 && end == at => Sign::Close,
        _ => Sign::Open,
    };
    from += blanks;
    let slashes = usize::from(bytes.get(from) == Some(&b'\\'));
    let quoted = matches!(bytes.get(from + slashes), Some(b'"' | b'\'' | b'`'));
    if quoted {
        from += slashes + 1;
    }
    let value = run(text, from, quoted)?;
    let query = matches!(before, Some(b'?' | b'&'));
    Some(Assignment { name: trimmed, sign, value, quoted, query })
}

/// The value that starts at `from`, or its beginning; none where it is empty or a placeholder.
fn run(text: &Text<'_>, from: usize, quoted: bool) -> Option<Range<usize>> {
    let rest = &text.bytes[from..text.bytes.len().min(from + JUDGED)];
    let len = rest.iter().take_while(|byte| !ends(**byte)).count();
    let value = &rest[..len];
    let first = value.first()?;
    let placeholder = b"$<{%*[(".contains(first) || value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'.' | b'*'));
    // A sentence in quotes is a label, no password.
    let sentence = quoted && rest.get(len) == Some(&b' ') && !is_scheme(value);
    let to = from + len;
    (!placeholder && !sentence && text.text.is_char_boundary(to)).then_some(from..to)
}

fn is_scheme(value: &[u8]) -> bool {
    value.len() <= 9 && value.iter().all(u8::is_ascii_alphabetic)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a value ends before this byte.
const fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte < b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b')' | b'}' | b']')
}

/// How much each byte of it says, in bits.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let len = value.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}
