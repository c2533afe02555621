//! Passwords: any word may be one, so its name decides, and what cannot be one is left out.

use std::ops::Range;

use super::assignment::{Assignment, Sign, is_code, is_plain_word, is_sentence, whole};
use super::letters::is_wordlike;
use super::text::Text;
use super::words::{MADE_BY, ORDINARY};
use super::{allow, prefix};

/// `password=…`
pub(crate) fn password(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    let range = found.value(text)?;
    if is_sentence(text, found, &range) {
        return None;
    }
    let range = found.closed(text, range);
    let value = text.bytes.get(range.clone())?;
    // `!vault`, `!secret db`: what a configuration puts there.
    let is_tag = found.quote.is_none() && value[0] == b'!' && value[1..].iter().all(u8::is_ascii_alphabetic);
    if is_tag || is_plain_word(value) || value.iter().all(|byte| !byte.is_ascii_alphanumeric()) {
        return None;
    }
    let is_folder = found.is_folder();
    if found.is_short() || is_folder {
        // `pass: ok` and `pwd=/home/me` are none: the value must show what it is.
        let is_one = if is_folder { is_no_folder(text, found, value) } else { is_short_one(text, found, value) };
        return is_one.then(|| whole(text, range));
    }
    let plain = value.iter().all(|byte| byte.is_ascii_alphabetic() || b"_.".contains(byte));
    let loud = found.is_loud();
    let code = value.iter().any(|byte| b"(<[{&|".contains(byte)) || (found.sign != Sign::Flag && is_code(text, &range));
    let said = !is_ordinary(value);
    let is_secret = match (found.quote.is_some(), found.sign) {
        (true, Sign::Is | Sign::Table | Sign::Set) => value.len() >= 6 && said && !code && shows(value),
        (true, _) => value.len() >= 4,
        (false, Sign::Close) if found.is_flag() => value.len() >= 4 && said && !code && !is_variable(value),
        (false, Sign::Close) => value.len() >= 4 && (!plain || loud || found.query || is_drawn(value)) && !code,
        (false, Sign::Flag) => value.len() >= 4 && value[0] != b'-' && !code,
        (false, Sign::Tag) => value.len() >= 4 && !code,
        (false, Sign::Open) if plain => said && !code && (is_drawn_word(value) || is_alone(text, found, &range)),
        (false, Sign::Open) => value.len() >= 6 && !code,
        (false, Sign::Is | Sign::Table | Sign::Set) => value.len() >= 6 && said && !code && shows(value),
    };
    is_secret.then(|| found.end(text, range))
}

/// Letters and digits that make no words.
fn is_drawn(value: &[u8]) -> bool {
    const LEAST: usize = 6;
    let made = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
    value.len() >= LEAST && made && !is_wordlike(value)
}

/// The same where a type may stand, as `LPWSTR` does.
fn is_drawn_word(value: &[u8]) -> bool {
    const LONGEST_TYPE: usize = 10;
    is_drawn(value) && (value.len() > LONGEST_TYPE || value.iter().any(u8::is_ascii_lowercase))
}

