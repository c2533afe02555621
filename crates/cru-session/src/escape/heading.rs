//! Headings of prose: below `###`, and back.
//!
//! Levels 1 to 3 become 4 to 6. Levels 4 to 6 all become 6 and carry their level as closing hashes, which readers of
//! markdown do not show (`#### x` is `###### x ####`); so does a level 3 that ends like that by itself.

use std::ops::RangeInclusive;

const MARKS: RangeInclusive<usize> = 3..=6;

/// Hashes before and after the text of a heading of `level` whose line goes on with `rest`.
pub(super) fn demote(level: usize, rest: &str) -> (usize, Option<usize>) {
    if level < 3 || (level == 3 && closing(rest).is_none()) { (level + 3, None) } else { (6, Some(level)) }
}

/// The level and the end of the rest for a heading that stands at `level` with `rest`.
pub(super) fn promote(level: usize, rest: &str) -> (usize, usize) {
    match (level, closing(rest)) {
        (6, Some(marks)) => (marks, rest.len() - marks - 1),
        (4..=6, _) => (level - 3, rest.len()),
        _ => (level, rest.len()),
    }
}

fn closing(rest: &str) -> Option<usize> {
    let before = rest.trim_end_matches('#');
    let marks = rest.len() - before.len();
    (MARKS.contains(&marks) && before.ends_with(' ')).then_some(marks)
}
