//! Secrets that are known by their shape: key blocks, signed tokens, `Bearer`, passwords in addresses.

use std::ops::Range;

use super::Text;
use super::prefix::{Bytes, is_mixed};

/// The longest user and password in an address.
const AUTHORITY: usize = 256;

const END: &[u8] = b"PRIVATE KEY-----";

/// `-----BEGIN … PRIVATE KEY-----` to the line that ends it; without one, as far as it looks like a key.
pub(super) fn private_key(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
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
    if let Some(last) = last.filter(|&last| last >= from)
        && let Some(end) = memchr::memmem::find(&text.bytes[from..last + 9], b"-----END ")
    {
        let end = from + end;
        let inner = &text.bytes[from..end];
        let line = &text.bytes[end + 9..text.bytes.len().min(end + 9 + LABEL)];
        if memchr::memmem::find(inner, BEGIN).is_none() {
            let tail = memchr::memmem::find(line, b"-----").map_or(0, |at| at + 5);
            return Some(at..end + 9 + tail);
        }
    }
    let body = text.bytes[from..].iter();
    let is_key =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\');
    Some(at..from + body.take_while(is_key).count())
}

/// `eyJ….….…`
pub(super) fn jwt(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if at < text.no_jwt.get() || !text.bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let header = Bytes::Dashed.run(text.bytes, at);
    let dot = |at: usize| text.bytes.get(at) == Some(&b'.');
    let payload = if dot(header) { Bytes::Dashed.run(text.bytes, header + 1) } else { header };
    if !dot(payload) || payload < header + 10 || header < at + 10 {
        // Whatever begins in this run ends where it ends.
        text.no_jwt.set(header);
        return None;
    }
    Some(at..Bytes::Dashed.run(text.bytes, payload + 1))
}

/// What stands behind `Bearer`.
pub(super) fn bearer(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    const JUDGED: usize = 256;
    let word = text.bytes.get(at..at + 7)?;
    if !word[..6].eq_ignore_ascii_case(b"bearer") || !matches!(word[6], b' ' | b'\t') {
        return None;
    }
    let from = at + 7;
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(byte);
    let judged = text.bytes[from..].iter().take(JUDGED).take_while(is_token).count();
    if judged < LEAST || !is_mixed(&text.bytes[from..from + judged], 1) {
        return None;
    }
    Some(from..from + text.bytes[from..].iter().take_while(is_token).count())
}

/// The password in `scheme://user:password@host`; asked at the first colon.
pub(super) fn url_password(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !text.bytes[at..].starts_with(b"://") || at == 0 || !text.bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let from = at + 3;
    let rest = &text.bytes[from..text.bytes.len().min(from + AUTHORITY)];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'`<>\\".contains(byte);
    let rest = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
    let host = memchr::memrchr(b'@', rest)?;
    let colon = memchr::memchr(b':', &rest[..host])?;
    let password = &rest[colon + 1..host];
    // `user:$PASSWORD@`, `user:***@` and `user:{password}@` show nothing.
    let shown = password.first().is_some_and(|first| !b"$*{%[<".contains(first));
    shown.then_some(from + colon + 1..from + host)
}
