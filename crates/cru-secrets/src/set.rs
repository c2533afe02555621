//! Names whose value stands elsewhere than behind a sign: in the next argument of a call or command, in the other field of
//! a pair, before a pipe.

use super::letters::is_name;
use super::text::Text;
use super::words::{NAME_FIELDS, SETTERS, VALUE_FIELDS, VALUE_FLAGS};

/// How far from its name a value stands.
const FAR: usize = 160;

/// Where the value of the name from `start` to `end` begins; `quotes` bytes of quotes follow the name.
pub(crate) fn value(text: &Text<'_>, start: usize, end: usize, quotes: usize) -> Option<usize> {
    let behind = end + quotes;
    pair(text, start, behind)
        .or_else(|| pair_before(text, start))
        .or_else(|| call(text, start, behind, quotes > 0))
        .or_else(|| given(text, start, end))
        .or_else(|| command(text, start, behind))
}

/// Where the value begins that a command reads as its input: `echo … | login --password-stdin`, `--with-token <<< …`.
pub(crate) fn given(text: &Text<'_>, start: usize, end: usize) -> Option<usize> {
    let from = run(text.bytes, end, |byte| byte == b' ');
    let here = text.bytes.get(from..).is_some_and(|rest| rest.starts_with(b"<<<"));
    if here { Some(run(text.bytes, from + 3, |byte| byte == b' ')) } else { piped(text, start, end) }
}

/// `"name": "X", "value": "…"`, `name: X` and `value: …` on the next line, `key="X" value="…"`, `<entry key="X">…<`,
/// `variable "X" { default = "…"`.
fn pair(text: &Text<'_>, start: usize, behind: usize) -> Option<usize> {
    let bytes = text.bytes;
    field(bytes, start)?;
    if bytes.get(behind) == Some(&b'>') {
        return Some(behind + 1);
    }
    let gap = run(bytes, behind, |byte| byte.is_ascii_whitespace() || b",;{-\\n\"'".contains(&byte));
    // An `n` of an escaped line end is no letter of the field.
    (0..=1).find_map(|back| value_field(bytes, gap.checked_sub(back).filter(|at| *at > behind)?))
}

/// Where the value begins whose field stands at `at`.
fn value_field(bytes: &[u8], at: usize) -> Option<usize> {
    let end = run(bytes, at, |byte| byte.is_ascii_alphabetic() || byte == b'_');
    let word = bytes.get(at..end)?;
    let sign = run(bytes, end, |byte| b"\"'\\ ".contains(&byte));
    let known = VALUE_FIELDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    (known && matches!(bytes.get(sign), Some(b':' | b'='))).then_some(sign + 1)
}

/// Where the field begins whose value is the name at `start`: `name: `, `"key": "`, `variable "`.
fn field(bytes: &[u8], start: usize) -> Option<usize> {
    let head = trimmed(&bytes[start.saturating_sub(FAR)..start], |byte| b"\"'\\ ".contains(&byte));
    let head = head.strip_suffix(b":").or_else(|| head.strip_suffix(b"=")).unwrap_or(head);
    let head = trimmed(head, |byte| b"\"'\\ ".contains(&byte));
    let len = head.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let word = &head[head.len() - len..];
    // The `n` of an escaped line end before it.
    let word = if head[..head.len() - len].ends_with(b"\\") && word.len() > 1 { &word[1..] } else { word };
    let known = NAME_FIELDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    known.then(|| start.saturating_sub(FAR) + head.len() - word.len())
}

/// `"value": "…", "name": "X"`
fn pair_before(text: &Text<'_>, start: usize) -> Option<usize> {
    let bytes = text.bytes;
    let field = field(bytes, start)?;
    let floor = field.saturating_sub(FAR).max(text.floor.get());
    let head = bytes.get(floor..field)?;
    let head = trimmed(head, |byte| byte.is_ascii_whitespace() || b",;{-\\\"'".contains(&byte));
    // The last field before it is one of values.
    let sign = head.iter().rposition(|byte| matches!(byte, b':' | b'='))?;
    let word = trimmed(&head[..sign], |byte| b"\"'\\ ".contains(&byte));
    let len = word.iter().rev().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
    value_field(bytes, floor + word.len() - len)
}

