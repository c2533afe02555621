//! The words with which an answer ends: what the agent said right after its last call, where it says what came of it.
//!
//! No row ends with what a tool answered, so an answer that ends with a call does not show what it gave. Words that
//! announce what is not shown promise it to nobody, and are no end.

use crate::case::Story;
use crate::case::entry::{Entry, Told};
use crate::find::turns::Turns;

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
        Story::Preference(_) | Story::Demonstration(_) | Story::Trajectory => {}
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

/// Whether words announce what comes next: a colon ends them.
pub(crate) fn announces(text: &str) -> bool {
    let text = text.trim_end();
    text.is_empty() || text.ends_with(':')
}
