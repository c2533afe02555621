//! Tokens that say by their beginning what they are.

use std::ops::Range;

use super::allow;

/// How many bytes are looked at before a token is taken for one.
const JUDGED: usize = 256;

/// How much of a token is enough where it was cut.
const CUT: usize = 8;

/// How a token begins and goes on.
pub(super) struct Prefix {
    pub(super) starts: &'static [&'static str],
    pub(super) bytes: Bytes,
    /// How many bytes follow at least.
    pub(super) least: usize,
    /// Whether no more may follow.
    pub(super) exact: bool,
}

/// What a token is made of.
#[derive(Clone, Copy)]
pub(super) enum Bytes {
    /// `A-Z0-9`
    Capitals,
    /// `0-9a-f`
    Hex,
    /// Letters and digits.
    Letters,
    /// And `_`.
    Name,
    /// And `-`.
    Dashed,
    /// And `.`.
    Dotted,
    /// And `/` and `+`.
    Path,
}

impl Bytes {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Name => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+'),
        }
    }

    /// Where the run of such bytes from `from` on ends.
    pub(super) fn run(self, bytes: &[u8], from: usize) -> usize {
        from + bytes[from..].iter().take_while(|&&byte| self.has(byte)).count()
    }
}

impl Prefix {
    /// The token that starts at `at`.
    pub(super) fn find(&self, bytes: &[u8], at: usize) -> Option<Range<usize>> {
        let start = self.starts.iter().find(|start| bytes[at..].starts_with(start.as_bytes()))?;
        let from = at + start.len();
        if self.exact {
            let body = bytes.get(from..from + self.least)?;
            let ends = bytes.get(from + self.least).is_none_or(|byte| !byte.is_ascii_alphanumeric());
            let is_one =
                ends && body.iter().all(|&byte| self.bytes.has(byte)) && is_mixed(body, 1) && !allow::is_example(body);
            return is_one.then_some(at..from + self.least);
        }
        let judged = self.bytes.run(&bytes[..bytes.len().min(from + JUDGED)], from);
        let body = &bytes[from..judged];
        // What was cut off is still most of a secret.
        let least = if bytes[judged..].starts_with("…".as_bytes()) { self.least.min(CUT) } else { self.least };
        if body.len() < least
            || !is_mixed(body, 1)
            || allow::is_example(body)
            || (is_divided(body) && allow::is_name(body))
        {
            return None;
        }
        Some(at..self.bytes.run(bytes, judged))
    }
}

/// Whether it may be words: `sk-fading-circle12`.
fn is_divided(body: &[u8]) -> bool {
    body.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether letters and at least `digits` digits are in it: what names and words are not.
pub(super) fn is_mixed(part: &[u8], digits: usize) -> bool {
    part.iter().filter(|byte| byte.is_ascii_digit()).count() >= digits && part.iter().any(u8::is_ascii_alphabetic)
}
