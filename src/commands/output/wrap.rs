//! Wrapping a paragraph for people.

use std::borrow::Cow;

use textwrap::core::Word;
use textwrap::{Options, WordSeparator};
use unicode_linebreak::linebreaks;

/// The lines of a paragraph, at most `width` columns each. Lines break where Unicode allows it (UAX #14), so text without
/// spaces between its words is wrapped too; a word that is wider than a line is cut.
pub(in crate::commands) fn wrap(text: &str, width: usize) -> Vec<Cow<'_, str>> {
    textwrap::wrap(text, Options::new(width).word_separator(WordSeparator::Custom(words)))
}

/// The parts between which a line may break. After `-` the splitter decides; a soft hyphen would have to be drawn.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut start = 0;
    let ends = linebreaks(line).map(|(at, _)| at);
    let ends = ends.filter(|at| *at == line.len() || !line[..*at].ends_with(['-', '\u{ad}']));
    Box::new(ends.map(move |end| {
        let word = Word::from(&line[start..end]);
        start = end;
        word
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_with_and_without_spaces_is_wrapped() {
        let text =
            "SQLite を選んだ。理由は(一つの)ファイルで済むからです。 It is one file/folder, well-kept — and fast.";
        let expected = [
            "SQLite を選んだ。理",
            "由は(一つの)ファイル",
            "で済むからです。 It",
            "is one file/folder,",
            "well-kept — and",
            "fast.",
        ];
        assert_eq!(wrap(text, 20), expected);
        assert_eq!(wrap("0123456789", 4), ["0123", "4567", "89"]);
        assert_eq!(wrap("", 20), [""]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_line_is_too_wide(text in "(\\PC|[ a-z-]|日|。){0,60}", width in 4..40_usize) {
            let lines = wrap(&text, width);
            let bare = |text: &str| text.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
            for line in &lines {
                prop_assert!(textwrap::core::display_width(line) <= width, "{:?}", line);
            }
        }
    }
}
