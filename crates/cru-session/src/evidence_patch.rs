//! What a session wrote, step by step: `evidence/<session_id>.patch`.
//!
//! ```text
//! # n-002 2026-11-20T09:33:02Z src/auth.rs
//! --- a/src/auth.rs
//! +++ b/src/auth.rs
//! @@ -118,2 +118,3 @@
//!  kept
//! -gone
//! +come
//! +come, too
//! ```
//!
//! A header for each file that a step wrote, then a unified diff. Lines of a diff begin with a blank, `+`, `-`, `@` or
//! `\`, so `# ` begins an entry and nothing else. Where the record does not tell the place of lines, the hunk says
//! line 0. Secrets are masked before anything is written.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::line_anchor::LineAnchor;
use super::time;
use cru_action::patch::{FilePatch, Hunk, PatchLine};
use cru_base::text::sanitise;

/// What a step wrote into one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPatch<'t> {
    /// Id of the step, `n-002`.
    pub step: &'t str,
    /// When it was called.
    pub time: Option<Timestamp>,
    /// The file, as the note writes it.
    pub path: &'t str,
    /// The unified diff, with its two heads.
    pub diff: &'t str,
}

/// Lines that a step wrote, side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRun<'t> {
    /// Number of the first line in the file after the step, from 1; `None` where it is not known.
    pub first: Option<u64>,
    /// The lines, without ends.
    pub lines: Vec<&'t str>,
}

impl WrittenRun<'_> {
    /// The anchor of these lines.
    pub fn anchor(&self) -> Option<LineAnchor> {
        LineAnchor::of(self.first, self.lines.iter().copied())
    }
}

impl<'t> StepPatch<'t> {
    /// The changes; an empty list where the diff cannot be read.
    pub fn hunks(&self) -> Vec<Hunk<'t>> {
        let files = cru_action::patch::read_diff(self.diff);
        files.into_iter().next().map(|file: FilePatch<'t>| file.hunks).unwrap_or_default()
    }

    /// The lines that it wrote, in the order of the diff.
    pub fn written(&self) -> Vec<WrittenRun<'t>> {
        self.hunks().iter().flat_map(written).collect()
    }
}

/// The entries of a file, in its order. Total: what belongs to no entry is passed over.
pub fn read(text: &str) -> Vec<StepPatch<'_>> {
    let mut entries: Vec<StepPatch<'_>> = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some((step, time, path)) = head(line) {
            if let Some(last) = entries.last_mut() {
                last.diff = &text[start..at];
            }
            start = at + line.len();
            entries.push(StepPatch { step, time, path, diff: "" });
        }
        at += line.len();
    }
    if let Some(last) = entries.last_mut() {
        last.diff = &text[start..];
    }
    entries
}

/// `# n-002 2026-11-20T09:33:02Z src/auth.rs`; `-` where the time is not known.
fn head(line: &str) -> Option<(&str, Option<Timestamp>, &str)> {
    let (step, rest) = line.strip_prefix("# ")?.trim_end_matches(['\n', '\r']).split_once(' ')?;
    let (time, path) = rest.split_once(' ')?;
    let time = if time == "-" { None } else { Some(time.parse().ok()?) };
    (!step.is_empty() && !path.is_empty()).then_some((step, time, path))
}

/// An entry as it stands in the file, without secrets; `diff` is what [`diff`] makes.
pub fn entry(step: &str, time: Option<Timestamp>, path: &str, diff: &str) -> String {
    let path = one_line(path);
    let time = time.map_or_else(|| "-".to_owned(), time::format);
    let diff = masked(diff);
    let end = if diff.ends_with('\n') { "" } else { "\n" };
    format!("# {step} {time} {path}\n--- a/{path}\n+++ b/{path}\n{diff}{end}")
}

