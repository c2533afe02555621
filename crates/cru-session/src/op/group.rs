//! Texts for the end of one phase, put together, so that many of them cost no more reading than one.
//!
//! The result is what they give one by one: each boundary is made by putting the second text behind the first alone.
//! Where that is not certain (the text holds a heading, or its place is not simply the end) they are not put together.

use super::change::Change;
use super::draft::TextDraft;
use super::place::{self, Spot};
use super::run::Outcome;
use super::unit::alone;
use super::{add, list};
use cru_note::LineEnd;
use cru_note::edit::divides;

/// Puts `texts` at the end of a phase in one go, and says what each of them changed; `None`, with nothing changed,
/// where they must go one by one.
pub(super) fn put(draft: &mut TextDraft, phase: Option<&str>, texts: &[&str]) -> Option<(Outcome, Vec<Vec<Change>>)> {
    let group = Group::of(texts)?;
    let eol = draft.note().split().line_end;
    let mut trial = draft.clone();
    let outcome = add::append(&mut trial, phase, &group.text).ok()?;
    let changes = trial.take_changes();
    let [all] = changes.as_slice() else { return None };
    let ends = group.ends(&all.inserted, eol)?;
    *draft = trial;
    Some((outcome, all.cut(&ends).into_iter().map(|change| vec![change]).collect()))
}

/// Several texts as one.
#[derive(Debug)]
pub(super) struct Group {
    /// All of them.
    pub(super) text: String,
    /// What each but the first adds to it, with line ends `\n`.
    chunks: Vec<String>,
}

impl Group {
    /// Puts `texts` together.
    pub(super) fn of(texts: &[&str]) -> Option<Self> {
        let (first, rest) = texts.split_first()?;
        let mut text = list::with_header(first).trim_end().to_owned();
        text.push('\n');
        let mut chunks = Vec::with_capacity(rest.len());
        let mut before = *first;
        if !is_plain(before) {
            return None;
        }
        for next in rest {
            if !is_plain(next) || list::opening(next).is_some_and(|opening| !opening.sure) {
                return None;
            }
            let mut scratch = TextDraft::new(format!("## x\n\n{}\n", list::with_header(before).trim_end()).as_bytes());
            let end = scratch.bytes().len();
            let spot = Spot { before: scratch.note().blocks().len(), floor: 1, moved: false };
            place::put(&mut scratch, spot, next).ok()?;
            let changes = scratch.take_changes();
            // Nothing but more text at the end.
            if changes.iter().any(|change| change.at < end || !change.removed.is_empty()) {
                return None;
            }
            let chunk = String::from_utf8_lossy(&scratch.bytes()[end..]).into_owned();
            text.push_str(&chunk);
            chunks.push(chunk);
            before = next;
        }
        Some(Self { text, chunks })
    }

    /// Where, in the bytes that were inserted for the whole, each text ends; `None` where they are not found in it.
    pub(super) fn ends(&self, inserted: &[u8], eol: LineEnd) -> Option<Vec<usize>> {
        let chunks: Vec<String> = self.chunks.iter().map(|chunk| eol.apply(chunk)).collect();
        let all = chunks.concat();
        let trail = eol.as_str().as_bytes();
        let end = [inserted.len(), inserted.len().saturating_sub(trail.len())].into_iter().find(|&end| {
            inserted[..end].ends_with(all.as_bytes()) && (end == inserted.len() || inserted.ends_with(trail))
        })?;
        let mut at = end - all.len();
        let mut ends = vec![at];
        for chunk in &chunks {
            at += chunk.len();
            ends.push(at);
        }
        Some(ends)
    }
}

/// No part of it divides the note.
fn is_plain(text: &str) -> bool {
    let note = alone(text);
    !note.blocks().iter().any(divides)
}
