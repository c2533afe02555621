//! How many tokens a text is, by the vocabulary of a real tokenizer (`o200k_base`).
//!
//! Every model counts otherwise; this one is near to most and known to all. It never takes more than linear time, whatever
//! the text is.

use std::cell::RefCell;
use std::collections::HashMap;

use bpe_openai::o200k_base;

use super::chat::Message;

/// Tokens that a chat template adds to a message, about.
const FRAME: usize = 4;

/// Bytes of a text that is faster known again than counted, and how many such texts are remembered.
const LONG: usize = 128;
const TEXTS: usize = 8_192;

/// Bytes of a word that is remembered, and how many words are.
const WORD: usize = 32;
const WORDS: usize = 131_072;

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Counts that need not be made again.
#[derive(Default)]
struct Known {
    /// Of texts: the rows of a case, and cases of one session, repeat most of each other.
    texts: HashMap<blake3::Hash, usize>,
    /// Of words, at which the tokenizer splits a text before it looks for tokens.
    words: HashMap<Box<str>, usize>,
}

/// Tokens of a text.
pub(super) fn of_text(text: &str) -> usize {
    KNOWN.with_borrow_mut(|known| {
        let hash = (text.len() >= LONG).then(|| blake3::hash(text.as_bytes()));
        if let Some(count) = hash.as_ref().and_then(|hash| known.texts.get(hash)) {
            return *count;
        }
        let tokenizer = o200k_base();
        let count = tokenizer.split(text).map(|word| known.word(word)).sum();
        if let Some(hash) = hash {
            if known.texts.len() >= TEXTS {
                known.texts.clear();
            }
            known.texts.insert(hash, count);
        }
        count
    })
}

impl Known {
    fn word(&mut self, word: &str) -> usize {
        if let Some(count) = self.words.get(word) {
            return *count;
        }
        let count = o200k_base().bpe.count(word.as_bytes());
        if word.len() <= WORD {
            if self.words.len() >= WORDS {
                self.words.clear();
            }
            self.words.insert(word.into(), count);
        }
        count
    }
}

/// Tokens of messages.
pub(super) fn of_messages(messages: &[Message]) -> usize {
    messages.iter().map(of_message).sum()
}

fn of_message(message: &Message) -> usize {
    let calls = message
        .tool_calls
        .iter()
        .map(|call| FRAME + of_text(&call.function.name) + of_text(&call.function.arguments.to_string()));
    FRAME + of_text(&message.content) + calls.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_is_counted() {
        let long = "It's a word, 12345 numbers …  and\n\n\tmore — \u{1f389} ".repeat(40);
        for text in ["", " ", "word", "don't", long.as_str(), &"x".repeat(1_000), "   \n  "] {
            for _ in 0..2 {
                assert_eq!(of_text(text), o200k_base().count(text), "{text:?}");
            }
        }
    }
}
