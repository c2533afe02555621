//! How many tokens a text is, by the vocabulary of a real tokenizer (`o200k_base`).
//!
//! Every model counts otherwise; this one is near to most and known to all. A text is counted in `O(n log n)` at most,
//! whatever it holds. The vocabulary lies compressed in the program and is unpacked by the first count.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use tiktoken::CoreBpe;

use crate::rows::chat::Message;

/// Tokens that a chat template adds to a message, about.
const FRAME: usize = 4;

/// Bytes of a text that is faster known again than counted, and how many such texts are remembered.
const LONG: usize = 128;
const TEXTS: usize = 8_192;

/// The tokenizer. Present in every build: `Cargo.toml` names the feature that compiles the vocabulary in.
static TOKENIZER: LazyLock<&CoreBpe> =
    LazyLock::new(|| tiktoken::get_encoding("o200k_base").expect("the vocabulary is compiled in"));

thread_local! {
    /// Counts by the hash of the text: the rows of a case, and cases of one session, repeat most of each other.
    static KNOWN: RefCell<HashMap<blake3::Hash, usize>> = RefCell::default();
}

/// Tokens of a text. Marks of special tokens in it (`<|endoftext|>`) are counted as the text that they are.
pub(crate) fn of_text(text: &str) -> usize {
    if text.len() < LONG {
        return TOKENIZER.count(text);
    }
    let hash = blake3::hash(text.as_bytes());
    KNOWN.with_borrow_mut(|known| {
        if let Some(count) = known.get(&hash) {
            return *count;
        }
        if known.len() >= TEXTS {
            known.clear();
        }
        let count = TOKENIZER.count(text);
        known.insert(hash, count);
        count
    })
}

/// Tokens of messages.
pub(crate) fn of_messages(messages: &[Message]) -> usize {
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

    /// Counts by another implementation of the same tokenizer (`bpe-openai` 0.3.2): languages, code, white space, and
    /// random characters of every kind.
    const COUNTS: &str = include_str!("tokens/counts.json");

    #[test]
    fn counts_are_those_of_another_implementation() {
        let counts: Vec<(usize, String)> = serde_json::from_str(COUNTS).unwrap();
        assert!(counts.len() > 200);
        for (count, text) in &counts {
            // The second count may be a remembered one.
            assert_eq!((of_text(text), of_text(text)), (*count, *count), "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_counted_in_about_linear_time() {
        for unit in ["x", " ", "\n", " \n", "\u{301}", "日", "a1.", "\u{1f468}\u{200d}"] {
            assert!(of_text(&unit.repeat(200_000)) > 0, "{unit:?}");
        }
    }
}
