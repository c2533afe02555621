//! The lines that the commits of a file added, to see which commit took up a text first.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::blame::second;

/// The commits that added lines to a file, parents before their children.
#[derive(Clone, Debug, Default)]
pub struct AddedLines {
    /// Id, and when it was written.
    commits: Vec<(String, Timestamp)>,
    known: HashSet<String>,
    /// By line, without blanks at its ends: the commits that added it.
    by_line: HashMap<String, Vec<usize>>,
}

impl AddedLines {
    /// What `git log` is asked with for this: `-p -U0` and this format, in the order of parents before children.
    pub const FORMAT: &'static str = "--format=%x00%H %at";

    /// Reads that. Lines that are not `wanted` are passed over. Total.
    pub fn read(text: &str, wanted: &HashSet<&str>) -> Self {
        let mut it = Self::default();
        for part in text.split('\0').skip(1) {
            let mut lines = part.split('\n');
            let head = lines.next().unwrap_or_default();
            let Some((id, time)) = head.split_once(' ') else { continue };
            let number = it.commits.len();
            it.commits.push((id.to_owned(), second(time)));
            it.known.insert(id.to_owned());
            let (mut gone, mut come) = (0_u64, 0_u64);
            for line in lines {
                match line.as_bytes().first() {
                    _ if gone == 0 && come == 0 => {
                        if let Some(counts) = line.strip_prefix("@@ -") {
                            (gone, come) = hunk(counts);
                        }
                    }
                    Some(b'-') => gone = gone.saturating_sub(1),
                    Some(b'+') => {
                        come = come.saturating_sub(1);
                        let text = line[1..].trim();
                        if wanted.contains(text) {
                            let of = it.by_line.entry(text.to_owned()).or_default();
                            if of.last() != Some(&number) {
                                of.push(number);
                            }
                        }
                    }
                    // `\\ No newline at end of file`.
                    _ => {}
                }
            }
        }
        it
    }

    /// Whether a commit is the first that took up a line that was written at a time; `None` for what is in no commit. A
    /// commit that is not among these is taken for it.
    pub(super) fn takes(&self, commit: Option<&str>, line: &str, written: Timestamp) -> bool {
        let since = written.as_second();
        let of = self.by_line.get(line.trim()).map(Vec::as_slice).unwrap_or_default();
        let mut later = of.iter().filter_map(|at| self.commits.get(*at)).filter(|(_, at)| at.as_second() >= since);
        match (later.next(), commit) {
            (Some((first, _)), Some(commit)) => first == commit || !self.known.contains(commit),
            (Some(_), None) => false,
            (None, Some(commit)) => !self.known.contains(commit),
            (None, None) => true,
        }
    }
}

/// `12,2 +13,3 @@` as the numbers of lines that went and came.
fn hunk(counts: &str) -> (u64, u64) {
    let count = |word: Option<&str>| {
        let word = word.unwrap_or_default();
        word.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok()).unwrap_or(0)
    };
    let mut words = counts.split(' ');
    (count(words.next()), count(words.next()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_first_commit_behind_a_step_takes_its_line() {
        let text = "\0aaaa 100\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+let a = 1;\n+++ odd\n\
                    \0bbbb 200\n\n--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-let a = 1;\n\
                    \0cccc 300\n\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+    let a = 1;\n\\ No newline at end of file\n";
        let it = AddedLines::read(text, &HashSet::from(["let a = 1;", "++ odd"]));
        let takes = |commit: Option<&str>, second: i64| it.takes(commit, "let a = 1;", at(second));
        assert!(takes(Some("aaaa"), 90) && takes(Some("aaaa"), 100));
        assert!(!takes(Some("cccc"), 90), "written again by somebody");
        assert!(takes(Some("cccc"), 150), "written behind the first");
        assert!(!takes(None, 90) && !takes(None, 150) && takes(None, 301));
        assert!(!takes(Some("bbbb"), 90) && takes(Some("dddd"), 90), "one that is not known");
        assert!(it.takes(Some("aaaa"), "++ odd", at(90)));
        assert!(!it.takes(Some("bbbb"), "never", at(90)));
    }

    proptest! {
        #[test]
        fn total(text in "(\0[a-f]{0,4} ?[0-9]{0,12}\n|@@ -[0-9,]{0,4} [+][0-9,]{0,30} @@\n|[+-]\\PC{0,4}\n){0,20}") {
            AddedLines::read(&text, &HashSet::from(["a"]));
        }
    }
}
