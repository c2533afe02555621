//! Prompts typed while the agent worked.
//!
//! The host logs them as queue operations: `enqueue` with the words, then either `dequeue` (they follow as a user line)
//! or `remove` (they were handed over in the middle of a turn: newer versions add a `queued_command` attachment, older
//! ones wrote them nowhere else). So the words of a `remove` are told once it is sure that no attachment has them.

use std::collections::VecDeque;

use jiff::Timestamp;

/// More than this is no queue that a person typed; it bounds the work for damaged files.
const MAX: usize = 512;

/// A prompt in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queued {
    pub(super) text: String,
    pub(super) time: Option<Timestamp>,
    /// Record that took it out of the queue.
    pub(super) record: u64,
    /// How much of the agent's work was done when it was put in.
    turns: u64,
    /// Whether it was counted as never sent.
    counted: bool,
}

/// The queue of a stream.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Queued>,
    /// Handed over, not yet told.
    removed: Vec<Queued>,
    /// Taken out to become a user line, and whether the agent worked in between.
    sent: Vec<(String, bool)>,
    /// Told from a `remove` or an attachment.
    told: Vec<String>,
}

impl Queue {
    /// Words were put in after `turns` records of the agent.
    pub(super) fn enqueue(&mut self, text: String, time: Option<Timestamp>, turns: u64) {
        if self.waiting.len() < MAX {
            self.waiting.push_back(Queued { text, time, record: 0, turns, counted: false });
        }
    }

    /// The next words were taken out to become a user line.
    pub(super) fn dequeue(&mut self, turns: u64) {
        if let Some(next) = self.waiting.pop_front() {
            self.sent.truncate(MAX);
            self.sent.push((next.text, turns > next.turns));
        }
    }

    /// Words were handed over (or, with `text`, these words); whether there were any.
    pub(super) fn remove(&mut self, text: &str, record: u64) -> bool {
        let at = self.waiting.iter().position(|waiting| text.is_empty() || waiting.text == text);
        let Some(mut taken) = at.and_then(|at| self.waiting.remove(at)) else { return false };
        taken.record = record;
        self.removed.push(taken);
        true
    }

    /// The person took all words back to edit them.
    pub(super) fn take_back(&mut self) {
        self.waiting.clear();
    }

    /// An attachment has these words: they are not told a second time. Whether they already were.
    pub(super) fn arrived(&mut self, text: &str) -> bool {
        let text = text.trim();
        if let Some(at) = self.removed.iter().position(|removed| removed.text.trim() == text) {
            self.removed.remove(at);
            return false;
        }
        // The attachment may come before the words are logged as taken out.
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.text.trim() == text) {
            self.waiting.remove(at);
            return false;
        }
        match self.told.iter().position(|told| told == text) {
            Some(at) => {
                self.told.remove(at);
                true
            }
            None => false,
        }
    }

    /// Whether a user line with these words came out of the queue, typed while the agent worked.
    pub(super) fn was_sent(&mut self, text: &str) -> bool {
        let at = self.sent.iter().position(|(sent, _)| sent.trim() == text.trim());
        at.is_some_and(|at| self.sent.remove(at).1)
    }

    /// What was handed over and is told nowhere else.
    pub(super) fn untold(&mut self) -> Vec<Queued> {
        if self.removed.is_empty() {
            return Vec::new();
        }
        self.told.truncate(MAX);
        self.told.extend(self.removed.iter().map(|removed| removed.text.trim().to_owned()));
        std::mem::take(&mut self.removed)
    }

    /// How many were never sent so far and not counted before.
    pub(super) fn forget_unsent(&mut self) -> u64 {
        let mut unsent = 0;
        for waiting in &mut self.waiting {
            unsent += u64::from(!std::mem::replace(&mut waiting.counted, true));
        }
        unsent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(queued: &[Queued]) -> Vec<&str> {
        queued.iter().map(|queued| queued.text.as_str()).collect()
    }

    #[test]
    fn handed_over_and_written_nowhere_else() {
        let mut queue = Queue::default();
        queue.enqueue("use pnpm".into(), None, 1);
        assert!(queue.untold().is_empty());
        assert!(queue.remove("", 9));
        assert_eq!(texts(&queue.untold()), ["use pnpm"]);
        assert!(queue.arrived("use pnpm"), "a late attachment does not say it again");
        assert!(!queue.arrived("use pnpm"), "the same words said once more are new");
        assert!(!queue.remove("", 10));
    }

    #[test]
    fn handed_over_with_an_attachment() {
        let mut queue = Queue::default();
        queue.enqueue("one".into(), None, 1);
        queue.enqueue("two".into(), None, 1);
        assert!(queue.remove("two", 9));
        assert!(!queue.arrived("two\n"));
        assert!(queue.untold().is_empty());
        assert_eq!(queue.forget_unsent(), 1);
    }

    #[test]
    fn an_attachment_before_its_removal() {
        let mut queue = Queue::default();
        queue.enqueue("one".into(), None, 1);
        assert!(!queue.arrived("one"));
        assert!(!queue.remove("", 9));
        assert!(queue.untold().is_empty());
    }

    #[test]
    fn sent_as_user_lines() {
        let mut queue = Queue::default();
        queue.enqueue("first".into(), None, 0);
        queue.dequeue(0);
        assert!(!queue.was_sent("first"), "nothing was worked on yet");
        queue.enqueue("later".into(), None, 3);
        queue.dequeue(5);
        assert!(queue.was_sent("later") && !queue.was_sent("later"));
        queue.enqueue("never".into(), None, 5);
        queue.take_back();
        assert_eq!(queue.forget_unsent(), 0);
    }
}
