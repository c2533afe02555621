//! Words of a query as the words of the index.

use crate::query::QueryWords;
use crate::words::cut;

/// What to look for: words at following places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    /// At least one word.
    pub(super) parts: Vec<String>,
    /// All of them as the one word that a name of several parts is indexed as too.
    pub(super) joined: Option<String>,
    /// The last word may go on.
    pub(super) prefix: bool,
    /// Each word may be misspelt.
    pub(super) fuzzy: bool,
}

impl Pattern {
    /// The pattern of some words; `None` where they hold no letter and no digit.
    pub(super) fn of(words: &QueryWords) -> Option<Self> {
        let mut pattern = Self::phrase(&words.text)?;
        pattern.prefix = words.prefix;
        pattern.fuzzy = words.fuzzy;
        Some(pattern)
    }

    /// The pattern of a text as it stands.
    pub(super) fn phrase(text: &str) -> Option<Self> {
        let tokens = cut(text);
        let last = tokens.last()?.offset_to;
        let mut parts: Vec<(usize, usize, String)> = Vec::new();
        let mut joined = None;
        for token in tokens {
            let len = token.offset_to - token.offset_from;
            match parts.last_mut() {
                // Two words at one place: a part and the whole name.
                Some((position, shortest, part)) if *position == token.position => {
                    let (whole, end) = if len < *shortest {
                        let end = token.offset_from + *shortest;
                        *shortest = len;
                        (std::mem::replace(part, token.text), end)
                    } else {
                        (token.text, token.offset_to)
                    };
                    if position == &0 && end == last {
                        joined = Some(whole);
                    }
                }
                _ => parts.push((token.position, len, token.text)),
            }
        }
        let parts: Vec<String> = parts.into_iter().map(|(_, _, part)| part).collect();
        Some(Self { joined: joined.filter(|_| parts.len() > 1), parts, prefix: false, fuzzy: false })
    }
}

/// How many letters of a word may be wrong: of a short one none, of a long one two.
pub(super) fn slips(word: &str) -> u8 {
    match word.chars().count() {
        0..=2 => 0,
        3..=6 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_joints_are_phrases() {
        let parts = |text: &str| Pattern::phrase(text).map(|pattern| pattern.parts.join(" "));
        assert_eq!(parts("src/auth.rs").as_deref(), Some("src auth rs"));
        assert_eq!(parts("error[E0308]").as_deref(), Some("error e0308"));
        assert_eq!(parts("Login").as_deref(), Some("login"));
        assert_eq!(parts("->"), None);
    }
}
