//! A case as what is learned from: a prompt, the right answer, the wrong one where there is one, and the tools.
//!
//! The neutral form that every dialect is written from. It fits into so many tokens: contexts lose their middle, and an
//! answer that does not fit even then makes no example, since nobody learns from half an answer.

use std::borrow::Cow;

use crate::case::entry::{self, Entry};
use crate::case::left_out::Reason;
use crate::case::{Case, Fidelity, Story};
use crate::context::need::Need;
use crate::context::shown;
use crate::rows::chat::{Chat, Message, Room};
use crate::rows::template::ChatTemplate;
use crate::rows::tokens;
use cru_session::words::list::AGREEMENT;

/// Something to learn from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Example {
    /// Up to where the answer begins; `system` first, and `user` or `tool` last.
    pub prompt: Vec<Message>,
    /// The right answer; empty where the record has none.
    pub chosen: Vec<Message>,
    /// The wrong answer to the same prompt; empty where it is none.
    pub rejected: Vec<Message>,
    /// What could be called, as JSON: a list of functions.
    pub tools: String,
    /// All of it in tokens, the longer answer counted.
    pub tokens: usize,
    /// Whether what the right answer builds on stands before it.
    pub shown: bool,
}

/// What a prompt ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The failure, or the person's words: what the right answer was an answer to.
    After,
    /// What came before the agent went wrong: right and wrong can be compared.
    Before,
}

/// How examples are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptOptions<'a> {
    /// What a model is told first.
    pub system: &'a str,
    /// Tokens of a row.
    pub max_tokens: usize,
    /// Whether calls are told as lines of text even where they are known whole.
    pub lines: bool,
    /// The chat templates that it is written for.
    pub template: ChatTemplate,
}

/// The example of a case.
pub(crate) fn example(case: &Case, end: End, options: PromptOptions<'_>) -> Result<Example, Reason> {
    let full = case.fidelity == Fidelity::Full && !options.lines;
    let need = if full { Need::of(case) } else { Need::default() };
    // What is shown of less room may still be all that the answer needs.
    let mut first = None;
    for room in Room::ALL {
        let made = within(case, end, options, room, &need)?;
        if made.tokens <= options.max_tokens {
            if made.shown {
                return Ok(made);
            }
            first = first.or(Some(made));
        }
    }
    first.ok_or(Reason::TooLong)
}

fn within(case: &Case, end: End, options: PromptOptions<'_>, room: Room, need: &Need) -> Result<Example, Reason> {
    let full = case.fidelity == Fidelity::Full && !options.lines;
    let edits = case.edits.as_ref();
    let mut chat = Chat::new(options.system, full, case.fidelity != Fidelity::None);
    match edits.and_then(|edits| edits.context.as_deref()) {
        Some(text) => chat.say("user", text),
        None if end == End::Before && !full => {
            for_comparison(&mut chat, case, room);
        }
        None => chat.context(&case.context, room, end == End::Before, need),
    }
    let failure = edits.and_then(|edits| edits.failure.as_deref());
    let mut chosen = chat.answer();
    let mut rejected = chat.answer();
    match &case.story {
        Story::Puzzle(it) if end == End::After => match (failure, &it.step) {
            (Some(text), _) => chat.say("user", text),
            (None, Some(step)) if full => {
                chat.entry(step, room.part, (room.part, room.part), &need.wants);
                chat.respond(&it.error());
            }
            (None, step) => {
                if let Some(Entry { told: entry::Told::Step { call, result, .. }, .. }) = step {
                    chat.say("assistant", &format!("- {}", call.replace('\n', "\n  ")));
                    let result = if result.is_empty() { "✗" } else { result.as_str() };
                    chat.say("user", &entry::paragraphs([result, &it.error()]));
                } else {
                    chat.say("user", &it.error());
                }
            }
        },
        Story::Puzzle(it) => {
            if let Some(step) = &it.step {
                act(&mut rejected, &[step.proposed()], full, room, need);
            }
        }
        Story::Correction(it) | Story::Preference(it) => {
            let words = edits.and_then(|edits| edits.words.as_deref()).unwrap_or(&it.words);
            let proposed: Vec<Entry> = match it.behaviour.iter().position(Entry::is_refused) {
                // Calls that were made at once were refused together: the first stands for them.
                Some(first) => it.behaviour[..=first].iter().map(Entry::proposed).collect(),
                None => it.behaviour.clone(),
            };
            match (end, failure) {
                (End::After, Some(text)) => chat.say("assistant", text),
                (End::After, None) => {
                    for entry in &it.behaviour {
                        chat.entry(entry, room.part, (room.part, room.part), &need.wants);
                    }
                }
                (End::Before, Some(text)) => rejected.say("assistant", text),
                (End::Before, None) => act(&mut rejected, &proposed, full, room, need),
            }
            if end == End::After && case.between.is_empty() {
                chat.say("user", words);
            }
        }
        Story::Demonstration(_) | Story::Trajectory => {}
    }
    if end == End::After {
        for turn in &case.between {
            chat.say("user", &turn.asked);
            turn.done.iter().for_each(|entry| chat.entry(entry, room.part, (room.part, room.part), &need.wants));
        }
    }
    // Calls of the answer are numbered on from those of the prompt.
    if end == End::After {
        chosen = chat.answer();
    }
    if let Some(text) = edits.and_then(|edits| edits.expected.as_deref()) {
        chosen.say("assistant", text);
    } else {
        right(&mut chosen, case, end, full, room, need);
    }
    let [prompt, chosen, rejected] =
        [chat.messages, chosen.trained(), rejected.trained()].map(|messages| options.template.shaped(messages));
    if chosen == rejected && !chosen.is_empty() {
        return Err(Reason::Unchanged);
    }
    let tools = if full { case.tools.to_string() } else { "[]".to_owned() };
    let tokens = tokens::of_text(&tools)
        + tokens::of_messages(&prompt)
        + tokens::of_messages(&chosen).max(tokens::of_messages(&rejected));
    let knows = case.accepted || edits.is_some();
    let shown = knows || !full || shown::is_shown(&prompt, &chosen, &case.recalled);
    Ok(Example { prompt, chosen, rejected, tools, tokens, shown })
}

