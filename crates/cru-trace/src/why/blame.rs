//! What `git blame --porcelain` prints, and the lines of a working copy that are in no commit.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use jiff::Timestamp;
use similar::{Algorithm, DiffTag};

use cru_base::diff;

/// A commit that wrote lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlamedCommit {
    /// Its id.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// When it was written; a rebase keeps it.
    pub time: Timestamp,
    /// When it was made as it is: a rebase or an amendment makes it anew.
    pub committed: Timestamp,
    /// Its subject.
    pub subject: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    /// Index into [`Blame::commits`]; `None` where no commit has it.
    pub commit: Option<usize>,
    /// The file's name in that commit, from the top of the repository.
    pub path: String,
    /// Its text without line end.
    pub text: String,
}

/// The lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// Each once.
    pub commits: Vec<BlamedCommit>,
    /// In order.
    pub lines: Vec<BlamedLine>,
}

impl Blame {
    /// The lines that stand together and are of one commit and file, in order.
    pub fn hunks(&self) -> Vec<Range<usize>> {
        let mut hunks: Vec<Range<usize>> = Vec::new();
        for at in 0..self.lines.len() {
            match hunks.last_mut() {
                Some(last) if self.same(at - 1, at) => last.end = at + 1,
                _ => hunks.push(at..at + 1),
            }
        }
        hunks
    }

    /// The lines within three of one that are of its commit and file.
    pub(crate) fn hunk(&self, at: usize) -> Range<usize> {
        const NEAR: usize = 12;
        let (mut from, mut to) = (at, at + 1);
        while from > 0 && at - from < NEAR && self.same(from - 1, from) {
            from -= 1;
        }
        while to < self.lines.len() && to - at < NEAR && self.same(to - 1, to) {
            to += 1;
        }
        from..to
    }

    fn same(&self, a: usize, b: usize) -> bool {
        match (self.lines.get(a), self.lines.get(b)) {
            (Some(a), Some(b)) => a.commit == b.commit && a.path == b.path,
            _ => false,
        }
    }
}

/// Reads `git blame --porcelain`. Total: lines that are none of it are passed over.
pub fn read_blame(text: &str) -> Blame {
    let mut blame = Blame::default();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut paths: HashMap<usize, &str> = HashMap::new();
    let mut now: Option<usize> = None;
    for line in text.split('\n') {
        if let Some(text) = line.strip_prefix('\t') {
            let Some(commit) = now else { continue };
            let is_real = blame.commits[commit].id.bytes().any(|byte| byte != b'0');
            let path = paths.get(&commit).copied().unwrap_or_default().to_owned();
            let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
            blame.lines.push(BlamedLine { commit: is_real.then_some(commit), path, text });
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if is_commit(word) {
            let number = *numbers.entry(word).or_insert_with(|| {
                blame.commits.push(BlamedCommit { id: word.to_owned(), ..BlamedCommit::default() });
                blame.commits.len() - 1
            });
            now = Some(number);
            continue;
        }
        let Some(number) = now else { continue };
        let commit = &mut blame.commits[number];
        match word {
            "author" => rest.clone_into(&mut commit.author),
            "author-time" => commit.time = second(rest),
            "committer-time" => commit.committed = second(rest),
            "summary" => rest.clone_into(&mut commit.subject),
            "filename" => drop(paths.insert(number, rest)),
            _ => {}
        }
    }
    blame
}

/// Seconds since the epoch.
pub(super) fn second(text: &str) -> Timestamp {
    text.trim().parse().ok().and_then(|at| Timestamp::from_second(at).ok()).unwrap_or_default()
}

fn is_commit(word: &str) -> bool {
    (word.len() == 40 || word.len() == 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The blame of a working copy, of which `committed` is the blame of the commit that is checked out: lines that the
/// copy adds are in no commit.
pub fn uncommitted(committed: Blame, lines: &[String], path: &str) -> Blame {
    let old: Vec<&str> = committed.lines.iter().map(|line| line.text.as_str()).collect();
    let new: Vec<&str> = lines.iter().map(String::as_str).collect();
    let fresh = |text: &str| BlamedLine { commit: None, path: path.to_owned(), text: text.to_owned() };
    if old == new {
        return committed;
    }
    // A hostile pair of files ends the search early: then more lines count as changed.
    let deadline = deadline();
    let operations = diff(Algorithm::Myers, &old, &new, deadline);
    let mut all = Vec::with_capacity(new.len());
    for part in operations {
        match part.tag() {
            DiffTag::Equal => all.extend(part.old_range().map(|at| committed.lines[at].clone())),
            DiffTag::Delete => {}
            DiffTag::Insert | DiffTag::Replace => all.extend(part.new_range().map(|at| fresh(new[at]))),
        }
    }
    Blame { commits: committed.commits, lines: all }
}

fn deadline() -> Option<std::time::Instant> {
    std::time::Instant::now().checked_add(Duration::from_secs(2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "4f1c2ab09e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b";

    fn porcelain() -> String {
        let none = "0".repeat(40);
        format!(
            "{ONE} 1 1 2\nauthor Ann\nauthor-mail <a@b>\nauthor-time 1763631182\nsummary Short tokens\nfilename src/old.rs\n\tfn a() {{\r\n\
             {ONE} 2 2\n\t}}\n{none} 3 3 1\nauthor Not Committed Yet\nauthor-time 1763631999\nsummary x\nfilename src/a.rs\n\tnew\n"
        )
    }

    #[test]
    fn reads_porcelain() {
        let blame = read_blame(&porcelain());
        assert_eq!((blame.commits[0].subject.as_str(), blame.commits[0].author.as_str()), ("Short tokens", "Ann"));
        let lines: Vec<_> = blame.lines.iter().map(|it| (it.commit, it.path.as_str(), it.text.as_str())).collect();
        assert_eq!(
            lines,
            [(Some(0), "src/old.rs", "fn a() {"), (Some(0), "src/old.rs", "}"), (None, "src/a.rs", "new")]
        );
        assert_eq!(blame.hunks(), [0..2, 2..3]);
    }

    #[test]
    fn lines_of_a_working_copy() {
        let lines = ["use x;", "fn a() {", "}"].map(str::to_owned);
        let mut committed = read_blame(&porcelain());
        committed.lines.pop();
        let blame = uncommitted(committed, &lines, "src/a.rs");
        let commits: Vec<_> = blame.lines.iter().map(|line| line.commit).collect();
        assert_eq!(commits, [None, Some(0), Some(0)]);
    }

    proptest! {
        #[test]
        fn total(text in "([0-9a-f]{40} 1 1\n|\tx\n|author \\PC{0,4}\n|author-time -?[0-9]{0,25}\n|filename a\n|\\PC{0,9}\n){0,20}") {
            let blame = read_blame(&text);
            let again: Vec<String> = blame.lines.iter().map(|line| line.text.clone()).collect();
            let count = again.len();
            prop_assert_eq!(uncommitted(blame, &again, "a").lines.len(), count);
        }
    }
}
