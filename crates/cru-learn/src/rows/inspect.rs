//! Puzzles as samples of the evaluation framework Inspect: `id`, `input`, `target`, `metadata`.
//!
//! The input ends with the failure (or the person's words) and a question, the target is the recorded answer, and
//! `metadata.failure` is the answer that must not score. A list of words that the answer must hold is given only where
//! the note's own author set them apart as code in a resolution; everything else needs a grader that reads.

use serde::Serialize;
use serde_json::Value;

use crate::case::left_out::Reason;
use crate::case::{Case, Story};
use crate::case::{action, entry};
use crate::rows::chat::{Message, flat};
use crate::rows::example::{self, End};
use crate::rows::row::Metadata;

/// The question that ends every input.
const QUESTION: &str = "What do you do next?";

/// Lengths of words, in characters, that are worth asking for.
const WORD: std::ops::RangeInclusive<usize> = 3..=60;

/// One sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Id of the case.
    pub id: String,
    /// The conversation up to the failure.
    pub input: Vec<Value>,
    /// The recorded answer.
    pub target: String,
    /// For graders and for filtering.
    pub metadata: SampleMetadata,
    /// The conversation as messages of ours.
    #[serde(skip)]
    messages: Vec<Message>,
}

/// What graders want, then what every row has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SampleMetadata {
    /// What did not work.
    pub failure: String,
    /// Words that a right answer holds; empty where a grader must read.
    pub must_include: Vec<String>,
    /// Words that only a wrong answer holds; empty where a grader must read.
    pub must_not_include: Vec<String>,
    /// What every row has.
    #[serde(flatten)]
    pub common: Metadata,
}

impl Sample {
    /// What a model is told first, and all that follows as one text.
    pub(crate) fn told(&self) -> (String, String) {
        let mut system = String::new();
        let mut parts = Vec::new();
        for message in &self.messages {
            match message.role {
                "system" => system.clone_from(&message.content),
                "user" => parts.push(message.content.clone()),
                "tool" => parts.push(format!("→ {}", message.content)),
                _ => {
                    let calls = message.tool_calls.iter().map(|call| {
                        let line = format!("{} {}", call.function.name, call.function.arguments);
                        format!("- {}", entry::code_span(&line))
                    });
                    let calls: Vec<String> = calls.collect();
                    parts.push(entry::paragraphs([message.content.as_str(), &calls.join("\n")]));
                }
            }
        }
        (system, entry::paragraphs(parts.iter().map(String::as_str)))
    }
}

/// The sample of a case, or why it is none.
pub(crate) fn sample(case: &Case, options: example::PromptOptions<'_>) -> Result<Sample, Reason> {
    let target = target(case).ok_or(Reason::Unanswered)?;
    let failure = case.failure();
    let example = example::example(case, End::After, options)?;
    let mut messages = example.prompt;
    let calls: Vec<String> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| call.function.arguments.to_string())
        .collect();
    let asked = format!("{}\n{}\n{failure}", flat(&messages), calls.join("\n")).to_lowercase();
    let wanted = target.trim().to_lowercase();
    if failure.trim().is_empty() || asked.contains(&wanted) || failure.to_lowercase().contains(&wanted) {
        return Err(Reason::GivenAway);
    }
    match messages.last_mut() {
        Some(last) if last.role == "user" => last.content = entry::paragraphs([last.content.as_str(), QUESTION]),
        _ => messages.push(Message::text("user", QUESTION)),
    }
    let must_include = words(case, &asked);
    let common = Metadata::of(case, example.tokens, false);
    let metadata = SampleMetadata { failure, must_include, must_not_include: Vec::new(), common };
    let input = messages.iter().map(as_inspect).collect();
    Ok(Sample { id: case.id.clone(), input, target, metadata, messages })
}

/// The recorded answer, each edit with its difference where that is known.
fn target(case: &Case) -> Option<String> {
    if case.edits.as_ref().is_some_and(|edits| edits.expected.is_some()) {
        return case.answer();
    }
    let mut text = entry::paragraphs([case.expected.as_str(), case.said()]);
    let mut in_list = false;
    for entry in case.done().iter().filter(|entry| !entry.is_blank()) {
        let own = entry.text();
        let own = if entry.is_step() { format!("- {}", own.replace('\n', "\n  ")) } else { own.trim().to_owned() };
        let gap = if text.is_empty() {
            ""
        } else if in_list && entry.is_step() {
            "\n"
        } else {
            "\n\n"
        };
        text = format!("{text}{gap}{own}");
        let changes: Vec<String> = entry.changes().iter().map(action::diff).collect();
        in_list = entry.is_step() && changes.is_empty();
        for change in changes {
            text = format!("{text}\n\n{change}");
        }
    }
    (!text.is_empty()).then_some(text)
}

/// A message in Inspect's own words: a call names its function directly.
fn as_inspect(message: &Message) -> Value {
    let mut value = serde_json::json!({ "role": message.role, "content": message.content });
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|call| {
            serde_json::json!({
                "id": call.id,
                "type": "function",
                "function": call.function.name,
                "arguments": call.function.arguments,
            })
        });
        value["tool_calls"] = Value::Array(calls.collect());
    }
    if message.role == "tool" {
        value["tool_call_id"] = Value::String(message.tool_call_id.clone());
        value["function"] = Value::String(message.name.clone());
    }
    value
}

/// What the author of a resolution wrote as code and the question does not give away.
fn words(case: &Case, asked: &str) -> Vec<String> {
    let Story::Puzzle(puzzle) = &case.story else { return Vec::new() };
    if case.edits.is_some() {
        return Vec::new();
    }
    let resolution = puzzle.resolution.as_deref().unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    for word in resolution.split('`').skip(1).step_by(2) {
        let fits = WORD.contains(&word.chars().count()) && !word.contains(['\n', '…']) && word.trim() == word;
        // A link to a step became its call: nobody can be asked to repeat that.
        let linked = puzzle.fix.iter().any(|entry| entry.text().contains(&format!("`{word}`")));
        if fits && !linked && !asked.contains(&word.to_lowercase()) && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}
