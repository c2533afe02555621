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
const JUDGED: usize = 256;

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

/// A name and where its value begins.
pub(super) struct Assignment<'a> {
    name: &'a str,
    sign: Sign,
    /// Where the value begins, behind a quote.
    from: usize,
    quoted: bool,
    /// Whether it is a part of an address or form: `?name=`, `&name=`.
    query: bool,
}

/// `password=…`
pub(super) fn password(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    const NAMES: &[&str] = &["password", "passwd", "passphrase", "pwd", "passwort"];
    let folder = ["pwd", "oldpwd"].iter().any(|name| found.name.eq_ignore_ascii_case(name));
    if folder || !found.is_one_of(NAMES) {
        return None;
    }
    let range = found.value(text)?;
    if is_sentence(text, found, &range) {
        return None;
    }
    let value = text.bytes.get(range.clone())?;
    let plain = value.iter().all(|byte| byte.is_ascii_alphabetic() || b"_.".contains(byte));
    let loud = !found.name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_secret = match (found.quoted, found.sign) {
        (true, _) => value.len() >= 4,
        (false, Sign::Close) => value.len() >= 4 && (!plain || loud || found.query) && !value.contains(&b'('),
        (false, Sign::Flag) => value.len() >= 4 && value[0] != b'-',
        (false, Sign::Open) => value.len() >= 6 && !plain && !value.iter().any(|byte| b"(<[{&|".contains(byte)),
    };
    is_secret.then(|| whole(text, range))
}

/// `API_TOKEN=…`
pub(super) fn secret(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    const NAMES: &[&str] =
        &["token", "secret", "apikey", "credential", "credentials", "_key", "-key", "accesskey", "secretkey", "_auth"];
    const PUBLIC: &[&str] = &[
        "public_key",
        "public-key",
        "primary_key",
        "foreign_key",
        "sort_key",
        "cache_key",
        "cache-key",
        "partition_key",
    ];
    if !found.is_one_of(NAMES) || found.is_one_of(PUBLIC) {
        return None;
    }
    let range = found.value(text)?;
    let value = text.bytes.get(range.clone())?;
    let made = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_.-~:".contains(byte));
    (made && value.len() >= 12 && is_mixed(value, 2) && entropy(value) >= 3.0).then(|| whole(text, range))
}

/// What stands behind `Authorization:`, without the name of the scheme.
pub(super) fn authorization(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "negotiate", "apikey"];
    if found.sign == Sign::Flag || !found.is_one_of(&["authorization", "x-api-key", "x-auth-token"]) {
        return None;
    }
    let first = found.value(text)?;
    let value = text.bytes.get(first.clone())?;
    if SCHEMES.iter().any(|scheme| value.eq_ignore_ascii_case(scheme.as_bytes())) {
        let blanks = text.bytes[first.end..].iter().take(8).take_while(|&&byte| byte == b' ').count();
        let range = value_at(text, first.end + blanks)?;
        // `Authorization: Basic header` is a sentence.
        let made = text.bytes[range.clone()].iter().any(|byte| !byte.is_ascii_lowercase());
        return (range.len() >= 6 && made).then(|| whole(text, range));
    }
    (value.len() >= 6 && is_mixed(value, 1) && !is_sentence(text, found, &first)).then(|| whole(text, first))
}

impl<'t> Assignment<'t> {
    /// The assignment whose sign is the byte at `at`.
    pub(super) fn at(text: &Text<'t>, at: usize) -> Option<Self> {
        let bytes = text.bytes;
        let floor = at.saturating_sub(NAME);
        let flag = bytes[at] == b' ';
        let mut end = at;
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
        if len < 3 || (flag && !name.starts_with("--")) {
            return None;
        }
        let before = (end - len).checked_sub(1).map(|at| bytes[at]);
        let mut from = at + 1;
        match (bytes[at], bytes.get(from)) {
            // `=>` and `==`, but no path of names.
            (b'=', Some(b'>' | b'=')) | (b':', Some(b'=')) => from += 1,
            (b':', Some(b':')) => return None,
            _ => {}
        }
        let blanks = bytes[from..].iter().take(8).take_while(|&&byte| byte == b' ').count();
        let sign = match bytes[at] {
            b' ' => Sign::Flag,
            b'=' if blanks == 0 && end == at => Sign::Close,
            _ => Sign::Open,
        };
        from += blanks;
        let slashes = usize::from(bytes.get(from) == Some(&b'\\'));
        let quoted = matches!(bytes.get(from + slashes), Some(b'"' | b'\'' | b'`'));
        if quoted {
            from += slashes + 1;
        }
        Some(Self { name, sign, from, quoted, query: matches!(before, Some(b'?' | b'&')) })
    }

    /// Whether the name ends like one of `ends`.
    fn is_one_of(&self, ends: &[&str]) -> bool {
        let name = self.name.as_bytes();
        let ends_with = |end: &&str| {
            let start = name.len().checked_sub(end.len());
            start.is_some_and(|start| name[start..].eq_ignore_ascii_case(end.as_bytes()))
        };
        ends.iter().any(|end| ends_with(end))
    }

    fn value(&self, text: &Text<'_>) -> Option<Range<usize>> {
        value_at(text, self.from)
    }
}

/// The value that starts at `from`, or its beginning; none where it is empty or a placeholder.
fn value_at(text: &Text<'_>, from: usize) -> Option<Range<usize>> {
    let rest = text.bytes.get(from..text.bytes.len().min(from + JUDGED))?;
    let len = rest.iter().take_while(|byte| !ends(**byte)).count();
    let value = &rest[..len];
    let placeholder =
        b"$<{%*[(".contains(value.first()?) || value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'.' | b'*'));
    let to = crate::base::lines::floor_char_boundary(text.text, from + len);
    (!placeholder && to > from).then_some(from..to)
}

/// The value, to its end.
fn whole(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    let more = text.bytes[range.end..].iter().take_while(|byte| !ends(**byte)).count();
    range.start..range.end + more
}

/// Whether more words follow in the same quotes: that is a label, no password.
fn is_sentence(text: &Text<'_>, found: &Assignment<'_>, range: &Range<usize>) -> bool {
    found.quoted && text.bytes.get(range.end) == Some(&b' ')
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a value ends before this byte.
const fn ends(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b')' | b'}' | b']')
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
