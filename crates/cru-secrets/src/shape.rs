//! Secrets that are known by their shape: key blocks, signed tokens, `Bearer`, passwords in addresses.

use std::ops::Range;

use super::allow;
use super::prefix::{Bytes, is_mixed};
use super::text::Text;

const END: &[u8] = b"PRIVATE KEY-----";

/// `-----BEGIN … PRIVATE KEY-----` to the line that ends it; without one, as far as it looks like a key.
pub(crate) fn private_key(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const LABEL: usize = 64;
    let rest = text.bytes[at..].strip_prefix(BEGIN)?;
    let label = rest.get(..LABEL.min(rest.len()))?;
    let begun = memchr::memmem::find(label, END).or_else(|| {
        let block = b"PRIVATE KEY BLOCK-----";
        memchr::memmem::find(label, block).map(|at| at + block.len() - END.len())
    })?;
    if label[..begun.min(label.len())].contains(&b'\n') {
        return None;
    }
    let from = at + BEGIN.len() + begun + END.len();
    let last = *text.last_end.get_or_init(|| memchr::memmem::rfind(text.bytes, b"-----END "));
    if last.is_some_and(|last| last >= from) {
        if text.next_end.get() < from {
            text.next_end.set(from + memchr::memmem::find(&text.bytes[from..], b"-----END ")?);
        }
        let end = text.next_end.get();
        let inner = &text.bytes[from..end];
        let line = &text.bytes[end + 9..text.bytes.len().min(end + 9 + LABEL)];
        if memchr::memmem::find(inner, BEGIN).is_none() {
            let tail = memchr::memmem::find(line, b"-----").map_or(0, |at| at + 5);
            return Some(at..end + 9 + tail);
        }
    }
    let body = text.bytes[from..].iter();
    Some(at..from + body.take_while(|byte| is_key(**byte)).count())
}

/// What is left of a key block whose beginning was cut off: the lines above the one that ends it.
pub(crate) fn private_key_tail(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const MARK: usize = 9;
    const LABEL: usize = 64;
    const LEAST: usize = 16;
    let line = text.bytes.get(at + MARK..text.bytes.len().min(at + MARK + LABEL))?;
    let end = memchr::memmem::find(line, END)?;
    if line[..end].contains(&b'\n') {
        return None;
    }
    let before = text.bytes.get(text.floor.get()..at)?;
    let len = before.iter().rev().take_while(|byte| is_key(**byte)).count();
    (len >= LEAST).then_some(at - len..at + MARK + end + END.len())
}

const fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\')
}

/// `eyJ….….…`
pub(crate) fn jwt(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if at < text.no_jwt.get() || !text.bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let header = Bytes::Dashed.run(text.bytes, at);
    let dot = |at: usize| text.bytes.get(at) == Some(&b'.');
    let payload = if dot(header) { Bytes::Dashed.run(text.bytes, header + 1) } else { header };
    // Head and body begin as JSON does; what was cut off behind them is not needed.
    let cut = text.bytes.get(payload..).is_some_and(|rest| rest.starts_with("…".as_bytes()));
    if cut && payload >= header + 10 && header >= at + 10 {
        return Some(at..payload);
    }
    if !dot(payload) || payload < header + 10 || header < at + 10 {
        // Whatever begins in this run ends where it ends.
        text.no_jwt.set(header);
        return None;
    }
    if allow::is_example(&text.bytes[header..payload]) {
        // The body of one that was made unreadable: whatever begins in this head has the same body.
        text.no_jwt.set(header);
        return None;
    }
    let end = Bytes::Dashed.run(text.bytes, payload + 1);
    Some(at..end)
}

/// What stands behind `Bearer`.
pub(crate) fn bearer(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    const JUDGED: usize = 256;
    let word = text.bytes.get(at..at + 7)?;
    if !word[..6].eq_ignore_ascii_case(b"bearer") || !matches!(word[6], b' ' | b'\t') {
        return None;
    }
    let from = at + 7;
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(byte);
    let judged = text.bytes[from..].iter().take(JUDGED).take_while(is_token).count();
    let value = &text.bytes[from..from + judged];
    if judged < LEAST || !is_mixed(value, 1) || allow::is_example(value) || allow::is_name(value) {
        return None;
    }
    Some(from..from + text.bytes[from..].iter().take_while(is_token).count())
}

/// What stands where a password would.
const PLAIN: &[&[u8]] = &[b"password", b"pass", b"passwd", b"pwd", b"pw", b"secret", b"token"];

