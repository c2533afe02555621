//! What is said twice: each text of a person or of the agent stands in two records, one of which is told.
//!
//! The record that is told comes before or after the other; in old files, or where a file is damaged, only the other is
//! there. So the other waits until something else happens, and is told if the first did not come.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

/// Texts that are remembered; it bounds the work for damaged files.
const MAX: usize = 16;

/// A text that waits for its other record.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) record: u64,
    pub(super) time: Option<Timestamp>,
    pub(super) text: String,
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
    /// The record comes that is told; whether it is still to be.
    pub(super) fn first(&mut self, text: &str) -> bool {
        let hash = hash(text);
        if let Some(at) = self.waiting.iter().position(|held| self::hash(&held.text) == hash) {
            self.waiting.remove(at);
            return true;
        }
        if take(&mut self.late, hash) {
            return false;
        }
        push(&mut self.told, hash);
        true
    }

    /// The other record comes.
    pub(super) fn second(&mut self, record: u64, time: Option<Timestamp>, text: &str) {
        if !take(&mut self.told, hash(text)) {
            self.waiting.push_back(Held { record, time, text: text.to_owned() });
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
        assert!(twins.first("one"));
        twins.second(2, None, "one\n");
        assert!(twins.is_empty());
        twins.second(3, None, "two");
        assert!(twins.first("two") && twins.is_empty());
        twins.second(5, None, "three");
        assert_eq!(twins.settle(true).len(), 1);
        assert!(!twins.first("three"));
        assert!(twins.first("three"));
    }
}
