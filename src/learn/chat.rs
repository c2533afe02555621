//! A case as a conversation, the way chat templates and trainers take it.
//!
//! One system turn first, then user and assistant in turn, and a prompt ends with the user or a tool. Where all calls of
//! a case are known whole, they are calls with arguments and each is answered; else they are lines of text inside a
//! turn, and no arguments are made up. Nothing is null: what a message lacks is absent.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::budget::{self, cut_middle};
use super::case::Turn;
use super::entry::{self, Entry, Told};

/// What a model is told of calls that are lines of text.
pub const LINES: &str = "Tool calls are written as lines of text: the tool with its arguments, then `→` and the beginning of the \
result; `✗` marks a failure.";

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The text; empty for a call without words and for an answer that is not recorded.
    pub content: String,
    /// What is called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Which call it answers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool_call_id: String,
    /// Which tool answers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// A call in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// `call_0`, numbered in a row.
    pub id: String,
    /// Always `function`.
    pub r#type: &'static str,
    /// What is called.
    pub function: Function,
}

/// Tool and arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Function {
    /// The tool.
    pub name: String,
    /// An object; in some dialects the same as text.
    pub arguments: Value,
}

impl Message {
    /// A message with words alone.
    pub fn text(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: String::new(), name: String::new() }
    }
}

/// How much of a context there is room for, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All of what came before.
    pub context: usize,
    /// One part of it: words, an answer of a tool, an argument.
    pub part: usize,
}

impl Room {
    /// From the most to the least.
    pub const ALL: [Self; 4] = [
        Self { context: budget::CONTEXT * 2, part: budget::PART },
        Self { context: budget::CONTEXT, part: budget::PART / 2 },
        Self { context: budget::CONTEXT / 3, part: budget::PART / 4 },
        Self { context: budget::CONTEXT / 8, part: budget::PART / 10 },
    ];
}

/// All contents of messages as one text.
pub fn flat(messages: &[Message]) -> String {
    entry::paragraphs(messages.iter().map(|message| message.content.as_str()))
}

/// One thing of a context.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    Asked(&'a str),
    Entry(&'a Entry),
    /// So many steps or turns are left out.
    Gap(usize),
}

/// A conversation in the making.
#[derive(Debug)]
pub(super) struct Chat {
    pub(super) messages: Vec<Message>,
    /// Whether calls are calls.
    full: bool,
    calls: usize,
    /// Steps left out since the last message.
    gap: usize,
}

impl Chat {
    /// Opens with what a model is told first.
    pub(super) fn new(system: &str, full: bool, told: bool) -> Self {
        let lines = if full || !told { "" } else { LINES };
        let system = entry::paragraphs([system, lines]);
        Self { messages: vec![Message::text("system", system)], full, calls: 0, gap: 0 }
    }

    /// An answer to this conversation: nothing in it yet, and calls are numbered on.
    pub(super) fn answer(&self) -> Self {
        Self { messages: Vec::new(), full: self.full, calls: self.calls, gap: 0 }
    }

