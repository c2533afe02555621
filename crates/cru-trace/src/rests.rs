//! What rests on something that does not hold any more.

use crate::verdict::ClaimVerdict;

/// What one thing rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// The nearest thing it depends on that is stale by itself.
    pub on: Option<usize>,
    /// Whether it depends on itself: then nothing can be said of it.
    pub in_cycle: bool,
}

/// For each thing what it rests on, along `edges` alone: `(what depends, on what)`. `stale` says which are stale by
/// themselves and `cleared` which were done again with equal output since, so that nothing is in doubt because of them.
/// Linear in things and edges.
pub fn rests(own: &[ClaimVerdict], edges: &[(usize, usize)], cleared: &[bool]) -> Vec<Rest> {
    let count = own.len();
    let edges = edges.iter().copied().filter(|(of, on)| *of < count && *on < count);
    let mut needs = vec![0_usize; count];
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (of, on) in edges {
        needs[of] += 1;
        dependents[on].push(of);
    }
    let mut ready: std::collections::VecDeque<usize> = (0..count).filter(|&at| needs[at] == 0).collect();
    let mut rests = vec![Rest::default(); count];
    let mut done = vec![false; count];
    while let Some(at) = ready.pop_front() {
        done[at] = true;
        let is_cleared = cleared.get(at).copied().unwrap_or(false);
        let stale = if own[at].is_stale() { Some(at) } else { rests[at].on }.filter(|_| !is_cleared);
        for &of in &dependents[at] {
            rests[of].on = rests[of].on.or(stale);
            needs[of] -= 1;
            if needs[of] == 0 {
                ready.push_back(of);
            }
        }
    }
    // What is left stands in a cycle, or behind one.
    for (rest, done) in rests.iter_mut().zip(done) {
        rest.in_cycle = !done;
    }
    rests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stale: &[usize], count: usize, edges: &[(usize, usize)], cleared: &[usize]) -> Vec<(Option<usize>, bool)> {
        let own: Vec<ClaimVerdict> =
            (0..count).map(|at| if stale.contains(&at) { ClaimVerdict::Gone } else { ClaimVerdict::Holds }).collect();
        let cleared: Vec<bool> = (0..count).map(|at| cleared.contains(&at)).collect();
        rests(&own, edges, &cleared).into_iter().map(|it| (it.on, it.in_cycle)).collect()
    }

    #[test]
    fn along_edges_alone() {
        // A diamond: 1 and 2 on 0, 3 on both; 4 stands alone.
        let edges = [(1, 0), (2, 0), (3, 1), (3, 2)];
        let none = (None, false);
        assert_eq!(run(&[0], 5, &edges, &[]), [none, (Some(0), false), (Some(0), false), (Some(0), false), none]);
        assert_eq!(run(&[1], 5, &edges, &[]), [none, none, none, (Some(1), false), none]);
        assert_eq!(run(&[0], 5, &edges, &[0]), [none; 5], "done again with equal output");
    }

    #[test]
    fn a_cycle_is_unknown_and_the_rest_is_answered() {
        let edges = [(0, 1), (1, 0), (3, 2), (9, 0), (0, 9)];
        assert_eq!(run(&[2], 4, &edges, &[]), [(None, true), (None, true), (None, false), (Some(2), false)]);
    }
}
