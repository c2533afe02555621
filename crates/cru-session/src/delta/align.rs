//! Which pieces of two lists are the same, in order.
//!
//! Equal beginnings and ends first, then what stands once in both, then the same again between those. It finds less
//! than a longest common subsequence would where pieces repeat, and is never slower than sorting.

use std::collections::HashMap;
use std::ops::Range;

/// Pairs of indices with equal texts, both rising.
pub(crate) fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    // How often what lies between two pairs is looked at again.
    between(old, new, 0..old.len(), 0..new.len(), 12, &mut pairs);
    pairs.sort_unstable();
    pairs
}

fn between(
    old: &[&str],
    new: &[&str],
    mut ours: Range<usize>,
    mut theirs: Range<usize>,
    deeper: usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    while !ours.is_empty() && !theirs.is_empty() && old[ours.start] == new[theirs.start] {
        pairs.push((ours.start, theirs.start));
        ours.start += 1;
        theirs.start += 1;
    }
    while !ours.is_empty() && !theirs.is_empty() && old[ours.end - 1] == new[theirs.end - 1] {
        ours.end -= 1;
        theirs.end -= 1;
        pairs.push((ours.end, theirs.end));
    }
    if ours.is_empty() || theirs.is_empty() || deeper == 0 {
        return;
    }
    let anchors = rising(&unique(old, new, ours.clone(), theirs.clone()));
    let Some(&last) = anchors.last() else { return };
    let mut from = (ours.start, theirs.start);
    for &(at, place) in &anchors {
        between(old, new, from.0..at, from.1..place, deeper - 1, pairs);
        pairs.push((at, place));
        from = (at + 1, place + 1);
    }
    between(old, new, last.0 + 1..ours.end, last.1 + 1..theirs.end, deeper - 1, pairs);
}

/// Texts that stand once on each side, in the order of the old one.
fn unique(old: &[&str], new: &[&str], ours: Range<usize>, theirs: Range<usize>) -> Vec<(usize, usize)> {
    let mut count: HashMap<&str, (u32, u32, usize)> = HashMap::new();
    for at in theirs {
        let row = count.entry(new[at]).or_default();
        *row = (row.0, row.1 + 1, at);
    }
    for at in ours.clone() {
        count.entry(old[at]).or_default().0 += 1;
    }
    ours.filter_map(|at| count.get(old[at]).filter(|row| (row.0, row.1) == (1, 1)).map(|row| (at, row.2))).collect()
}

/// The longest run of pairs whose second parts rise too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Index of the pair that ends the best run of each length, and the pair before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|length| ends[length]));
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        run.push(pairs[index]);
        at = before[index];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
        let pairs = pairs(&old, &new);
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        assert!(pairs.iter().all(|&(a, b)| old[a] == new[b]));
        pairs.iter().map(|&(a, _)| old[a]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn beginnings_ends_and_what_stands_once() {
        assert_eq!(shown("a b c u", "a b c d u2"), "a b c");
        assert_eq!(shown("a b c", "x b y"), "b");
        assert_eq!(shown("a x x b y", "a x b x y").len(), 7);
        assert_eq!(shown("a b c d e", "a c b d e").len(), 7);
        assert_eq!(shown("a", "b"), "");
        assert_eq!(shown("h s h t u", "h s p h t v"), "h s h t");
    }

    #[test]
    fn ten_thousand_equal_pieces_are_no_burden() {
        let old = vec!["x"; 20_000];
        let mut new = vec!["x"; 20_000];
        new[10_000] = "y";
        assert_eq!(pairs(&old, &new).len(), 19_999);
        let words: Vec<String> = (0..40_000).map(|number| (number * 7919 % 40_000).to_string()).collect();
        let one: Vec<&str> = words.iter().map(String::as_str).collect();
        let other: Vec<&str> = one.iter().rev().copied().collect();
        assert!(!pairs(&one, &other).is_empty());
    }
}
