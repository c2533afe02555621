//! Whether a person's words correct the agent.
//!
//! The importer titles such words `Correction`; whoever reads a note judges untitled ones by the same rule. It is
//! conservative, and its rows are data (`words/lists`): a remark that is missed can be titled by hand, one titled wrongly becomes a false training case.

use crate::words::list::{ASIDE, CORRECTION, CORRECTION_INSIDE, GOING_ON, HESITATION, NO_CORRECTION};

/// The line a note shows where a person stopped the agent.
pub const INTERRUPTED: &str = "*Interrupted by the user.*";

/// Whether `words` begin like a correction.
pub fn opens_correction(words: &str) -> bool {
    let words = first_of(words);
    let plain = without_hesitation(&words);
    NO_CORRECTION.at_start(plain).is_none()
        && (CORRECTION.at_start(&words).is_some()
            || CORRECTION.at_start(plain).is_some()
            || CORRECTION_INSIDE.is_in(&words))
}

/// Whether `words` only let the agent go on.
pub fn lets_go_on(words: &str) -> bool {
    let words = first_of(words);
    let plain = without_hesitation(&words);
    let listed = GOING_ON.at_start(&words).is_some() || GOING_ON.at_start(plain).is_some();
    plain.split(' ').count() <= 4 && (listed || (plain.is_empty() && !words.is_empty()))
}

/// Whether `words`, said right after the agent was stopped or refused, only let it go on or ask for something.
pub fn goes_on(words: &str) -> bool {
    let first = first_of(words);
    lets_go_on(words) || ASIDE.at_start(&first).is_some() || ASIDE.at_start(without_hesitation(&first)).is_some()
}

/// Whether `words`, said right after the agent was stopped or refused, only answer a question or a list that stood there: a
/// number or a single word.
pub fn only_replies(words: &str) -> bool {
    let mut all = words.split_whitespace();
    all.next().is_some_and(str::is_ascii) && all.next().is_none()
}

/// Whether `words` only choose from a list: a number or a letter.
pub fn is_choice(words: &str) -> bool {
    let bare = words.trim().trim_matches(['#', '(', ')', '.', '!', '[', ']']);
    // Digits of a number in a list.
    let is_number = (1..=3).contains(&bare.len()) && bare.bytes().all(|byte| byte.is_ascii_digit());
    let mut letters = bare.chars();
    is_number || (letters.next().is_some_and(char::is_alphabetic) && bare.is_ascii() && letters.next().is_none())
}

/// The first characters with single blanks.
fn first_of(words: &str) -> String {
    let end = words.trim_start().char_indices().nth(100).map_or(words.len(), |(at, _)| at);
    cru_base::text::fold_whitespace(words.trim_start().get(..end).unwrap_or(words))
}

/// Without the words at the beginning that only lead up to it.
fn without_hesitation(words: &str) -> &str {
    let mut rest = words;
    while let Some(length) = HESITATION.at_start(rest) {
        rest = rest[length..].trim_start_matches(|c: char| !c.is_alphanumeric());
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_corrections() {
        for words in [
            "No, use the other file",
            "no",
            "Don’t store them in localStorage",
            "STOP! you are deleting it",
            "Actually, let's use vite",
            "that's not what I asked for",
            "hmm, that's not what I asked for",
            "this is fine but that's wrong in the header",
            "Oh no, we lost the navigation",
            "ok, please don't push yet",
            "Wait a sec, we need to copy the icon first",
            "you forgot the tests",
            "I said tabs",
            "Nein, das andere Modul",
            "non, pas celui-là",
            "нет, другой файл",
            "不对，用另一个文件",
        ] {
            assert!(opens_correction(words), "{words}");
        }
    }

    #[test]
    fn table_of_other_words() {
        for words in [
            "",
            "No problem, go on",
            "don't forget to push the pencil file",
            "Notify the user when it fails",
            "nonsense values appear in the table",
            "no-op is fine here",
            "stopwatch is off by one",
            "Now fix the tests",
            "yes please",
            "the actual size is wrong",
            "ok, no problem",
            "oh",
            "Never mind! But I'd like to ask for something else",
            "okay, wait for the build, then push",
            "why does the build take so long?",
            "add a test for the wrong password",
            "No questions, go ahead",
        ] {
            assert!(!opens_correction(words), "{words}");
        }
    }

    #[test]
    fn table_of_replies() {
        for words in ["6", "hooks", "b)", "stuck?"] {
            assert!(only_replies(words), "{words}");
        }
        assert!(["6", "#12", "b)", "(3)"].into_iter().all(is_choice));
        assert!(!["", "commit", "2026", "6 of them", "选"].into_iter().any(is_choice));
        for words in ["", "take the red one", "you good there?", "8 of them", "别用这个文件"] {
            assert!(!only_replies(words), "{words}");
        }
    }

    #[test]
    fn table_of_going_on() {
        for words in [
            "continue",
            "Go on",
            "sorry, continue",
            "ok",
            "please continue",
            "ok, go",
            "继续",
            "how can we know which one is active?",
            "oh, and it would also be nice to show the size",
            "whoa... I had the question first, how is it sorted?",
            "Can I get a table of that in the docs?",
        ] {
            assert!(goes_on(words), "{words}");
        }
        for words in ["continue but use tabs in the generated files", "use tabs", "okra"] {
            assert!(!goes_on(words), "{words}");
        }
    }
}
