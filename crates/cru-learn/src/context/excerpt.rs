//! A long text cut so that what is needed of it stays.
//!
//! What is needed are lines, by what they say ([`super::trace`]); a few lines around them stay, and of the rest the
//! beginning and the end. Each cut says how much it left out. A text of which nothing is needed loses its middle.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use memchr::memmem;

use crate::context::budget::cut_middle;
use crate::context::trace;
use cru_base::text::plural;

/// Lines that stay around needed ones, and lines between two needed ones that are not worth a cut; and the same where
/// there is little room.
const AROUND: (usize, usize) = (2, 8);
const TIGHT: (usize, usize) = (1, 4);

/// Characters that are little room.
const LITTLE: usize = 2_000;

/// Bytes that are not worth a mark that says that they are left out.
const MARK: usize = 120;

/// What is needed of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Lines.
    pub(crate) lines: HashSet<u64>,
    /// Parts of lines, without blanks.
    pub(crate) parts: BTreeSet<String>,
    /// Names of files.
    pub(crate) names: HashSet<u64>,
}

impl Wants {
    /// Which of these lines are needed: of those that only name a file the first for each.
    fn of(&self, lines: &[&str]) -> Vec<bool> {
        let mut named: HashSet<u64> = HashSet::new();
        let mut wanted = |line: &str| {
            trace::keys(line).any(|key| self.lines.contains(&key))
                || (!self.parts.is_empty() && self.has_part(&trace::squashed(line)))
                || (!self.names.is_empty()
                    && trace::names(line).any(|name| self.names.contains(&name) && named.insert(name)))
        };
        lines.iter().map(|line| wanted(line)).collect()
    }

    /// Whether a part of a line stands in a text without blanks.
    fn has_part(&self, text: &str) -> bool {
        self.parts.iter().any(|part| memmem::find(text.as_bytes(), part.as_bytes()).is_some())
    }

    /// Whether nothing is needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.names.is_empty() && self.parts.is_empty()
    }
}

/// `text` within `max` characters, more only where what is needed takes more.
pub(crate) fn cut_around<'a>(text: &'a str, max: usize, wants: &Wants) -> Cow<'a, str> {
    if text.len() <= max || wants.is_empty() || text.chars().count() <= max {
        return cut_middle(text, max);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let wanted = wants.of(&lines);
    let Some(mut keep) = around(&wanted, if max < LITTLE { TIGHT } else { AROUND }) else {
        return cut_middle(text, max);
    };
    // What is left of the room goes to the beginning and to the end.
    let size = |at: usize| lines[at].chars().count();
    let needed: usize = (0..lines.len()).filter(|&at| keep[at]).map(size).sum();
    let mut left = max.saturating_sub(needed);
    let mut head = left / 2;
    for (at, keep) in keep.iter_mut().enumerate().filter(|(_, keep)| !**keep) {
        if size(at) > head {
            break;
        }
        (head, left) = (head - size(at), left - size(at));
        *keep = true;
    }
    for (at, keep) in keep.iter_mut().enumerate().rev().filter(|(_, keep)| !**keep) {
        if size(at) > left {
            break;
        }
        left -= size(at);
        *keep = true;
    }
    fill(&lines, &mut keep);
    joined(&lines, &keep)
}

/// Keeps what is hardly longer than the mark that would stand for it.
fn fill(lines: &[&str], keep: &mut [bool]) {
    let mut at = 0;
    while at < keep.len() {
        let end = (at..keep.len()).find(|&end| keep[end] != keep[at]).unwrap_or(keep.len());
        if !keep[at] && lines[at..end].iter().map(|line| line.len()).sum::<usize>() <= MARK {
            keep[at..end].fill(true);
        }
        at = end;
    }
}

/// The wanted lines with some around them; `None` where there are none.
fn around(wanted: &[bool], (around, between): (usize, usize)) -> Option<Vec<bool>> {
    let mut keep = vec![false; wanted.len()];
    let mut last: Option<usize> = None;
    for at in (0..wanted.len()).filter(|&at| wanted[at]) {
        let from = match last {
            Some(last) if at - last <= between => last,
            _ => at.saturating_sub(around),
        };
        keep[from..(at + around + 1).min(wanted.len())].fill(true);
        last = Some(at);
    }
    last.map(|_| keep)
}

/// The kept lines, and marks for the others.
fn joined(lines: &[&str], keep: &[bool]) -> Cow<'static, str> {
    let mut out = String::new();
    let mut at = 0;
    while at < lines.len() {
        let end = (at..lines.len()).find(|&end| keep[end] != keep[at]).unwrap_or(lines.len());
        let part = lines[at..end].concat();
        if keep[at] {
            out.push_str(if out.is_empty() { &part } else { part.trim_start_matches('\n') });
        } else {
            let kept = out.trim_end().len();
            out.truncate(kept);
            let mark = format!("[… {} left out …]\n\n", plural(left_out(&part) as u64, "character"));
            out.push_str(if out.is_empty() { "" } else { "\n\n" });
            out.push_str(&mark);
        }
        at = end;
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    Cow::Owned(out)
}

/// How many characters a text stands for: marks of earlier cuts count what they left out.
pub(crate) fn left_out(text: &str) -> usize {
    let mark = |line: &str| -> Option<usize> {
        let inside = line.trim().strip_prefix("[… ")?.strip_suffix(" left out …]")?;
        let (count, unit) = inside.split_once(' ')?;
        unit.starts_with("character").then(|| count.replace(',', "").parse().ok())?
    };
    text.split_inclusive('\n').map(|line| mark(line).unwrap_or_else(|| line.chars().count())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(lines: &[&str]) -> Wants {
        Wants { lines: lines.iter().filter_map(|line| trace::key(line)).collect(), ..Wants::default() }
    }

    #[test]
    fn what_is_needed_stays() {
        let lines: Vec<String> = (0..100).map(|line| format!("{line:>5}→the plank number {line}\n")).collect();
        let text = lines.concat();
        let shown = |range: std::ops::Range<usize>| lines[range].concat();
        let (head, middle, tail) = (shown(0..2), shown(39..46), shown(98..100));
        let cut = cut_around(&text, 300, &wants(&["the plank number 40", "the plank number 44"]));
        let expected =
            format!("{head}\n[… 954 characters left out …]\n\n{middle}\n[… 1,352 characters left out …]\n\n{tail}");
        assert_eq!(cut, expected.trim_end());
        // Nothing of it is needed: its middle goes.
        assert_eq!(cut_around(&text, 300, &wants(&["the plank number 400"])), cut_middle(&text, 300));
        assert_eq!(cut_around(&text, 30_000, &wants(&["the plank number 40"])), text);
    }

    #[test]
    fn a_cut_counts_what_was_cut_before() {
        assert_eq!(left_out("ab\n[… 1,234 characters left out …]\ncd"), 3 + 1_234 + 2);
    }
}
