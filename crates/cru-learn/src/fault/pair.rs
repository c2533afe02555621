//! Whether two answers can be compared: both must be answers to the same prompt, which lacks the correction.
//!
//! The better one was made after the person had said more. Where it follows what only those words say, or goes on from
//! what only the other one did, the prompt does not let anyone choose it; and a call that was torn off, or work on other
//! files than the other one's, is no worse for what it says. The answer itself stays one: its own prompt holds the words.

use std::collections::HashSet;

use serde_json::Value;

use crate::case::Case;
use crate::case::action::added;
use crate::case::entry::Entry;
use crate::case::left_out::Reason;
use crate::fault::news;
use crate::rows::chat::Message;
use crate::rows::example::Example;
use cru_action::patch::{self, FilePatch};
use cru_session::StepStatus;
use cru_session::attempt::Attempt;
use cru_session::words::shorten::file_name;

/// Why the answers of an example are no pair. A person who accepted or edited the case knows better.
pub(crate) fn flaw(case: &Case, example: &Example) -> Option<Reason> {
    let correction = case.correction()?;
    if case.accepted || case.edits.is_some() {
        return None;
    }
    if correction.rule == "interrupted" && is_torn(&correction.behaviour) {
        return Some(Reason::TornOff);
    }
    let prompt = all_text(&example.prompt);
    let chosen = written(&example.chosen);
    let leaks = news::tells_outcome(&correction.words) || news::leaks(&correction.words, &chosen, &prompt);
    if leaks {
        return Some(Reason::ToldLater);
    }
    if builds_on(example, &prompt) || news::refers_back(&chosen) {
        return Some(Reason::BuildsOn);
    }
    works_elsewhere(example).then_some(Reason::Elsewhere)
}

/// Whether what was stopped is a single call that has no answer: nobody knows what it would have become.
fn is_torn(behaviour: &[Entry]) -> bool {
    let mut steps = behaviour.iter().filter(|entry| entry.is_step());
    let (Some(step), None) = (steps.next(), steps.next()) else { return false };
    let torn = matches!(step.status(), Some(StepStatus::NoResult | StepStatus::Interrupted));
    torn || step.answer().trim().is_empty()
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

/// Whether both change files, none of them the same, and the prompt's words name neither side's: which of them was meant
/// is only said later.
fn works_elsewhere(example: &Example) -> bool {
    let (theirs, ours) = (changes(&example.rejected), changes(&example.chosen));
    let names = |changes: &[FilePatch<'_>]| -> HashSet<String> {
        let paths = changes.iter().map(|change| file_name(change.path())).filter(|name| !name.is_empty());
        paths.map(str::to_owned).collect()
    };
    let (theirs, ours) = (names(&theirs), names(&ours));
    let mut asked = example.prompt.iter().filter(|message| message.role == "user");
    !theirs.is_empty()
        && !ours.is_empty()
        && theirs.is_disjoint(&ours)
        && !asked.any(|message| theirs.iter().chain(&ours).any(|name| message.content.contains(name.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::case::entry::{self, Told};
    use crate::rows::chat::{Function, ToolCall};
    use cru_session::Step;

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
    fn other_files_than_anyone_named() {
        let edit = |path: &str| vec![call(json!({ "path": path, "oldText": "first", "newText": "second" }))];
        let apart = |asked: &str, ours: &str, theirs: &str| works_elsewhere(&example(asked, edit(ours), edit(theirs)));
        assert!(apart("Mend the tests.", "pump_test.c", "src/pump.c"));
        assert!(!apart("Mend the tests of pump.c.", "pump_test.c", "src/pump.c"));
        assert!(!apart("Mend the tests.", "lib/pump.c", "src/pump.c"));
    }

    #[test]
    fn a_call_that_was_torn_off() {
        let step = |status: StepStatus, result: &str| {
            let result = Some(result.to_owned());
            let step = Step { tool: "Edit".into(), args: "pump.c".into(), status, result, ..Step::default() };
            entry::of_step(&step, &str::to_owned)
        };
        let words = || Entry { block: None, told: Told::Prose("I mend it.".into()) };
        assert!(is_torn(&[words(), step(StepStatus::NoResult, "no result recorded")]));
        assert!(!is_torn(&[words(), step(StepStatus::Complete, "+1")]));
        assert!(!is_torn(&[step(StepStatus::Complete, "+1"), step(StepStatus::NoResult, "no result recorded")]));
        assert!(!is_torn(&[words()]));
    }
}
