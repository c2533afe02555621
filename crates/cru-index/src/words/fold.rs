//! Letters as they are compared: without case, accents and other ways to write the same letter.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, compose, is_combining_mark};

/// Appends `part`, folded. What would fold to nothing stays as it is.
pub(super) fn push(part: &str, out: &mut String) {
    let from = out.len();
    if part.is_ascii() {
        out.push_str(part);
        out[from..].make_ascii_lowercase();
        return;
    }
    for c in part.chars() {
        letter(c, out);
    }
    if out.len() == from {
        out.push_str(part);
    }
}

fn letter(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    for c in c.to_lowercase().nfkd().flat_map(char::to_lowercase) {
        match c {
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'ŧ' => out.push('t'),
            'ς' => out.push('σ'),
            _ if canonical_combining_class(c) != 0 => {}
            _ if c.is_alphanumeric() || is_combining_mark(c) => out.push(c),
            _ => {}
        }
    }
}

/// Whether a mark belongs to the letter before it.
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_combining_mark(c)
}

/// Whether letters of its script stand side by side without blanks, so that each is a word.
pub(super) const fn is_alone(c: char) -> bool {
    matches!(c as u32,
        0x0e00..=0x0eff          // Thai, Lao
        | 0x1000..=0x109f        // Myanmar
        | 0x1100..=0x11ff        // Hangul, in parts
        | 0x1780..=0x17ff        // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x31ff        // kana, Bopomofo, Hangul letters
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff        // Han
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff        // Hangul
        | 0xf900..=0xfaff
        | 0xff66..=0xffdc        // the narrow forms
        | 0x1_aff0..=0x1_b16f
        | 0x2_0000..=0x3_ffff)
}

/// The first letter of `text`, which [`is_alone`], with the parts and marks that belong to it: how many bytes, and as
/// it is compared.
pub(super) fn alone(text: &str) -> (usize, Cow<'_, str>) {
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else { return (0, Cow::Borrowed("")) };
    let (mut whole, mut len) = (wide(first), first.len_utf8());
    for (at, next) in chars {
        match compose(whole, wide(next)) {
            Some(both) => whole = both,
            None if is_mark(next) => {}
            None => break,
        }
        len = at + next.len_utf8();
    }
    match text.get(..len) {
        Some(same) if same.chars().eq([whole]) => (len, Cow::Borrowed(same)),
        _ => (len, Cow::Owned(whole.to_string())),
    }
}

/// The usual form of a narrow letter.
fn wide(c: char) -> char {
    match c {
        '\u{ff66}'..='\u{ffdc}' => std::iter::once(c).nfkd().next().unwrap_or(c),
        '\u{f900}'..='\u{faff}' | '\u{2_f800}'..='\u{2_fa1f}' => std::iter::once(c).nfc().next().unwrap_or(c),
        _ => c,
    }
}
