//! Where keywords stand in a text, whatever the case of their letters.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// A search for keywords of at least two bytes. The first texts of a process are searched by the first two bytes of each,
/// for which next to nothing has to be made; once they are many, by an automaton, which takes milliseconds to make.
pub(crate) struct KeywordSearch {
    /// In small letters.
    keywords: Vec<String>,
    /// The numbers of the keywords by their first two bytes, sorted.
    by_pair: Vec<(u16, usize)>,
    /// A bit for each pair that one begins with.
    pairs: Vec<u64>,
    automaton: OnceLock<Option<AhoCorasick>>,
}

impl KeywordSearch {
    pub(crate) fn of(keywords: Vec<String>) -> Self {
        let pair = |(number, keyword): (usize, &String)| {
            Some((u16::from_be_bytes(*keyword.as_bytes().first_chunk()?), number))
        };
        let mut by_pair: Vec<(u16, usize)> = keywords.iter().enumerate().filter_map(pair).collect();
        by_pair.sort_unstable();
        let mut pairs = vec![0; 1 << 10];
        for (pair, _) in &by_pair {
            pairs[usize::from(pair >> 6)] |= 1 << (pair & 63);
        }
        Self { keywords, by_pair, pairs, automaton: OnceLock::new() }
    }

    /// Calls `take` with the number and the place of each keyword, in the order of their ends, of equal ends the longer first.
    pub(crate) fn each(&self, text: &str, mut take: impl FnMut(usize, Range<usize>)) {
        // By all searches of the process so far.
        static SEARCHED: AtomicUsize = AtomicUsize::new(0);
        let before = SEARCHED.fetch_add(text.len(), Ordering::Relaxed);
        // The making of the automaton takes as long as to search so much without it.
        let is_much = before.saturating_add(text.len()) > 256 << 10;
        match is_much.then(|| self.automaton()).flatten() {
            Some(automaton) => {
                automaton.find_overlapping_iter(text).for_each(|hit| take(hit.pattern().as_usize(), hit.range()));
            }
            None => self.by_pairs(text).into_iter().for_each(|(end, start, number)| take(number, start..end)),
        }
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        let make = || {
            let mut automaton = AhoCorasick::builder();
            automaton.ascii_case_insensitive(true).match_kind(MatchKind::Standard).kind(Some(AhoCorasickKind::DFA));
            automaton.build(&self.keywords).ok()
        };
        self.automaton.get_or_init(make).as_ref()
    }

    /// End, start and number of each keyword.
    fn by_pairs(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let lower = text.to_ascii_lowercase().into_bytes();
        let mut hits = Vec::new();
        for (at, pair) in lower.array_windows().enumerate() {
            let pair = u16::from_be_bytes(*pair);
            if self.pairs[usize::from(pair >> 6)] >> (pair & 63) & 1 == 0 {
                continue;
            }
            let first = self.by_pair.partition_point(|(known, _)| *known < pair);
            for &(_, number) in self.by_pair[first..].iter().take_while(|(known, _)| *known == pair) {
                let keyword = self.keywords[number].as_bytes();
                if lower[at..].starts_with(keyword) {
                    hits.push((at + keyword.len(), at, number));
                }
            }
        }
        hits.sort_unstable();
        hits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Both searches find the same in the same order.
        #[test]
        fn two_ways_to_the_same(
            keywords in proptest::collection::vec("[ab_é]{1,3}[a-c]{1,2}", 1..12),
            text in "[abcABC_ éx]{0,40}",
        ) {
            let search = KeywordSearch::of(keywords);
            let hits = search.automaton().unwrap().find_overlapping_iter(&text);
            let hits: Vec<_> = hits.map(|hit| (hit.end(), hit.start(), hit.pattern().as_usize())).collect();
            prop_assert_eq!(search.by_pairs(&text), hits);
        }
    }
}
