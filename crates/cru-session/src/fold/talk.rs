//! What a prompt follows: an interruption, a refusal, a question.

use cru_base::text::lowered;

/// The turn of the talk just before a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, each a row of a rule")]
pub(super) struct Talk {
    /// The agent was stopped and has done nothing since.
    pub(super) interrupted: bool,
    /// A call was refused and the agent has done nothing since.
    pub(super) denied: bool,
    /// The agent's last words were a question.
    pub(super) asked: bool,
    /// The agent has worked at all.
    pub(super) worked: bool,
    /// A person spoke and the agent has done nothing since.
    pub(super) unanswered: bool,
}

impl Talk {
    /// The agent said `text`.
    pub(super) fn reply(&mut self, text: &str) {
        *self = Self { asked: asks(text), worked: true, ..Self::default() };
    }

    /// The agent called a tool.
    pub(super) fn call(&mut self) {
        *self = Self { worked: true, ..Self::default() };
    }

    /// A person spoke: what they answered is answered.
    pub(super) fn prompt(&mut self) {
        *self = Self { worked: self.worked, unanswered: true, ..Self::default() };
    }
}

/// Whether `text` ends by asking: its last line is a question, or a question with its choices below.
fn asks(text: &str) -> bool {
    const CHOICES: usize = 8;
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(CHOICES);
    let mut lines = lines.skip_while(|line| is_choice(line));
    let Some(line) = lines.next() else { return false };
    let asks = line.trim_end_matches(['*', '_', '`', ')', '"', ':', ' ']).ends_with(['?', '？']);
    asks && !invites(line)
}

/// Questions that ask for the next request: what follows them answers nothing.
const INVITATIONS: &[&str] = &[
    "anything else",
    "how can i help",
    "like me to work on",
    "like to work on",
    "want to work on",
    "like to do next",
    "should we work on",
    "what's next",
    "what is next",
    "what's the task",
    "what's the quick task",
    "what next",
];

fn invites(line: &str) -> bool {
    let line = lowered(line);
    INVITATIONS.iter().any(|row| line.contains(row))
}

fn is_choice(line: &str) -> bool {
    let bare = line.trim_start_matches(|c: char| c.is_ascii_digit());
    !line.trim_end_matches(['*', '_', ')']).ends_with('?')
        && (line.starts_with(['-', '*', '+']) || (bare.len() < line.len() && bare.starts_with(['.', ')'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_questions() {
        for text in ["Shall I?", "Done.\n\nWhich one do you prefer?\n\n1. tabs\n2. blanks\n", "**Continue?**", "好吗？"]
        {
            assert!(asks(text), "{text}");
        }
        for text in [
            "",
            "Done.",
            "Why? Because.",
            "What was done?\n\nEverything.",
            "- a\n- b",
            "Ready. What would you like to work on?",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
