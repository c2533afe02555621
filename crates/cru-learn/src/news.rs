//! What a person's correction says that nothing before it said: words, names, and how the work turned out.
//!
//! An answer that holds such words cannot have been found without them. Words that stand in any text are none of them.

use cru_base::text::lowered;
use cru_session::words::list::AGREEMENT;

use std::collections::HashSet;

/// Letters of a word that says something by itself.
const LONG: usize = 4;

/// Words of that length that stand in any text, in lower case.
const COMMON: &[&str] = &[
    "about",
    "above",
    "actually",
    "after",
    "again",
    "also",
    "always",
    "another",
    "anything",
    "around",
    "back",
    "because",
    "been",
    "before",
    "being",
    "below",
    "best",
    "better",
    "between",
    "both",
    "call",
    "change",
    "check",
    "come",
    "could",
    "didn",
    "does",
    "doesn",
    "doing",
    "done",
    "down",
    "each",
    "else",
    "even",
    "ever",
    "every",
    "everything",
    "exactly",
    "find",
    "first",
    "from",
    "getting",
    "give",
    "goes",
    "going",
    "gonna",
    "good",
    "great",
    "have",
    "haven",
    "having",
    "here",
    "however",
    "instead",
    "into",
    "just",
    "keep",
    "kind",
    "know",
    "last",
    "later",
    "least",
    "less",
    "like",
    "little",
    "look",
    "looks",
    "made",
    "make",
    "makes",
    "many",
    "maybe",
    "mean",
    "might",
    "more",
    "most",
    "much",
    "must",
    "need",
    "needs",
    "never",
    "next",
    "none",
    "nope",
    "nothing",
    "okay",
    "once",
    "only",
    "other",
    "others",
    "otherwise",
    "over",
    "part",
    "please",
    "probably",
    "rather",
    "really",
    "right",
    "said",
    "same",
    "says",
    "second",
    "seems",
    "should",
    "show",
    "shown",
    "since",
    "some",
    "something",
    "still",
    "stop",
    "such",
    "sure",
    "take",
    "tell",
    "than",
    "thanks",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "through",
    "time",
    "together",
    "under",
    "until",
    "used",
    "uses",
    "using",
    "very",
    "wait",
    "want",
    "wanted",
    "wants",
    "wasn",
    "well",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "without",
    "work",
    "works",
    "would",
    "wrong",
    "yeah",
    "your",
    "yourself",
];

/// Whether a text holds words of a correction that its prompt lacks.
pub(super) fn leaks(correction: &str, text: &str, prompt: &str) -> bool {
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

/// The words of a text that say something by themselves, numbers among them; in lower case, one and many of a thing alike.
fn telling(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter_map(|word| {
        let digits = word.chars().any(|c| c.is_ascii_digit());
        if word.len() < 2 || (!digits && word.chars().count() < LONG) {
            return None;
        }
        let word = word.to_lowercase();
        if COMMON.binary_search(&word.as_str()).is_ok() {
            return None;
        }
        let one = word.strip_suffix('s').filter(|one| one.len() >= LONG && !digits && !one.ends_with('s'));
        Some(one.map_or_else(|| word.clone(), str::to_owned))
    })
}

/// Words by which a person tells how the work turned out, or what has changed since, in lower case.
const OUTCOMES: &[&str] = &[
    "we lost ",
    "we've lost ",
    "is gone",
    "are gone",
    "disappeared",
    "still broken",
    "still fail",
    "still not work",
    "still doesn't work",
    "still happening",
    "doesn't work anymore",
    "stopped working",
    "been updated",
    "been changed",
    "i updated",
    "i've updated",
    "i changed the",
    "i've changed",
    "is already done",
    "already did that",
];

/// Whether a correction tells how it turned out or what is new: nobody could know that before.
pub(super) fn tells_outcome(correction: &str) -> bool {
    let words = lowered(correction);
    OUTCOMES.iter().any(|phrase| words.contains(phrase))
}

/// Words that go back to what was said or done in the other answer, in lower case.
const BACK: &[&str] = &[
    "i added earlier",
    "i just added",
    "i already ",
    "you declined",
    "you rejected",
    "you refused",
    "you denied",
    "you interrupted",
    "as you said",
    "as you say",
    "you mentioned",
    "you pointed out",
    "my mistake",
    "my previous",
    "that's a bug in my",
    "let me reread",
    "let me re-read",
    "let me undo",
    "let me revert",
];

/// Whether an answer speaks of what was said or done in the meantime.
pub(super) fn refers_back(answer: &str) -> bool {
    let answer = lowered(answer);
    agrees(&answer) || BACK.iter().any(|phrase| answer.contains(phrase))
}

/// Whether an answer opens by agreeing that what was done before was wrong.
pub(super) fn agrees(answer: &str) -> bool {
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
    fn common_words_are_in_order() {
        assert!(COMMON.is_sorted());
    }

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
