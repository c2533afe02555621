//! Passwords that stand in command lines, cookies and the file of `netrc`.

use std::ops::Range;

use super::allow;
use super::assignment::{ends, is_plain_word, value_at, whole};
use super::letters::is_wordlike;
use super::prefix::is_mixed;
use super::text::Text;

/// Bytes of a command line that are looked at.
const LINE: usize = 512;

/// A program one of whose arguments is a secret.
pub(crate) struct Command {
    /// How its command line begins.
    pub(crate) starts: &'static [&'static str],
    /// Flags; the secret is the next argument.
    pub(crate) next: &'static [&'static str],
    /// Flags; the secret is the rest of the argument.
    pub(crate) joined: &'static [&'static str],
    pub(crate) part: Part,
}

/// What of an argument is secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// What stands behind the colon of `user:password`.
    User,
    /// The values of `name=value; name=value`.
    Cookie,
    /// What stands behind the sign of `name=value`.
    Pair,
    /// The first argument that is no flag, if it was drawn by chance.
    First,
}

impl Command {
    /// The secret in the command line that begins at `at`.
    pub(crate) fn find(&self, text: &Text<'_>, at: usize) -> Option<Range<usize>> {
        let start = self.starts.iter().find(|start| text.has(at, start))?;
        let to = text.bytes.len().min(at + LINE);
        let mut from = at + start.len();
        loop {
            from += text.bytes[from..to].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\\')).count();
            let word = text.bytes[from..to].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
            let rest = &text.bytes[from..from + word];
            if word == 0 || is_end(rest, text.bytes, from) {
                // A line goes on behind a backslash.
                let goes_on = word == 0 && from < to && text.bytes[from - 1] == b'\\';
                if !goes_on {
                    return None;
                }
                from += 1;
                continue;
            }
            if self.part == Part::First && rest[0] != b'-' {
                return first(text, from);
            }
            if let Some(found) = self.argument(text, from, rest) {
                return Some(found);
            }
            from += word;
        }
    }

    /// The secret of a flag that stands at `at`.
    fn argument(&self, text: &Text<'_>, at: usize, word: &[u8]) -> Option<Range<usize>> {
        let flag = self.next.iter().find_map(|flag| {
            let rest = word.strip_prefix(flag.as_bytes())?;
            let end = at + flag.len();
            match rest.first() {
                None => Some(end + text.bytes[end..].iter().take(8).take_while(|&&byte| byte == b' ').count()),
                Some(b'=') if flag.starts_with("--") => Some(end + 1),
                _ => None,
            }
        });
        let joined = || {
            let flag = self.joined.iter().find(|flag| word.len() > flag.len() && word.starts_with(flag.as_bytes()))?;
            Some(at + flag.len())
        };
        let from = flag.or_else(joined)?;
        let slashes = usize::from(text.bytes.get(from) == Some(&b'\\'));
        let quote = text.bytes.get(from + slashes).filter(|byte| matches!(byte, b'"' | b'\''));
        let from = if quote.is_some() { from + slashes + 1 } else { from };
        let range = match quote {
            Some(quote) => quoted(text, from, *quote)?,
            None => whole(text, value_at(text, from)?),
        };
        let value = &text.bytes[range.clone()];
        match self.part {
            Part::Whole => password_at(text, range),
            Part::User => {
                let colon = memchr::memchr(b':', value)?;
                password_at(text, range.start + colon + 1..range.end)
            }
            Part::Cookie => is_cookie(value).then_some(range),
            Part::Pair => {
                let sign = memchr::memchr(b'=', value)?;
                password_at(text, range.start + sign + 1..range.end)
            }
            Part::First => None,
        }
    }
}

/// A token that stands at `at`, in quotes or not.
fn first(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    let quotes = text.bytes[at..].iter().take(4).take_while(|byte| b"\"'\\".contains(byte)).count();
    let range = whole(text, value_at(text, at + quotes)?);
    let value = &text.bytes[range.clone()];
    let is_one = value.len() >= LEAST && is_mixed(value, 2) && !allow::is_name(value) && !allow::is_path(value);
    is_one.then_some(range)
}

/// `IDENTIFIED BY '…'`
pub(crate) fn sql(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const START: usize = "identified by ".len();
    let rest = text.bytes.get(at + START..)?;
    let quotes = rest.iter().take(4).take_while(|byte| b"\"'\\ ".contains(byte)).count();
    let range = whole(text, value_at(text, at + START + quotes)?);
    if quotes == 0 { None } else { password_at(text, range) }
}

