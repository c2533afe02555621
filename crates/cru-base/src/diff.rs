//! How one list becomes another.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// The operations that make `new` of `old`. After the `deadline` the search ends, and more items count as changed.
///
/// Equal items are given equal numbers first, so that the program holds the algorithms once for all lists.
pub fn diff<T: Eq + Hash>(algorithm: Algorithm, old: &[T], new: &[T], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut numbers: HashMap<&T, usize> = HashMap::with_capacity(old.len());
    let [old, new] = [old, new].map(|items| {
        let numbered = items.iter().map(|item| {
            let next = numbers.len();
            *numbers.entry(item).or_insert(next)
        });
        numbered.collect::<Vec<usize>>()
    });
    capture_diff_slices_deadline(algorithm, &old, &new, deadline)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use similar::capture_diff_slices;

    use super::*;

    proptest! {
        #[test]
        fn numbers_change_nothing(old in "[a-d]{0,12}", new in "[a-d]{0,12}") {
            let [old, new] = [&old, &new].map(|text| text.chars().collect::<Vec<char>>());
            for algorithm in [Algorithm::Myers, Algorithm::Patience] {
                prop_assert_eq!(diff(algorithm, &old, &new, None), capture_diff_slices(algorithm, &old, &new));
            }
        }
    }
}
