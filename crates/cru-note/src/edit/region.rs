//! Regions that `cru` generates inside notes of a person.
//!
//! `<!-- cru:begin name -->` and `<!-- cru:end -->`, each on a line of its own at top level. What stands between is
//! ours; nothing outside is touched.

use super::EditError;
use super::place::{end_of_line, parse, ready, same, same_frontmatter};
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

/// Replaces what stands in the region `name`; blank text empties it. An empty patch when it stands there already.
pub fn replace_region(note: &Note, name: &str, text: &str) -> Result<Patch, EditError> {
    let begins = |(_, block): &(usize, &Block)| marker(note, block) == Some(Marker::Begin(name));
    let mut found = note.blocks().iter().enumerate().filter(begins);
    let (begin, _) = found.next().ok_or_else(|| EditError::NoRegion(name.to_owned()))?;
    if found.next().is_some() {
        return Err(EditError::NoRegion(name.to_owned()));
    }
    let markers =
        note.blocks().iter().enumerate().skip(begin + 1).find_map(|(at, block)| Some((at, marker(note, block)?)));
    let Some((end, Marker::End)) = markers else { return Err(EditError::NoRegion(name.to_owned())) };
    let inside = Span::new(end_of_line(note, note.blocks()[begin].content.end), note.blocks()[end].content.start);
    let eol = note.split().line_end.as_str();
    let new = if text.trim().is_empty() { String::new() } else { [eol, &ready(note, text)?, eol, eol].concat() };
    if inside.of(note.text()) == new {
        return Ok(Patch::default());
    }
    let patch = Patch::replace(inside, new);
    let after = parse(note, &patch);
    let tail = note.blocks().len() - end;
    let from_end = after.blocks().len().checked_sub(tail).filter(|&at| at > begin);
    let Some(from_end) = from_end else { return Err(EditError::Merge) };
    let kept = same_frontmatter(note, &after)
        && same(note, &note.blocks()[..=begin], &after, &after.blocks()[..=begin])
        && same(note, &note.blocks()[end..], &after, &after.blocks()[from_end..])
        && after.blocks()[begin + 1..from_end].iter().all(|block| marker(&after, block).is_none());
    if kept { Ok(patch) } else { Err(EditError::Merge) }
}

#[derive(Debug, PartialEq, Eq)]
enum Marker<'a> {
    Begin(&'a str),
    End,
}

fn marker<'a>(note: &'a Note, block: &Block) -> Option<Marker<'a>> {
    if !matches!(block.kind, BlockKind::Html) {
        return None;
    }
    let text = block.content.of(note.text()).trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    match text.strip_prefix("cru:begin") {
        Some(name) => Some(Marker::Begin(name.trim())),
        None => (text == "cru:end").then_some(Marker::End),
    }
}
