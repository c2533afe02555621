//! Whether two answers can be compared: both must be answers to the same prompt, which lacks the correction.
//!
//! The better one was made after the person had said more. Where it holds names or numbers that only those words give, or
//! goes on from what only the other one did, the prompt does not let anyone choose it. The answer itself stays one: its
//! own prompt holds the words.

use std::collections::HashSet;

use serde_json::Value;

use crate::case::action::added;
use crate::case::left_out::Reason;
use crate::case::{Case, Evidence};
use crate::rows::chat::Message;
use crate::rows::example::Example;
use cru_action::patch::{self, FilePatch};
use cru_session::attempt::Attempt;
use cru_session::words::shorten::file_name;

impl Case {
    /// Whether right and wrong are known well enough to be compared: a person or a reading says so. What was interrupted
    /// may have been right.
    pub(crate) fn is_comparable(&self) -> bool {
        let judged = self.accepted || self.evidence == Evidence::Reading;
        judged && self.uses.pair && self.correction().is_some_and(|it| it.rule != "interrupted")
    }
}

/// Why the answers of an example are no pair.
pub(crate) fn flaw(case: &Case, example: &Example) -> Option<Reason> {
    let correction = case.correction()?;
    // A person who wrote a part anew has seen both sides.
    if case.edits.is_some() {
        return None;
    }
    let prompt = all_text(&example.prompt);
    if told_later(&correction.words, &written(&example.chosen), &prompt) {
        return Some(Reason::ToldLater);
    }
    builds_on(example, &prompt).then_some(Reason::BuildsOn)
}

/// Whether an answer holds a name or number of the correction that its prompt lacks.
fn told_later(correction: &str, answer: &str, prompt: &str) -> bool {
    let words = |text: &'_ str| -> HashSet<String> {
        let part = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/'));
        let marked = |word: &str| {
            let inner = word.get(1..).unwrap_or_default();
            word.len() > 1
                && (word.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '/'))
                    || inner.contains(|c: char| c.is_uppercase() || c == '.'))
        };
        let words = text.split(part).map(|word| word.trim_matches(['.', '-', '/'])).filter(|word| marked(word));
        words.map(str::to_lowercase).collect()
    };
    let mut quoted: HashSet<String> =
        correction.split('`').skip(1).step_by(2).map(|code| code.trim().to_lowercase()).collect();
    quoted.extend(words(correction));
    quoted.retain(|word| !word.is_empty());
    let (answer, prompt) = (answer.to_lowercase(), prompt.to_lowercase());
    quoted.iter().any(|word| answer.contains(word.as_str()) && !prompt.contains(word.as_str()))
}

/// Contents and arguments of messages.
fn all_text(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        push(message, &mut text);
    }
    text
}

/// What the agent itself wrote.
fn written(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages.iter().filter(|message| message.role == "assistant") {
        push(message, &mut text);
    }
    text
}

fn push(message: &Message, text: &mut String) {
    text.push_str(&message.content);
    text.push('\n');
    for call in &message.tool_calls {
        push_value(&call.function.arguments, text);
    }
}

