//! A case as a conversation, the way chat templates and trainers take it.
//!
//! One system turn first, then user and assistant in turn, and a prompt ends with the user or a tool. Where all calls of
//! a case are known whole, they are calls with arguments and each is answered; else they are lines of text inside a
//! turn, and no arguments are made up. Nothing is null: what a message lacks is absent.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::case::Turn;
use crate::case::entry::{self, Entry, Told};
use crate::context::budget::{self, cut_middle};
use crate::context::excerpt::{Wants, cut_around};
use crate::context::ground::texts_of;
use crate::context::need::Need;

/// What a model is told of calls that are lines of text.
pub(crate) const LINES: &str = "Tool calls are written as lines of text: the tool with its arguments, then `→` and the beginning of the \
result; `✗` marks a failure.";

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Message {
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
    /// Whether a call of it failed, was refused or stopped, or switches a check off: nothing to learn.
    #[serde(skip)]
    pub failed: bool,
}

/// A call in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ToolCall {
    /// `call_0`, numbered in a row.
    pub id: String,
    /// Always `function`.
    pub r#type: &'static str,
    /// What is called.
    pub function: Function,
}

/// Tool and arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Function {
    /// The tool.
    pub name: String,
    /// An object; in some dialects the same as text.
    pub arguments: Value,
}

impl Function {
    /// Spells the arguments as text.
    pub(crate) fn spell(&mut self) {
        if !self.arguments.is_string() {
            self.arguments = Value::String(self.arguments.to_string());
        }
    }
}

impl Message {
    /// A message with words alone.
    pub(crate) fn text(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), ..Self::default() }
    }
}

/// How much of a context there is room for, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// All of what came before.
    pub context: usize,
    /// One part of it: an answer of a tool, an argument.
    pub part: usize,
    /// A person's words: they stay whole while anything else can be shortened, and longer than that only what was pasted
    /// is cut.
    pub words: usize,
}

impl Room {
    /// From the most to the least.
    pub(crate) const ALL: [Self; 10] = [
        Self::of(16, 6, usize::MAX),
        Self::of(12, 4, usize::MAX),
        Self::of(8, 3, usize::MAX),
        Self::of(5, 2, usize::MAX),
        Self::of(3, 1, usize::MAX),
        Self::of(1, 0, usize::MAX),
        Self::of(8, 3, budget::PART),
        Self::of(5, 2, budget::PART / 2),
        Self::of(3, 1, budget::PART / 4),
        Self::of(1, 0, budget::PART / 10),
    ];

    /// Characters of these words.
    const fn words(self, words: &str) -> usize {
        if words.len() > budget::PASTED { self.words } else { usize::MAX }
    }

    /// So many thousand characters.
    const fn of(context: usize, part: usize, words: usize) -> Self {
        Self { context: context * 1_000, part: if part == 0 { budget::PART / 10 } else { part * 1_000 }, words }
    }
}

/// All contents of messages as one text.
pub(crate) fn flat(messages: &[Message]) -> String {
    entry::paragraphs(messages.iter().map(|message| message.content.as_str()))
}

/// One thing of a context.
#[derive(Clone, Copy, Debug)]
enum ChatPiece<'a> {
    /// Words, and whether they only stand there for what was done upon them.
    Asked(&'a str, bool),
    Entry(&'a Entry),
    /// So many steps or turns are left out.
    Gap(usize),
}

/// A conversation in the making.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) messages: Vec<Message>,
    /// Whether calls are calls.
    full: bool,
    calls: usize,
    /// Steps left out since the last message.
    gap: usize,
}

impl Chat {
    /// Opens with what a model is told first.
    pub(crate) fn new(system: &str, full: bool, told: bool) -> Self {
        let lines = if full || !told { "" } else { LINES };
        let system = entry::paragraphs([system, lines]);
        Self { messages: vec![Message::text("system", system)], full, calls: 0, gap: 0 }
    }

    /// An answer to this conversation: nothing in it yet, and calls are numbered on.
    pub(crate) fn answer(&self) -> Self {
        Self { messages: Vec::new(), full: self.full, calls: self.calls, gap: 0 }
    }

    /// What came before, as much of it as there is room for: what the answer needs, its beginning and its end. With
    /// `open` the last words of the agent are left out, since it is about to say something else.
    pub(crate) fn context(&mut self, turns: &[Turn], room: Room, open: bool, need: &Need) {
        let mut pieces = pieces(turns, need);
        while open && matches!(pieces.last(), Some((ChatPiece::Entry(entry), _)) if !entry.is_step()) {
            pieces.pop();
        }
        let shown = self.chosen(&pieces, room, need);
        for ((piece, holds), shown) in pieces.iter().zip(shown) {
            let wants = if *holds { &need.wants } else { &Wants::default() };
            match piece {
                ChatPiece::Gap(steps) => self.gap += steps,
                _ if !shown => self.gap += 1,
                ChatPiece::Asked(words, _) => self.say("user", &cut_around(words, room.words(words), wants)),
                ChatPiece::Entry(entry) => self.entry(entry, room.part, (usize::MAX, room.part), wants),
            }
        }
    }