/// What is right, as the record has it. The prompt of a comparison does not hold the correction: what opens by agreeing
/// with it loses those words.
fn right(chosen: &mut Chat, case: &Case, end: End, full: bool, room: Room, need: &Need) {
    let compared = end == End::Before;
    let agreeing = |text: &str| if compared { without_agreement(text).to_owned() } else { text.to_owned() };
    chosen.say("assistant", &agreeing(case.said()));
    let plain = |entry: &Entry| match &entry.told {
        entry::Told::Prose(text) => Entry { block: entry.block.clone(), told: entry::Told::Prose(agreeing(text)) },
        _ => entry.clone(),
    };
    let done: Cow<'_, [Entry]> = match case.done() {
        done if compared => Cow::Owned(done.iter().map(plain).collect()),
        done => Cow::Borrowed(done),
    };
    act(chosen, &done, full, room, need);
}

/// What is trained on: never cut but for what tools answered, and as lines of text without that.
fn act(answer: &mut Chat, entries: &[Entry], full: bool, room: Room, need: &Need) {
    for entry in entries.iter().filter(|entry| !entry.is_blank()) {
        let acted = if full && entry.whole().is_some() { entry.clone() } else { entry.acted() };
        answer.entry(&acted, room.part, (usize::MAX, usize::MAX), &need.wants);
    }
}

/// As lines of text a prompt ends with the user: what was already done in this turn stands below what was asked.
fn for_comparison(chat: &mut Chat, case: &Case, room: Room) {
    let mut context = case.context.clone();
    if let Some(last) = context.last_mut().filter(|last| !last.done.is_empty()) {
        let done = last.done();
        last.done.clear();
        last.gaps.clear();
        last.asked = format!(
            "{}\n\nDone so far:\n\n{}",
            last.asked,
            crate::context::budget::cut_middle(&done, room.context / 2)
        );
    }
    let words = room.words.max(room.part + room.context / 2);
    chat.context(&context, Room { words, ..room }, true, &Need::default());
}

/// A text without sentences at its beginning that only agree.
fn without_agreement(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let Some(end) = rest.find(['.', '!', '\n', '—', ':']) else { return rest };
        let sentence = rest[..end].trim();
        let after = rest[end..].trim_start_matches(['.', '!', '—', ':']).trim_start();
        if after.is_empty() || !AGREEMENT.has(sentence) {
            return rest;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_goes() {
        let table = [
            ("You're absolutely right! We don't need it.", "We don't need it."),
            ("Good point. Sorry about that. Here it is.", "Here it is."),
            ("You're right that the test is wrong.", "You're right that the test is wrong."),
            ("Oh no! You're absolutely right. The header is back.", "The header is back."),
            ("Sorry, you're right. The bug is there.", "The bug is there."),
            ("Good calls — both fields stay.", "both fields stay."),
            ("Thank you for the clarifications! The plan is shorter.", "The plan is shorter."),
            ("Right, here it is.", "Right, here it is."),
            ("Understood.", "Understood."),
            ("Understood", "Understood"),
            ("Sure:\n- `Edit a`", "- `Edit a`"),
            ("I make a new commit.", "I make a new commit."),
        ];
        for (text, rest) in table {
            assert_eq!(without_agreement(text), rest);
        }
    }
}
