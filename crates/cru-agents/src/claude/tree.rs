//! The chain of records: which were seen, in which turn each stands, and where a new one hangs.
//!
//! Records name their parent, and progress, attachment and system lines are links of the chain like any other.
//! Parallel tool calls branch it all the time; only a prompt that hangs on another turn than the current one goes back.

use std::collections::HashMap;

use cru_base::hash::short;

/// A record in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClaudeNode {
    /// Index of its stream.
    pub(super) stream: usize,
    /// Its number in the stream.
    pub(super) record: u64,
    /// The turn it stands in.
    pub(super) turn: u32,
}

/// The records of a bundle by id.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: HashMap<Id, ClaudeNode>,
}

impl Tree {
    /// The record of that id.
    pub(super) fn get(&self, id: Option<Id>) -> Option<ClaudeNode> {
        self.nodes.get(&id?).copied()
    }

    /// Adds a record; records without a usable id are no part of the chain.
    pub(super) fn insert(&mut self, id: Option<Id>, node: ClaudeNode) {
        if let Some(id) = id {
            self.nodes.insert(id, node);
        }
    }
}

/// A record's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id(u128);

/// A record's id as a number: its hex digits where it is a UUID, else a hash. Ids that a redaction tool masked are none.
pub(super) fn id(uuid: &str) -> Option<Id> {
    if uuid.is_empty() || uuid == "REDACTED" {
        return None;
    }
    let mut number: u128 = 0;
    let mut digits = 0;
    for byte in uuid.bytes() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'-' => continue,
            _ => return Some(hashed(uuid)),
        };
        number = number << 4 | u128::from(digit);
        digits += 1;
    }
    Some(if digits == 32 { Id(number) } else { hashed(uuid) })
}

fn hashed(uuid: &str) -> Id {
    Id(u128::from_le_bytes(short(&blake3::hash(uuid.as_bytes()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        assert_eq!(id("00000000-0000-4000-8000-00000000000a"), Some(Id(0x4000_8000_0000_0000_000a)));
        assert_ne!(id("msg-1"), id("msg-2"));
        assert_ne!(id("a"), Some(Id(10)));
        assert_eq!(id("REDACTED"), None);
        assert_eq!(id(""), None);
    }
}