/// Whether it is a type, a state or a word of documentation.
fn is_ordinary(value: &[u8]) -> bool {
    let word = value.iter().rposition(u8::is_ascii_alphanumeric).map_or(value, |last| &value[..=last]);
    is_plain_word(word) || ORDINARY.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a value shows by itself that it is a password, where nothing else says so: `the password is sha256` does not.
fn shows(value: &[u8]) -> bool {
    let word = without_end(value);
    !allow::is_number(word) && is_odd(word)
}

/// A value without the signs that end a sentence.
fn without_end(value: &[u8]) -> &[u8] {
    value.iter().rposition(|byte| !b".!?*".contains(byte)).map_or(value, |last| &value[..=last])
}

/// Whether it is no word, no name, no path and no example.
fn is_odd(word: &[u8]) -> bool {
    // `password is secret123`, as examples have it.
    let example = word.strip_suffix(b"123").is_some_and(is_ordinary);
    let starts = |start: &&str| word.get(..start.len()).is_some_and(|part| part.eq_ignore_ascii_case(start.as_bytes()));
    let made = (word.len() <= 8 || is_wordlike(word)) && MADE_BY.iter().any(starts);
    let divided = word.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.'));
    let is_one = prefix::is_mixed(word, 1) && !(divided && allow::is_name(word));
    !made && !example && !allow::is_path(word) && (is_one || is_drawn(word))
}

/// Whether a value that was told to be a secret is so long and odd that it is one wherever it stands.
pub(crate) fn is_unmistakable(secret: &str) -> bool {
    // Shorter ones stand in other words by chance.
    secret.len() >= 8 && !secret.contains('\n') && is_odd(without_end(secret.as_bytes()))
}

/// `PASSWORD`, `$pass`, `ADMIN_PASSWORD`: a name for a value.
fn is_variable(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}

/// Whether name and value are all that stands on the line, as in a configuration, and the value is one lower-case word.
fn is_alone(text: &Text<'_>, found: &Assignment<'_>, range: &Range<usize>) -> bool {
    const INDENT: usize = 64;
    const LEAST: usize = 6;
    let value = &text.bytes[range.clone()];
    let before = &text.bytes[found.start.saturating_sub(INDENT)..found.start];
    let indent = before.iter().rev().take_while(|byte| b" \t-".contains(byte)).count();
    let begins = indent == before.len() || before[before.len() - indent - 1] == b'\n';
    let end = text.bytes.get(range.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    begins && end && found.colon && value.len() >= LEAST && value.iter().all(u8::is_ascii_lowercase)
}

/// `pass: …`, `PASS=…`: a name that says too little by itself.
fn is_short_one(text: &Text<'_>, found: &Assignment<'_>, value: &[u8]) -> bool {
    const LEAST: usize = 6;
    // `compass` and `bypass` are other words; `dbPass` is one.
    let head = found.name.len().checked_sub(4).map_or("", |at| found.name.get(..at).unwrap_or_default());
    let is_part = found.name.ends_with("Pass") && head.ends_with(|c: char| c.is_ascii_lowercase());
    if !head.is_empty() && !is_part {
        return false;
    }
    let quoted = found.quote.is_some();
    if quoted && found.name == "pass" && found.quote != Some(b'`') {
        return value.len() >= 4;
    }
    let made = value.iter().all(|byte| byte.is_ascii_graphic() && !b"(<[{&|/".contains(byte));
    let ends = text.bytes.get(found.from + value.len()).is_none_or(|byte| !b"([".contains(byte));
    if value.len() < LEAST || !made || !ends || is_ordinary(value) || allow::is_number(value) {
        return false;
    }
    let loud = found.is_loud();
    match found.sign {
        // The verdict of a test: `PASS: name`.
        Sign::Open | Sign::Is | Sign::Table | Sign::Set if loud => false,
        Sign::Close if loud => value.iter().any(u8::is_ascii_alphabetic),
        _ => is_drawn(value) || (prefix::is_mixed(value, 1) && !allow::is_name(value)),
    }
}

/// `pwd=…`, where it names no folder.
fn is_no_folder(text: &Text<'_>, found: &Assignment<'_>, value: &[u8]) -> bool {
    const LEAST: usize = 6;
    if found.query {
        return value.len() >= 4 && !value.contains(&b'/');
    }
    let made = value.iter().all(|byte| byte.is_ascii_graphic() && !b"/\\~:(<[{&|".contains(byte));
    let ends = text.bytes.get(found.from + value.len()).is_none_or(|byte| !b"([\\/".contains(byte));
    let one = is_drawn(value) || (prefix::is_mixed(value, 1) && !allow::is_name(value));
    // The one of a shell is written in capitals.
    !found.is_loud() && made && ends && value.len() >= LEAST && one && !is_ordinary(value)
}