    /// What came before, as much of it as there is room for: its beginning and its end. With `open` the last words of
    /// the agent are left out, since it is about to say something else.
    pub(super) fn context(&mut self, turns: &[Turn], room: Room, open: bool) {
        let mut pieces = pieces(turns);
        while open && matches!(pieces.last(), Some(Piece::Entry(entry)) if !entry.is_step()) {
            pieces.pop();
        }
        let mut left = room.context;
        let mut from = pieces.len();
        while from > 1 {
            let size = self.size(pieces[from - 1], room);
            if size > left {
                break;
            }
            left -= size;
            from -= 1;
        }
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Gap(steps) => self.gap += steps,
                _ if index > 0 && index < from => self.gap += 1,
                Piece::Asked(words) => self.say("user", &cut_middle(words, room.part)),
                Piece::Entry(entry) => self.entry(entry, room.part, usize::MAX),
            }
        }
        self.gap = 0;
    }

    fn size(&self, piece: Piece<'_>, room: Room) -> usize {
        match piece {
            Piece::Gap(_) => 0,
            Piece::Asked(words) => words.len().min(room.part),
            Piece::Entry(entry) => match entry.whole().filter(|_| self.full) {
                Some(call) => {
                    let arguments = call.arguments.values().map(|value| value.to_string().len().min(room.part));
                    arguments.sum::<usize>() + call.output.as_ref().map_or(0, String::len).min(room.part)
                }
                None => entry.text().len().min(room.part),
            },
        }
    }

    /// Something that was done; texts of tools within `part`, and its own arguments within `own`.
    pub(super) fn entry(&mut self, entry: &Entry, part: usize, own: usize) {
        let own = own.max(part);
        match (entry.whole().filter(|_| self.full), &entry.told) {
            (Some(call), _) => {
                let mut arguments = Value::Object(call.arguments.clone());
                super::whole::texts_of("", &mut arguments, &mut |_, text| {
                    if let Cow::Owned(cut) = cut_middle(text, own) {
                        *text = cut;
                    }
                });
                let output = cut_middle(call.output.as_deref().unwrap_or_default(), part).into_owned();
                self.call(&call.name, arguments, output);
            }
            // What a note says of the work is no part of a conversation with calls.
            (None, Told::Remark(_)) if self.full => {}
            (None, Told::Step { .. }) => {
                self.say("assistant", &format!("- {}", cut_middle(&entry.text(), own).replace('\n', "\n  ")));
            }
            (None, Told::Prose(text) | Told::Remark(text)) => self.say("assistant", &cut_middle(text.trim(), own)),
        }
    }

    /// A call and its answer; the words before it are of the same turn.
    fn call(&mut self, name: &str, arguments: Value, output: String) {
        let id = format!("call_{}", self.calls);
        self.calls += 1;
        let call =
            ToolCall { id: id.clone(), r#type: "function", function: Function { name: name.to_owned(), arguments } };
        let gap = self.take_gap();
        match self.messages.last_mut() {
            Some(last) if last.role == "assistant" && last.tool_calls.is_empty() && gap.is_empty() => {
                last.tool_calls.push(call);
            }
            _ => {
                self.open();
                self.messages.push(Message { tool_calls: vec![call], ..Message::text("assistant", gap) });
            }
        }
        let name = name.to_owned();
        self.messages.push(Message { tool_call_id: id, name, ..Message::text("tool", output) });
    }

    /// Adds to the answer of the last call, else says it as the user.
    pub(super) fn respond(&mut self, text: &str) {
        match self.messages.last_mut() {
            Some(last) if last.role == "tool" => last.content = entry::paragraphs([last.content.as_str(), text]),
            _ => self.say("user", text),
        }
    }

    /// Adds to the turn of a role, or opens it; a conversation opens with the user.
    pub(super) fn say(&mut self, role: &'static str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let gap = self.take_gap();
        let text = if gap.is_empty() { text.to_owned() } else { format!("{gap}\n\n{text}") };
        match self.messages.last_mut() {
            Some(last) if last.role == role && last.tool_calls.is_empty() => {
                // Lists go on as one list.
                let list = role == "assistant" && text.starts_with("- ") && last_line_is_item(&last.content);
                last.content.push_str(if list { "\n" } else { "\n\n" });
                last.content.push_str(&text);
            }
            _ => {
                if role == "assistant" {
                    self.open();
                }
                self.messages.push(Message::text(role, text));
            }
        }
    }

    /// A conversation in which the agent would speak first begins with a word of the user.
    fn open(&mut self) {
        if self.messages.last().is_some_and(|last| last.role == "system") {
            self.messages.push(Message::text("user", "Go on."));
        }
    }

    fn take_gap(&mut self) -> String {
        match std::mem::take(&mut self.gap) {
            0 => String::new(),
            steps => format!("[… {} left out …]", crate::base::text::plural(steps as u64, "step")),
        }
    }

    /// The messages of an answer: what a tool says at its end is nobody's to learn.
    pub(super) fn trained(mut self) -> Vec<Message> {
        while self.messages.last().is_some_and(|last| last.role == "tool") {
            self.messages.pop();
        }
        self.messages
    }
}

fn pieces(turns: &[Turn]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for turn in turns {
        if turn.skipped_turns > 0 {
            pieces.push(Piece::Gap(turn.skipped_turns));
        }
        pieces.push(Piece::Asked(&turn.asked));
        let split = if turn.skipped_done > 0 { turn.done.len().saturating_sub(budget::LAST) } else { turn.done.len() };
        pieces.extend(turn.done[..split].iter().map(Piece::Entry));
        if turn.skipped_done > 0 {
            pieces.push(Piece::Gap(turn.skipped_done));
        }
        pieces.extend(turn.done[split..].iter().map(Piece::Entry));
    }
    pieces
}

/// Whether the text ends inside a list.
fn last_line_is_item(text: &str) -> bool {
    text.lines().next_back().is_some_and(|line| line.starts_with("- ") || line.starts_with("  "))
}
