//! Words of a person that reply to the agent and set nothing right: the answer to an offer or a question, a command of the
//! host, or material that is handed over.
//!
//! They stand where corrections stand, right after the agent was stopped or had its say, so they are told apart here by what
//! was said before them and by their shape.

use super::entry::Told;
use super::trail::Beat;
use cru_action::ToolKind;
use cru_base::text::lowered;
use cru_session::Item;

/// Words by which an agent offers something to do in a question, in lower case.
const OFFERS: &[&str] =
    &["want me to", "like me to", "would you like", "do you want", "should i ", "shall i ", "ready to "];

/// Words by which it offers without asking.
const PROPOSALS: &[&str] = &[
    "say the word",
    "if you'd like",
    "if you want",
    "let me know if you",
    "let me know when",
    "let me know which",
    "whenever you're ready",
    "when you're ready",
    "happy to ",
];

/// Words that take an offer or turn it down, in lower case.
const CHOICES: &[&str] = &["yes", "yeah", "yep", "yup", "sure", "ja", "oui", "sí", "si", "sim"];

/// Whether the agent's last words offer something: what is said then is an answer.
pub(super) fn offers(beat: &Beat<'_>) -> bool {
    let Told::Prose(text) = &beat.entry.told else { return false };
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ')' | '`'));
    let last = lowered(text.lines().next_back().unwrap_or_default());
    let start = [". ", "! ", ": "].iter().filter_map(|end| last.rfind(end)).max().unwrap_or_default();
    let sentence = &last[start..];
    (text.ends_with('?') && OFFERS.iter().any(|offer| sentence.contains(offer)))
        || PROPOSALS.iter().any(|offer| last.contains(offer))
}

/// Whether the agent's last words ask something.
pub(super) fn asks(beat: &Beat<'_>) -> bool {
    let Told::Prose(text) = &beat.entry.told else { return asks_by_call(beat) };
    let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
    last.contains('?') || offers(beat)
}

/// Whether it is a call that asks the person: who turns the dialog away and writes instead answers the question.
pub(super) fn asks_by_call(beat: &Beat<'_>) -> bool {
    matches!(beat.item, Item::Step(step) if ToolKind::of(&step.tool) == ToolKind::Ask)
}

/// Whether words open with a plain "no".
pub(super) fn is_no(words: &str) -> bool {
    let no = ["no", "nope", "nah", "nein", "non", "não", "nee", "nie", "нет"];
    no.contains(&first_word(words).as_str())
}

/// Whether words are understood only with the question before them: a plain yes or no, or answers by number.
pub(super) fn is_answer(words: &str) -> bool {
    is_no(words) || CHOICES.contains(&first_word(words).as_str()) || is_numbered(words)
}

/// Whether words answer by number, more than one thing.
pub(super) fn is_numbered(words: &str) -> bool {
    let numbered = |line: &str| {
        let line = line.trim_start();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && line.len() - rest.len() <= 2 && rest.starts_with(['.', ')', ':'])
    };
    let lines = || words.lines().filter(|line| !line.trim().is_empty());
    lines().next().is_some_and(numbered) && lines().filter(|line| numbered(line)).nth(1).is_some()
}

/// Whether words hand over material and say nothing of it: paths, links, pictures.
pub(super) fn only_points(words: &str) -> bool {
    /// More words than these are no list of places.
    const PLACES: usize = 8;
    let mut rest = words.trim();
    let mut places = 0;
    while !rest.is_empty() && places <= PLACES {
        places += 1;
        let end = if rest.starts_with("[Image") {
            rest.find(']').map_or(rest.len(), |at| at + 1)
        } else {
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        };
        let place = &rest[..end];
        let deep = place.matches('/').count() >= 2 && !place.starts_with("//");
        if !place.starts_with("[Image") && !deep {
            return false;
        }
        rest = rest[end..].trim_start();
    }
    places > 0 && rest.is_empty()
}

/// Whether words are a command to the host (`/review src`), often one given again: not about what was done.
pub(super) fn is_command(words: &str) -> bool {
    words.trim_start().strip_prefix('/').is_some_and(|rest| {
        let name = rest.split_whitespace().next().unwrap_or_default();
        name.starts_with(char::is_alphabetic) && !name.contains('/')
    })
}

fn first_word(words: &str) -> String {
    words.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry;
    use cru_session::{Prose, Step};

    #[test]
    fn commands_of_the_host() {
        assert!(is_command("/review src"));
        assert!(is_command("/gsd:quick do it again"));
        assert!(!is_command("/etc/hosts is the wrong file"));
        assert!(!is_command("use vite"));
    }

    #[test]
    fn material_says_nothing() {
        assert!(only_points("/home/user/app/logs/run-7.json"));
        assert!(only_points("https://example.org/issues/7 [Image #1]\n./out/a/b.txt"));
        assert!(!only_points("look at /home/user/app/logs/run-7.json"));
        assert!(!only_points("and/or"));
        assert!(!only_points(""));
    }

    #[test]
    fn answers_need_their_question() {
        for words in ["yes, and add a footer", "1. the first\n2. yup", "Nope.", "1) a\n\nwith more\n2) b"] {
            assert!(is_answer(words), "{words}");
        }
        for words in ["1. DONE", "2026. A year\nof work", "Yesterday it worked", "add a footer\n1. left\n2. right"] {
            assert!(!is_answer(words), "{words}");
        }
    }

    fn said(text: &str, check: fn(&Beat<'_>) -> bool) -> bool {
        let item = Item::Prose(Prose { text: text.into(), ..Prose::default() });
        let entry = entry::of_item(&item, &str::to_owned);
        entry.is_some_and(|entry| check(&Beat { item: &item, entry }))
    }

    #[test]
    fn offers_and_questions() {
        assert!(said("The parser is done.\n\nThe lexer is next. Just say the word and I start.", offers));
        assert!(said("Done. Want me to push it?", offers));
        assert!(!said("I push it when the tests pass.", offers));
        assert!(said("Two ways.\n\nWhich one is it? I lean to the first.", asks));
        assert!(!said("What was wrong? The clock.\n\nIt is set right now.", asks));
        let item = Item::Step(Step { tool: "AskUserQuestion".into(), ..Step::default() });
        let entry = entry::of_item(&item, &str::to_owned).unwrap();
        assert!(asks_by_call(&Beat { item: &item, entry }));
    }
}
