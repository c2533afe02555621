//! Words of a person that reply to the agent: the answer to an offer or a question, a command of the host, material
//! that is handed over, or the failing output of a run.
//!
//! Told by what was said before them and by their shape.

use cru_action::ToolKind;
use cru_action::verdict::{self, CheckRun, Shown, Verdict};
use cru_session::Item;
use cru_session::correction::INTERRUPTED;
use cru_session::words::list::{NO, OFFER, YES};
use cru_session::words::sentence::sentences;

/// Whether the agent's last sentence offers something: what is said then is an answer.
pub(super) fn offers(last: &Item) -> bool {
    let offers = |words: &str| sentences(words).last().is_some_and(|last| OFFER.at_start(last.trim_start()).is_some());
    last_line(last).is_some_and(offers)
}

/// Whether the agent's last words, or its last call, ask the person something.
pub(super) fn asks(last: &Item) -> bool {
    let Item::Prose(prose) = last else { return asks_by_call(last) };
    prose.text.trim_end().rsplit("\n\n").next().unwrap_or_default().contains('?') || offers(last)
}

/// The last line of what the agent said, without marks that `cru` writes.
fn last_line(last: &Item) -> Option<&str> {
    let Item::Prose(prose) = last else { return None };
    let said = |line: &&str| !line.trim().is_empty() && line.trim() != INTERRUPTED;
    prose.text.lines().rev().find(said)
}

/// Whether it is a call that asks the person: who turns the dialog away and writes instead answers the question.
pub(super) fn asks_by_call(last: &Item) -> bool {
    matches!(last, Item::Step(step) if ToolKind::of(&step.tool) == ToolKind::Ask)
}

/// Whether words are understood only with the question before them: a plain yes or no, or answers by number.
pub(super) fn is_answer(words: &str) -> bool {
    let plain = words.trim_start_matches(|c: char| !c.is_alphabetic());
    is_no(words) || YES.at_start(plain).is_some() || is_numbered(words)
}

/// Whether words open with a plain "no".
pub fn is_no(words: &str) -> bool {
    NO.at_start(words.trim_start_matches(|c: char| !c.is_alphabetic())).is_some()
}

/// Whether words say nothing of the work: a command of the host, material, answers by number.
pub(super) fn is_no_remark(words: &str) -> bool {
    is_command(words) || only_points(words) || is_numbered(words)
}

/// Whether words hold the output of a run that failed and name one of `files`.
pub fn brings_back_failure<'f>(words: &str, files: impl IntoIterator<Item = &'f str>) -> bool {
    files.into_iter().any(|file| !file.is_empty() && words.contains(file)) && is_failing_output(words)
}

/// Whether words hold the output of a run that failed, as its runner prints it, or lines that say what is wrong.
pub fn is_failing_output(words: &str) -> bool {
    let run = CheckRun { commands: &[], output: words, shown: Shown::Whole, ..CheckRun::default() };
    let decided = verdict::decision(&run);
    decided.verdict == Verdict::Failed || (decided.verdict == Verdict::Unknown && decided.evidence.is_some())
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
    let mut rest = words.trim();
    let mut places = 0;
    // More words than these are no list of places.
    while !rest.is_empty() && places <= 8 {
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

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn offers_and_questions() {
        let said = |text: &str| Item::Prose(Prose { text: text.into(), ..Prose::default() });
        assert!(offers(&said("The parser is done.\n\nThe lexer is next. Let me know and I start.")));
        assert!(offers(&said("Done. Want me to push it?")));
        assert!(!offers(&said("I push it when the tests pass.")));
        assert!(asks(&said("Two ways.\n\nWhich one is it? I lean to the first.")));
        assert!(!asks(&said("What was wrong? The clock.\n\nIt is set right now.")));
        assert!(asks_by_call(&Item::Step(Step { tool: "AskUserQuestion".into(), ..Step::default() })));
    }

    #[test]
    fn failures_that_come_back() {
        let files = ["test_pump.py"];
        let pytest =
            "now this\n\nFAILED tests/test_pump.py::test_flow - assert 1 == 2\n===== 1 failed, 3 passed in 0.1s =====";
        assert!(brings_back_failure(pytest, files));
        assert!(!brings_back_failure(pytest, ["test_hose.py"]));
        assert!(!brings_back_failure("now test_pump.py gets a header, and mention failed runs", files));
        for output in [
            "Traceback (most recent call last):\n  File \"pump.py\", line 3\nTypeError: no pump",
            "error[E0308]: mismatched types\n --> src/pump.rs:3:5",
            "src/pump.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
            "thread 'main' panicked at src/pump.rs:3:5:\nno pump",
            "--- FAIL: TestPump (0.00s)\nFAIL",
            "npm ERR! code ELIFECYCLE",
        ] {
            assert!(is_failing_output(output), "{output}");
        }
    }
}
