//! Files that a call read and wrote, with the lines of them that the record shows.

use std::collections::HashSet;

use cru_action::action::{FileRead, Lines};
use cru_action::patch::{Hunk, PatchLine};
use cru_session::event::CallResult;
use cru_session::event::FileChange;
use cru_session::evidence_patch::{self, WrittenRun};
use cru_session::line_anchor::LineAnchor;
use cru_session::{FileRef, evidence_patch::diff};

/// Runs of written lines of one file that are told: the longest.
const RUNS: usize = 4;

/// What one call did to files.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TouchedFiles {
    pub(crate) reads: Vec<FileRef>,
    pub(crate) writes: Vec<FileRef>,
    pub(crate) changes: Vec<FileChange>,
}

/// What an answer tells that proves no more than this.
impl From<TouchedFiles> for CallResult<'_> {
    fn from(files: TouchedFiles) -> Self {
        Self { reads: files.reads, writes: files.writes, changes: files.changes.into(), ..Self::default() }
    }
}

impl TouchedFiles {
    /// A file was read, and these lines of it.
    pub(crate) fn read(&mut self, path: String, lines: Option<LineAnchor>) {
        self.reads.push(FileRef { path, lines: lines.into_iter().collect(), ..FileRef::default() });
    }

    /// A file was written by a patch that shows whole lines.
    pub(crate) fn wrote(&mut self, file: FileRef, hunks: &[Hunk<'_>]) {
        let runs = hunks.iter().flat_map(evidence_patch::written).collect();
        self.add(file, runs, diff(hunks));
    }

    /// The same, but the lines of `unsure` may be shown in another form than they have in the file: no anchor has them.
    pub(crate) fn wrote_but(&mut self, file: FileRef, hunks: &[Hunk<'_>], unsure: &HashSet<&str>) {
        let runs = hunks.iter().flat_map(evidence_patch::written);
        let runs = runs.flat_map(|run| without(&run, unsure)).collect();
        self.add(file, runs, diff(hunks));
    }

    /// A whole file was written.
    pub(crate) fn wrote_text(&mut self, file: FileRef, text: &str) {
        self.wrote(file, &[whole_text(text)]);
    }

    /// In a file, texts took the place of others. Nobody knows where in their lines they begin and end, so the first and
    /// the last line that changed are not told as lines.
    pub(crate) fn replaced(&mut self, file: FileRef, exchanges: &[Exchange<'_>]) {
        let mut runs = Vec::new();
        let mut text = String::new();
        for Exchange { old, new } in exchanges {
            let first = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            let (gone, come) = (&old[first..], &new[first..]);
            let last = gone.iter().rev().zip(come.iter().rev()).take_while(|(a, b)| a == b).count();
            let (gone, come) = (&gone[..gone.len() - last], &come[..come.len() - last]);
            let sure = come.get(usize::from(first == 0)..).unwrap_or_default();
            let sure = sure.get(..sure.len().saturating_sub(usize::from(last == 0))).unwrap_or_default();
            runs.push(WrittenRun { first: None, lines: sure.to_vec() });
            let mut lines: Vec<PatchLine<'_>> = new[..first].iter().map(|line| PatchLine::Kept(line)).collect();
            lines.extend(gone.iter().map(|line| PatchLine::Removed(line)));
            lines.extend(come.iter().map(|line| PatchLine::Added(line)));
            lines.extend(new[new.len() - last..].iter().map(|line| PatchLine::Kept(line)));
            text.push_str(&diff(&[Hunk { lines, ..Hunk::default() }]));
        }
        self.add(file, runs, text);
    }

    /// Files were written, of which nothing more is known.
    pub(crate) fn wrote_paths(&mut self, paths: impl IntoIterator<Item = String>) {
        self.writes.extend(paths.into_iter().map(|path| FileRef { path, ..FileRef::default() }));
    }

    fn add(&mut self, mut file: FileRef, runs: Vec<WrittenRun<'_>>, diff: String) {
        file.lines = anchors(runs);
        self.add_change(&file.path, diff);
        self.writes.push(file);
    }

    /// What was written into a file.
    pub(crate) fn add_change(&mut self, path: &str, diff: String) {
        if diff.is_empty() {
            return;
        }
        match self.changes.iter_mut().find(|known| known.path == path) {
            Some(known) => known.diff.push_str(&diff),
            None => self.changes.push(FileChange { path: path.to_owned(), diff }),
        }
    }
}

/// The lines of a text and of the one that took its place.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) old: Vec<&'a str>,
    pub(crate) new: Vec<&'a str>,
}

/// A text that is all of a file.
pub(crate) fn whole_text(text: &str) -> Hunk<'_> {
    let lines = text.lines().map(PatchLine::Added).collect();
    Hunk { old_start: Some(0), new_start: Some(1), heading: "", lines }
}

/// The lines of two texts of a file without those that both begin and end with, but one of each.
pub(crate) fn changed(before: &str, after: &str) -> (String, String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let first = first.saturating_sub(1);
    let last = last.saturating_sub(1);
    let part = |lines: &[&str]| lines.get(first..lines.len() - last).unwrap_or_default().join("\n");
    (part(&old), part(&new))
}

/// The parts of a run between the lines of `unsure`.
fn without<'t>(run: &WrittenRun<'t>, unsure: &HashSet<&str>) -> Vec<WrittenRun<'t>> {
    let mut at = 0;
    let mut parts = Vec::new();
    for lines in run.lines.split(|line| unsure.contains(line)) {
        let first = run.first.and_then(|first| first.checked_add(at));
        if !lines.is_empty() {
            parts.push(WrittenRun { first, lines: lines.to_vec() });
        }
        at += lines.len() as u64 + 1;
    }
    parts
}

