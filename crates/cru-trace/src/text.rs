//! A file as lines, and the search for lines of which only a hash is known.
//!
//! The hash of lines is over their text without line ends, joined by `\n`, with one `\n` at the end: CRLF and a missing
//! last newline change nothing. Work is bounded: at most [`MOST_WORK`] bytes are hashed for one file.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::Digest as _;

/// Bytes that the search in one file may hash.
pub const MOST_WORK: u64 = 64 << 20;

/// What of a file is claimed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Spot {
    /// The hash of all bytes, as hexadecimal digits; behind `md5:` or `sha256:` a checksum of that method.
    Whole(String),
    /// Lines.
    Lines {
        /// Number of the first, from 1, where it is known.
        first: Option<u64>,
        /// How many.
        count: u64,
        /// Their hash, as hexadecimal digits.
        hash: String,
    },
}

/// Methods by which other programs give checksums of files.
pub(crate) const CHECKSUMS: [&str; 2] = ["md5", "sha256"];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Where a spot was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Sighting {
    /// Where it was, or all bytes are the same.
    InPlace,
    /// Elsewhere: the number of the first line.
    At(u64),
    /// Nowhere.
    Missing,
    /// Not found where it was, and searching everywhere takes too long.
    TooMuchWork,
}

/// A file's lines and what was computed of them.
#[derive(Debug)]
pub struct SearchedText<'a> {
    bytes: &'a [u8],
    lines: Vec<&'a [u8]>,
    /// Sum of the lengths of all lines before, with one byte for each line end.
    lengths: Vec<u64>,
    work: Cell<u64>,
    /// Bytes hashed at places that were named.
    looked: Cell<u64>,
    /// By number of lines: the hash of each window, sorted, with its first line.
    windows: RefCell<HashMap<u64, Vec<(u32, u32)>>>,
    whole: OnceCell<[String; 3]>,
    /// The checksums of the same by the [methods](CHECKSUMS) of other programs.
    sums: [OnceCell<[String; 3]>; CHECKSUMS.len()],
    places: OnceCell<HashMap<&'a [u8], Vec<u32>>>,
}

/// The lines of a text, without their ends.
pub(crate) fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> =
        bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

fn digest(lines: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for line in lines {
        hasher.update(line);
        hasher.update(b"\n");
    }
    hasher.finalize()
}

impl<'a> SearchedText<'a> {
    /// Of a file's bytes. Linear.
    pub fn of(bytes: &'a [u8]) -> Self {
        let lines = lines_of(bytes);
        let mut lengths = Vec::with_capacity(lines.len() + 1);
        let mut sum = 0_u64;
        lengths.push(0);
        for line in &lines {
            sum += line.len() as u64 + 1;
            lengths.push(sum);
        }
        Self {
            bytes,
            lines,
            lengths,
            work: Cell::new(0),
            looked: Cell::new(0),
            windows: RefCell::default(),
            whole: OnceCell::new(),
            sums: Default::default(),
            places: OnceCell::new(),
        }
    }

    /// Its lines, without their ends.
    pub fn lines(&self) -> &[&'a [u8]] {
        &self.lines
    }

    /// Looks for a spot. `text` are its lines where they are known; they make the search cheap in a large file.
    pub fn find(&self, spot: &Spot, text: Option<&[String]>) -> Sighting {
        match spot {
            Spot::Whole(hash) => {
                if self.is_whole(hash) {
                    Sighting::InPlace
                } else {
                    Sighting::Missing
                }
            }
            Spot::Lines { first, count, hash } => self.find_lines(*first, *count, hash, text),
        }
    }

    /// How many of these lines stand somewhere in the file. Each line of the file counts once.
    pub fn left(&self, text: &[String]) -> u64 {
        let mut used: HashMap<&[u8], usize> = HashMap::new();
        let mut left = 0;
        for line in text {
            let line = line.strip_suffix('\r').unwrap_or(line).as_bytes();
            let there = self.places().get(line).map_or(0, Vec::len);
            let used = used.entry(line).or_default();
            if *used < there {
                *used += 1;
                left += 1;
            }
        }
        left
    }

