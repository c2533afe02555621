//! All that a node depends on, and all that depends on it.

use std::cmp::Reverse;

use super::build::Graph;
use super::node::NodeId;

/// A node that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The node.
    pub node: NodeId,
    /// Edges on the longest path to it; members of a cycle share the depth of the cycle.
    pub depth: u32,
}

impl Graph<'_> {
    /// All that any of some nodes depends on, directly or not and without these nodes, each once; nearest first, then in the
    /// order of the page.
    pub fn upstream_of(&self, nodes: &[NodeId]) -> Vec<Reached> {
        let next = |node| self.out(node).iter().filter(|edge| edge.kind.is_dependency()).map(|edge| edge.to);
        self.reach(nodes, next, Reverse)
    }

    /// All that depends on any of some nodes, as [`Graph::upstream_of`].
    pub fn downstream_of(&self, nodes: &[NodeId]) -> Vec<Reached> {
        let next = |node| self.incoming(node).filter(|edge| edge.kind.is_dependency()).map(|edge| edge.from);
        self.reach(nodes, next, |component| component)
    }

    /// `rank` orders components so that an edge of `next` never leads to a smaller one.
    fn reach<I: Iterator<Item = NodeId>, R: Ord>(
        &self,
        starts: &[NodeId],
        next: impl Fn(NodeId) -> I,
        rank: impl Fn(u32) -> R,
    ) -> Vec<Reached> {
        let component = |node: NodeId| self.dependencies().of[node.index()];
        let mut known: std::collections::HashSet<NodeId> = starts.iter().copied().collect();
        let starts = known.clone();
        let mut found: Vec<NodeId> = known.iter().copied().collect();
        let mut at = 0;
        while let Some(&node) = found.get(at) {
            at += 1;
            found.extend(next(node).filter(|to| known.insert(*to)));
        }
        found.sort_by_key(|&node| (rank(component(node)), node));
        // The depth of a component is known when its first member is looked at: all edges into it were seen before.
        let mut depths: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
        for &node in &found {
            let own = *depths.entry(component(node)).or_insert(0);
            for to in next(node).map(component).filter(|&to| to != component(node)) {
                let depth = depths.entry(to).or_insert(0);
                *depth = (*depth).max(own + 1);
            }
        }
        let mut reached: Vec<Reached> = found
            .into_iter()
            .filter(|node| !starts.contains(node))
            // What stands in a cycle with the start is one step away at least.
            .map(|node| Reached { node, depth: depths.get(&component(node)).copied().unwrap_or(0).max(1) })
            .collect();
        reached.sort_by_key(|it| (it.depth, it.node));
        reached
    }
}
