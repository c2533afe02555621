//! Which texts are nearly the same: `MinHash` over runs of five words.
//!
//! A text is 128 numbers, the smallest hash in each of 128 bins; two texts agree in about as many of them as their runs
//! of words have in common. Texts that agree in six neighbouring numbers are compared, so the work grows with the texts
//! and not with their pairs.

use std::collections::HashMap;

/// Bins of a signature.
const BINS: usize = 128;

/// Numbers of a band.
const BAND: usize = 6;

/// Words of a run.
const RUN: usize = 5;

/// Share of numbers in which near duplicates agree.
const ALIKE: f64 = 0.8;

/// How many texts of one band are compared with each other: more are boilerplate, and compared with the first alone.
const CROWD: usize = 32;

/// A text as 128 numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature(Vec<u32>);

impl Signature {
    /// Of a text; case, and all that is no letter or digit, counts for nothing.
    pub(crate) fn of(text: &str) -> Self {
        let words: Vec<u64> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| {
                word.chars()
                    .flat_map(char::to_lowercase)
                    .fold(0xcbf2_9ce4_8422_2325, |hash, c| mix(hash ^ u64::from(c)))
            })
            .collect();
        let mut bins = vec![u32::MAX; BINS];
        let run = RUN.min(words.len().max(1));
        for run in words.windows(run) {
            let hash = run.iter().fold(0, |hash: u64, word| mix(hash.rotate_left(7) ^ word));
            let [low, high] = halves(hash);
            let bin = &mut bins[low as usize % BINS];
            *bin = (*bin).min(high);
        }
        // An empty bin takes the next one's number, told apart by how far it came.
        let filled = bins.clone();
        if filled.iter().any(|number| *number != u32::MAX) {
            for at in 0..BINS {
                let steps = (0..BINS).find(|step| filled[(at + step) % BINS] != u32::MAX).unwrap_or(0);
                if steps > 0 {
                    bins[at] = filled[(at + steps) % BINS].wrapping_add(halves(mix(steps as u64))[0]);
                }
            }
        }
        Self(bins)
    }

    fn alike(&self, other: &Self) -> bool {
        let same = self.0.iter().zip(&other.0).filter(|(one, other)| one == other).count();
        same as f64 >= ALIKE * BINS as f64
    }
}

/// The lower and the upper half of a number.
fn halves(number: u64) -> [u32; 2] {
    [number & 0xffff_ffff, number >> 32].map(|half| u32::try_from(half).unwrap_or_default())
}

/// A good mixer of 64 bits (the finaliser of splitmix64).
const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Sets of things by number: each has a first one.
#[derive(Clone, Debug)]
pub(crate) struct Sets(Vec<usize>);

impl Sets {
    /// So many things, each alone.
    pub(crate) fn new(size: usize) -> Self {
        Self((0..size).collect())
    }

    /// The first of the set that `at` is in.
    pub(crate) fn first(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    /// Makes two sets one.
    pub(crate) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other)] = one.min(other);
    }
}

/// Texts that are nearly the same, as sets.
pub(crate) fn groups(signatures: &[&Signature]) -> Sets {
    let mut sets = Sets::new(signatures.len());
    for band in 0..BINS / BAND {
        let mut seen: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for (at, signature) in signatures.iter().enumerate() {
            let others = seen.entry(&signature.0[band * BAND..(band + 1) * BAND]).or_default();
            for other in others.iter().take(CROWD) {
                if sets.first(at) != sets.first(*other) && signature.alike(signatures[*other]) {
                    sets.join(at, *other);
                }
            }
            others.push(at);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: usize, change: usize) -> String {
        let words = (0..words).map(|at| if at % 97 == change { at + 100_000 } else { at });
        words.map(|at| format!("word{at}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn near_duplicates_are_one_group() {
        let texts = [
            text(600, 98),
            text(600, 3),
            "Something else entirely, and short.".to_owned(),
            text(600, 98).to_uppercase(),
        ];
        let mut sets = groups(&texts.each_ref().map(|text| Signature::of(text)).each_ref());
        let first: Vec<usize> = (0..4).map(|at| sets.first(at)).collect();
        assert_eq!(first, [0, 0, 2, 0]);
    }

    #[test]
    fn texts_without_words() {
        let mut sets = groups(&["", "…", "no", "yes"].map(Signature::of).each_ref());
        assert_eq!((sets.first(1), sets.first(2), sets.first(3)), (0, 2, 3));
    }

    #[test]
    fn half_is_not_nearly() {
        let words = (0..300).map(|at| format!("word{at}")).chain((0..300).map(|at| format!("other{at}")));
        let other = words.collect::<Vec<_>>().join(" ");
        let mut sets = groups(&[&text(600, 98), &other].map(|text| Signature::of(text)).each_ref());
        assert_eq!(sets.first(1), 1);
    }
}