    fn places(&self) -> &HashMap<&'a [u8], Vec<u32>> {
        self.places.get_or_init(|| {
            let mut places: HashMap<&[u8], Vec<u32>> = HashMap::new();
            for (line, at) in self.lines.iter().zip(0_u32..) {
                places.entry(line).or_default().push(at);
            }
            places
        })
    }

    /// As it is, and with either line end: a checkout may have changed them.
    fn is_whole(&self, hash: &str) -> bool {
        let (method, digits) = hash.split_once(':').unwrap_or(("", hash));
        let all = match CHECKSUMS.iter().position(|known| *known == method) {
            Some(0) => self.sums[0].get_or_init(|| self.sums_by(|bytes| hex(&md5::Md5::digest(bytes)))),
            Some(_) => self.sums[1].get_or_init(|| self.sums_by(|bytes| hex(&sha2::Sha256::digest(bytes)))),
            None => self.whole.get_or_init(|| self.sums_by(|bytes| blake3::hash(bytes).to_hex().as_str().to_owned())),
        };
        all.iter().any(|own| agrees(own, digits))
    }

    fn sums_by(&self, sum: impl Fn(&[u8]) -> String) -> [String; 3] {
        let mut unix = Vec::with_capacity(self.bytes.len());
        for (at, &byte) in self.bytes.iter().enumerate() {
            if byte != b'\r' || self.bytes.get(at + 1) != Some(&b'\n') {
                unix.push(byte);
            }
        }
        let mut windows = Vec::with_capacity(unix.len() + self.lines.len());
        for &byte in &unix {
            if byte == b'\n' {
                windows.push(b'\r');
            }
            windows.push(byte);
        }
        [sum(self.bytes), sum(&unix), sum(&windows)]
    }

    fn find_lines(&self, first: Option<u64>, count: u64, hash: &str, text: Option<&[String]>) -> Sighting {
        let Ok(size) = usize::try_from(count) else { return Sighting::Missing };
        if size == 0 || size > self.lines.len() {
            return Sighting::Missing;
        }
        let old = first.and_then(|first| usize::try_from(first).ok()?.checked_sub(1));
        // Looking at the old place costs no more than the anchor itself; many anchors over all of a file are no note's.
        if self.looked.get() > MOST_WORK {
            return Sighting::TooMuchWork;
        }
        if old.is_some_and(|old| self.is_at(old, size, hash)) {
            return Sighting::InPlace;
        }
        let found = |at: usize| {
            if first.is_none() { Sighting::InPlace } else { Sighting::At(at as u64 + 1) }
        };
        let nearest = |places: &mut dyn Iterator<Item = usize>| {
            let away = |at: &usize| old.map_or(*at, |old| at.abs_diff(old));
            places.filter(|at| self.is_at(*at, size, hash)).min_by_key(away)
        };
        if self.index(size, count) {
            let windows = self.windows.borrow();
            let Some(wanted) = prefix(hash) else { return Sighting::Missing };
            let Some(all) = windows.get(&count) else { return Sighting::Missing };
            let from = all.partition_point(|(own, _)| *own < wanted);
            let same = all[from..].iter().take_while(|(own, _)| *own == wanted).take(64);
            return nearest(&mut same.map(|(_, at)| *at as usize)).map_or(Sighting::Missing, found);
        }
        let Some(head) = text.and_then(|text| text.first()) else { return Sighting::TooMuchWork };
        let head = head.strip_suffix('\r').unwrap_or(head).as_bytes();
        let places = self.places().get(head).map(Vec::as_slice).unwrap_or_default();
        let mut left = MOST_WORK;
        let mut cut = false;
        let mut affordable = places.iter().map(|at| *at as usize).take_while(|at| {
            let cost = self.cost(*at, size);
            cut = cost > left;
            left = left.saturating_sub(cost);
            !cut
        });
        let at = nearest(&mut affordable);
        match at {
            Some(at) => found(at),
            None if cut => Sighting::TooMuchWork,
            None => Sighting::Missing,
        }
    }

    fn cost(&self, at: usize, size: usize) -> u64 {
        let end = at.saturating_add(size).min(self.lines.len());
        self.lengths[end].saturating_sub(self.lengths[at.min(end)])
    }

    fn is_at(&self, at: usize, size: usize, hash: &str) -> bool {
        let end = at.saturating_add(size);
        self.looked.set(self.looked.get().saturating_add(self.cost(at.min(self.lines.len()), size)));
        self.lines.get(at..end).is_some_and(|lines| agrees(digest(lines).to_hex().as_str(), hash))
    }

    /// Hashes all windows of that size, where that may be afforded; whether they are there.
    fn index(&self, size: usize, count: u64) -> bool {
        if self.windows.borrow().contains_key(&count) {
            return true;
        }
        let last = self.lines.len() - size;
        let cost = (0..=last).map(|at| self.cost(at, size)).fold(0, u64::saturating_add);
        let work = self.work.get().saturating_add(cost);
        if work > MOST_WORK {
            return false;
        }
        self.work.set(work);
        let hash = |at: usize| {
            let bytes = digest(&self.lines[at..at + size]);
            let [a, b, c, d, ..] = *bytes.as_bytes();
            u32::from_be_bytes([a, b, c, d])
        };
        let mut all: Vec<(u32, u32)> = (0..=last).zip(0_u32..).map(|(at, number)| (hash(at), number)).collect();
        all.sort_unstable();
        self.windows.borrow_mut().insert(count, all);
        true
    }
}

/// The first 8 digits of a hash as a number.
fn prefix(hash: &str) -> Option<u32> {
    u32::from_str_radix(hash.get(..8)?, 16).ok()
}