fn push_value(value: &Value, text: &mut String) {
    match value {
        Value::String(part) => {
            text.push_str(part);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| push_value(item, text)),
        Value::Object(map) => map.values().for_each(|value| push_value(value, text)),
        Value::Number(number) => {
            text.push_str(&number.to_string());
            text.push('\n');
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// What the edits of an answer do.
fn changes(messages: &[Message]) -> Vec<FilePatch<'_>> {
    let calls = messages.iter().flat_map(|message| &message.tool_calls).map(|call| &call.function);
    calls.filter_map(|call| Some(patch::of_call(&call.name, call.arguments.as_object()?))).flatten().collect()
}

/// Whether the better answer goes on from what only the other one did: it replaces lines that the other one wrote, or
/// names a file or a commit that is first told there.
fn builds_on(example: &Example, prompt: &str) -> bool {
    let (theirs, ours) = (changes(&example.rejected), changes(&example.chosen));
    let made: HashSet<&str> = theirs.iter().flat_map(added).collect();
    let known: HashSet<&str> = prompt.lines().map(str::trim).collect();
    if ours.iter().flat_map(FilePatch::before).any(|line| made.contains(line.trim()) && !known.contains(line.trim())) {
        return true;
    }
    let other = all_text(&example.rejected);
    let first_there: HashSet<&str> = marks(&other).collect();
    let mut seen: HashSet<&str> = marks(prompt).collect();
    // Both may know a file of the project, or give the same name to what they make.
    seen.extend(ours.iter().map(|change| file_name(change.path())));
    seen.extend(
        example.chosen.iter().flat_map(|message| message.content.lines()).filter(|line| edits(line)).flat_map(marks),
    );
    for message in &example.chosen {
        let mut text = String::new();
        push(message, &mut text);
        if message.role == "assistant" && marks(&text).any(|mark| first_there.contains(mark) && !seen.contains(mark)) {
            return true;
        }
        // What a tool has told is known from then on.
        let told: Vec<&str> = marks(&message.content).filter_map(|mark| first_there.get(mark).copied()).collect();
        seen.extend(told);
    }
    false
}

/// Whether a line tells a call that changes a file.
fn edits(line: &str) -> bool {
    let call = line.strip_prefix("- `").and_then(|call| call.split_whitespace().next());
    call.is_some_and(|tool| Attempt::of(tool, "") == Attempt::Edit)
}

/// Names of files and hashes of commits in a text.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')));
    words.map(|word| word.trim_matches(['.', '-'])).filter(|word| is_file(word) || is_hash(word))
}

fn is_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, extension)| {
        name.chars().filter(|c| c.is_alphabetic()).count() >= 3
            && (1..=5).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_lowercase())
            && extension.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rows::chat::{Function, ToolCall};

    fn call(arguments: Value) -> Message {
        let function = Function { name: "Edit".into(), arguments };
        let call = ToolCall { id: "call_0".into(), r#type: "function", function };
        Message { tool_calls: vec![call], ..Message::text("assistant", "") }
    }

    fn example(asked: &str, chosen: Vec<Message>, rejected: Vec<Message>) -> Example {
        let prompt = vec![Message::text("system", "Be brief."), Message::text("user", asked)];
        Example { prompt, chosen, rejected, tools: "[]".into(), tokens: 0, shown: true }
    }

    fn goes_on(asked: &str, chosen: Vec<Message>, rejected: Vec<Message>) -> bool {
        let example = example(asked, chosen, rejected);
        builds_on(&example, &all_text(&example.prompt))
    }

    #[test]
    fn lines_that_only_the_other_one_wrote() {
        let edit = |old: &str, new: &str| call(json!({ "path": "pump.c", "oldText": old, "newText": new }));
        let first = || vec![edit("int valve;", "int valve;\nint second_valve;")];
        assert!(goes_on("Mend the pump.", vec![edit("int second_valve;", "int third_valve;")], first()));
        assert!(!goes_on("Mend the pump.", vec![edit("int valve;", "int third_valve;")], first()));
        assert!(!goes_on(
            "Take `pump.c`:\nint second_valve;\nout.",
            vec![edit("int second_valve;", "int other;")],
            first()
        ));
    }

    #[test]
    fn names_that_are_first_told_there() {
        let says = |text: &str| vec![Message::text("assistant", text)];
        let run = |text: &str| call(json!({ "command": text }));
        assert!(goes_on("Show it.", says("It stands in sample.txt."), vec![run("render > sample.txt")]));
        assert!(!goes_on("Show sample.txt.", says("It stands in sample.txt."), vec![run("render > sample.txt")]));
        let pushed = || vec![run("git commit"), Message::text("tool", "[main 12ab34c] pump")];
        assert!(goes_on("Push it.", says("12ab34c is there."), pushed()));
        // What its own tools told it, it may name.
        let found = vec![run("ls"), Message::text("tool", "sample.txt"), run("cat sample.txt")];
        assert!(!goes_on("Show it.", found, vec![run("render > sample.txt")]));
        // Both may change the same file of the project, also where calls are told as lines.
        let line = |end: &str| says(&format!("- `Edit src/pump.c` → {end}"));
        assert!(!goes_on("Mend it.", line("+4"), line("+1")));
        // Both may choose the same name for what they make.
        let write = |text: &str| call(json!({ "path": "plan.md", "content": text }));
        assert!(!goes_on("Plan it.", vec![write("Two steps.")], vec![write("Nine steps.")]));
    }

    #[test]
    fn what_only_the_correction_says() {
        assert!(told_later("take port 8080", "It listens on 8080.", "Serve it."));
        assert!(told_later("use `caddy`", "I run caddy.", "Serve it."));
        assert!(told_later("it is pump_2, not this one", "I mend pump_2.", "Mend the pump."));
        assert!(!told_later("take port 8080", "It listens on 8080.", "Serve it on 8080."));
        assert!(!told_later("not what I wanted", "I serve what is wanted.", "Serve it."));
    }
}
