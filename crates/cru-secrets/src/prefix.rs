//! Tokens that say by their beginning what they are.

use std::ops::Range;

use super::allow;
use super::letters::{is_namelike, is_text, is_wordlike};

/// How many bytes are looked at before a token is taken for one.
const JUDGED: usize = 256;

/// How much of a token is enough where it was cut.
const CUT: usize = 8;

/// How a token begins and goes on.
pub(crate) struct Prefix {
    pub(crate) starts: &'static [&'static str],
    pub(crate) bytes: Bytes,
    /// How many bytes follow at least.
    pub(crate) least: usize,
    /// Whether no more may follow.
    pub(crate) exact: bool,
    /// What must follow.
    pub(crate) body: Body,
}

/// What follows the beginning of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// Something with a digit in it.
    Mixed,
    /// Something with a digit, or letters that make no words; the beginning is short, and code is full of it.
    Drawn,
    /// Anything but words: the beginning alone decides.
    Any,
}

/// What a token is made of.
#[derive(Clone, Copy)]
pub(crate) enum Bytes {
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
    /// And `:`.
    Colons,
    /// `0-9a-f` and `-`.
    Uuid,
}

/// The kinds of [`Bytes`] that each byte is of, a bit for each.
static KINDS: [u16; 256] = {
    let (mut kinds, mut byte) = ([0; 256], 0);
    while byte < u8::MAX {
        kinds[byte as usize] = kinds_of(byte);
        byte += 1;
    }
    kinds
};

const fn kinds_of(byte: u8) -> u16 {
    let digit = byte.is_ascii_digit();
    let hex = digit || matches!(byte, b'a'..=b'f');
    let letter = byte.is_ascii_alphanumeric();
    let name = letter || byte == b'_';
    let dashed = name || byte == b'-';
    let dotted = dashed || byte == b'.';
    let path = dotted || matches!(byte, b'/' | b'+');
    let is = [
        (Bytes::Capitals, digit || byte.is_ascii_uppercase()),
        (Bytes::Hex, hex),
        (Bytes::Letters, letter),
        (Bytes::Name, name),
        (Bytes::Dashed, dashed),
        (Bytes::Dotted, dotted),
        (Bytes::Path, path),
        (Bytes::Colons, path || byte == b':'),
        (Bytes::Uuid, hex || byte == b'-'),
    ];
    let (mut kinds, mut at) = (0, 0);
    while at < is.len() {
        kinds |= (is[at].1 as u16) << is[at].0 as u16;
        at += 1;
    }
    kinds
}

impl Bytes {
    pub(crate) fn has(self, byte: u8) -> bool {
        KINDS[usize::from(byte)] >> self as u16 & 1 == 1
    }

    /// Where the run of such bytes from `from` on ends.
    pub(crate) fn run(self, bytes: &[u8], from: usize) -> usize {
        from + bytes[from..].iter().take_while(|&&byte| self.has(byte)).count()
    }
}

impl Prefix {
    /// The token that starts at `at`.
    pub(crate) fn find(&self, bytes: &[u8], at: usize) -> Option<Range<usize>> {
        let start = self.starts.iter().find(|start| bytes[at..].starts_with(start.as_bytes()))?;
        let from = at + start.len();
        if self.exact {
            let body = bytes.get(from..from + self.least)?;
            let ends = bytes.get(from + self.least).is_none_or(|byte| !byte.is_ascii_alphanumeric());
            let is_one = ends
                && body.iter().all(|&byte| self.bytes.has(byte))
                && self.is_drawn(body)
                && !allow::is_example(body);
            return is_one.then_some(at..from + self.least);
        }
        let judged = self.bytes.run(&bytes[..bytes.len().min(from + JUDGED)], from);
        let body = &bytes[from..judged];
        // What was cut off is still most of a secret.
        let least = if bytes[judged..].starts_with("…".as_bytes()) { self.least.min(CUT) } else { self.least };
        let is_name =
            is_divided(body) && allow::is_name(body) && (self.body != Body::Any || is_text(body) || is_namelike(body));
        if body.len() < least || !self.is_drawn(body) || allow::is_example(body) || is_name {
            return None;
        }
        Some(at..self.bytes.run(bytes, judged))
    }

    /// Whether a part looks as if it was drawn by chance.
    fn is_drawn(&self, body: &[u8]) -> bool {
        match self.body {
            Body::Mixed => is_mixed(body, 1),
            // Names in code have no more digits.
            Body::Drawn => is_mixed(body, 3) || !is_wordlike(body),
            Body::Any => is_mixed(body, 1) || !is_text(body),
        }
    }
}

/// Whether it may be words: `sk-fading-circle12`.
fn is_divided(body: &[u8]) -> bool {
    body.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether letters and at least `digits` digits are in it: what names and words are not.
pub(crate) fn is_mixed(part: &[u8], digits: usize) -> bool {
    part.iter().filter(|byte| byte.is_ascii_digit()).count() >= digits && part.iter().any(u8::is_ascii_alphabetic)
}
