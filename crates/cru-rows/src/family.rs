//! Which objects must be read together: all that share a key, however long the way from one to the other.

use std::collections::HashMap;

use cru_base::hash::short;

/// Joins objects by their keys. Each object costs some words of memory, each key 16 bytes and a slot of a table.
#[derive(Debug, Default)]
pub struct Families {
    uris: Vec<String>,
    /// Each object points to an earlier one of its family, the first to itself.
    above: Vec<usize>,
    /// The least key of the family of a first object.
    least: Vec<String>,
    by_key: HashMap<u128, usize>,
}

impl Families {
    /// Adds an object with its keys. One without a key stands for itself.
    pub fn add<'k>(&mut self, uri: &str, keys: impl IntoIterator<Item = &'k str>) {
        let own = self.uris.len();
        self.uris.push(uri.to_owned());
        self.above.push(own);
        self.least.push(String::new());
        let mut least: Option<String> = None;
        for key in keys {
            if least.as_deref().is_none_or(|least| key < least) {
                least = Some(key.to_owned());
            }
            let other = *self.by_key.entry(hash(key)).or_insert(own);
            self.join(own, other);
        }
        let first = self.first(own);
        let least = least.unwrap_or_else(|| format!("object {uri}"));
        let known = &mut self.least[first];
        if known.is_empty() || least < *known {
            *known = least;
        }
    }

    fn first(&mut self, mut at: usize) -> usize {
        while self.above[at] != at {
            self.above[at] = self.above[self.above[at]];
            at = self.above[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        let (first, second) = (one.min(other), one.max(other));
        if first == second {
            return;
        }
        self.above[second] = first;
        let least = std::mem::take(&mut self.least[second]);
        let known = &mut self.least[first];
        if known.is_empty() || (!least.is_empty() && least < *known) {
            *known = least;
        }
    }

    /// Each object with its family, in the order in which they were added. The number of a family is that of its least
    /// key: it depends on the keys alone, and not on the order of objects.
    pub fn finish(mut self) -> Vec<(String, i64)> {
        let firsts: Vec<usize> = (0..self.uris.len()).map(|at| self.first(at)).collect();
        let numbers: HashMap<usize, i64> = firsts.iter().map(|first| (*first, number(&self.least[*first]))).collect();
        self.uris.into_iter().zip(firsts).map(|(uri, first)| (uri, numbers[&first])).collect()
    }
}

fn hash(key: &str) -> u128 {
    u128::from_le_bytes(short(&blake3::hash(key.as_bytes())))
}

/// The number of the family whose least key is `key`; never negative.
pub fn number(key: &str) -> i64 {
    i64::from_le_bytes(short(&blake3::hash(key.as_bytes()))) & i64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(objects: &[(&str, &[&str])]) -> Vec<(String, i64)> {
        let mut families = Families::default();
        for (uri, keys) in objects {
            families.add(uri, keys.iter().copied());
        }
        families.finish()
    }

    #[test]
    fn objects_are_joined_over_several_keys() {
        let found = families(&[("a", &["s1"]), ("b", &["s2", "s3"]), ("c", &[]), ("d", &["s3", "s1"]), ("e", &["s4"])]);
        let of = |uri: &str| found.iter().find(|(it, _)| it == uri).unwrap().1;
        assert_eq!((of("a"), of("b")), (of("d"), of("d")));
        assert_eq!(of("a"), number("s1"));
        assert_eq!(of("c"), number("object c"));
        assert!(of("c") != of("a") && of("e") != of("a"));
    }

    proptest::proptest! {
        #[test]
        fn the_order_of_objects_changes_nothing(
            mut objects in proptest::collection::vec(proptest::collection::vec("[a-h]", 0..3), 0..20),
            seed in 0..20_usize,
        ) {
            let named: Vec<(String, Vec<String>)> =
                objects.drain(..).enumerate().map(|(at, keys)| (at.to_string(), keys)).collect();
            let run = |objects: &[(String, Vec<String>)]| {
                let mut families = Families::default();
                for (uri, keys) in objects {
                    families.add(uri, keys.iter().map(String::as_str));
                }
                let mut found = families.finish();
                found.sort();
                found
            };
            let mut other = named.clone();
            other.reverse();
            let middle = seed.min(other.len());
            other.rotate_left(middle);
            proptest::prop_assert_eq!(run(&named), run(&other));
        }
    }
}