/// The anchors of runs of written lines, the longest first.
pub(crate) fn anchors(mut runs: Vec<WrittenRun<'_>>) -> Vec<LineAnchor> {
    runs.sort_by_key(|run| std::cmp::Reverse(run.lines.len()));
    runs.truncate(RUNS);
    runs.iter().filter_map(WrittenRun::anchor).collect()
}

/// The lines of a text that a host took out of a file by splitting it at `\n`, from line `first` on. Where it reaches
/// the end of the file, what stands behind the last `\n` is no line. `None` for an empty text.
pub(crate) fn split_lines(first: u64, text: &str, reaches_end: bool) -> Option<LineAnchor> {
    if text.is_empty() {
        return None;
    }
    if reaches_end {
        return LineAnchor::of_text(Some(first), text);
    }
    LineAnchor::of(Some(first), text.split('\n'))
}

/// Lines that a host numbers: its number, one of `marks`, the line. Nothing where a line in between has no number or the
/// wrong one, or may have been cut.
pub(crate) fn numbered<'t>(lines: impl IntoIterator<Item = &'t str>, marks: &[&str]) -> Option<LineAnchor> {
    const CUT: usize = 2_000;
    let mut first = None;
    let mut next = 0_u64;
    let mut texts: Vec<&str> = Vec::new();
    for line in lines {
        let (number, text) = number_of(line, marks)?;
        if first.is_some() && number != next || text.len() >= CUT {
            return None;
        }
        first = first.or(Some(number));
        next = number.checked_add(1)?;
        texts.push(text);
    }
    LineAnchor::of(first, texts)
}

/// The number of a line and what stands behind the mark.
pub(crate) fn number_of<'t>(line: &'t str, marks: &[&str]) -> Option<(u64, &'t str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let text = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some((number.parse().ok().filter(|&number| number > 0)?, text))
}

/// What a shell command prints of one file, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellRead {
    /// The file, as a note writes it.
    pub(crate) path: String,
    /// Which lines.
    lines: Lines,
    /// Whether each line stands behind its number.
    numbered: bool,
}

impl ShellRead {
    pub(crate) fn of(read: &FileRead, path: String) -> Self {
        Self { path, lines: read.lines, numbered: read.numbered }
    }

    /// The lines that an answer shows. A place is told where it is sure: hosts take blank lines away at both ends.
    pub(crate) fn anchor(&self, output: &str) -> Option<LineAnchor> {
        const LONGEST: usize = 1 << 20;
        if output.trim().is_empty() || output.len() > LONGEST || is_cut(output) {
            return None;
        }
        if self.numbered {
            // Where blank lines are taken away at the end, the last number may have lost its tab.
            let mut lines: Vec<&str> = output.lines().collect();
            while lines.last().is_some_and(|line| !line.contains('\t')) {
                lines.pop();
            }
            return numbered(lines, &["\t"]);
        }
        let output = output.trim_end_matches(['\n', '\r']);
        let count = output.lines().count() as u64;
        let first = match self.lines {
            Lines::From(first, Some(last)) if last.checked_sub(first)?.checked_add(1)? == count => Some(first),
            _ => None,
        };
        LineAnchor::of_text(first, output)
    }
}

