//! Where sentences end: in scripts with blanks at a mark that blanks follow, in Chinese and Japanese at their own marks.
//!
//! A boundary that is missed makes a sentence longer; a false one would cut it. So where it is unclear none is seen: behind
//! an abbreviation, behind a number that opens a line, inside a code span.

use super::list::ABBREVIATION;

/// The sentences of `text`, each with the blanks behind it: joined they are `text`.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, after) = rest.split_at(end(rest));
        rest = after;
        Some(sentence)
    })
}

/// Where the first sentence ends, the blanks behind it included. Looks at each character of it a bounded number of times.
fn end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let mut code = false;
    let mut word = 0;
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => code = !code,
            '\n' => {
                (code, word) = (false, at + 1);
                if ends_at_line(&text[at + 1..]) {
                    return behind_blanks(text, at + 1);
                }
            }
            c if c.is_whitespace() => word = at + c.len_utf8(),
            '。' | '！' | '？' | '｡' | '।' | '۔' | '።' | '។' if !code => {
                while chars.next_if(|(_, next)| is_mark(*next) || is_closing(*next)).is_some() {}
                return behind_blanks(text, chars.peek().map_or(text.len(), |(at, _)| *at));
            }
            '.' | '!' | '?' | '…' | '؟' if !code => {
                let only_stop = c == '.' && chars.peek().is_none_or(|(_, next)| !is_mark(*next));
                while chars.next_if(|(_, next)| is_mark(*next) || is_closing(*next)).is_some() {}
                let after = chars.peek().map_or(text.len(), |(at, _)| *at);
                let blank = text[after..].chars().next().is_none_or(char::is_whitespace);
                if blank && !(only_stop && is_abbreviated(text, word, at, after)) {
                    return behind_blanks(text, after);
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Whether a sentence ends before the line that `rest` begins with: behind a blank line, before an item or a heading, and
/// wherever the line does not look like one that was only wrapped.
fn ends_at_line(rest: &str) -> bool {
    let line = rest.trim_start_matches([' ', '\t', '\r']);
    !line.starts_with(char::is_lowercase)
}

fn behind_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

const fn is_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

/// What may close behind the mark that ends a sentence.
const fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '*' | '_' | '」' | '』' | '）' | '】' | '》')
}

/// Whether the full stop at `stop` belongs to the word before it, which begins at `word`; `after` is behind the stop.
fn is_abbreviated(text: &str, word: usize, stop: usize, after: usize) -> bool {
    let before = text[word.min(stop)..stop].trim_start_matches(['(', '[', '"', '\'', '“', '„', '«', '*', '_']);
    let parts = || before.split('.');
    let letters = |part: &str| (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic);
    if (before.contains('.') && parts().all(letters)) || ABBREVIATION.has(before) {
        return true;
    }
    // `2. Then`, and `the 3. of May`: a number that opens a line, or that the sentence goes on behind.
    let number = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
    let opens = text[..word.min(stop)].trim_end_matches([' ', '\t', '-', '*', '(']).ends_with('\n') || word == 0;
    number && (opens || text[after..].trim_start().starts_with(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        sentences(text).map(str::trim_end).collect()
    }

    #[test]
    fn table() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            ("one", &["one"]),
            ("One. Two! Three? four", &["One.", "Two!", "Three?", "four"]),
            ("Use it, e.g. here, i.e. there. Then go", &["Use it, e.g. here, i.e. there.", "Then go"]),
            ("See approx. five of Dr. Who etc. and so on.", &["See approx. five of Dr. Who etc. and so on."]),
            ("Use 1.2.3 now. Then 4.", &["Use 1.2.3 now.", "Then 4."]),
            ("Fix main.rs. Then test", &["Fix main.rs.", "Then test"]),
            ("Really?! Yes... \"No.\" So", &["Really?!", "Yes...", "\"No.\"", "So"]),
            ("启动应用。然后测试！好吗？", &["启动应用。", "然后测试！", "好吗？"]),
            ("彼は「はい。」と言った。次", &["彼は「はい。」", "と言った。", "次"]),
            ("Es ging z.B. gut bzw. nicht. Gut", &["Es ging z.B. gut bzw. nicht.", "Gut"]),
            ("¿Qué pasa? ¡Nada! Bien", &["¿Qué pasa?", "¡Nada!", "Bien"]),
            ("run `a. b` now. ok", &["run `a. b` now.", "ok"]),
            ("1. First\n2. Second", &["1. First", "2. Second"]),
            ("a line that is\nwrapped. And\n\nmore", &["a line that is\nwrapped.", "And", "more"]),
            ("यह है। वह है।", &["यह है।", "वह है।"]),
        ];
        for (text, expected) in rows {
            assert_eq!(cut(text), *expected, "{text}");
        }
    }

    proptest::proptest! {
        /// Nothing is lost, whatever it is cut from, and no piece is empty.
        #[test]
        fn joined_they_are_the_text(text in "([a-z .!?…。\\n`\"'(1-3)]|e\\.g\\.|\\PC){0,60}") {
            let pieces: Vec<&str> = sentences(&text).collect();
            proptest::prop_assert_eq!(pieces.concat(), text.as_str());
            proptest::prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
    }

    /// Twice the text takes about twice the time: no mark makes it look back over all that stands before.
    #[test]
    fn time_is_linear() {
        let seeds =
            ["a", "a.", "a. ", ".", "?", "\n", "` ", "`. ", "1. ", "\"", "(.", "e.g. ", "。", "é. ", "_.", "a\nb"];
        for seed in seeds {
            // Where time were quadratic this would take hours.
            let text = seed.repeat(2_000_000);
            assert_eq!(sentences(&text).map(str::len).sum::<usize>(), text.len());
        }
    }
}
