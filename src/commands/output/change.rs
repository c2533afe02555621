//! How a note changes, as lines of a diff.

use similar::TextDiff;

use crate::session::public;

/// The lines of a note that change, and `context` lines around them, without what its person keeps to themselves.
pub fn note_diff(before: &str, after: &str, context: usize) -> String {
    let (before, after) = (public::text(before), public::text(after));
    TextDiff::from_lines(&before, &after).unified_diff().context_radius(context).to_string()
}