/// The second text of `auth=("user", "…")`.
pub(crate) fn second(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const CALL: usize = 160;
    let bytes = &text.bytes[..text.bytes.len().min(at + CALL)];
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    let mut from = at + memchr::memchr(b'(', &bytes[at..])? + 1;
    for _ in 0..3 {
        from += bytes[from..].iter().position(is_quote)? + 1;
    }
    let between = &bytes[..from - 1];
    let comma = between.iter().rev().take(8).find(|byte| !byte.is_ascii_whitespace() && **byte != b'\\')?;
    let range = whole(text, value_at(text, from)?);
    if *comma == b',' { password_at(text, range) } else { None }
}

/// Whether the command line ends before `word`, which stands at `at`.
fn is_end(word: &[u8], bytes: &[u8], at: usize) -> bool {
    matches!(word, b"|" | b"||" | b"&&" | b";" | b"&") || (word.starts_with(b"n") && bytes[..at].ends_with(b"\\"))
}

/// What stands in quotes, up to their end.
fn quoted(text: &Text<'_>, from: usize, quote: u8) -> Option<Range<usize>> {
    let rest = text.bytes.get(from..)?;
    let len = memchr::memchr2(quote, b'\n', rest)?;
    let len = if len > 0 && rest[len - 1] == b'\\' { len - 1 } else { len };
    (len > 0).then_some(from..from + len)
}

/// A password that an argument is, if it shows one.
fn password_at(text: &Text<'_>, range: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 4;
    let value = text.bytes.get(range.clone())?;
    let code = value.iter().any(|byte| b"(<[{|".contains(byte)) || value.first() == Some(&b'-');
    let is_one = value.len() >= LEAST
        && !code
        && !allow::is_placeholder(value)
        && !is_plain_word(value)
        && !value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        && value.iter().any(u8::is_ascii_alphanumeric)
        && text.whole.is_char_boundary(range.start)
        && text.whole.is_char_boundary(range.end);
    is_one.then_some(range)
}

/// The cookies of a header that were drawn by chance, from the first to the last, or the one that a header sets. What
/// says by itself what it is, is found as that.
pub(crate) fn cookie(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const HEADER: usize = 4096;
    let colon = at + memchr::memchr(b':', text.bytes.get(at..text.bytes.len().min(at + 16))?)? + 1;
    let from = colon + text.bytes[colon..].iter().take(8).take_while(|&&byte| byte == b' ').count();
    let rest = &text.bytes[from..text.bytes.len().min(from + HEADER)];
    let sets = text.has(at, "set-");
    let is_end = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'`') || (sets && *byte == b';');
    let len = rest.iter().position(is_end).unwrap_or(rest.len());
    let mut found: Option<Range<usize>> = None;
    let mut start = from;
    for pair in rest[..len].split(|byte| *byte == b';') {
        let value = memchr::memchr(b'=', pair).map(|sign| {
            let len = pair[sign + 1..].iter().take_while(|byte| byte.is_ascii_graphic()).count();
            start + sign + 1..start + sign + 1 + len
        });
        start += pair.len() + 1;
        let Some(value) = value.filter(|value| is_drawn(&text.bytes[value.clone()])) else { continue };
        match &mut found {
            _ if text.word(value.start).is_some() => break,
            Some(found) => found.end = value.end,
            None => found = Some(value),
        }
    }
    found
}

/// Whether one of the values was drawn by chance.
fn is_cookie(value: &[u8]) -> bool {
    value.split(|byte| *byte == b';').any(|pair| memchr::memchr(b'=', pair).is_some_and(|at| is_drawn(&pair[at + 1..])))
}

fn is_drawn(value: &[u8]) -> bool {
    const LEAST: usize = 16;
    let made = value.iter().all(u8::is_ascii_graphic);
    let words = is_wordlike(value) && (allow::is_name(value) || !is_mixed(value, 2));
    made && value.len() >= LEAST && !words && !allow::is_placeholder(value)
}

/// The password of `machine NAME login USER password …`.
pub(crate) fn netrc(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let end = text.bytes.len().min(at + LINE);
    let mut from = at;
    let mut word = || {
        from += text.bytes[from..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let len = text.bytes[from..end].iter().take_while(|byte| !ends(**byte)).count();
        from += len;
        (len > 0).then_some(from - len..from)
    };
    let is = |range: &Range<usize>, name: &str| &text.bytes[range.clone()] == name.as_bytes();
    let (_, _, login) = (word()?, word()?, word()?);
    let (_, name, password) = (word()?, word()?, word()?);
    let is_one = is(&login, "login") && is(&name, "password");
    password_at(text, whole(text, password)).filter(|_| is_one)
}