/// `setenv("X", "…")`, `define('X', '…')`: the next argument of what sets something.
fn call(text: &Text<'_>, start: usize, behind: usize, quoted: bool) -> Option<usize> {
    let bytes = text.bytes;
    if !quoted || bytes.get(behind) != Some(&b',') {
        return None;
    }
    let from = run(bytes, behind + 1, |byte| byte.is_ascii_whitespace());
    let quote = run(bytes, from, |byte| byte == b'\\');
    let head = trimmed(&bytes[start.saturating_sub(FAR)..start], |byte| b"\"'\\ @".contains(&byte));
    let head = head.strip_suffix(b"(")?;
    let len = head.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = head[head.len() - len..].to_ascii_lowercase();
    let sets = SETTERS.iter().any(|setter| memchr::memmem::find(&word, setter.as_bytes()).is_some());
    (sets && matches!(bytes.get(quote), Some(b'"' | b'\'' | b'`'))).then_some(from)
}

/// `aws configure set X …`, `gh secret set X --body …`, `gh auth login --with-token <<< …`, `PASSWORD '…'`.
fn command(text: &Text<'_>, start: usize, behind: usize) -> Option<usize> {
    let bytes = text.bytes;
    let mut from = run(bytes, behind, |byte| byte == b' ' || byte == b'\t');
    if from == behind {
        return None;
    }
    let first = *bytes.get(from)?;
    // SQL: `WITH PASSWORD '…'`.
    let loud = bytes[start..behind].iter().all(|byte| !byte.is_ascii_lowercase());
    if loud && first == b'\'' {
        return Some(from);
    }
    let line = line_before(bytes, start);
    let mut words = line.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'-'));
    let own = bytes[start..behind].to_ascii_lowercase();
    let is_setter = |word: &[u8]| SETTERS.iter().any(|setter| word.eq_ignore_ascii_case(setter.as_bytes()));
    let sets = words.any(is_setter) || SETTERS.iter().any(|setter| own.starts_with(format!("{setter}-").as_bytes()));
    if !sets {
        return None;
    }
    let flag = run(bytes, from, is_name);
    if first == b'-' && flag > from {
        let known = VALUE_FLAGS.iter().any(|known| &bytes[from..flag] == known.as_bytes());
        from = run(bytes, flag, |byte| matches!(byte, b' ' | b'='));
        return known.then_some(from);
    }
    Some(from)
}

/// `echo … | gh secret set X`
fn piped(text: &Text<'_>, start: usize, end: usize) -> Option<usize> {
    let bytes = text.bytes;
    let ends = bytes.get(end).is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'\\;)".contains(byte));
    let line = line_before(bytes, start);
    let pipe = memchr::memchr(b'|', line).filter(|_| ends)?;
    let from = start - line.len();
    let echo = ["echo ", "printf ", "print "]
        .iter()
        .find_map(|echo| memchr::memmem::find(&line[..pipe], echo.as_bytes()).map(|at| from + at + echo.len()))?;
    let mut at = run(bytes, echo, |byte| byte == b' ');
    while bytes.get(at) == Some(&b'-') || bytes[at..].starts_with(b"'%s'") || bytes[at..].starts_with(b"\"%s\"") {
        at = run(bytes, run(bytes, at, |byte| byte > b' '), |byte| byte == b' ');
    }
    (at < from + pipe).then_some(at)
}

/// The line up to `at`.
fn line_before(bytes: &[u8], at: usize) -> &[u8] {
    let head = &bytes[at.saturating_sub(FAR)..at];
    memchr::memrchr(b'\n', head).map_or(head, |end| &head[end + 1..])
}

/// Where the run of such bytes from `at` on ends.
fn run(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    at + bytes.get(at..).into_iter().flatten().take(FAR).take_while(|byte| is(**byte)).count()
}

/// `head` without such bytes at its end.
fn trimmed(head: &[u8], is: impl Fn(u8) -> bool) -> &[u8] {
    let len = head.iter().rev().take_while(|byte| is(**byte)).count();
    &head[..head.len() - len]
}