    /// Which pieces are shown: what the answer needs, what it is all about, the last things, and then words of the
    /// person.
    fn chosen(&self, pieces: &[(ChatPiece<'_>, bool)], room: Room, need: &Need) -> Vec<bool> {
        let own = |piece: &ChatPiece<'_>| matches!(piece, ChatPiece::Asked(_, false));
        let first = pieces.iter().position(|(piece, _)| own(piece));
        let asked = pieces.iter().rposition(|(piece, _)| own(piece));
        let end = pieces.iter().rposition(|(piece, _)| !matches!(piece, ChatPiece::Gap(_)));
        let must = |at: usize| pieces[at].1 || [first, asked, end].contains(&Some(at));
        let mut shown: Vec<bool> = (0..pieces.len()).map(must).collect();
        let size = |at: usize| self.size(pieces[at], room, need);
        let taken: usize = (0..pieces.len()).filter(|&at| shown[at] && Some(at) != first).map(size).sum();
        let mut left = room.context.saturating_sub(taken);
        let mut behind = true;
        for at in (0..pieces.len()).rev().filter(|&at| !must(at)) {
            if behind || matches!(pieces[at].0, ChatPiece::Asked(..)) {
                let fits = size(at) <= left;
                shown[at] = fits;
                left -= if fits { size(at) } else { 0 };
                behind &= fits;
            }
        }
        // A conversation opens with the person.
        let opens = (0..pieces.len()).find(|&at| shown[at] && !matches!(pieces[at].0, ChatPiece::Gap(_)));
        if let Some(asked) =
            opens.and_then(|at| (0..=at).rev().find(|&at| matches!(pieces[at].0, ChatPiece::Asked(..))))
        {
            shown[asked] = true;
        }
        shown
    }

    fn size(&self, (piece, holds): (ChatPiece<'_>, bool), room: Room, need: &Need) -> usize {
        let cut =
            |text: &str, max: usize| if holds { cut_around(text, max, &need.wants).len() } else { text.len().min(max) };
        match piece {
            ChatPiece::Gap(_) => 0,
            ChatPiece::Asked(words, _) => cut(words, room.words(words)),
            ChatPiece::Entry(entry) => match entry.whole().filter(|_| self.full) {
                Some(call) => {
                    let mut size = cut(call.output.as_deref().unwrap_or_default(), room.part);
                    call.arguments.values().for_each(|value| texts_of(value, &mut |text| size += cut(text, room.part)));
                    size
                }
                None => entry.text().len().min(room.part),
            },
        }
    }

    /// Something that was done; what tools answered within `part`, words and lines within `own`, and its arguments within
    /// `given`; of what is cut what is wanted stays.
    pub(crate) fn entry(&mut self, entry: &Entry, part: usize, (own, given): (usize, usize), wants: &Wants) {
        let own = own.max(part);
        match (entry.whole().filter(|_| self.full), &entry.told) {
            (Some(call), _) => {
                let mut arguments = Value::Object(call.arguments.clone());
                crate::case::call::texts_of("", &mut arguments, &mut |_, text| {
                    if let Cow::Owned(cut) = cut_around(text, given.max(part), wants) {
                        *text = cut;
                    }
                });
                let output = cut_around(call.output.as_deref().unwrap_or_default(), part, wants).into_owned();
                self.call(&call.name, arguments, output);
                let failed = entry.is_failed() || entry.takes_shortcut();
                if let [.., called, _] = self.messages.as_mut_slice() {
                    called.failed = failed;
                }
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
    pub(crate) fn respond(&mut self, text: &str) {
        match self.messages.last_mut() {
            Some(last) if last.role == "tool" => last.content = entry::paragraphs([last.content.as_str(), text]),
            _ => self.say("user", text),
        }
    }

    /// Adds to the turn of a role, or opens it; a conversation opens with the user.
    pub(crate) fn say(&mut self, role: &'static str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let gap = self.take_gap();
        let gap = if role == "user" { self.tell_gap(gap) } else { gap };
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

    /// Says what is left out at the end of the agent's turn: no mark stands in the words of a person. Gives it back
    /// where there is no turn before.
    fn tell_gap(&mut self, gap: String) -> String {
        match self.messages.last_mut() {
            Some(last) if !gap.is_empty() && last.role != "system" => {
                if last.role == "assistant" && last.tool_calls.is_empty() {
                    last.content = entry::paragraphs([last.content.as_str(), &gap]);
                } else {
                    self.messages.push(Message::text("assistant", gap));
                }
                String::new()
            }
            _ => gap,
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
            steps => format!("[… {} left out …]", cru_base::text::plural(steps as u64, "step")),
        }
    }

    /// The messages of an answer: what a tool says at its end is nobody's to learn.
    pub(crate) fn trained(mut self) -> Vec<Message> {
        while self.messages.last().is_some_and(|last| last.role == "tool") {
            self.messages.pop();
        }
        self.messages
    }
}

/// The pieces of a context, each with whether the answer needs something of it.
fn pieces<'a>(turns: &'a [Turn], need: &Need) -> Vec<(ChatPiece<'a>, bool)> {
    let mut pieces = Vec::new();
    let mut number = 0;
    let mut add = |piece| {
        let counts = !matches!(piece, ChatPiece::Gap(_));
        pieces.push((piece, counts && need.holds(number)));
        number += usize::from(counts);
    };
    for turn in turns {
        if turn.skipped_before > 0 {
            add(ChatPiece::Gap(turn.skipped_before));
        }
        add(ChatPiece::Asked(&turn.asked, turn.extra));
        for (at, entry) in turn.done.iter().enumerate() {
            if turn.gap(at) > 0 {
                add(ChatPiece::Gap(turn.gap(at)));
            }
            add(ChatPiece::Entry(entry));
        }
    }
    pieces
}

/// Whether the text ends inside a list.
fn last_line_is_item(text: &str) -> bool {
    text.lines().next_back().is_some_and(|line| line.starts_with("- ") || line.starts_with("  "))
}
