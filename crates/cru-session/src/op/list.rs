//! Steps put into a list of steps, behind a certain one.
//!
//! Only a list that the reader takes for steps is joined, and only when all of its items and every block around it
//! come out as they were.

use super::unit::{alone, has_header, is_header, is_step};
use crate::render::STEPS_HEADER;
use cru_base::Span;
use cru_note::edit::{end_of_line, holds, same, same_frontmatter, starts_line};
use cru_note::{Block, BlockKind, Note, Patch};

/// A run of steps at the beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// The items, without the line above them.
    pub(super) items: String,
    /// Every item is a step also where that line does not stand above.
    pub(super) sure: bool,
    /// What stands below them; it may be empty.
    pub(super) rest: String,
}

/// The run of steps that `text` begins with.
pub(super) fn opening(text: &str) -> Option<Opening> {
    let note = alone(text);
    let blocks = note.blocks();
    let header = blocks.first().is_some_and(|block| is_header(&note, block));
    let top = usize::from(header);
    let list = blocks.get(top)?;
    let steps = list.children.iter().all(|item| is_step(&note, item, header));
    if !matches!(list.kind, BlockKind::List { ordered: false })
        || !steps
        || list.id.is_some_and(|id| id.start >= list.content.end)
    {
        return None;
    }
    let sure = list.children.iter().all(|item| is_step(&note, item, false));
    let rest = blocks.get(top + 1).map_or(note.text().len(), |block| block.content.start);
    let rest = Span::new(rest, note.text().len()).of(note.text()).trim_end().to_owned();
    Some(Opening { items: list.content.of(note.text()).to_owned(), sure, rest })
}

/// `text` with the line above its steps, where it begins with steps without it.
pub(super) fn with_header(text: &str) -> String {
    let text = text.trim_matches('\n');
    let bare = text.starts_with("- ") && opening(text).is_some();
    if bare { format!("{STEPS_HEADER}\n{text}") } else { text.to_owned() }
}

/// The patch that puts the items of `opening` behind the item `item` of the list at `top`; `None` where that is no
/// list of steps, or something else would change.
pub(super) fn insert(note: &Note, top: usize, item: usize, opening: &Opening) -> Option<Patch> {
    let list = note.blocks().get(top)?;
    let BlockKind::List { ordered: false } = list.kind else { return None };
    let last = list.children.get(item)?;
    let header = header_reaches(note, top, item);
    if !is_step(note, last, header) || !(header || opening.sure) {
        return None;
    }
    let eol = note.split().line_end;
    let items = eol.apply(&opening.items);
    let fresh = Note::parse(format!("\n{items}\n"));
    let [new] = fresh.blocks() else { return None };
    let at = end_of_line(note, last.content.end);
    let lead = if starts_line(note, at) { "" } else { eol.as_str() };
    let joined = |trail: &str| Patch::insert(at, [lead, &items, eol.as_str(), trail].concat());
    let grows = |note: &Note, after: &Note, top: usize| {
        let (Some(list), Some(grown)) = (note.blocks().get(top), after.blocks().get(top)) else { return false };
        let (old, all) = (&list.children, &grown.children);
        let count = new.children.len();
        same_frontmatter(note, after)
            && after.blocks().len() == note.blocks().len()
            && grown.kind == list.kind
            && all.len() == old.len() + count
            && after.id(grown) == note.id(list)
            && same(note, &old[..=item], after, &all[..=item])
            && same(&fresh, &new.children, after, &all[item + 1..=item + count])
            && same(note, &old[item + 1..], after, &all[item + 1 + count..])
            && same(note, &note.blocks()[..top], after, &after.blocks()[..top])
            && same(note, &note.blocks()[top + 1..], after, &after.blocks()[top + 1..])
    };
    [joined(""), joined(eol.as_str())].into_iter().find(|patch| holds(note, top, patch, grows))
}

/// Whether the item is read as one below the line above runs of steps: it is, until a blank line stands between items.
fn header_reaches(note: &Note, top: usize, item: usize) -> bool {
    let Some(list) = note.blocks().get(top) else { return false };
    let near = |pair: &[Block]| {
        let gap = Span::new(pair[0].content.end, pair[1].content.start).of(note.text());
        gap.matches('\n').count() < 2
    };
    has_header(note, top) && list.children.get(..=item).is_some_and(|items| items.windows(2).all(near))
}
