//! A case as a conversation, the way chat templates and trainers take it.
//!
//! One system turn first, then user and assistant in turn, and the prompt ends with the user. Tool calls are text lines
//! inside a turn, since a note holds no arguments with types; what a tool answered to the failing call is a user turn.
//! No message is empty and none is null.

use serde::Serialize;

use super::budget::{self, cut_middle};
use super::case::{Case, Puzzle, Story, Turn};
use super::entry::{self, Told};

/// What a model is told about the form of the text, where a vault says nothing else.
#[cfg(test)]
pub const SYSTEM: &str = "You are a coding agent. Your tool calls are written as lines of text: the tool with its \
arguments, then `→` and the beginning of the result; `✗` marks a failure.";

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: &'static str,
    /// The text, never empty.
    pub content: String,
}

/// The prompt that the right answer follows: with the correction, where a person gave one, else up to the failure.
pub fn prompt(case: &Case, system: &str) -> Vec<Message> {
    let mut chat = Chat::new(&case.context, system);
    match &case.story {
        Story::Puzzle(puzzle) => chat.failed(puzzle),
        Story::Correction(it) => {
            chat.say("assistant", &cut_middle(&entry::join(&it.behaviour), budget::PART));
            chat.say("user", &cut_middle(&it.words, budget::PART));
        }
    }
    chat.messages
}

/// The prompt before the agent went wrong, so that right and wrong answers can be compared.
pub fn prompt_before(case: &Case, system: &str) -> Vec<Message> {
    let mut context = case.context.clone();
    // A prompt ends with the user: what was already done in this turn stands below what was asked.
    if let Some(last) = context.last_mut().filter(|last| !last.done.is_empty()) {
        let done = last.done();
        last.done.clear();
        last.skipped_done = 0;
        last.asked = format!("{}\n\nDone so far:\n\n{}", last.asked, cut_middle(&done, budget::CONTEXT / 2));
    }
    Chat::new(&context, system).messages
}

/// One assistant message.
pub fn assistant(text: String) -> Vec<Message> {
    vec![Message { role: "assistant", content: text }]
}

/// All contents of a prompt as one text.
pub fn flat(messages: &[Message]) -> String {
    entry::paragraphs(messages.iter().map(|message| message.content.as_str()))
}

struct Chat {
    messages: Vec<Message>,
}

impl Chat {
    /// The system turn and the turns of a context, within the budget.
    fn new(context: &[Turn], system: &str) -> Self {
        let mut chat = Self { messages: vec![Message { role: "system", content: system.to_owned() }] };
        let parts: Vec<(&str, String)> =
            context.iter().flat_map(|turn| [("user", turn.asked.clone()), ("assistant", turn.done())]).collect();
        let lengths: Vec<usize> = parts.iter().map(|(_, text)| text.chars().count()).collect();
        let shares = budget::share(&lengths, budget::CONTEXT);
        for (index, ((role, text), share)) in parts.iter().zip(shares).enumerate() {
            let skipped = context.get(index / 2).map_or(0, |turn| turn.skipped_turns);
            if skipped > 0 && index % 2 == 0 {
                let turns = crate::base::text::plural(skipped as u64, "turn");
                chat.say(role, &format!("[… {turns} left out …]\n\n{}", cut_middle(text, share)));
            } else {
                chat.say(role, &cut_middle(text, share));
            }
        }
        chat
    }

    /// The failing call as the agent's, its result and the error as the answer.
    fn failed(&mut self, puzzle: &Puzzle) {
        let mut answer = String::new();
        if let Some(step) = &puzzle.step
            && let Told::Step { call, result, .. } = &step.told
        {
            self.say("assistant", &format!("- {}", cut_middle(call, budget::PART).replace('\n', "\n  ")));
            answer = if result.is_empty() { "✗".to_owned() } else { result.clone() };
        }
        self.say("user", &cut_middle(&entry::paragraphs([answer.as_str(), &puzzle.error()]), budget::PART));
    }

    /// Adds to the turn of a role, or opens it; a conversation opens with the user.
    fn say(&mut self, role: &'static str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == role => {
                // Lists go on as one list.
                let list = role == "assistant" && text.starts_with("- ") && last_line_is_item(&last.content);
                last.content.push_str(if list { "\n" } else { "\n\n" });
                last.content.push_str(text);
            }
            Some(last) if last.role == "system" && role == "assistant" => {
                self.messages.push(Message { role: "user", content: "Go on.".to_owned() });
                self.messages.push(Message { role, content: text.to_owned() });
            }
            _ => self.messages.push(Message { role, content: text.to_owned() }),
        }
    }
}

/// Whether the text ends inside a list.
fn last_line_is_item(text: &str) -> bool {
    text.lines().next_back().is_some_and(|line| line.starts_with("- ") || line.starts_with("  "))
}
