//! What the record itself shows to be wrong with an answer, although it has one.
//!
//! Each sign has a file of its own; here they are asked in turn, while the session is still at hand. A person who
//! accepted or edited a case knows better ([`Case::gap`](crate::case::Case::gap)).

pub(crate) mod aftermath;
pub(crate) mod claims;
pub(crate) mod names;
pub(crate) mod news;
pub(crate) mod pair;
pub(crate) mod shortcut;
pub(crate) mod unasked;

use crate::case::entry::Entry;
use crate::case::left_out::Reason;
use crate::case::{Story, Turn};
use crate::find::turns::Turns;

/// Takes out of an answer what nobody asked for, and says why it is none where it cannot be one.
pub(crate) fn judge(trail: &Turns<'_>, round: usize, context: &[Turn], story: &mut Story) -> Option<Reason> {
    if let Some(reason) = unasked::cut(story, context) {
        return Some(reason);
    }
    let story = &*story;
    let done = done(story);
    let next = trail.rounds.get(round + 1).map(|next| trail.words(next)).unwrap_or_default();
    if aftermath::shows_wrong(trail, round, done) || claims::denies_blindly(done, &next) {
        return Some(Reason::ShownWrong);
    }
    // What is open: the last words before the answer, and those that set it right.
    let asked = context.last().map(|turn| turn.asked.as_str()).unwrap_or_default();
    let words = match story {
        Story::Correction(it) | Story::Preference(it) => it.words.as_str(),
        Story::Puzzle(_) | Story::Demonstration(_) => "",
    };
    if names::swaps(&format!("{asked}\n{words}"), done) {
        return Some(Reason::Swapped);
    }
    if claims::tells_of_picture(done, context.iter().flat_map(|turn| &turn.done)) {
        return Some(Reason::PictureUnknown);
    }
    if claims::ignores_order(words, done) {
        return Some(Reason::NotDone);
    }
    if claims::argues_away(done) {
        return Some(Reason::ArguedAway);
    }
    let skips = matches!(story, Story::Demonstration(_)) && claims::skips_checks(asked, done);
    skips.then_some(Reason::Unchecked)
}

fn done(story: &Story) -> &[Entry] {
    match story {
        Story::Puzzle(it) => &it.fix,
        Story::Correction(it) | Story::Preference(it) => &it.response,
        Story::Demonstration(it) => &it.done,
    }
}