/// The password in `scheme://user:password@host`; asked at the first colon.
pub(crate) fn url_password(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !text.bytes[at..].starts_with(b"://") || at == 0 || !text.bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let from = at + 3;
    // The longest user and password in an address.
    let rest = &text.bytes[from..text.bytes.len().min(from + 256)];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'`<>\\".contains(byte);
    let rest = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
    let host = memchr::memrchr(b'@', rest)?;
    let colon = memchr::memchr(b':', &rest[..host])?;
    let password = &rest[colon + 1..host];
    // `user:$PASSWORD@`, `user:***@` and `user:{password}@` show nothing.
    // Nor does one that is the name of its user, as those of new databases are.
    let default = password.eq_ignore_ascii_case(&rest[..colon]);
    // `path:3-8@1d3e5f70`: lines of a file, and their hash.
    let hash = &rest[host + 1..];
    let lines = password.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let anchor = lines && hash.len() == 8 && hash.iter().all(u8::is_ascii_hexdigit);
    let shown = !default
        && !anchor
        && !allow::is_placeholder(password)
        && !PLAIN.iter().any(|word| password.eq_ignore_ascii_case(word));
    shown.then_some(from + colon + 1..from + host)
}

/// `MTk4….….…`, a number in Base64, a time and a signature, behind a word that such a token stands behind. By itself it
/// begins like too many words to be looked for.
pub(crate) fn discord(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const NAME: usize = 48;
    const SIGNS: usize = 6;
    let rest = text.bytes.get(at..)?;
    let name = rest.iter().take(NAME).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
    let signs = rest[name..].iter().take(SIGNS).take_while(|byte| b" :=(\"'`\\".contains(byte)).count();
    if signs == 0 { None } else { discord_at(text, at + name + signs) }
}

fn discord_at(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const NUMBER: std::ops::RangeInclusive<usize> = 23..=28;
    const TIME: std::ops::RangeInclusive<usize> = 6..=7;
    const SIGNATURE: std::ops::RangeInclusive<usize> = 27..=45;
    const MOST: usize = 96;
    if !text.bytes.get(at..at + 2).is_some_and(|start| matches!(start, [b'M' | b'N' | b'O', b'D' | b'T' | b'j' | b'z']))
    {
        return None;
    }
    let bytes = &text.bytes[..text.bytes.len().min(at + MOST)];
    let dot = |at: usize| bytes.get(at) == Some(&b'.');
    let number = Bytes::Dashed.run(bytes, at);
    if !dot(number) || !NUMBER.contains(&(number - at)) {
        return None;
    }
    let time = Bytes::Dashed.run(bytes, number + 1);
    if !dot(time) || !TIME.contains(&(time - number - 1)) {
        return None;
    }
    let end = Bytes::Dashed.run(bytes, time + 1);
    SIGNATURE.contains(&(end - time - 1)).then_some(at..end)
}

/// `123456789:AA…`, asked at the colon.
pub(crate) fn telegram(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const NUMBER: std::ops::RangeInclusive<usize> = 8..=10;
    const LEN: usize = 35;
    let digits = text.bytes[..at].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let body = text.bytes.get(at + 1..at + 1 + LEN)?;
    let ends = text.bytes.get(at + 1 + LEN).is_none_or(|byte| !Bytes::Dashed.has(*byte));
    let is_one =
        NUMBER.contains(&digits) && ends && body.starts_with(b"AA") && body.iter().all(|&b| Bytes::Dashed.has(b));
    is_one.then_some(at - digits..at + 1 + LEN)
}

/// `abc8Q~…`, asked at the `Q`.
pub(crate) fn azure_secret(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const BEFORE: usize = 4;
    const BEHIND: std::ops::RangeInclusive<usize> = 31..=40;
    let start = at.checked_sub(BEFORE)?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-');
    let head = text.bytes.get(start..at)?;
    let tail = text.bytes.get(at + 2..)?.iter().take(BEHIND.end() + 1).take_while(|byte| is_part(byte)).count();
    let bounded = start.checked_sub(1).is_none_or(|at| !text.bytes[at].is_ascii_alphanumeric());
    let is_one = text.bytes[at] == b'Q' && head[3].is_ascii_digit() && head.iter().all(is_part);
    (is_one && bounded && BEHIND.contains(&tail)).then_some(start..at + 2 + tail)
}

/// `key-` and 32 hex digits, where it is no part of a longer name: `cache-key-…` names a hash.
pub(crate) fn mailgun(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const HEX: usize = 32;
    let from = at + 4;
    let body = text.bytes.get(from..from + HEX)?;
    let before = text.bytes[..at].strip_suffix(b"-").or_else(|| text.bytes[..at].strip_suffix(b"_"));
    let bounded = before.is_none_or(|name| !name.iter().rev().take(2).all(u8::is_ascii_alphanumeric) || name.len() < 2);
    let ends = text.bytes.get(from + HEX).is_none_or(|byte| !Bytes::Dashed.has(*byte));
    let is_one = bounded && ends && is_mixed(body, 1) && body.iter().all(|&byte| Bytes::Hex.has(byte));
    (is_one && !allow::is_example(body)).then_some(at..from + HEX)
}

/// `….atlasv1.…`, asked at the first dot.
pub(crate) fn terraform(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const MARK: usize = 9;
    const HEAD: usize = 14;
    const LEAST: usize = 40;
    let head = text.bytes.get(at.checked_sub(HEAD)?..at)?;
    let end = Bytes::Dashed.run(text.bytes, at + MARK);
    let is_one = head.iter().all(u8::is_ascii_alphanumeric) && end - at - MARK >= LEAST;
    is_one.then_some(at - HEAD..end)
}
