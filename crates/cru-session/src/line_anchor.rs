//! Line anchors: which lines of a file a step read or wrote, and a hash of them.
//!
//! Written `path:118-129@1d3e5f70`, `path:140@aa10bb20` for one line, `path:~3@…` for three lines whose place the
//! record does not tell. The hash is of the lines alone, so line ends and a missing last newline do not matter, and
//! lines that moved are found again. [`super::file_ref`] reads and writes the whole list.

use serde::Serialize;

/// Digits of a hash of lines.
pub const HASH_DIGITS: usize = 8;

/// Lines of a file and their hash. Never of no lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct LineAnchor {
    /// Number of the first line, from 1; `None` where the record does not tell the place.
    pub first: Option<u64>,
    /// How many lines, 1 or more.
    pub count: u64,
    /// [`hash_lines`] of them; 8 to 64 lower case hexadecimal digits.
    pub hash: String,
}

impl LineAnchor {
    /// The anchor of `lines` that begin at line `first` (from 1), or at a place that is not known. `None` of no lines.
    pub fn of<'a>(first: Option<u64>, lines: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut count = 0;
        let hash = hash_lines(lines.into_iter().inspect(|_| count += 1));
        let first = first.filter(|&first| first > 0 && first.checked_add(count).is_some());
        (count > 0).then_some(Self { first, count, hash })
    }

    /// The anchor of a text whose first line is line `first` of its file.
    pub fn of_text(first: Option<u64>, text: &str) -> Option<Self> {
        Self::of(first, text.lines())
    }

    /// Number of the last line, where the place is known.
    pub fn last(&self) -> Option<u64> {
        self.first?.checked_add(self.count)?.checked_sub(1)
    }

    /// Whether `lines` are the lines that it was made of, wherever they stand. A hash with more digits than
    /// [`HASH_DIGITS`] is compared as far as both go.
    pub fn is_of<'a>(&self, lines: impl IntoIterator<Item = &'a str>) -> bool {
        let mut count = 0;
        let hash = hash_lines(lines.into_iter().inspect(|_| count += 1));
        count == self.count && self.hash.starts_with(&hash)
    }

    /// What stands between the colon and the `@`: `118-129`, `140`, `~3`.
    pub fn place(&self) -> String {
        match (self.first, self.last()) {
            (Some(first), Some(last)) if first == last => first.to_string(),
            (Some(first), Some(last)) => format!("{first}-{last}"),
            _ => format!("~{}", self.count),
        }
    }

    /// Reads [`LineAnchor::place`] with the hash that stands behind it. `None` for anything else, and for line 0,
    /// leading zeros and a last line before the first.
    pub(crate) fn parse(place: &str, hash: &str) -> Option<Self> {
        let (first, count) = read_place(place)?;
        Some(Self { first, count, hash: hash.to_ascii_lowercase() })
    }
}

/// Whether a text behind a colon would be taken for the place of lines, or for the mark `-` of a path that ends so.
pub(crate) fn is_place(text: &str) -> bool {
    text == "-" || read_place(text).is_some()
}

fn read_place(text: &str) -> Option<(Option<u64>, u64)> {
    if let Some(count) = text.strip_prefix('~') {
        return Some((None, number(count)?));
    }
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    let count = last.checked_sub(first)?.checked_add(1)?;
    Some((Some(first), count))
}

/// A number of a line or of lines, as `cru` writes it.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| plain)
}

/// The hash of lines: BLAKE3 over them without their ends, joined by `\n` and with one `\n` at the end,
/// [`HASH_DIGITS`] digits. A `\r` at the end of a line belongs to its end.
pub fn hash_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = LineHasher::default();
    for line in lines {
        hasher.add(line);
    }
    hasher.finish()
}

/// [`hash_lines`] of lines that come one by one.
#[derive(Debug, Default)]
pub struct LineHasher(blake3::Hasher);

impl LineHasher {
    /// Adds a line, with or without its end.
    pub fn add(&mut self, line: &str) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.0.update(line.as_bytes()).update(b"\n");
    }

    /// The hash of what was added.
    pub fn finish(&self) -> String {
        self.0.finalize().to_hex()[..HASH_DIGITS].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn line_ends_do_not_matter() {
        let expected = blake3::hash(b"one\n\ntwo\n").to_hex()[..8].to_owned();
        for text in ["one\n\ntwo\n", "one\n\ntwo", "one\r\n\r\ntwo\r\n", "one\r\n\ntwo"] {
            assert_eq!(hash_lines(text.lines()), expected, "{text:?}");
        }
        assert_ne!(hash_lines("one\n\ntwo\n\n".lines()), expected);
    }

    #[test]
    fn places() {
        let of = |place: &str| LineAnchor::parse(place, "1D3E5F70").map(|it| (it.first, it.last(), it.count));
        assert_eq!(of("118-129"), Some((Some(118), Some(129), 12)));
        assert_eq!(of("140"), Some((Some(140), Some(140), 1)));
        assert_eq!(of("~3"), Some((None, None, 3)));
        for none in ["0", "5-4", "07", "~0", "", "-", "1-", "-2", "+1", "1-2-3", "18446744073709551616", "0-0"] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(of("1-18446744073709551615").map(|it| it.2), Some(u64::MAX));
        assert_eq!(LineAnchor::of(Some(1), []), None);
        assert_eq!(LineAnchor::of_text(Some(u64::MAX), "a").and_then(|it| it.first), None, "no place beyond numbers");
    }

    proptest! {
        #[test]
        fn a_place_reads_back(first in proptest::option::of(1..u64::MAX / 2), count in 1..u64::MAX / 2) {
            let anchor = LineAnchor { first, count, hash: "1d3e5f70".into() };
            prop_assert_eq!(LineAnchor::parse(&anchor.place(), &anchor.hash), Some(anchor));
        }

        #[test]
        fn an_anchor_is_of_its_lines(text in "[ab\\r\\n]{1,30}") {
            let anchor = LineAnchor::of_text(Some(1), &text).unwrap();
            prop_assert!(anchor.is_of(text.lines()));
            prop_assert!(anchor.is_of(text.replace('\n', "\r\n").lines()) || text.contains('\r'));
        }
    }
}
