//! Which prompt starts a phase: the table.
//!
//! The first row that fits decides. Everything that no row holds back starts a phase, so a language or a form that the
//! table does not know gives a phase too many rather than one too few.

use super::name::SaidNames;
use super::talk::Talk;
use crate::agent_table;
use crate::correction;
use crate::event::PromptOrigin;

/// Words that an answer may have: more than that after a question is a request of its own.
const ANSWER: usize = 60;

/// What a prompt does to the phase it is said in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It starts one.
    Starts,
    /// It goes on with it.
    Continues,
    /// It is no request at all: it stands where it was said.
    Aside,
}

/// The verdict on `text`.
pub(super) fn judge(text: &str, origin: &PromptOrigin<'_>, talk: Talk, names: &SaidNames) -> Verdict {
    match origin {
        PromptOrigin::Shell => return Verdict::Aside,
        PromptOrigin::Command if is_housekeeping(text) => return Verdict::Aside,
        PromptOrigin::Denial { .. } => return Verdict::Continues,
        PromptOrigin::Task => return Verdict::Starts,
        PromptOrigin::Typed | PromptOrigin::Queued | PromptOrigin::Command => {}
    }
    if talk.interrupted || talk.denied || talk.unanswered {
        return Verdict::Continues;
    }
    if talk.worked && correction::lets_go_on(text) {
        return Verdict::Continues;
    }
    if !talk.worked || is_unspaced(text) {
        return Verdict::Starts;
    }
    let words = text.split_whitespace().take(ANSWER + 1).count();
    // A command of the person's own answers nothing, whatever was asked.
    if talk.asked && words <= ANSWER && *origin != PromptOrigin::Command {
        return Verdict::Continues;
    }
    // Words that a confirmation may have.
    if words <= 12 && !names.is_new(text) { Verdict::Continues } else { Verdict::Starts }
}

/// Whether a command is one of a host's own about itself: `/clear`. It stands in the note and never starts a phase.
pub(super) fn is_housekeeping(command: &str) -> bool {
    let name = command.split_whitespace().next().unwrap_or("").trim_start_matches('/');
    agent_table::is_command(name)
}

/// Whether `text` is mostly in a script that writes no blanks between words, so that they cannot be counted.
fn is_unspaced(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (mut all, mut unspaced) = (0_usize, 0_usize);
    for c in letters {
        all += 1;
        unspaced += usize::from(matches!(c,
            '\u{0e00}'..='\u{0fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}'));
    }
    unspaced * 2 > all
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const WORKED: Talk = Talk { interrupted: false, denied: false, asked: false, worked: true, unanswered: false };

    fn verdict(text: &str, talk: Talk) -> Verdict {
        let mut names = SaidNames::default();
        names.learn("Edit src/auth.rs");
        judge(text, &PromptOrigin::Typed, talk, &names)
    }

    #[test]
    fn table() {
        let interrupted = Talk { interrupted: true, ..WORKED };
        let denied = Talk { denied: true, ..WORKED };
        let asked = Talk { asked: true, ..WORKED };
        let long = "please rework the whole token module so that every single key is rotated once a day";
        let rows: &[(&str, Talk, Verdict)] = &[
            ("yes", Talk::default(), Verdict::Starts),
            ("yes", WORKED, Verdict::Continues),
            ("looks good, commit that", WORKED, Verdict::Continues),
            ("now the same in auth.rs", WORKED, Verdict::Continues),
            ("now the same in token.rs", WORKED, Verdict::Starts),
            ("run pytest", WORKED, Verdict::Starts),
            ("one two three four five six seven eight nine ten eleven twelve", WORKED, Verdict::Continues),
            ("one two three four five six seven eight nine ten eleven twelve thirteen", WORKED, Verdict::Starts),
            (long, WORKED, Verdict::Starts),
            (long, interrupted, Verdict::Continues),
            (long, denied, Verdict::Continues),
            (long, asked, Verdict::Continues),
            (long, Talk { unanswered: true, ..WORKED }, Verdict::Continues),
            (&"word ".repeat(61), asked, Verdict::Starts),
            ("да, продолжай", WORKED, Verdict::Continues),
            ("继续", WORKED, Verdict::Continues),
            ("はい、続けてください", WORKED, Verdict::Starts),
        ];
        for (text, talk, expected) in rows {
            assert_eq!(verdict(text, *talk), *expected, "{text}");
        }
    }

    #[test]
    fn table_of_origins() {
        let names = SaidNames::default();
        let rows = [
            (PromptOrigin::Command, "/clear", Verdict::Aside),
            (PromptOrigin::Command, "/review src", Verdict::Starts),
            (PromptOrigin::Shell, "ls", Verdict::Aside),
            (
                PromptOrigin::Denial { call: Cow::Borrowed("c1") },
                "use the other file instead of this",
                Verdict::Continues,
            ),
            (PromptOrigin::Task, "review it", Verdict::Starts),
            (PromptOrigin::Queued, "also the docs", Verdict::Continues),
        ];
        for (origin, text, expected) in rows {
            assert_eq!(judge(text, &origin, WORKED, &names), expected, "{text}");
        }
    }
}
