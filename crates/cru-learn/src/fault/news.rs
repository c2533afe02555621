//! What a person's correction says that nothing before it said: words, names, and how the work turned out.
//!
//! An answer that holds such words cannot have been found without them. Words that stand in any text are none of them.

use cru_session::words::list::{AGREEMENT, COMMON, LOOKING_BACK, NEGATION, QUANTIFIER, STOP, TURNED_OUT, VAGUE};

use std::collections::HashSet;

/// Letters of a word that says something by itself.
const LONG: usize = 4;

/// Whether a text holds words of a correction that its prompt lacks.
pub(crate) fn leaks(correction: &str, text: &str, prompt: &str) -> bool {
    let told: HashSet<String> = telling(correction).collect();
    let mut leaks: HashSet<String> = telling(text).filter(|word| told.contains(word)).collect();
    for word in telling(prompt) {
        if leaks.is_empty() {
            return false;
        }
        leaks.remove(&word);
    }
    !leaks.is_empty()
}

/// The words of a text that say something by themselves, numbers among them; in lower case, one and many of a thing
/// alike.
fn telling(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter_map(|word| {
        let digits = word.chars().any(|c| c.is_ascii_digit());
        if word.len() < 2 || (!digits && word.chars().count() < LONG) {
            return None;
        }
        let word = word.to_lowercase();
        if [&COMMON, &STOP, &VAGUE, &QUANTIFIER, &NEGATION].iter().any(|list| list.has(&word)) {
            return None;
        }
        let one = word.strip_suffix('s').filter(|one| one.len() >= LONG && !digits && !one.ends_with('s'));
        Some(one.map_or_else(|| word.clone(), str::to_owned))
    })
}

/// Whether a correction tells how it turned out or what is new: nobody could know that before.
pub(crate) fn tells_outcome(correction: &str) -> bool {
    TURNED_OUT.is_in(correction)
}

/// Whether an answer speaks of what was said or done in the meantime.
pub(crate) fn refers_back(answer: &str) -> bool {
    agrees(answer) || LOOKING_BACK.is_in(answer)
}

/// Whether an answer opens by agreeing that what was done before was wrong.
pub(crate) fn agrees(answer: &str) -> bool {
    let answer = answer.trim_start();
    AGREEMENT.at_start(answer).is_some_and(|end| {
        // "Right on the left" goes on with the word.
        answer[..end].contains(' ') || !answer[end..].trim_start().starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_the_correction_has() {
        let prompt = "Serve the folder in the simplest way.";
        assert!(leaks("use caddy", "I run `caddy file-server`.", prompt));
        assert!(leaks("port 8080 please", "It listens on 8080.", prompt));
        assert!(!leaks("not what I wanted, serve the folders", "I serve the folder.", prompt));
        assert!(!leaks("use caddy", "I run `python -m http.server`.", prompt));
        assert!(!leaks("use caddy", "I run `caddy file-server`.", "Caddy is there. Serve the folder."));
    }

    #[test]
    fn how_it_turned_out() {
        assert!(tells_outcome("Oh no, we lost the footer"));
        assert!(tells_outcome("Read it again. It’s been updated."));
        assert!(!tells_outcome("put the footer back to the left"));
    }

    #[test]
    fn words_that_go_back() {
        assert!(refers_back("Now I take out the line I added earlier."));
        assert!(refers_back("Right, it stands on the left."));
        assert!(!refers_back("It stands right on the left, as you asked."));
    }
}
