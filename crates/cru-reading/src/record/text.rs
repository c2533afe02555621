//! Texts made alike, so that a quote is found wherever its blanks, quotes and escapes differ.

use cru_base::text::sanitise;
use cru_session::words::list::is_unspaced;
use unicode_normalization::UnicodeNormalization as _;

/// `text` in NFKC, with straight quotes and plain hyphens, without colours of a terminal and backslashes before punctuation, and every run of
/// blanks as one. Line ends as JSON writes them (`\n`) are blanks, too: outputs hold texts within texts.
pub fn alike(text: &str) -> String {
    let text = sanitise(text);
    let mut out = String::with_capacity(text.len());
    let mut blank = true;
    let mut chars = text.nfkc().peekable();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' if chars.next_if(|next| matches!(next, 'n' | 'r' | 't')).is_some() => ' ',
            '\\' if chars.peek().is_some_and(char::is_ascii_punctuation) => continue,
            '\u{2018}' | '\u{2019}' | '\u{201b}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201f}' => '"',
            '\u{2010}'..='\u{2013}' | '\u{2212}' => '-',
            c => c,
        };
        if c.is_whitespace() {
            if !blank {
                out.push(' ');
            }
            blank = true;
        } else if !c.is_control() {
            out.push(c);
            blank = false;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Whether a text is long enough to say something: 8 characters, or 4 of a script that is written without blanks.
pub fn is_long_enough(alike: &str) -> bool {
    let dense = alike.chars().filter(|c| is_unspaced(*c)).count();
    dense >= 4 || alike.chars().count() >= 8
}

/// `text` without what is neither letter nor digit at its ends.
pub fn without_edges(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Whether `part` stands in `whole`, both made [`alike`], and neither begins nor ends inside a word.
pub fn holds(whole: &str, part: &str) -> bool {
    !part.is_empty() && whole.match_indices(part).any(|(at, _)| is_bounded(whole, at, at + part.len()))
}

/// Whether a place begins and ends at the edges of words.
pub fn is_bounded(whole: &str, start: usize, end: usize) -> bool {
    let part = whole.get(start..end).unwrap_or_default();
    let word = |c: char| (c.is_alphanumeric() || c == '_') && !is_unspaced(c);
    let joined = |one: Option<char>, other: Option<char>| one.is_some_and(word) && other.is_some_and(word);
    !joined(whole.get(..start).and_then(|it| it.chars().next_back()), part.chars().next())
        && !joined(part.chars().next_back(), whole.get(end..).and_then(|it| it.chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_as_they_were_meant() {
        let whole = alike("I\u{2019}m  unable\nto use \\`x\\_y\\`, \u{ff21}\u{ff22}.");
        assert_eq!(whole, "I'm unable to use `x_y`, AB.");
        assert!(holds(&whole, &alike("to use `x\\_y`")));
        assert!(!holds(&whole, "able to use"), "not inside a word: that would turn it round");
        assert!(holds(&alike("findings F3\u{2013}F5 are open"), &alike("F3-F5")));
        assert!(!holds(&whole, ""));
        assert!(holds("テストを消さないでください", "消さないで"));
        assert!(is_long_enough("消さない") && !is_long_enough("short") && is_long_enough("eight ch"));
    }
}
