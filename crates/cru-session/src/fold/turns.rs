//! The turns of a session, for the summary on top: what a person said, and what the agent had to say at its end.

use std::ops::Range;

use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

use crate::words::{closing, shorten};

/// Turns that are kept; of the rest it is known how many there were.
const MOST: usize = 256;

/// Characters of what was said.
const SAID: usize = 480;

/// Turns whose closing words are kept as they are; of the others only as much as one line holds.
const WHOLE: usize = 64;
const SHORT: usize = 1_000;

/// Bytes of a prompt that are looked at.
const SEEN: usize = 8_000;

/// One turn: what a person said up to the agent's next answer, and what the agent concluded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToldTurn {
    /// What was said, each prompt on one line.
    pub(super) said: Vec<String>,
    /// The agent's closing words; empty where it ended without any, or a person refuted them.
    pub(super) concluded: String,
    /// The phase that it ended in, counted from one.
    pub(super) phase: usize,
    /// The steps of the turn.
    pub(super) steps: Range<usize>,
}

/// The turns so far.
#[derive(Debug, Default)]
pub(super) struct ToldTurns {
    all: Vec<ToldTurn>,
    /// Turns that are not kept.
    more: usize,
    /// Whether the agent has said or done something since the last prompt.
    answered: bool,
}

impl ToldTurns {
    /// A person says something, before the step with this index. What follows on a prompt that nothing answered belongs
    /// to the same turn.
    pub(super) fn said(&mut self, words: &str, step: usize) {
        let line = spoken(words);
        let has_room = self.all.len() < MOST;
        let worked = self.answered || self.all.last().is_some_and(|turn| turn.steps.start < step);
        match self.all.last_mut() {
            _ if line.is_empty() => {}
            Some(last) if !worked => {
                if last.said.last() != Some(&line) && last.said.len() < MOST {
                    last.said.push(line);
                }
            }
            // An automatic prompt that comes again and again is told once.
            Some(last) if last.said.last() == Some(&line) => {}
            _ if has_room => {
                self.all.push(ToldTurn { said: vec![line], steps: step..step, ..ToldTurn::default() });
                self.answered = false;
            }
            _ => self.more += 1,
        }
    }

    /// The agent says something.
    pub(super) fn answered(&mut self) {
        self.answered = true;
    }

    /// The turn ends before the step with this index, in this phase; `reply` are its last words, where nothing was done
    /// after them and nobody refuted them.
    pub(super) fn end(&mut self, reply: Option<&str>, step: usize, phase: usize) {
        let most = if self.all.len() <= WHOLE { closing::SEEN + 1 } else { SHORT };
        let Some(turn) = self.all.last_mut().filter(|_| self.more == 0) else { return };
        (turn.steps.end, turn.phase) = (step, phase);
        let reply = reply.filter(|_| self.answered).unwrap_or_default();
        reply[..floor_char_boundary(reply, most)].clone_into(&mut turn.concluded);
    }

    /// All turns, and how many more there were.
    pub(super) fn finish(self) -> (Vec<ToldTurn>, usize) {
        (self.all, self.more)
    }
}

/// A prompt on one line, as it was said, without marks of headings and lists.
fn spoken(words: &str) -> String {
    let words = &words[..floor_char_boundary(words, SEEN)];
    // Of headings only the first is a subject.
    let mut has_heading = false;
    let lines = words.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let lines = lines.filter(|line| !line.starts_with('#') || !std::mem::replace(&mut has_heading, true));
    let joined = lines.map(|line| match line.trim_start_matches(['#', '>', ' ']) {
        heading if line.starts_with('#') => format!("{}. ", heading.trim_end_matches(['.', ':'])),
        line => format!("{line} "),
    });
    let line = fold_whitespace(&sanitise(&joined.collect::<String>()));
    let line = if line.is_empty() { fold_whitespace(&sanitise(words)) } else { line };
    shorten::at_sentence(&line, SAID).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_answered_is_one_turn() {
        let mut turns = ToldTurns::default();
        turns.said("Mend the pump in cellar.rs", 0);
        turns.answered();
        turns.end(Some("The pump is mended."), 3, 1);
        turns.said("/check all", 3);
        turns.answered();
        turns.end(Some("Which of the two?"), 3, 1);
        turns.said("8", 3);
        turns.end(None, 3, 1);
        turns.said("6", 3);
        turns.end(None, 5, 1);
        let (all, more) = turns.finish();
        let told: Vec<_> = all.iter().map(|turn| (turn.said.join(", "), turn.concluded.as_str())).collect();
        let wanted =
            [("Mend the pump in cellar.rs", "The pump is mended."), ("/check all", "Which of the two?"), ("8, 6", "")];
        assert_eq!(told, wanted.map(|(said, concluded)| (said.to_owned(), concluded)));
        assert_eq!((all[2].steps.clone(), more), (3..5, 0));
    }
}
