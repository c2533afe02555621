//! How nodes belong together.

use serde::Serialize;

use super::NodeId;
use cru_base::Span;
use cru_session::boundary::BoundaryKind;

cru_base::words! {
    /// What an edge says. An edge goes from the one that depends, comes later, contains or points, to the other.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EdgeKind {
        /// The second stands inside the first.
        Contains = "contains",
        /// The second is the step or phase before the first on the page.
        Prev = "prev",
        /// The first depends on the second: written, or because it read what the second wrote.
        After = "after",
        /// The first came out of the second: a sub-agent, a fork, a branch.
        From = "from",
        /// The first, a step, read the second, a file.
        Reads = "reads",
        /// The first, a step, wrote the second, a file.
        Writes = "writes",
        /// The first, a decision or error, is founded on the second.
        RestsOn = "rests-on",
        /// The first resolved the second, an error.
        Resolves = "resolves",
        /// The first ran the second, an older step, again.
        Replays = "replays",
        /// The first shows the second in place.
        Embeds = "embeds",
        /// The first points at the second in any other way.
        LinksTo = "links-to",
        /// The first began when a branch was left that ended with the second, and a summary of it was taken along.
        Branch = "branch",
        /// The first begins a session that has a copy of another, which ended with the second.
        Fork = "fork",
        /// The first went back to an earlier place, away from the second.
        TreeJump = "tree-jump",
        /// The context was compacted between the second and the first.
        Compaction = "compaction",
        /// The first went on after a pause behind the second.
        Resume = "resume",
        /// The first begins with the request to hand over what ended with the second.
        Handoff = "handoff",
    }
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
    /// Whether the first of an edge is founded on the second: these carry staleness.
    pub const fn is_dependency(self) -> bool {
        matches!(self, Self::After | Self::RestsOn)
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
