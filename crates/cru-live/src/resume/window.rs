//! The sliding window over phases: the newest in full, then as many before it as fit, the last of them shortened.

use super::entry::Entry;
use super::phase::{self, Above, Detail, Usual};
use super::point::Point;

/// Phases, newest first, within `room` tokens; and the index of the oldest of them.
pub(super) fn recent(point: &Point<'_>, usual: Usual<'_>, above: &Above, room: u64) -> (Vec<Entry>, usize) {
    let mut left = room;
    let mut entries = Vec::new();
    let mut from = point.end;
    for (index, it) in point.before().iter().enumerate().rev() {
        let full = phase::draw(it, index, usual, above, Detail::Full);
        let short = (full.tokens() > left).then(|| phase::draw(it, index, usual, above, Detail::Short));
        let newest = entries.is_empty();
        let (text, cut, last) = match &short {
            None => (full.text(), false, false),
            Some(short) if short.tokens() <= left => (short.text(), true, false),
            Some(short) => {
                // Better the end of the newest phase in full than a little of all of it.
                let full = full.trimmed(left).filter(|_| newest);
                // What was worth showing of a phase that does not fit.
                let Some(text) = full.or_else(|| short.trimmed(left).filter(|_| newest || left >= 200)) else {
                    break;
                };
                (text, true, true)
            }
        };
        let entry = Entry::new(phase::name(it), text).cut(cut);
        if entry.tokens > left {
            break;
        }
        left -= entry.tokens;
        entries.push(entry);
        from = index;
        if last {
            break;
        }
    }
    (entries, from)
}
