//! Prompts typed while the agent worked.
//!
//! The host logs them as queue operations: `enqueue` with the words, then either `dequeue` (they follow as a user line)
//! or `remove` (they were handed over in the middle of a turn: newer versions add a `queued_command` attachment, older
//! ones wrote them nowhere else). So the words of a `remove` are told once it is sure that no attachment has them.
//!
//! The host puts words of its own into the same queue, about tasks in the background, and an operation that takes words out
//! does not say which. In the middle of a turn a person's are handed over before the host's; at its end the host takes out its
//! own, and what is sent is told by the user line that follows.

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
    /// Whether the host put it in.
    by_host: bool,
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
    /// Words of a person, or of the host, were put in after `turns` records of the agent.
    pub(super) fn enqueue(&mut self, text: String, by_host: bool, time: Option<Timestamp>, turns: u64) {
        if self.waiting.len() < MAX {
            self.waiting.push_back(Queued { text, time, record: 0, by_host, turns, counted: false });
        }
    }

    /// The next words were taken out to become a user line. Where words of both kinds wait, that line says which they were.
    pub(super) fn dequeue(&mut self, turns: u64) {
        let is_mixed = self.waiting.iter().any(|it| it.by_host) && self.waiting.iter().any(|it| !it.by_host);
        if is_mixed {
            return;
        }
        if let Some(next) = self.waiting.pop_front() {
            self.sent.truncate(MAX);
            self.sent.push((next.text, turns > next.turns));
        }
    }

    /// Words were handed over (or, with `text`, these words), while the agent worked or between turns; whether there were
    /// any.
    pub(super) fn remove(&mut self, text: &str, works: bool, record: u64) -> bool {
        let first = || self.waiting.iter().position(|waiting| waiting.by_host != works);
        let at = match text {
            "" => first().or((!self.waiting.is_empty()).then_some(0)),
            text => self.waiting.iter().position(|waiting| waiting.text == text),
        };
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

    /// Whether a user line with these words, after `turns` records of the agent, came out of the queue, typed while the agent
    /// worked.
    pub(super) fn was_sent(&mut self, text: &str, turns: u64) -> bool {
        if let Some(at) = self.sent.iter().position(|(sent, _)| sent.trim() == text.trim()) {
            return self.sent.remove(at).1;
        }
        let waits = |it: &Queued| it.text.trim() == text.trim();
        let at = self.waiting.iter().position(waits);
        at.and_then(|at| self.waiting.remove(at)).is_some_and(|it| turns > it.turns)
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
        for waiting in self.waiting.iter_mut().filter(|it| !it.by_host) {
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
        queue.enqueue("use pnpm".into(), false, None, 1);
        assert!(queue.untold().is_empty());
        assert!(queue.remove("", true, 9));
        assert_eq!(texts(&queue.untold()), ["use pnpm"]);
        assert!(queue.arrived("use pnpm"), "a late attachment does not say it again");
        assert!(!queue.arrived("use pnpm"), "the same words said once more are new");
        assert!(!queue.remove("", true, 10));
    }

    #[test]
    fn handed_over_with_an_attachment() {
        let mut queue = Queue::default();
        queue.enqueue("one".into(), false, None, 1);
        queue.enqueue("two".into(), false, None, 1);
        assert!(queue.remove("two", true, 9));
        assert!(!queue.arrived("two\n"));
        assert!(queue.untold().is_empty());
        assert_eq!(queue.forget_unsent(), 1);
    }

    #[test]
    fn an_attachment_before_its_removal() {
        let mut queue = Queue::default();
        queue.enqueue("one".into(), false, None, 1);
        assert!(!queue.arrived("one"));
        assert!(!queue.remove("", true, 9));
        assert!(queue.untold().is_empty());
    }

    #[test]
    fn sent_as_user_lines() {
        let mut queue = Queue::default();
        queue.enqueue("first".into(), false, None, 0);
        queue.dequeue(0);
        assert!(!queue.was_sent("first", 0), "nothing was worked on yet");
        queue.enqueue("later".into(), false, None, 3);
        queue.dequeue(5);
        assert!(queue.was_sent("later", 5) && !queue.was_sent("later", 5));
        queue.enqueue("never".into(), false, None, 5);
        queue.take_back();
        assert_eq!(queue.forget_unsent(), 0);
    }

    #[test]
    fn words_of_the_host_are_told_from_those_of_a_person() {
        let mut queue = Queue::default();
        queue.enqueue("a task began".into(), true, None, 1);
        queue.enqueue("use pnpm".into(), false, None, 1);
        queue.enqueue("a task ended".into(), true, None, 2);
        queue.enqueue("then commit".into(), false, None, 2);
        assert!(queue.remove("", true, 9));
        assert_eq!(texts(&queue.untold()), ["use pnpm"]);
        // Between turns the host takes out its own words, and the person's follow as a line.
        assert!(queue.remove("", false, 10));
        assert_eq!(texts(&queue.untold()), ["a task began"]);
        queue.dequeue(4);
        assert!(queue.was_sent("then commit", 4));
        assert_eq!(queue.forget_unsent(), 0);
    }
}
