//! Which messages of a session are read, where a database keeps them in the tables of both versions.
//!
//! Version 2 leaves the tables of before as they are: they go stale, or hold only what was said before. Where both tell
//! the same, the older form is read, since it says more of each call; what is newer comes from the newer form.

use std::collections::HashMap;

/// A row of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptMessage {
    pub(super) id: String,
    /// When it was said, in milliseconds.
    pub(super) created: i64,
    /// Its type, where it is a row of `session_message`.
    pub(super) kind: Option<String>,
    /// Its number there.
    pub(super) number: Option<i64>,
}

impl KeptMessage {
    fn is_said(&self) -> bool {
        self.kind.as_deref().is_none_or(super::newer::is_said)
    }
}

/// The messages that are read, and those that are left out because they are told by the others.
pub(super) fn chosen(older: Vec<KeptMessage>, newer: Vec<KeptMessage>) -> (Vec<KeptMessage>, Vec<KeptMessage>) {
    let said = || newer.iter().filter(|row| row.is_said());
    let (Some(first), Some(last)) = (said().map(|row| row.created).min(), said().map(|row| row.created).max()) else {
        // What stands in the newer form are notices alone.
        return if older.is_empty() { (newer, older) } else { (older, newer) };
    };
    let end = older.iter().map(|row| row.created).max();
    if end.is_some_and(|end| last <= end) {
        return (older, newer);
    }
    let (before, told_again): (Vec<_>, Vec<_>) = older.into_iter().partition(|row| row.created < first);
    if told_again.len() <= said().count() {
        return ([before, newer].concat(), told_again);
    }
    // The newer form has less of the time that both tell of.
    let (told, after): (Vec<_>, Vec<_>) = newer.into_iter().partition(|row| end.is_some_and(|end| row.created <= end));
    ([before, told_again, after].concat(), told)
}

/// Takes out the messages that a fork has of its origin: the host copies them with number, type and time.
pub(super) fn own(rows: Vec<KeptMessage>, origin: &[KeptMessage]) -> (Vec<KeptMessage>, Vec<KeptMessage>) {
    let known: HashMap<_, _> = origin.iter().map(|row| (row.number, row)).collect();
    rows.into_iter().partition(|row| {
        let copied = row.number.is_some().then(|| known.get(&row.number)).flatten();
        !copied.is_some_and(|copied| copied.created == row.created && copied.kind == row.kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(kind: Option<&str>, times: &[i64]) -> Vec<KeptMessage> {
        let row = |created: &i64| KeptMessage {
            id: created.to_string(),
            created: *created,
            kind: kind.map(str::to_owned),
            number: kind.map(|_| *created),
        };
        times.iter().map(row).collect()
    }

    #[test]
    fn both_forms_tell_each_message_once() {
        for (older, newer, expected, left) in [
            (&[1, 2][..], &[][..], &[1, 2][..], 0),
            (&[], &[1, 2], &[1, 2], 0),
            // The older tables are stale.
            (&[1, 2], &[1, 2, 3], &[1, 2, 3], 2),
            // The newer one holds only what was said since.
            (&[1, 2], &[3, 4], &[1, 2, 3, 4], 0),
            // Both tell the same.
            (&[1, 2], &[1, 2], &[1, 2], 2),
            // The newer one has gaps.
            (&[1, 2, 3, 4], &[2, 5], &[1, 2, 3, 4, 5], 1),
        ] {
            let (read, out) = chosen(rows(None, older), rows(Some("user"), newer));
            assert_eq!(read.iter().map(|row| row.created).collect::<Vec<_>>(), expected, "{older:?} {newer:?}");
            assert_eq!(out.len(), left, "{older:?} {newer:?}");
        }
        let (read, _) = chosen(rows(None, &[1, 2]), rows(Some("model-switched"), &[3]));
        assert_eq!(read.len(), 2, "a notice makes no form the newer one");
    }

    #[test]
    fn a_fork_has_its_own_messages() {
        let (own, copied) = own(rows(Some("user"), &[1, 2, 3]), &rows(Some("user"), &[1, 2, 4]));
        assert_eq!((own.len(), copied.len()), (1, 2));
    }
}
