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
pub(super) enum PromptEffect {
    /// It starts one.
    Starts,
    /// It goes on with it.
    Continues,
    /// It is no request at all: it stands where it was said.
    Aside,
}

/// The effect of a prompt of these words.
pub(super) fn judge(text: &str, origin: &PromptOrigin<'_>, talk: Talk, names: &SaidNames) -> PromptEffect {
    match origin {
        PromptOrigin::Shell => return PromptEffect::Aside,
        PromptOrigin::Command if is_housekeeping(text) => return PromptEffect::Aside,
        PromptOrigin::Denial { .. } => return PromptEffect::Continues,
        PromptOrigin::Task => return PromptEffect::Starts,
        PromptOrigin::Typed | PromptOrigin::Queued | PromptOrigin::Command => {}
    }
    if talk.interrupted || talk.denied || talk.unanswered {
        return PromptEffect::Continues;
    }
    if talk.worked && correction::lets_go_on(text) {
        return PromptEffect::Continues;
    }
    if !talk.worked || is_unspaced(text) {
        return PromptEffect::Starts;
    }
    let words = text.split_whitespace().take(ANSWER + 1).count();
    // A command of the person's own answers nothing, whatever was asked.
    if talk.asked && words <= ANSWER && *origin != PromptOrigin::Command {
        return PromptEffect::Continues;
    }
    // Words that a confirmation may have.
    if words <= 12 && !names.is_new(text) { PromptEffect::Continues } else { PromptEffect::Starts }
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

    fn effect(text: &str, talk: Talk) -> PromptEffect {
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
        let rows: &[(&str, Talk, PromptEffect)] = &[
            ("yes", Talk::default(), PromptEffect::Starts),
            ("yes", WORKED, PromptEffect::Continues),
            ("looks good, commit that", WORKED, PromptEffect::Continues),
            ("now the same in auth.rs", WORKED, PromptEffect::Continues),
            ("now the same in token.rs", WORKED, PromptEffect::Starts),
            ("run pytest", WORKED, PromptEffect::Starts),
            ("one two three four five six seven eight nine ten eleven twelve", WORKED, PromptEffect::Continues),
            ("one two three four five six seven eight nine ten eleven twelve thirteen", WORKED, PromptEffect::Starts),
            (long, WORKED, PromptEffect::Starts),
            (long, interrupted, PromptEffect::Continues),
            (long, denied, PromptEffect::Continues),
            (long, asked, PromptEffect::Continues),
            (long, Talk { unanswered: true, ..WORKED }, PromptEffect::Continues),
            (&"word ".repeat(61), asked, PromptEffect::Starts),
            ("да, продолжай", WORKED, PromptEffect::Continues),
            ("继续", WORKED, PromptEffect::Continues),
            ("はい、続けてください", WORKED, PromptEffect::Starts),
        ];
        for (text, talk, expected) in rows {
            assert_eq!(effect(text, *talk), *expected, "{text}");
        }
    }

    #[test]
    fn table_of_origins() {
        let names = SaidNames::default();
        let rows = [
            (PromptOrigin::Command, "/clear", PromptEffect::Aside),
            (PromptOrigin::Command, "/review src", PromptEffect::Starts),
            (PromptOrigin::Shell, "ls", PromptEffect::Aside),
            (
                PromptOrigin::Denial { call: Cow::Borrowed("c1") },
                "use the other file instead of this",
                PromptEffect::Continues,
            ),
            (PromptOrigin::Task, "review it", PromptEffect::Starts),
            (PromptOrigin::Queued, "also the docs", PromptEffect::Continues),
        ];
        for (origin, text, expected) in rows {
            assert_eq!(judge(text, &origin, WORKED, &names), expected, "{text}");
        }
    }
}
