//! Regions that `cru` generates inside notes of a person.
//!
//! `<!-- cru:begin name seal -->` and `<!-- cru:end -->`, each on a line of its own at top level. What stands between is
//! ours; nothing outside is touched. The seal tells the caller whether somebody else has written there; a region that
//! was never filled has none.

use super::EditError;
use super::place::{end_of_line, parse, ready, same, same_frontmatter};
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

/// What a region of a note holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    /// The text between the markers.
    pub inside: &'a str,
    /// What stands behind the name in the first marker; empty where nothing does.
    pub seal: &'a str,
}

/// What the region `name` holds. Error: there is none, or more than one.
pub fn region<'a>(note: &'a Note, name: &str) -> Result<Region<'a>, EditError> {
    let found = find(note, name)?;
    Ok(Region { inside: found.inside.of(note.text()), seal: found.seal })
}

/// Replaces what stands in the region `name`, and its seal; blank text empties it. `below` is put behind the region: what
/// somebody else had written inside. An empty patch when all of it stands there already.
pub fn replace_region(note: &Note, name: &str, seal: &str, text: &str, below: &str) -> Result<Patch, EditError> {
    let Found { begin, end, inside, seal: old_seal } = find(note, name)?;
    let eol = note.split().line_end.as_str();
    let block = |text: &str| if text.trim().is_empty() { Ok(String::new()) } else { ready(note, text) };
    let new = match block(text)? {
        text if text.is_empty() => text,
        text => [eol, &text, eol, eol].concat(),
    };
    let below = block(below)?;
    if inside.of(note.text()) == new && old_seal == seal && below.is_empty() {
        return Ok(Patch::default());
    }
    let (first, last) = (&note.blocks()[begin], &note.blocks()[end]);
    let space = if seal.is_empty() { "" } else { " " };
    let mut chunk = format!("<!-- cru:begin {name}{space}{seal} -->{eol}{new}");
    let mut span = Span::new(first.content.start, last.content.start);
    if !below.is_empty() {
        span = Span::new(span.start, last.content.end);
        chunk.push_str(last.content.of(note.text()).trim_end());
        chunk.push_str(&[eol, eol, &below].concat());
        // What comes behind stands below a blank line, as it did.
        let rest = &note.text()[last.content.end..];
        if rest.is_empty() || rest.split('\n').nth(1).is_some_and(|line| !line.trim().is_empty()) {
            chunk.push_str(eol);
        }
    }
    let patch = Patch::replace(span, chunk);
    let after = parse(note, &patch);
    let tail = &note.blocks()[end + 1..];
    let Some(from) = after.blocks().len().checked_sub(tail.len()).filter(|&at| at > begin) else {
        return Err(EditError::Merge);
    };
    let markers: Vec<Marker<'_>> =
        after.blocks()[begin..from].iter().filter_map(|block| marker(&after, block)).collect();
    let kept = same_frontmatter(note, &after)
        && same(note, &note.blocks()[..begin], &after, &after.blocks()[..begin])
        && same(note, tail, &after, &after.blocks()[from..])
        && matches!(markers.as_slice(), [Marker::Begin(own, _), Marker::End] if *own == name);
    if kept { Ok(patch) } else { Err(EditError::Merge) }
}

/// Where a region is: the blocks of its markers, what stands between them, and its seal.
struct Found<'a> {
    begin: usize,
    end: usize,
    inside: Span,
    seal: &'a str,
}

fn find<'a>(note: &'a Note, name: &str) -> Result<Found<'a>, EditError> {
    let none = || EditError::NoRegion(name.to_owned());
    let begins = |(at, block): (usize, &Block)| match marker(note, block) {
        Some(Marker::Begin(own, seal)) if own == name => Some((at, seal)),
        _ => None,
    };
    let mut found = note.blocks().iter().enumerate().filter_map(begins);
    let (begin, seal) = found.next().ok_or_else(none)?;
    if found.next().is_some() {
        return Err(none());
    }
    let behind =
        note.blocks().iter().enumerate().skip(begin + 1).find_map(|(at, block)| Some((at, marker(note, block)?)));
    let Some((end, Marker::End)) = behind else { return Err(none()) };
    let inside = Span::new(end_of_line(note, note.blocks()[begin].content.end), note.blocks()[end].content.start);
    Ok(Found { begin, end, inside, seal })
}

#[derive(Debug, PartialEq, Eq)]
enum Marker<'a> {
    /// Its name and its seal.
    Begin(&'a str, &'a str),
    End,
}

fn marker<'a>(note: &'a Note, block: &Block) -> Option<Marker<'a>> {
    if !matches!(block.kind, BlockKind::Html) {
        return None;
    }
    let text = block.content.of(note.text()).trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    match text.strip_prefix("cru:begin") {
        Some(rest) => {
            let (name, seal) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
            Some(Marker::Begin(name, seal.trim()))
        }
        None => (text == "cru:end").then_some(Marker::End),
    }
}
