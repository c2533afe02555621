//! The messages of a file as one list that only grows: what was replaced is told once, in its place; what was dropped
//! stays, with a mark behind it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::reason;
use crate::file::jsonl::DUPLICATE;
use crate::file::value::{filled, list, word};
use cru_session::source::Account;

/// One thing in the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// A message.
    Message(Value),
    /// What follows goes on behind this entry; `None` for the beginning.
    Rewind(Option<usize>),
    /// Bytes that are no message.
    Broken(Vec<u8>),
}

/// What the files of a session tell. A message that stands in several of them is told once, where it stands first, as the
/// last of them has it.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// What is said of the session.
    pub(super) meta: Map<String, Value>,
    pub(super) entries: Vec<Entry>,
    /// The file of each entry.
    pub(super) files: Vec<usize>,
    /// The files of sub-agents, with the names of these.
    pub(super) agents: BTreeMap<usize, String>,
    /// What became of the records of each file that are no entries.
    pub(super) accounts: Vec<Account>,
    /// Entries by the id of their message, of those that were not dropped.
    by_id: HashMap<String, usize>,
    /// Entries that were not dropped, in order.
    live: Vec<usize>,
}

impl Thread {
    /// What is taken in from here on stands in the next file.
    pub(super) fn next_file(&mut self) {
        self.accounts.push(Account::default());
    }

    fn account(&mut self) -> &mut Account {
        if self.accounts.is_empty() {
            self.next_file();
        }
        let last = self.accounts.len() - 1;
        &mut self.accounts[last]
    }

    fn push(&mut self, entry: Entry) {
        self.files.push(self.accounts.len().saturating_sub(1));
        self.entries.push(entry);
    }

    /// Takes in the head of a document, or its first line.
    pub(super) fn head(&mut self, fields: Map<String, Value>) {
        self.account().represent();
        self.meta.extend(fields);
    }

    /// Counts a record that says nothing.
    pub(super) fn leave(&mut self, reason: &'static str) {
        self.account().skip(reason);
    }

    /// Takes in what is no message.
    pub(super) fn broken(&mut self, bytes: &[u8]) {
        self.live.push(self.entries.len());
        self.push(Entry::Broken(bytes.to_vec()));
    }

    /// Takes in one line.
    pub(super) fn line(&mut self, value: Value) {
        if let Some(id) = filled(&value, "$rewindTo") {
            let id = id.to_owned();
            return self.rewind(&id);
        }
        match value {
            Value::Object(mut map) if map.get("$set").is_some_and(Value::is_object) => {
                if let Some(Value::Object(set)) = map.remove("$set") {
                    self.set(set);
                }
            }
            Value::Object(map) if map.contains_key("projectHash") && !map.contains_key("type") => self.head(map),
            value if value.get("type").is_some() || value.get("content").is_some() => self.message(value, true),
            _ => self.leave("unknown record type"),
        }
    }

    /// Takes in a message; `counts`: it is a record of its own.
    pub(super) fn message(&mut self, value: Value, counts: bool) {
        let id = filled(&value, "id").filter(|id| *id != "REDACTED").unwrap_or("").to_owned();
        if let Some(&at) = self.by_id.get(&id).filter(|_| !id.is_empty()) {
            let new = Entry::Message(value);
            let is_copy = self.entries.get(at) == Some(&new)
                && self.files.get(at) != Some(&self.accounts.len().saturating_sub(1));
            if let Some(entry) = self.entries.get_mut(at) {
                *entry = new;
            }
            if counts {
                self.leave(if is_copy { DUPLICATE } else { reason::REPLACED });
            }
            return;
        }
        let at = self.entries.len();
        self.push(Entry::Message(value));
        self.live.push(at);
        if !id.is_empty() {
            self.by_id.insert(id, at);
        }
    }

    /// Drops a message and what stands behind it; all, where it is not known.
    fn rewind(&mut self, id: &str) {
        let at = self.by_id.get(id).and_then(|entry| self.live.binary_search(entry).ok()).unwrap_or(0);
        for entry in self.live.split_off(at) {
            self.forget(entry);
        }
        self.push(Entry::Rewind(self.live.last().copied()));
    }

    fn forget(&mut self, entry: usize) {
        if let Some(Entry::Message(value)) = self.entries.get(entry) {
            self.by_id.remove(word(value, "id"));
        }
    }

    /// Settings of the session; a list of messages among them is all there is from now on.
    fn set(&mut self, mut set: Map<String, Value>) {
        let messages = set.remove("messages");
        let told = messages.is_some() || set.keys().any(|key| matches!(key.as_str(), "summary" | "directories"));
        self.meta.extend(set);
        if told {
            self.account().represent();
        } else {
            self.leave("time of the last change");
        }
        let Some(messages) = messages else { return };
        let messages = serde_json::json!({ "messages": messages });
        let messages = list(&messages, "messages");
        let kept: HashSet<&str> = messages.iter().map(|message| word(message, "id")).collect();
        let dropped: Vec<usize> = self
            .live
            .iter()
            .copied()
            .filter(|entry| match self.entries.get(*entry) {
                Some(Entry::Message(old)) => !kept.contains(word(old, "id")),
                _ => false,
            })
            .collect();
        let gone: HashSet<usize> = dropped.iter().copied().collect();
        self.live.retain(|entry| !gone.contains(entry));
        for entry in dropped {
            self.forget(entry);
        }
        for message in messages.iter().filter(|message| message.is_object()) {
            self.message(message.clone(), false);
        }
    }

    /// The session's id.
    pub(super) fn session(&self) -> Option<&str> {
        self.meta.get("sessionId").and_then(Value::as_str).filter(|id| !id.trim().is_empty() && *id != "REDACTED")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(lines: &[Value]) -> Vec<String> {
        let mut thread = Thread::default();
        for line in lines {
            thread.line(line.clone());
        }
        let word = |entry: &Entry| match entry {
            Entry::Message(value) => word(value, "content").to_owned(),
            Entry::Rewind(to) => format!("<{}", to.map_or(-1, |to| i64::try_from(to).unwrap())),
            Entry::Broken(_) => "!".to_owned(),
        };
        thread.entries.iter().map(word).collect()
    }

    fn message(id: &str, words: &str) -> Value {
        json!({ "id": id, "type": "user", "content": words })
    }

    #[test]
    fn what_is_told_is_never_taken_back() {
        let (a, b, c) = (message("a", "A"), message("b", "B"), message("c", "C"));
        assert_eq!(told(&[a.clone(), b.clone(), message("a", "A2")]), ["A2", "B"]);
        assert_eq!(told(&[a.clone(), b.clone(), json!({"$rewindTo": "b"}), c.clone()]), ["A", "B", "<0", "C"]);
        assert_eq!(told(&[a.clone(), json!({"$rewindTo": "x"}), message("a", "A2")]), ["A", "<-1", "A2"]);
        let set = json!({"$set": {"messages": [message("s", "S"), message("b", "B2")]}});
        assert_eq!(told(&[a.clone(), b, set, message("a", "A2")]), ["A", "B2", "S", "A2"]);
        assert_eq!(
            told(&[message("", "1"), message("", "2"), json!({"$set": 3}), json!({"$rewindTo": 3}), c]),
            ["1", "2", "C"]
        );
    }
}
