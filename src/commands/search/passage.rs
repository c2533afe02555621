//! The lines of a note that a hit is shown with, from the note as it is now.

use super::excerpt::Piece;
use crate::base::lines::floor_char_boundary;
use crate::base::text::sanitise;
use crate::base::{Lines, Span};
use crate::index::search::{Hit, Marker};
use crate::note::heading::{Tail, unescape};

/// Lines of one block that are searched for the best one.
const MOST_LINES: usize = 20_000;

/// Where a hit stands and what stands there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Passage {
    /// The line to go to.
    pub(super) line: usize,
    /// The phase it stands in.
    pub(super) phase: Option<String>,
    /// The block id to name it by: its own, else the nearest above it; none at the head of a note.
    pub(super) block: Option<String>,
    /// Lines with their numbers, the hit's own among them.
    pub(super) lines: Vec<(usize, Vec<Piece>)>,
}

impl Passage {
    /// Finds the line of a hit. Where the note changed since it was indexed and the words are not at the place any more,
    /// they are looked for in the whole note; where they are nowhere, the place stays.
    pub(super) fn of(text: &str, lines: &Lines, hit: &Hit, marker: &Marker, context: usize) -> Self {
        let start = floor_char_boundary(text, hit.span.start);
        let end = floor_char_boundary(text, hit.span.end.max(hit.span.start));
        let block = (lines.line(start), lines.line(end.saturating_sub(1).max(start)));
        let found = best(text, lines, block, marker).or_else(|| {
            let whole = hit.evidence.is_none() && hit.span.of(text).is_empty() && hit.kind != "session";
            whole.then(|| best(text, lines, (1, usize::MAX), marker)).flatten()
        });
        let line = found.unwrap_or(block.0);
        let shown = line.saturating_sub(context).max(1)..=line.saturating_add(context);
        let head = hit.kind == "session" && found.is_none();
        let lines_shown = shown.filter(|_| !head).map_while(|number| {
            let own = line_of(text, lines, number)?;
            Some((number, Piece::cut(own, &marker.marks(own).spans)))
        });
        let block = if hit.kind == "session" { None } else { block_id(text, lines, block, line) };
        Self { line, phase: phase(text, lines, line), block, lines: lines_shown.collect() }
    }
}

/// The line of a block with the most of the query's words; of equals a title, else the first.
pub(super) fn best(text: &str, lines: &Lines, block: (usize, usize), marker: &Marker) -> Option<usize> {
    let mut best = (0, None);
    for number in (block.0..=block.1).take(MOST_LINES) {
        let Some(line) = line_of(text, lines, number) else { break };
        let different = marker.marks(line).different;
        let title = line.starts_with("title:") || line.starts_with("# ");
        let worth = different * 2 + usize::from(title && different > 0);
        if worth > best.0 {
            best = (worth, Some(number));
        }
    }
    best.1
}

pub(super) fn line_of<'a>(text: &'a str, lines: &Lines, number: usize) -> Option<&'a str> {
    let start = lines.start(number)?;
    let end = lines.start(number + 1).unwrap_or(text.len());
    let line = Span::new(start, end).of(text).trim_end_matches(['\n', '\r']);
    // Bytes of one line that are looked at.
    Some(&line[..floor_char_boundary(line, 64 << 10)])
}

/// The id that a block's first or last line ends with; else that of the nearest heading above `line`.
fn block_id(text: &str, lines: &Lines, block: (usize, usize), line: usize) -> Option<String> {
    let id = |number: usize| {
        let (before, id) = line_of(text, lines, number)?.trim_end().rsplit_once('^')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_id = !id.is_empty() && id.chars().all(plain) && (before.is_empty() || before.ends_with(' '));
        is_id.then(|| id.to_owned())
    };
    let below = || (block.1..=block.1 + 2).find_map(id);
    id(block.0).or_else(below).or_else(|| (1..=line).rev().take(MOST_LINES).find_map(id))
}

/// Title of the heading above a line, without agent and channel. Fences may hold what looks like one.
fn phase(text: &str, lines: &Lines, line: usize) -> Option<String> {
    let end = lines.start(line + 1).unwrap_or(text.len());
    let mut fence: Option<&str> = None;
    let mut found = None;
    for line in Span::new(0, end).of(text).lines() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start_matches(['>', ' ']).starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                found = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")).or(found);
            }
            _ => {}
        }
    }
    let heading = found?;
    let title = unescape(Tail::parse(heading).title.of(heading)).into_owned();
    // Where a comment stood, there are control characters.
    Some(sanitise(&title).trim().to_owned()).filter(|title| !title.is_empty())
}