/// Whether a written hash, 8 digits at least, begins the whole one.
fn agrees(own: &str, written: &str) -> bool {
    written.len() >= 8 && own.get(..written.len()).is_some_and(|own| own.eq_ignore_ascii_case(written))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cru_session::line_anchor::hash_lines as hash_of_lines;

    fn spot(lines: &[&str], first: Option<u64>) -> Spot {
        Spot::Lines { first, count: lines.len() as u64, hash: hash_of_lines(lines.iter().copied()) }
    }

    fn find(text: &str, spot: &Spot) -> Sighting {
        SearchedText::of(text.as_bytes()).find(spot, None)
    }

    #[test]
    fn places() {
        let two = ["b", "c"];
        assert_eq!(find("a\nb\nc\n", &spot(&two, Some(2))), Sighting::InPlace);
        assert_eq!(find("a\r\nb\r\nc", &spot(&two, Some(2))), Sighting::InPlace, "line ends do not matter");
        assert_eq!(find("x\ny\na\nb\nc\n", &spot(&two, Some(2))), Sighting::At(4));
        assert_eq!(find("b\nc\n", &spot(&two, None)), Sighting::InPlace, "no place is known");
        assert_eq!(find("b\nx\nc\n", &spot(&two, Some(1))), Sighting::Missing);
        assert_eq!(find("", &spot(&two, Some(1))), Sighting::Missing);
        assert_eq!(find("b\nc\nb\nc\n-\nb\nc", &spot(&two, Some(7))), Sighting::At(6), "the nearest of several");
    }

    #[test]
    fn a_whole_file_with_either_line_end() {
        let hash = Spot::Whole(blake3::hash(b"a\nb\n").to_hex().as_str()[..8].to_owned());
        assert_eq!(find("a\nb\n", &hash), Sighting::InPlace);
        assert_eq!(find("a\r\nb\r\n", &hash), Sighting::InPlace);
        assert_eq!(find("a\nb", &hash), Sighting::Missing);
        let windows = Spot::Whole(blake3::hash(b"a\r\nb\r\n").to_hex().as_str()[..8].to_owned());
        assert_eq!(find("a\nb\n", &windows), Sighting::InPlace);
    }

    #[test]
    fn work_has_a_bound() {
        let line = "x".repeat(100);
        let text = format!("{line}\n").repeat(40_000);
        let file = SearchedText::of(text.as_bytes());
        let gone = Spot::Lines { first: Some(1), count: 20_000, hash: "00112233".to_owned() };
        assert_eq!(file.find(&gone, None), Sighting::TooMuchWork);
        let started = file.looked.get();
        for _ in 0..1_000 {
            file.find(&gone, None);
        }
        assert!(file.looked.get() < MOST_WORK + 2 * started, "many anchors of one file cost no more");
        let text = format!("{text}one\ntwo\n");
        let file = SearchedText::of(text.as_bytes());
        let two = Spot::Lines { first: Some(1), count: 2, hash: hash_of_lines(["one", "two"]) };
        assert_eq!(file.find(&two, None), Sighting::At(40_001));
    }

    #[test]
    fn lines_that_are_left() {
        let file = SearchedText::of(b"a\nb\na\n");
        let text: Vec<String> = ["a", "a", "a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(file.left(&text), 3);
    }

    proptest! {
        #[test]
        fn total(bytes in prop::collection::vec(any::<u8>(), 0..200), first in any::<Option<u64>>(), count in any::<u64>(), hash in "\\PC{0,12}") {
            let file = SearchedText::of(&bytes);
            file.find(&Spot::Lines { first, count, hash: hash.clone() }, None);
            file.find(&Spot::Lines { first, count: count % 9, hash: hash.clone() }, Some(std::slice::from_ref(&hash)));
            file.find(&Spot::Whole(hash), None);
        }

        #[test]
        fn line_ends_do_not_matter(lines in prop::collection::vec("[a-z ]{0,6}", 1..20), from in 0_usize..20, size in 1_usize..6) {
            let from = from % lines.len();
            let end = (from + size).min(lines.len());
            let wanted: Vec<&str> = lines[from..end].iter().map(String::as_str).collect();
            let spot = spot(&wanted, Some(from as u64 + 1));
            // A last line that is empty cannot be told from the end of the line before.
            prop_assume!(end < lines.len() || !lines[end - 1].is_empty());
            for text in [lines.join("\n"), lines.join("\n") + "\n", lines.join("\r\n"), lines.join("\r\n") + "\r\n"] {
                prop_assert_eq!(find(&text, &spot), Sighting::InPlace);
            }
        }

        #[test]
        fn a_block_that_moves_and_a_line_that_changes(before in 0_usize..9, after in 0_usize..9, size in 1_usize..6, changed in 0_usize..6) {
            let block: Vec<String> = (0..size).map(|at| format!("block {at}")).collect();
            let wanted: Vec<&str> = block.iter().map(String::as_str).collect();
            let spot = spot(&wanted, Some(1));
            let pad = |count: usize| "pad\n".repeat(count);
            let text = format!("{}{}\n{}", pad(before), block.join("\n"), pad(after));
            let expected = if before == 0 { Sighting::InPlace } else { Sighting::At(before as u64 + 1) };
            prop_assert_eq!(find(&text, &spot), expected);
            let mut other = block.clone();
            other[changed % size].push('!');
            let text = format!("{}{}\n{}", pad(before), other.join("\n"), pad(after));
            prop_assert_eq!(find(&text, &spot), Sighting::Missing);
            prop_assert_eq!(SearchedText::of(text.as_bytes()).left(&block), size as u64 - 1);
        }
    }
}
