//! Copies of notes that sync services leave where two machines wrote one file.
//!
//! Every service has its own name for them, in the person's language: `a (conflicted copy 2026-11-20).md`,
//! `a (Mara's conflicted copy).md`, `a.sync-conflict-20261120-093104-ABCDEFG.md`, `a 2.md`, `a (1).md`, `a-DESKTOP-7.md`.
//! What they share decides: the name goes on from that of another note behind a mark that no name of ours has there, and
//! both notes have one `session_id`.

use std::collections::HashMap;

/// The beginnings of a stem that another note may have of which this one is a copy, the shortest first.
fn beginnings(stem: &str) -> impl Iterator<Item = &str> {
    let bytes = stem.as_bytes();
    (1..bytes.len()).filter_map(move |at| {
        let next = bytes.get(at + 1);
        let is_mark = match bytes[at] {
            b' ' | b'.' | b'_' | b'(' | b'~' => true,
            // Names of ours go on in small letters and digits.
            b'-' => next.is_some_and(u8::is_ascii_uppercase),
            _ => false,
        };
        is_mark.then(|| stem.get(..at)).flatten()
    })
}

/// The notes that are copies, each with the one it is a copy of, as indices of `stems`, in the order of the copies. `id`
/// gives the session id of a note and is asked for few.
pub fn conflict_copies(stems: &[&str], id: impl Fn(usize) -> Option<String>) -> Vec<(usize, usize)> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    let is_candidate = |stem: &&str| beginnings(stem).next().is_some();
    let candidates: Vec<usize> = (0..stems.len()).filter(|&at| is_candidate(&stems[at])).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    for (at, stem) in stems.iter().enumerate() {
        places.entry(stem.to_lowercase()).or_default().push(at);
    }
    let same = |one: &str, other: &str| !one.is_empty() && one.eq_ignore_ascii_case(other);
    let original = |copy: usize| {
        let mut own: Option<Option<String>> = None;
        beginnings(stems[copy]).find_map(|stem| {
            let found = places.get(&stem.to_lowercase())?;
            let own = own.get_or_insert_with(|| id(copy)).as_deref()?;
            found.iter().copied().find(|&at| id(at).is_some_and(|id| same(&id, own)))
        })
    };
    candidates.into_iter().filter_map(|copy| Some((copy, original(copy)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(notes: &[(&'static str, &str)]) -> Vec<(&'static str, &'static str)> {
        let stems: Vec<&str> = notes.iter().map(|(stem, _)| *stem).collect();
        let found = conflict_copies(&stems, |at| Some(notes[at].1.to_owned()));
        found.into_iter().map(|(copy, of)| (notes[copy].0, notes[of].0)).collect()
    }

    #[test]
    fn names_of_sync_services() {
        let names = [
            "2026-11-20-a (conflicted copy 2026-11-21)",
            "2026-11-20-a (Mara's conflicted copy 2026-11-21)",
            "2026-11-20-a (in Konflikt stehende Kopie von Mara 2026-11-21)",
            "2026-11-20-a.sync-conflict-20261121-093104-ABCDEFG",
            "2026-11-20-a (1)",
            "2026-11-20-a 2",
            "2026-11-20-a-DESKTOP-7",
            "2026-11-20-a_conflict",
            "2026-11-20-A (Case Conflict)",
        ];
        for name in names {
            assert_eq!(copies(&[(name, "a"), ("2026-11-20-a", "a")]), [(name, "2026-11-20-a")]);
            assert_eq!(copies(&[(name, "b"), ("2026-11-20-a", "a")]), [], "{name}: another session");
            assert_eq!(copies(&[(name, "a")]), [], "{name}: the only one");
        }
    }

    #[test]
    fn what_is_no_copy() {
        assert_eq!(copies(&[("a", "a"), ("a-2", "a-2"), ("a-reviewer", "a-reviewer")]), []);
        assert_eq!(copies(&[("a", ""), ("a 2", "")]), []);
        assert_eq!(copies(&[("ä", "a"), ("ä (1)", "a"), ("ä (1) (2)", "a")]), [("ä (1)", "ä"), ("ä (1) (2)", "ä")]);
    }
}
