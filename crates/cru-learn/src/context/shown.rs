//! Whether an example shows what its answer builds on: text that an edit quotes stands in the conversation before it, and
//! lines that are told again do too.
//!
//! Who learns from an answer that quotes what was never shown learns to make up files.

use std::collections::HashSet;

use crate::context::ground::{self, Seen};
use crate::context::quote;
use crate::context::trace;
use crate::rows::chat::Message;

/// Characters of a quoted line that is no trifle although it is the only one.
const LINE: usize = 24;

/// Quoted lines that may be missing, and the share of them, in hundredths.
const QUOTED: usize = 3;
const QUOTED_SHARE: usize = 30;

/// Lines told again that may be missing, and the share of what is written, in hundredths, where it is more than a few.
const TOLD: usize = 4;
const FEW: usize = 2;
const TOLD_SHARE: usize = 25;

/// Lines that are looked for inside of longer ones: an edit may begin in the middle of a line.
const INSIDE: usize = 200;

/// Whether the answer builds on nothing but what stands before it. `recalled` are lines that stood somewhere in the
/// session.
pub(crate) fn is_shown(prompt: &[Message], answer: &[Message], recalled: &HashSet<u64>) -> bool {
    let mut shown = Shown::default();
    for message in prompt {
        shown.add(message);
    }
    let (mut quoted, mut missing) = (0, 0);
    let (mut written, mut told) = (0, 0);
    for message in answer {
        for call in &message.tool_calls {
            let Some(arguments) = call.function.arguments.as_object() else { continue };
            let quotes = quote::of(&call.function.name, arguments);
            for piece in &quotes.old {
                let lines = telling(piece);
                let lacking = lines.iter().filter(|line| !shown.has(line)).count();
                let trifle = lines.len() < 2 && lines.iter().all(|line| line.chars().count() < LINE);
                if lacking == lines.len() && !trifle {
                    return false;
                }
                quoted += lines.len();
                missing += lacking;
            }
            let kept: HashSet<u64> = quotes.old.iter().flatten().filter_map(|line| trace::key(line)).collect();
            for line in quotes.new.iter().filter(|line| trace::says_something(line)) {
                let Some(key) = trace::key(line) else { continue };
                written += 1;
                told +=
                    usize::from(recalled.contains(&key) && !kept.contains(&key) && !shown.seen.lines.contains(&key));
            }
        }
        shown.add(message);
    }
    let unquoted = missing > QUOTED && missing * 100 > quoted * QUOTED_SHARE;
    let untold = told > TOLD || (told > FEW && told * 100 >= written * TOLD_SHARE);
    !unquoted && !untold
}

/// The lines of a piece that say something by themselves.
fn telling<'a>(piece: &[&'a str]) -> Vec<&'a str> {
    piece.iter().copied().filter(|line| trace::says_something(line)).collect()
}

/// What stands in the conversation so far.
#[derive(Default)]
struct Shown {
    seen: Seen,
    /// All of it without blanks.
    text: String,
    looked: usize,
}

impl Shown {
    fn add(&mut self, message: &Message) {
        self.add_text(&message.content);
        for call in &message.tool_calls {
            ground::texts_of(&call.function.arguments, &mut |text| self.add_text(text));
        }
    }

    fn add_text(&mut self, text: &str) {
        self.seen.add(text);
        self.text.extend(text.chars().filter(|c| !c.is_whitespace()));
    }

    fn has(&mut self, line: &str) -> bool {
        if trace::key(line).is_some_and(|key| self.seen.lines.contains(&key)) {
            return true;
        }
        self.looked += 1;
        let line = trace::squashed(line);
        self.looked <= INSIDE && memchr::memmem::find(self.text.as_bytes(), line.as_bytes()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rows::chat::{Function, ToolCall};

    fn tool(text: &str) -> Message {
        Message::text("tool", text)
    }

    fn edit(old: &str, new: &str) -> Message {
        let arguments = json!({ "path": "ship.rs", "old_string": old, "new_string": new });
        let function = Function { name: "Edit".into(), arguments };
        let call = ToolCall { id: "call_0".into(), r#type: "function", function };
        Message { tool_calls: vec![call], ..Message::text("assistant", "") }
    }

    fn shown(prompt: &str, answer: &[Message], recalled: &[&str]) -> bool {
        let recalled = recalled.iter().filter_map(|line| trace::key(line)).collect();
        is_shown(&[tool(prompt)], answer, &recalled)
    }

    #[test]
    fn what_an_edit_quotes_stands_before_it() {
        let file = "  7→fn hoist(sail: &Sail) {\n  8→    sail.raise(Mast::Main);\n  9→}";
        let old = "fn hoist(sail: &Sail) {\n    sail.raise(Mast::Main);\n}";
        assert!(shown(file, &[edit(old, "x")], &[]));
        assert!(!shown("  7→fn hoist(\n\n[… 90 characters left out …]", &[edit(old, "x")], &[]));
        // The answer may look for itself, quote what it wrote, and begin in the middle of a line.
        assert!(shown("", &[tool(file), edit(old, "x")], &[]));
        assert!(shown("", &[edit("", old), edit(old, "x")], &[]));
        assert!(shown(file, &[edit("sail.raise(Mast::Main)", "x")], &[]));
        // A trifle is no text of a file.
        assert!(shown("", &[edit("let a = mast;", "x")], &[]));
    }

    #[test]
    fn a_few_lines_of_many_may_be_cut() {
        let lines: Vec<String> = (0..20).map(|at| format!("the plank number {at}")).collect();
        let known = |count: usize| shown(&lines[..count].join("\n"), &[edit(&lines.join("\n"), "x")], &[]);
        assert_eq!([20, 15, 12, 0].map(known), [true, true, false, false]);
    }

    #[test]
    fn what_is_told_again_stands_before_it() {
        let lines: Vec<String> = (0..20).map(|at| format!("the plank number {at}")).collect();
        let known: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answer = [edit("", &lines.join("\n"))];
        assert!(shown(&lines.join("\n"), &answer, &known));
        assert!(!shown("", &answer, &known));
        assert!(shown("", &answer, &[]), "what stood nowhere is new");
        assert!(shown("", &answer, &known[..3]), "a few lines may come again");
    }
}
