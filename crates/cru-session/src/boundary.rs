//! Where a session breaks: a branch, a fork, a jump in its tree, a compaction, a pause, a hand-off.
//!
//! The rules work on entries in the order of the file and know no agent; an importer says of each entry what it is and
//! gets the boundary that stands before it, if any. Several kinds may fall on one entry: it is one boundary then.

use std::collections::HashMap;

use jiff::Timestamp;

/// A pause that is a boundary, in seconds.
pub const GAP: i64 = 600;

/// What breaks a session; the order is the priority, and the first kind names the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundaryKind {
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

/// Whether a person's words ask to hand the work over to another session.
pub fn asks_to_hand_over(words: &str) -> bool {
    let words = words.trim_start();
    let name = words.split_whitespace().next().unwrap_or("");
    matches!(name, "/handoff" | "/hand-off" | "/skill:handoff") || words.starts_with("<skill name=\"handoff\"")
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
    pub kinds: Vec<BoundaryKind>,
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
    pub fn is(&self, kind: BoundaryKind) -> bool {
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
                kinds.push(BoundaryKind::Branch);
                previous = self.content_of(from).or(previous);
            }
            // The message behind a branch's summary is a part of the same step back.
            _ if jumps && !self.after_branch => kinds.push(BoundaryKind::TreeJump),
            _ => {}
        }
        if std::mem::take(&mut self.forked) {
            kinds.push(BoundaryKind::Fork);
        }
        match entry.what {
            What::Compaction => kinds.push(BoundaryKind::Compaction),
            What::Handoff => kinds.push(BoundaryKind::Handoff),
            _ => {}
        }
        let pause = self.last.zip(entry.time).map(|(last, time)| time.duration_since(last));
        let gap = pause.filter(|pause| pause.as_secs() >= self.gap).map(|pause| pause.as_secs());
        if gap.is_some() {
            kinds.push(BoundaryKind::Resume);
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use jiff::SignedDuration;

    use super::*;

    /// One entry of a row: kind, id, parent, seconds since the beginning.
    ///
    /// Kinds: `m` message, `l` label, `i` session info, `c` compaction, `h` a request to hand over, `b<id>` the summary of
    /// the branch that ended in `<id>`, `F` no entry but the end of what was copied. Parents: `-` none, `.` unsaid.
    type Row = (&'static str, &'static str, &'static str, i64);

    /// The boundaries as `<entry>: <kinds> <previous>→<follows> <gap>`.
    fn boundaries(rows: &[Row]) -> String {
        let mut tracker = Tracker::default();
        let mut out = String::new();
        let start: Timestamp = "2026-01-01T10:00:00Z".parse().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.1).collect();
        let name = |record: Option<u64>| record.map_or("-", |record| names[usize::try_from(record).unwrap() - 1]);
        for (number, (kind, id, parent, seconds)) in (1..).zip(rows.iter().copied()) {
            let what = match kind {
                "F" => {
                    tracker.fork();
                    continue;
                }
                "m" => What::Content,
                "c" => What::Compaction,
                "h" => What::Handoff,
                "l" | "i" => What::Aside,
                branch => What::Branch(branch.strip_prefix('b').unwrap()),
            };
            let parent = match parent {
                "-" => Parent::Root,
                "." => Parent::Unsaid,
                id => Parent::Id(id),
            };
            let time = Some(start + SignedDuration::from_secs(seconds));
            if let Some(found) = tracker.see(number, Entry { id, parent, time, what }) {
                assert_eq!((found.record, found.time), (number, time));
                assert!(found.is(found.kinds[0]) && found.kinds.is_sorted());
                let gap = found.gap.map(|gap| format!(" {gap}s")).unwrap_or_default();
                let _ = write!(out, "{id}: {:?} {}→{}{gap}; ", found.kinds, name(found.previous), name(found.follows));
            }
        }
        assert_eq!(name(tracker.leaf()), rows.iter().rfind(|row| !matches!(row.0, "l" | "i" | "F")).unwrap().1);
        out.trim_end_matches("; ").to_owned()
    }

    #[test]
    fn table() {
        let rows: &[(&str, &[Row], &str)] = &[
            ("linear", &[("m", "a", "-", 0), ("m", "b", "a", 5), ("m", "c", "b", 9)], ""),
            ("without a tree", &[("m", "a", ".", 0), ("m", "b", ".", 5), ("c", "c", ".", 9)], "c: [Compaction] b→b"),
            (
                "branch summary, and no jump with it",
                &[("m", "a", "-", 0), ("m", "b", "a", 1), ("bb", "s", "a", 2), ("m", "c", "s", 3)],
                "s: [Branch] b→a",
            ),
            (
                "branch summary, then a message elsewhere",
                &[("m", "a", "-", 0), ("m", "b", "a", 1), ("bb", "s", "a", 2), ("m", "c", "b", 3), ("m", "d", "c", 4)],
                "s: [Branch] b→a",
            ),
            (
                "two branches",
                &[
                    ("m", "a", "-", 0),
                    ("m", "b", "a", 1),
                    ("bb", "s", "a", 2),
                    ("m", "c", "s", 3),
                    ("bc", "t", "a", 4),
                    ("m", "d", "t", 5),
                ],
                "s: [Branch] b→a; t: [Branch] c→a",
            ),
            ("a jump at the end", &[("m", "a", "-", 0), ("m", "b", "a", 1), ("m", "c", "a", 2)], "c: [TreeJump] b→a"),
            (
                "a jump in the middle",
                &[("m", "a", "-", 0), ("m", "b", "a", 1), ("m", "c", "a", 2), ("m", "d", "c", 3)],
                "c: [TreeJump] b→a",
            ),
            ("599 seconds", &[("m", "a", "-", 0), ("m", "b", "a", 599)], ""),
            ("600 seconds", &[("m", "a", "-", 0), ("m", "b", "a", 600)], "b: [Resume] a→a 600s"),
            (
                "pauses before and behind",
                &[("m", "a", "-", 0), ("m", "b", "a", 700), ("m", "c", "b", 701), ("m", "d", "c", 1400)],
                "b: [Resume] a→a 700s; d: [Resume] c→c 699s",
            ),
            (
                "labels and names split nothing, and what hangs on them is no jump",
                &[("m", "a", "-", 0), ("l", "l", "a", 5000), ("i", "i", "l", 5001), ("m", "b", "i", 10)],
                "",
            ),
            (
                "behind a label on an older entry",
                &[("m", "a", "-", 0), ("m", "b", "a", 1), ("l", "l", "a", 2), ("m", "c", "l", 3)],
                "c: [TreeJump] b→a",
            ),
            (
                "a compaction after a pause is one boundary",
                &[("m", "a", "-", 0), ("c", "k", "a", 900), ("m", "b", "k", 901)],
                "k: [Compaction, Resume] a→a 900s",
            ),
            (
                "all kinds in one file",
                &[
                    ("m", "a", "-", 0),
                    ("F", "", "", 0),
                    ("m", "b", "a", 1),
                    ("bb", "s", "a", 2),
                    ("m", "c", "s", 3),
                    ("c", "k", "c", 4),
                    ("m", "d", "k", 5),
                    ("m", "e", "c", 6),
                    ("h", "f", "e", 1000),
                ],
                "b: [Fork] a→a; s: [Branch] b→a; k: [Compaction] c→c; e: [TreeJump] d→c; f: [Resume, Handoff] e→e 994s",
            ),
            (
                "no parent after a branch",
                &[("m", "a", "-", 0), ("m", "b", "a", 1), ("bb", "s", "a", 2), ("m", "c", "-", 3)],
                "s: [Branch] b→a",
            ),
            ("a second root", &[("m", "a", "-", 0), ("m", "b", "-", 1)], "b: [TreeJump] a→-"),
            ("a fork without a copy", &[("F", "", "", 0), ("m", "a", "-", 1), ("m", "b", "a", 2)], "a: [Fork] -→-"),
            (
                "a fork from an older entry",
                &[("m", "a", "-", 0), ("m", "b", "a", 1), ("F", "", "", 0), ("m", "c", "a", 2)],
                "c: [Fork, TreeJump] b→a",
            ),
            ("a request to hand over", &[("m", "a", "-", 0), ("h", "b", "a", 1)], "b: [Handoff] a→a"),
            (
                "times that go back or stand still",
                &[("m", "a", "-", 900), ("m", "b", "a", 0), ("m", "c", "b", 0), ("m", "d", "c", 599)],
                "",
            ),
            ("a parent that is not there", &[("m", "a", "-", 0), ("m", "b", "zz", 1), ("m", "c", "b", 2)], ""),
            (
                "parents in a circle, and an id that is there twice",
                &[("m", "a", "b", 0), ("m", "b", "a", 1), ("m", "b", "b", 2), ("m", "c", "b", 3)],
                "",
            ),
        ];
        for (name, entries, wanted) in rows {
            assert_eq!(boundaries(entries), *wanted, "{name}");
        }
    }

    #[test]
    fn the_length_of_a_pause_is_a_choice() {
        let mut tracker = Tracker::new(60);
        let mut see = |number: u64, time: &str| {
            let time = Some(time.parse().unwrap());
            tracker.see(number, Entry { id: "", parent: Parent::Unsaid, time, what: What::Content }).is_some()
        };
        assert!(!see(1, "2026-01-01T10:00:00Z"));
        assert!(!see(2, "2026-01-01T10:00:59.999Z"));
        assert!(see(3, "2026-01-01T10:02:00Z"));
    }
}