/// Hunks as a unified diff, without the two heads.
pub fn diff(hunks: &[Hunk<'_>]) -> String {
    let mut out = String::new();
    for hunk in hunks.iter().filter(|hunk| !hunk.lines.is_empty()) {
        let (mut old, mut new) = (0_u64, 0_u64);
        for line in &hunk.lines {
            old += u64::from(!matches!(line, PatchLine::Added(_)));
            new += u64::from(!matches!(line, PatchLine::Removed(_)));
        }
        let start = |start: Option<u64>| start.unwrap_or(0);
        let _ = writeln!(out, "@@ -{},{old} +{},{new} @@", start(hunk.old_start), start(hunk.new_start));
        for line in &hunk.lines {
            let (sign, text) = match line {
                PatchLine::Kept(text) => (' ', text),
                PatchLine::Added(text) => ('+', text),
                PatchLine::Removed(text) => ('-', text),
            };
            out.push(sign);
            out.push_str(&one_line(text));
            out.push('\n');
        }
    }
    out
}

/// A diff without secrets, with as many lines. A secret that goes over several lines is looked for in the text of the
/// lines without their signs.
pub fn masked(diff: &str) -> String {
    let mut plain = String::with_capacity(diff.len());
    let mut starts = Vec::new();
    for line in diff.lines() {
        starts.push(plain.len());
        plain.push_str(line.get(1..).unwrap_or(""));
        plain.push('\n');
    }
    let found = cru_secrets::find(&plain);
    if found.is_empty() {
        return diff.to_owned();
    }
    let mut found = found.into_iter().peekable();
    let mut out = String::with_capacity(diff.len());
    for (at, line) in diff.lines().enumerate() {
        let start = starts.get(at).copied().unwrap_or_default();
        let text = line.get(1..).unwrap_or("");
        out.push_str(line.get(..1).unwrap_or(line));
        let mut kept = 0;
        while let Some(secret) = found.peek().filter(|secret| secret.range.start < start + text.len()) {
            let from = secret.range.start.saturating_sub(start).max(kept);
            let to = secret.range.end.saturating_sub(start).min(text.len());
            out.push_str(text.get(kept..from).unwrap_or(""));
            let _ = write!(out, "[secret:{}]", secret.rule);
            kept = to;
            // It goes on in the next line.
            if secret.range.end > start + text.len() {
                break;
            }
            found.next();
        }
        out.push_str(text.get(kept..).unwrap_or(""));
        out.push('\n');
        // One that ends at the end of this line.
        while found.peek().is_some_and(|secret| secret.range.end <= start + text.len() + 1) {
            found.next();
        }
    }
    out
}

/// The lines that a hunk writes: each run of added ones, without those at its ends that only take the place of the
/// same text.
pub fn written<'t>(hunk: &Hunk<'t>) -> Vec<WrittenRun<'t>> {
    let mut runs = Vec::new();
    let mut next = hunk.new_start.filter(|&start| start > 0);
    let (mut gone, mut come): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut first = next;
    let mut close = |gone: &mut Vec<&str>, come: &mut Vec<&'t str>, first: Option<u64>| {
        let same = gone.iter().zip(come.iter()).take_while(|(a, b)| a == b).count();
        let (old, new) = (&gone[same..], &come[same..]);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let lines = new[..new.len() - tail].to_vec();
        if !lines.is_empty() {
            runs.push(WrittenRun { first: first.and_then(|first| first.checked_add(same as u64)), lines });
        }
        gone.clear();
        come.clear();
    };
    for line in &hunk.lines {
        match line {
            PatchLine::Removed(text) => {
                if come.is_empty() {
                    first = next;
                }
                gone.push(text);
            }
            PatchLine::Added(text) => {
                if come.is_empty() {
                    first = next;
                }
                come.push(text);
                next = next.and_then(|next| next.checked_add(1));
            }
            PatchLine::Kept(_) => {
                close(&mut gone, &mut come, first);
                next = next.and_then(|next| next.checked_add(1));
            }
        }
    }
    close(&mut gone, &mut come, first);
    runs
}

