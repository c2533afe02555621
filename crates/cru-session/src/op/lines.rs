//! Lines in which two texts differ, as changes that can be made and taken back.

use similar::{Algorithm, DiffTag};

use super::change::{Change, head, tail};
use cru_base::diff;

/// The lines in which two texts differ, each change on the text that those before it have made.
pub fn between(old: &[u8], new: &[u8]) -> Vec<Change> {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let starts = |lines: &[&[u8]]| {
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }));
        starts
    };
    let (old_starts, new_starts) = (starts(&old_lines), starts(&new_lines));
    let mut changes = Vec::new();
    for op in diff(Algorithm::Myers, &old_lines, &new_lines, None) {
        let (tag, before, after) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        let (old_start, old_end) = (old_starts[before.start], old_starts[before.end]);
        let (at, end) = (new_starts[after.start], new_starts[after.end]);
        changes.push(Change {
            at,
            removed: old[old_start..old_end].to_vec(),
            inserted: new[at..end].to_vec(),
            before: tail(&new[..at]).to_vec(),
            after: head(&old[old_end..]).to_vec(),
            doubled: Vec::new(),
        });
    }
    changes
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::op::undo;

    proptest! {
        /// The changes lead from one text to the other, and back.
        #[test]
        fn there_and_back(old in "([abc]\n?){0,12}", new in "([abc]\n?){0,12}") {
            let (old, new) = (old.into_bytes(), new.into_bytes());
            let changes = between(&old, &new);
            let mut text = old.clone();
            for change in &changes {
                let end = change.at + change.removed.len();
                prop_assert_eq!(&text[change.at..end], &change.removed[..]);
                prop_assert!(text[end..].starts_with(&change.after) && text[..change.at].ends_with(&change.before));
                text.splice(change.at..end, change.inserted.iter().copied());
            }
            prop_assert_eq!(&text, &new);
            prop_assert_eq!(undo(&new, &changes), Ok(old));
        }
    }
}
