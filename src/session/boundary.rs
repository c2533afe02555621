//! Where a session breaks: a branch, a fork, a jump in its tree, a compaction, a pause, a hand-off.
//!
//! The rules work on entries in the order of the file and know no agent; an importer says of each entry what it is and
//! gets the boundary that stands before it, if any. Several kinds may fall on one entry: it is one boundary then.

use std::collections::HashMap;

use jiff::Timestamp;

/// A pause that is a boundary, in seconds.
pub const GAP: i64 = 600;

/// What breaks a session; the order is the priority, and the first kind names the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A branch was left, and a summary of it taken along.
    Branch,
    /// The session goes on from another one, of which it has a copy.
    Fork,
    /// The entry does not follow the one that was last.
    TreeJump,
    /// The context was compacted.
    Compaction,
    /// Work went on after a pause.
    Resume,
    /// A person asked to hand over.
    Handoff,
}

/// What an entry says of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent<'a> {
    /// Nothing: it follows the one before it.
    Unsaid,
    /// That it has none.
    Root,
    /// Its id.
    Id(&'a str),
}

/// What an entry is, as far as boundaries go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// A part of the conversation.
    Content,
    /// A person's request to hand over.
    Handoff,
    /// A compaction.
    Compaction,
    /// The summary of the branch that ended in this entry.
    Branch(&'a str),
    /// A label, a name, a setting: a link of the chain that is no part of the conversation.
    Aside,
}

/// An entry of a session.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its id; `""` for none.
    pub id: &'a str,
    /// What it hangs on.
    pub parent: Parent<'a>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// What it is.
    pub what: What<'a>,
}

/// A boundary before an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Its kinds by priority, each once; never empty.
    pub kinds: Vec<Kind>,
    /// Record number of the entry that it stands before.
    pub record: u64,
    /// When that was written.
    pub time: Option<Timestamp>,
    /// Record number of the entry that what was left ended with.
    pub previous: Option<u64>,
    /// Record number of the entry that is gone on from; `None` for the beginning.
    pub follows: Option<u64>,
    /// The pause before the entry in seconds, where that is a boundary.
    pub gap: Option<i64>,
}

impl Boundary {
    /// Whether it is of that kind, among others.
    pub fn is(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }
}

/// Follows the entries of one session.
#[derive(Debug)]
pub struct Tracker {
    gap: i64,
    /// The nearest part of the conversation by id: the entry itself, or what an aside hangs on.
    nodes: HashMap<String, Option<u64>>,
    leaf: Option<u64>,
    last: Option<Timestamp>,
    after_branch: bool,
    forked: bool,
}

impl Default for Tracker {
    fn default() -> Self {
        Self::new(GAP)
    }
}

impl Tracker {
    /// For a session in which a pause of `gap` seconds is a boundary.
    pub fn new(gap: i64) -> Self {
        Self { gap, nodes: HashMap::new(), leaf: None, last: None, after_branch: false, forked: false }
    }

    /// The next entry is the first of the session's own; what came before was copied from another.
    pub fn fork(&mut self) {
        self.forked = true;
    }

    /// The newest part of the conversation.
    pub const fn leaf(&self) -> Option<u64> {
        self.leaf
    }

    /// The record of the part of the conversation that an entry is or hangs on.
    pub fn content_of(&self, id: &str) -> Option<u64> {
        self.nodes.get(id).copied().flatten()
    }

    /// Takes in the entry with that record number; the boundary before it.
    pub fn see(&mut self, record: u64, entry: Entry<'_>) -> Option<Boundary> {
        // What hangs on an entry that is not there follows the last one: a line may be broken or cut off.
        let follows = match entry.parent {
            Parent::Unsaid => self.leaf,
            Parent::Root => None,
            Parent::Id(id) => self.nodes.get(id).copied().unwrap_or(self.leaf),
        };
        if entry.what == What::Aside {
            self.insert(entry.id, follows);
            return None;
        }
        let jumps = self.leaf.is_some() && follows != self.leaf;
        let mut previous = self.leaf;
        let mut kinds = Vec::new();
        match entry.what {
            What::Branch(from) => {
                kinds.push(Kind::Branch);
                previous = self.content_of(from).or(previous);
            }
            // The message behind a branch's summary is a part of the same step back.
            _ if jumps && !self.after_branch => kinds.push(Kind::TreeJump),
            _ => {}
        }
        if std::mem::take(&mut self.forked) {
            kinds.push(Kind::Fork);
        }
        match entry.what {
            What::Compaction => kinds.push(Kind::Compaction),
            What::Handoff => kinds.push(Kind::Handoff),
            _ => {}
        }
        let pause = self.last.zip(entry.time).map(|(last, time)| time.duration_since(last));
        let gap = pause.filter(|pause| pause.as_secs() >= self.gap).map(|pause| pause.as_secs());
        if gap.is_some() {
            kinds.push(Kind::Resume);
        }
        self.after_branch = matches!(entry.what, What::Branch(_));
        self.last = entry.time.or(self.last);
        self.leaf = Some(record);
        self.insert(entry.id, Some(record));
        kinds.sort_unstable();
        (!kinds.is_empty()).then_some(Boundary { kinds, record, time: entry.time, previous, follows, gap })
    }

    fn insert(&mut self, id: &str, content: Option<u64>) {
        if !id.is_empty() {
            self.nodes.insert(id.to_owned(), content);
        }
    }
}
