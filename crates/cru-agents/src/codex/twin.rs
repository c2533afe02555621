//! What is said twice: each text of a person or of the agent stands in two records, one of which is told.
//!
//! The record that is told comes before or after the other; in old files, or where a file is damaged, only the other is
//! there. So the other waits until something else happens, and is told if the first did not come.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use cru_session::event::Attachment;

/// Texts that are remembered; it bounds the work for damaged files.
const MAX: usize = 16;

/// A text that waits for its other record.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) record: u64,
    pub(super) time: Option<Timestamp>,
    pub(super) text: String,
    /// Pictures that the record has beside the text.
    pub(super) attachments: Vec<Attachment<'static>>,
}

/// The texts of one kind.
#[derive(Debug, Default)]
pub(super) struct Twins {
    /// Of the other record, not told yet.
    waiting: VecDeque<Held>,
    /// Of the first record, told.
    told: VecDeque<u64>,
    /// Of the other record, told for want of the first.
    late: VecDeque<u64>,
}

impl Twins {
    /// The record comes that is told: the pictures that the other record has, or `None` where it was told already.
    pub(super) fn first(&mut self, text: &str) -> Option<Vec<Attachment<'static>>> {
        let hash = hash(text);
        if let Some(at) = self.waiting.iter().position(|held| self::hash(&held.text) == hash) {
            return Some(self.waiting.remove(at).map(|held| held.attachments).unwrap_or_default());
        }
        if take(&mut self.late, hash) {
            return None;
        }
        push(&mut self.told, hash);
        Some(Vec::new())
    }

    /// The other record comes.
    pub(super) fn second(
        &mut self,
        record: u64,
        time: Option<Timestamp>,
        text: &str,
        attachments: Vec<Attachment<'static>>,
    ) {
        if !take(&mut self.told, hash(text)) {
            self.waiting.push_back(Held { record, time, text: text.to_owned(), attachments });
        }
    }

    /// Whether so many wait that they are to be told.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MAX
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Something else happens: what waited, to be told or not.
    pub(super) fn settle(&mut self, told: bool) -> Vec<Held> {
        let held: Vec<Held> = self.waiting.drain(..).collect();
        for it in held.iter().filter(|_| told) {
            push(&mut self.late, hash(&it.text));
        }
        held
    }
}

fn push(list: &mut VecDeque<u64>, hash: u64) {
    if list.len() >= MAX {
        list.pop_front();
    }
    list.push_back(hash);
}

fn take(list: &mut VecDeque<u64>, hash: u64) -> bool {
    let at = list.iter().position(|known| *known == hash);
    at.is_some_and(|at| list.remove(at).is_some())
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_once_in_either_order() {
        let mut twins = Twins::default();
        let second = |twins: &mut Twins, text: &str| twins.second(2, None, text, Vec::new());
        assert!(twins.first("one").is_some());
        second(&mut twins, "one\n");
        assert!(twins.is_empty());
        second(&mut twins, "two");
        assert!(twins.first("two").is_some() && twins.is_empty());
        second(&mut twins, "three");
        assert_eq!(twins.settle(true).len(), 1);
        assert!(twins.first("three").is_none());
        assert!(twins.first("three").is_some());
    }
}