/// A text without control characters and line ends.
fn one_line(text: &str) -> String {
    sanitise(text).replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hunk<'a>(start: Option<u64>, lines: &[&'a str]) -> Hunk<'a> {
        let line = |line: &&'a str| match line.as_bytes().first() {
            Some(b'+') => PatchLine::Added(&line[1..]),
            Some(b'-') => PatchLine::Removed(&line[1..]),
            _ => PatchLine::Kept(&line[1..]),
        };
        Hunk { old_start: start, new_start: start, heading: "", lines: lines.iter().map(line).collect() }
    }

    #[test]
    fn entries_read_back() {
        let time: Timestamp = "2026-11-20T09:33:02Z".parse().unwrap();
        let hunks =
            [hunk(Some(118), &[" kept", "-gone", "+come", "+# n-009 - x", " "]), hunk(None, &["+--- a", "-+++ b"])];
        let text = format!(
            "torn\n{}{}",
            entry("n-002", Some(time), "src/a b.rs", &diff(&hunks)),
            entry("n-003", None, "c", &diff(&hunks[..1]))
        );
        insta::assert_snapshot!(text.replace("\n \n", "\n.\n"), @r"
        torn
        # n-002 2026-11-20T09:33:02Z src/a b.rs
        --- a/src/a b.rs
        +++ b/src/a b.rs
        @@ -118,3 +118,4 @@
         kept
        -gone
        +come
        +# n-009 - x
        .
        @@ -0,1 +0,1 @@
        +--- a
        -+++ b
        # n-003 - c
        --- a/c
        +++ b/c
        @@ -118,3 +118,4 @@
         kept
        -gone
        +come
        +# n-009 - x
        .
        ");
        let read = read(&text);
        assert_eq!((read.len(), read[0].step, read[0].time, read[0].path), (2, "n-002", Some(time), "src/a b.rs"));
        assert_eq!((read[1].step, read[1].time, read[1].path), ("n-003", None, "c"));
        let runs: Vec<_> = read[0].written().into_iter().map(|run| (run.first, run.lines)).collect();
        assert_eq!(runs, [(Some(119), vec!["come", "# n-009 - x"]), (None, vec!["--- a"])]);
    }

    #[test]
    fn what_takes_the_place_of_the_same_text_is_not_written() {
        let runs = |start, lines: &[&str]| -> Vec<(Option<u64>, String)> {
            written(&hunk(start, lines)).into_iter().map(|run| (run.first, run.lines.join("|"))).collect()
        };
        assert_eq!(runs(Some(5), &["-a", "-b", "-c", "+a", "+x", "+y", "+c"]), [(Some(6), "x|y".to_owned())]);
        assert_eq!(runs(Some(5), &["-a", "-b", "+a"]), []);
        assert_eq!(runs(None, &["-a", "+b"]), [(None, "b".to_owned())]);
        assert_eq!(
            runs(Some(1), &["+a", " k", "+b", "-c", " k", "-d"]),
            [(Some(1), "a".to_owned()), (Some(3), "b".to_owned())]
        );
    }

    #[test]
    fn secrets_are_masked_line_by_line() {
        let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        let body = "MIIEpAIBAAKCAQEA7bq3vX9kPz0yQw2sKf8mTn4hJc6dRg1uVe5xLa\n+oBi7wZqYtH3pGs9nFk2jXcM8rDv4eUy6lTm1QaWz0KhB5gJfSxNoCi";
        let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} RSA {} KEY-----", "PRIVATE"));
        let key = format!("{begin}\n+{body}\n+{end}");
        let diff = format!("@@ -0,0 +1,6 @@\n+token = \"{token}\"\n+{key}\n+end\n");
        let out = masked(&diff);
        assert!(!out.contains(&token) && !out.contains("MIIEpAIB") && !out.contains("oBi7wZq"), "{out}");
        assert_eq!(out.lines().count(), diff.lines().count(), "{out}");
        assert!(out.starts_with("@@ -0,0 +1,6 @@\n+") && out.ends_with("\n+end\n"), "{out}");
        assert_eq!(masked("@@ -0,0 +1,1 @@\n+plain\n"), "@@ -0,0 +1,1 @@\n+plain\n");
    }

    proptest! {
        #[test]
        fn any_text_reads(text in "(# n-1 - a\n|@@ -1,2 \\+0,3 @@\n|[ +-][ab]*\n|\\PC{0,5}\n?){0,12}") {
            for entry in read(&text) {
                let _ = entry.written();
                prop_assert!(text.contains(entry.diff));
            }
        }

        #[test]
        fn a_diff_reads_back(start in 0..9_u64, lines in proptest::collection::vec("[ +-]([ab+ -]|# ){0,3}", 1..9)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let hunks = [hunk(Some(start), &lines)];
            let text = entry("n-001", None, "p", &diff(&hunks));
            prop_assert_eq!(read(&text)[0].hunks(), hunks.to_vec());
        }
    }
}
