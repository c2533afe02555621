//! How many tokens a text is, by the vocabulary of a real tokenizer (`o200k_base`).
//!
//! Every model counts otherwise; this one is near to most and known to all. It never takes more than linear time, whatever
//! the text is.

use bpe_openai::o200k_base;

use super::chat::Message;

/// Tokens that a chat template adds to a message, about.
const FRAME: usize = 4;

/// Tokens of a text.
pub(super) fn of_text(text: &str) -> usize {
    o200k_base().count(text)
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
