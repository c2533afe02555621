//! Whether letters make words or were drawn by chance.

use super::words::PAIRS;

/// Of a hundred neighbouring letters in words, how many at least are common ones.
const COMMON: usize = 67;

/// And in a short name of code, where words are shortened.
const COMMON_IN_NAMES: usize = 50;

/// And where one capital stands alone: `aTable`.
const COMMON_IN_HUMPS: usize = 80;

/// And in plain words that no capitals divide.
const COMMON_IN_TEXT: usize = 90;

/// Whether a value of letters looks like words and names: `correctHorse`, `MY_VALUE`, and not `qXvKjwPz`. Signs and
/// digits divide words. True where there are too few letters to tell.
pub(crate) fn is_wordlike(value: &[u8]) -> bool {
    Letters::of(value).is_made_of(COMMON)
}

/// Like [`is_wordlike`], also where words are shortened: `cipherboxJwt`.
pub(crate) fn is_namelike(value: &[u8]) -> bool {
    const SHORT: usize = 11;
    let letters = Letters::of(value);
    let least = if letters.pairs < SHORT { COMMON_IN_NAMES } else { COMMON };
    letters.is_made_of(least)
}

/// Like [`is_wordlike`], of words as they stand in a text.
pub(crate) fn is_text(value: &[u8]) -> bool {
    Letters::of(value).is_made_of(COMMON_IN_TEXT)
}

/// What is counted of the letters of a value.
#[derive(Default)]
struct Letters {
    words: usize,
    /// Words of one letter, divided from others by capitals.
    single: usize,
    /// And those of one letter or two.
    short: usize,
    /// Neighbours within words.
    pairs: usize,
    common: usize,
}

impl Letters {
    fn of(value: &[u8]) -> Self {
        let mut it = Self::default();
        for part in value.split(|byte| !byte.is_ascii_alphabetic()).filter(|part| !part.is_empty()) {
            for word in humps(part) {
                it.words += 1;
                let is_part = word.len() < part.len();
                it.single += usize::from(is_part && word.len() == 1);
                it.short += usize::from(is_part && word.len() <= 2);
                for pair in word.windows(2) {
                    it.pairs += 1;
                    it.common += usize::from(is_common(pair[0], pair[1]));
                }
            }
        }
        it
    }

    /// Whether that many of a hundred pairs are common ones.
    fn is_made_of(&self, least: usize) -> bool {
        const FEW: usize = 3;
        if self.words == 0 || (self.words == 1 && self.pairs < FEW) {
            return true;
        }
        // Letters of two cases by chance are many words of one or two letters.
        let divided = self.words > 2 && self.short * 2 > self.words;
        let least = match self.single {
            0 => least,
            1 => least.max(COMMON_IN_HUMPS),
            _ => return false,
        };
        !divided && self.common * 100 >= self.pairs * least
    }
}

fn is_common(first: u8, second: u8) -> bool {
    let at = usize::from(first.to_ascii_lowercase().wrapping_sub(b'a'));
    PAIRS.get(at).is_some_and(|follow| follow.contains(&second.to_ascii_lowercase()))
}

/// The words of `camelCase`, `HTTPServer` and `plain`.
fn humps(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = part.get(from..).filter(|rest| !rest.is_empty())?;
        let upper = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = rest[upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        // The last of many capitals begins the next word.
        let len = if upper > 1 && lower > 0 { upper - 1 } else { upper + lower };
        from += len.max(1);
        Some(&rest[..len.max(1)])
    })
}

pub(crate) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names_are_told_from_letters_of_chance() {
        for word in [
            "correcthorse",
            "correctHorseBattery",
            "HTTPServer",
            "MY_VALUE",
            "getUserIdFromDb",
            "configuration",
            "a",
            "",
            "users_table",
            "PostgresConnectionString",
            "swordfish",
            "sunshine",
            "authorization-header",
        ] {
            assert!(is_wordlike(word.as_bytes()), "{word}");
        }
        for drawn in ["qXvKjwPzTr", "xkzqvwjpfh", "aBcXyZqWdKf", "QWJKXZPVTRMN", "hTqLzWvNbXcGkRpF", "zqxjkvbw"] {
            assert!(!is_wordlike(drawn.as_bytes()), "{drawn}");
        }
    }
}
