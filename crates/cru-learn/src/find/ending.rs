//! The words with which an answer ends: what the agent said right after its last call, where it says what came of it.
//!
//! No row ends with what a tool answered, so an answer that ends with a call does not show what it gave. Words that
//! announce what is not shown promise it to nobody, and are no end.

use crate::case::Story;
use crate::case::entry::{Entry, Told};
use crate::find::turns::Turns;
use cru_session::words::list::ANNOUNCING;

/// Adds the words that follow right after the last call of an answer.
pub(crate) fn complete(trail: &Turns<'_>, story: &mut Story) {
    match story {
        Story::Puzzle(it) => it.fix.extend(after(trail, &it.fix)),
        Story::Correction(it) => {
            if let Some(words) = after(trail, &it.response) {
                it.response.push(words);
                it.more = it.more.saturating_sub(1);
            }
        }
        Story::Preference(_) | Story::Demonstration(_) => {}
    }
}

/// The words right after the last thing done, where that is a call. Words that another call follows lead to it.
fn after(trail: &Turns<'_>, done: &[Entry]) -> Option<Entry> {
    let last = done.last().filter(|last| last.is_step())?;
    let (round, at) = trail.place_of(last.block.as_deref()?)?;
    let beats = &trail.rounds[round].beats;
    let next = &beats.get(at + 1)?.entry;
    if beats.get(at + 2).is_some_and(|beat| beat.entry.is_step()) {
        return None;
    }
    matches!(&next.told, Told::Prose(text) if !announces(text)).then(|| next.clone())
}

/// Whether words announce what comes next.
pub(crate) fn announces(text: &str) -> bool {
    let text = text.trim_end();
    let last = text.lines().next_back().unwrap_or_default();
    let sentence =
        last.trim_end_matches(['.', '!', '…']).rsplit(['.', '!', ')']).next().unwrap_or_default().to_lowercase();
    let now = sentence.trim_start().strip_prefix("now ").and_then(|rest| rest.split_whitespace().next());
    text.is_empty()
        || text.ends_with(':')
        || ANNOUNCING.is_in(&sentence)
        || now.is_some_and(|word| word.ends_with("ing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_announce() {
        for words in [
            "Now the docs:",
            "It builds. Let me look at the docs.",
            "Good.\n\nNext, the docs",
            "No warning (0 of 41). Now running the tests.",
        ] {
            assert!(announces(words), "{words}");
        }
        for words in ["It builds.", "Let me be clear: it did not build. Now it does.", "All 41 tests pass!"] {
            assert!(!announces(words), "{words}");
        }
    }
}
