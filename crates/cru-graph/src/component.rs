//! Strongly connected components: where a relation that should have no cycle has one.

use std::collections::VecDeque;

/// The components of a directed graph of `0..n`, numbered so that an edge never leads from a lower to a higher number:
/// what is depended on has the lower number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: u32,
}

/// Tarjan's algorithm with its own stack, linear in nodes and edges.
pub fn components<I>(nodes: usize, next: impl Fn(u32) -> I) -> Components
where
    I: Iterator<Item = u32>,
{
    const UNSEEN: u32 = u32::MAX;
    let mut result = Components { of: vec![UNSEEN; nodes], count: 0 };
    let mut low = vec![UNSEEN; nodes];
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, u32, I)> = Vec::new();
    let mut counter = 0;
    for root in 0..cru_vault::link::number(nodes) {
        if low[root as usize] != UNSEEN {
            continue;
        }
        low[root as usize] = counter;
        path.push((root, counter, next(root)));
        open.push(root);
        counter += 1;
        while let Some((node, order, successors)) = path.last_mut() {
            let (node, order) = (*node, *order);
            if let Some(successor) = successors.next() {
                if low[successor as usize] == UNSEEN {
                    low[successor as usize] = counter;
                    path.push((successor, counter, next(successor)));
                    open.push(successor);
                    counter += 1;
                } else if result.of[successor as usize] == UNSEEN {
                    low[node as usize] = low[node as usize].min(low[successor as usize]);
                }
                continue;
            }
            path.pop();
            if low[node as usize] == order {
                while let Some(member) = open.pop() {
                    result.of[member as usize] = result.count;
                    if member == node {
                        break;
                    }
                }
                result.count += 1;
            } else if let Some((above, _, _)) = path.last() {
                low[*above as usize] = low[*above as usize].min(low[node as usize]);
            }
        }
    }
    result
}

/// One shortest cycle for each component that has one, as nodes in order, the lowest number first; sorted.
pub fn cycles<I>(components: &Components, next: impl Fn(u32) -> I) -> Vec<Vec<u32>>
where
    I: Iterator<Item = u32>,
{
    let mut size = vec![0_u32; components.count as usize];
    for &component in &components.of {
        size[component as usize] += 1;
    }
    let mut done = vec![false; components.count as usize];
    // Which node of the same component the search came from; each node belongs to one search only.
    let mut before = vec![u32::MAX; components.of.len()];
    let mut found = Vec::new();
    for (start, &component) in (0_u32..).zip(&components.of) {
        if std::mem::replace(&mut done[component as usize], true) {
            continue;
        }
        if size[component as usize] == 1 && !next(start).any(|to| to == start) {
            continue;
        }
        let mut queue = VecDeque::from([start]);
        'search: while let Some(node) = queue.pop_front() {
            for to in next(node).filter(|&to| components.of[to as usize] == component) {
                if to == start {
                    found.push(walk_back(start, node, &before));
                    break 'search;
                }
                if before[to as usize] == u32::MAX {
                    before[to as usize] = node;
                    queue.push_back(to);
                }
            }
        }
    }
    found
}

fn walk_back(start: u32, last: u32, before: &[u32]) -> Vec<u32> {
    let mut cycle = vec![last];
    let mut node = last;
    while node != start {
        node = before[node as usize];
        cycle.push(node);
    }
    cycle.reverse();
    cycle
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(nodes: usize, edges: &[(u32, u32)]) -> (Components, Vec<Vec<u32>>) {
        let mut lists = vec![Vec::new(); nodes];
        for &(from, to) in edges {
            lists[from as usize].push(to);
        }
        let next = |node: u32| lists[node as usize].clone().into_iter();
        let components = components(nodes, next);
        let cycles = cycles(&components, next);
        (components, cycles)
    }

    #[test]
    fn numbers_what_is_depended_on_first() {
        let (components, cycles) = run(4, &[(0, 1), (1, 2), (0, 2), (3, 0)]);
        assert_eq!(components.of, [2, 1, 0, 3]);
        assert!(cycles.is_empty());
    }

    #[test]
    fn finds_the_shortest_cycle() {
        let (_, cycles) = run(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 0), (4, 4), (5, 4)]);
        assert_eq!(cycles, [vec![0, 1, 2], vec![4]]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<(u32, u32)> = (0..200_000).map(|node| (node, node + 1)).collect();
        assert_eq!(run(200_001, &edges).0.count, 200_001);
    }

    proptest! {
        #[test]
        fn agrees_with_reachability(nodes in 1_u32..12, edges in prop::collection::vec((0_u32..12, 0_u32..12), 0..40)) {
            let edges: Vec<(u32, u32)> =
                edges.into_iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
            let count = nodes;
            let nodes = nodes as usize;
            let mut reach = vec![vec![false; nodes]; nodes];
            for (node, row) in reach.iter_mut().enumerate() {
                row[node] = true;
            }
            for &(a, b) in &edges {
                reach[a as usize][b as usize] = true;
            }
            for middle in 0..nodes {
                let through = reach[middle].clone();
                for row in reach.iter_mut().filter(|row| row[middle]) {
                    row.iter_mut().zip(&through).for_each(|(cell, more)| *cell |= more);
                }
            }
            let (components, cycles) = run(nodes, &edges);
            for (a, row) in reach.iter().enumerate() {
                for (b, there) in row.iter().enumerate() {
                    prop_assert_eq!(components.of[a] == components.of[b], *there && reach[b][a]);
                }
            }
            for &(a, b) in &edges {
                prop_assert!(components.of[a as usize] >= components.of[b as usize]);
            }
            for cycle in &cycles {
                for (at, &node) in cycle.iter().enumerate() {
                    prop_assert!(edges.contains(&(node, cycle[(at + 1) % cycle.len()])));
                }
            }
            let cyclic = (0..count).any(|a| edges.contains(&(a, a))) || components.count < count;
            prop_assert_eq!(cyclic, !cycles.is_empty());
        }
    }
}
