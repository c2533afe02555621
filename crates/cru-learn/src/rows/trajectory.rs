//! A whole session as one conversation: all words, all calls with their results, under the names that the host gives its
//! tools, and a mask for turns that are not to be learned.
//!
//! Of a session that is too long first what tools answered is shortened, then whole turns at its end are left out.

use serde_json::json;

use crate::case::left_out::Reason;
use crate::case::{Case, Turn};
use crate::context::excerpt::Wants;
use crate::export::format::Options;
use crate::rows::chat::{Chat, Message};
use crate::rows::row::{Dialect, Metadata, Row};
use crate::rows::tokens;

/// Characters of what a tool answers, from the most to the least.
const PARTS: [usize; 4] = [16_000, 6_000, 2_000, 600];

/// The row of a session, and its tokens.
pub(crate) fn row(case: &Case, options: Options<'_>) -> Result<(Row, usize), Reason> {
    let tools = tokens::of_text(&case.tools);
    let mut room = options.max_tokens.saturating_sub(tools);
    let (mut messages, mut ends) = (Vec::new(), Vec::new());
    for part in PARTS {
        (messages, ends) = conversation(case, options.layouts.prompt, part);
        if size(&messages, options) <= room {
            break;
        }
    }
    let shown = (0..=ends.len()).rev().find(|&turns| {
        let end = turns.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or_default();
        size(&messages[..end], options) <= room
    });
    let shown = shown.unwrap_or_default();
    messages.truncate(shown.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or_default());
    // What a tool or the person says last is nobody's to learn.
    while messages.last().is_some_and(|last| last.role != "assistant") {
        messages.pop();
    }
    let messages = options.template.shaped(messages);
    if messages.is_empty() {
        return Err(Reason::TooLong);
    }
    room = tokens::of_messages(&messages) + tools;
    let mut metadata = Metadata::of(case, room, false);
    metadata.complete = shown == ends.len();
    Ok((Row::trajectory(&messages, &mask(&messages), options.dialect, case, &metadata), room))
}

/// All of a session, and how many messages it has behind each turn.
fn conversation(case: &Case, system: &str, part: usize) -> (Vec<Message>, Vec<usize>) {
    let mut chat = Chat::new(system, true, false);
    let add = |turn: &Turn| {
        chat.say("user", &turn.asked);
        for entry in turn.done.iter().filter(|entry| !entry.is_blank()) {
            chat.entry(entry, part, (usize::MAX, usize::MAX), &Wants::default());
        }
        chat.messages.len()
    };
    let ends = case.context.iter().map(add).collect();
    (chat.messages, ends)
}

fn size(messages: &[Message], options: Options<'_>) -> usize {
    tokens::of_messages(&options.template.shaped(messages.to_vec()))
}

/// 1 for each message that is learned: the agent's, but for calls that failed, were refused or stopped.
fn mask(messages: &[Message]) -> Vec<u8> {
    messages.iter().map(|message| u8::from(message.role == "assistant" && !message.failed)).collect()
}

impl Row {
    fn trajectory(messages: &[Message], mask: &[u8], dialect: Dialect, case: &Case, metadata: &Metadata) -> Self {
        let (key, on): (&str, fn(u8) -> serde_json::Value) = match dialect {
            Dialect::Hf => ("", |_| json!(null)),
            Dialect::Openai => ("weight", |learned| json!(learned)),
            Dialect::Axolotl => ("train", |learned| json!(learned == 1)),
        };
        let mut spelled = crate::rows::row::written(messages, dialect);
        for (message, learned) in spelled.iter_mut().zip(mask) {
            if !key.is_empty() && (message["role"] == "assistant" || dialect == Dialect::Axolotl) {
                message[key] = on(*learned);
            }
        }
        let mut value = json!({ "messages": spelled });
        match dialect {
            Dialect::Openai => value = crate::rows::row::with_tools(value, &case.tools),
            Dialect::Hf | Dialect::Axolotl => value["tools"] = json!(&*case.tools),
        }
        if dialect == Dialect::Hf {
            value["mask"] = json!(mask);
        }
        Self::finished(value, usize::from(!messages.is_empty()), dialect, metadata)
    }
}