/// Whether a host says that it left out a part of an output.
fn is_cut(output: &str) -> bool {
    let says = |line: &str| {
        let line = line.trim();
        let marked = line.starts_with(['[', '.', '…', '(', '<']) || line.contains('…') || line.contains("...");
        marked && ["truncated", "omitted", "Full output", "more lines"].iter().any(|word| line.contains(word))
    };
    output.starts_with("Total output lines: ") || output.lines().any(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(files: &[FileRef]) -> Vec<String> {
        files.iter().flat_map(cru_session::file_ref::spans).map(|span| span.split('@').next().unwrap().into()).collect()
    }

    fn file(path: &str) -> FileRef {
        FileRef { path: path.into(), ..FileRef::default() }
    }

    #[test]
    fn the_longest_runs_first_and_at_most_four() {
        let mut touched = TouchedFiles::default();
        let lines = ["+a", " ", "+b", "+b", " ", "+c", "+c", "+c", " ", "+d", " ", "+e", "+e"];
        let line = |line: &&'static str| match line.split_at(1) {
            ("+", text) => PatchLine::Added(text),
            (_, text) => PatchLine::Kept(text),
        };
        let hunk =
            Hunk { old_start: Some(9), new_start: Some(10), heading: "", lines: lines.iter().map(line).collect() };
        touched.wrote(file("a.rs"), &[hunk]);
        assert_eq!(spans(&touched.writes), ["a.rs:15-17", "a.rs:12-13", "a.rs:21-22", "a.rs:10"]);
        assert!(touched.changes[0].diff.starts_with("@@ -9,4 +10,13 @@\n+a\n"));
    }

    #[test]
    fn the_ends_of_a_text_may_be_parts_of_lines() {
        let told = |old: &[&str], new: &[&str]| {
            let mut touched = TouchedFiles::default();
            touched.replaced(file("a"), &[Exchange { old: old.to_vec(), new: new.to_vec() }]);
            (spans(&touched.writes).concat(), touched.changes.concat_diffs())
        };
        assert_eq!(told(&["x("], &["y("]).0, "a");
        assert_eq!(told(&["k", "x", "l"], &["k", "y", "z", "l"]).0, "a:~2");
        assert_eq!(told(&["x"], &["a", "b", "c"]).0, "a:~1");
        assert_eq!(told(&["k", "x"], &["k", "y"]).1, "@@ -0,2 +0,2 @@\n k\n-x\n+y\n");
        assert_eq!(told(&["k"], &["k"]).0, "a");
    }

    trait Diffs {
        fn concat_diffs(&self) -> String;
    }

    impl Diffs for Vec<FileChange> {
        fn concat_diffs(&self) -> String {
            self.iter().map(|change| change.diff.as_str()).collect()
        }
    }

    #[test]
    fn what_was_split_at_line_ends() {
        let of = |text, end| split_lines(3, text, end).map(|it| it.place());
        assert_eq!(of("a\n\n", true).as_deref(), Some("3-4"));
        assert_eq!(of("a\n\n", false).as_deref(), Some("3-5"));
        assert_eq!(of("", false), None);
    }

    #[test]
    fn numbers_must_go_on() {
        let of = |text: &str| numbered(text.lines(), &["→", "\t"]).map(|it| (it.place(), it.hash));
        assert_eq!(
            of("    9→a\n   10→\n   11\tb").unwrap(),
            ("9-11".into(), cru_session::line_anchor::hash_lines("a\n\nb".lines()))
        );
        for none in ["1→a\n3→b", "a", "", "1→a\n\n", "0→a", "1 a"] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(of(&format!("1→{}", "x".repeat(2_000))), None);
    }

    #[test]
    fn what_a_shell_prints() {
        let read = |lines, numbered| ShellRead { path: "a".into(), lines, numbered };
        let some = read(Lines::From(10, Some(12)), false);
        assert_eq!(some.anchor("a\nb\nc\n").unwrap().place(), "10-12");
        assert_eq!(some.anchor("a\nb\n").unwrap().place(), "~2", "blank lines may be gone at either end");
        assert_eq!(read(Lines::From(1, None), false).anchor("a\n").unwrap().place(), "~1");
        assert_eq!(read(Lines::From(1, None), true).anchor("     1\ta\n     2\t\n").unwrap().place(), "1-2");
        assert_eq!(read(Lines::From(1, None), true).anchor("     1\ta\n     2\n").unwrap().place(), "1");
        assert_eq!(some.anchor("a\n... [3 lines truncated] ...\nc"), None);
        assert_eq!(some.anchor(" \n"), None);
    }
}
