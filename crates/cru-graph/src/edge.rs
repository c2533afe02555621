//! How nodes belong together.

use std::fmt;

use serde::Serialize;

use super::NodeId;
use cru_base::Span;
use cru_session::boundary::BoundaryKind;

/// What an edge says. An edge goes from the one that depends, comes later, contains or points, to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeKind {
    /// The second stands inside the first.
    Contains,
    /// The second is the step or phase before the first on the page.
    Prev,
    /// The first depends on the second: written, or because it read what the second wrote.
    After,
    /// The first came out of the second: a sub-agent, a fork, a branch.
    From,
    /// The first, a step, read the second, a file.
    Reads,
    /// The first, a step, wrote the second, a file.
    Writes,
    /// The first, a decision or error, is founded on the second.
    RestsOn,
    /// The first resolved the second, an error.
    Resolves,
    /// The first ran the second, an older step, again.
    Replays,
    /// The first shows the second in place.
    Embeds,
    /// The first points at the second in any other way.
    LinksTo,
    /// The first began when a branch was left that ended with the second, and a summary of it was taken along.
    Branch,
    /// The first begins a session that has a copy of another, which ended with the second.
    Fork,
    /// The first went back to an earlier place, away from the second.
    TreeJump,
    /// The context was compacted between the second and the first.
    Compaction,
    /// The first went on after a pause behind the second.
    Resume,
    /// The first begins with the request to hand over what ended with the second.
    Handoff,
}

impl From<BoundaryKind> for EdgeKind {
    fn from(kind: BoundaryKind) -> Self {
        match kind {
            BoundaryKind::Branch => Self::Branch,
            BoundaryKind::Fork => Self::Fork,
            BoundaryKind::TreeJump => Self::TreeJump,
            BoundaryKind::Compaction => Self::Compaction,
            BoundaryKind::Resume => Self::Resume,
            BoundaryKind::Handoff => Self::Handoff,
        }
    }
}

impl EdgeKind {
    /// All of them, in order.
    pub const ALL: [Self; 17] = [
        Self::Contains,
        Self::Prev,
        Self::After,
        Self::From,
        Self::Reads,
        Self::Writes,
        Self::RestsOn,
        Self::Resolves,
        Self::Replays,
        Self::Embeds,
        Self::LinksTo,
        Self::Branch,
        Self::Fork,
        Self::TreeJump,
        Self::Compaction,
        Self::Resume,
        Self::Handoff,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::Prev => "prev",
            Self::After => "after",
            Self::From => "from",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::RestsOn => "rests-on",
            Self::Resolves => "resolves",
            Self::Replays => "replays",
            Self::Embeds => "embeds",
            Self::LinksTo => "links-to",
            Self::Branch => "branch",
            Self::Fork => "fork",
            Self::TreeJump => "tree-jump",
            Self::Compaction => "compaction",
            Self::Resume => "resume",
            Self::Handoff => "handoff",
        }
    }

    /// Whether the first of an edge is founded on the second: these carry staleness.
    pub const fn is_dependency(self) -> bool {
        matches!(self, Self::After | Self::RestsOn)
    }
}

impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A typed edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub from: NodeId,
    /// What it says.
    pub kind: EdgeKind,
    /// Where it ends.
    pub to: NodeId,
    /// Where it is written, in the note of `from` (of `to` for [`EdgeKind::Resolves`]); `None` when it is computed.
    pub written: Option<Span>,
}

/// All edges, sorted by start, kind and end, and found from either end.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    all: Vec<Edge>,
    /// Where the edges of each node start in `all`; one more entry than nodes.
    out: Vec<u32>,
    /// The edges by end: `into[ends[n]..ends[n + 1]]` are indexes into `all`.
    ends: Vec<u32>,
    into: Vec<u32>,
}

impl Edges {
    /// Sorts and de-duplicates; of two that say the same, the written one stays.
    pub(super) fn new(mut all: Vec<Edge>, nodes: usize) -> Self {
        all.sort_unstable_by_key(|edge| (edge.from, edge.kind, edge.to, edge.written.is_none(), edge.written));
        all.dedup_by_key(|edge| (edge.from, edge.kind, edge.to));
        let out = starts(nodes, all.iter().map(|edge| edge.from));
        let ends = starts(nodes, all.iter().map(|edge| edge.to));
        let mut next = ends.clone();
        let mut into = vec![0; all.len()];
        for (number, edge) in (0..).zip(&all) {
            // `starts` counted this very edge, so there is a place for it.
            let place = &mut next[edge.to.index()];
            into[*place as usize] = number;
            *place += 1;
        }
        Self { all, out, ends, into }
    }

    pub(super) fn all(&self) -> &[Edge] {
        &self.all
    }

    pub(super) fn out(&self, node: NodeId) -> &[Edge] {
        &self.all[range(&self.out, node)]
    }

    pub(super) fn incoming(&self, node: NodeId) -> impl Iterator<Item = &Edge> {
        self.into[range(&self.ends, node)].iter().map(|&number| &self.all[number as usize])
    }
}

fn range(starts: &[u32], node: NodeId) -> std::ops::Range<usize> {
    starts[node.index()] as usize..starts[node.index() + 1] as usize
}

/// Counting sort's table: how many entries belong to nodes before each.
fn starts(nodes: usize, ends: impl Iterator<Item = NodeId>) -> Vec<u32> {
    let mut starts = vec![0; nodes + 1];
    for node in ends {
        starts[node.index() + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    starts
}
