//! What must be done to a note so that it also tells what its transcript gained.
//!
//! Both sides are what `cru` itself renders: `old` as it was generated last, `new` as it would be generated now. What
//! differs between the two becomes operations; what a person did to the note since is in neither, so it is never
//! touched. Phases are paired by their place, since the fold numbers them so, and the blocks of a phase by their text,
//! steps also by their id. Pure: texts in, operations out, in time `n log n`.

pub(crate) mod align;
mod copies;
mod part;
mod phase;
pub(crate) mod property;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::model::Session;
use super::op::{Op, task_list, task_merge};
use super::{read, render, seal};
use cru_note::{Block, BlockKind, Note};
use part::PieceKind;

pub use copies::{missing_lines, union};

/// What the summary on top of a note begins with.
const SUMMARY: &str = "> [!summary]";

/// What must be done to the note that was generated as `old` so that it also tells what `new` adds.
pub fn delta(old: &Session, new: &Session) -> Vec<Op> {
    notes(&Note::parse(render::note(old)), &Note::parse(render::note(new)), None)
}

/// A note as it now is, and what it says.
#[derive(Clone, Copy, Debug)]
pub struct There<'a> {
    /// The note.
    pub note: &'a Note,
    /// Read from it.
    pub session: &'a Session,
}

/// The same for rendered notes. `there` is the note itself as it now is: a block that moves, and that a person has
/// deleted or changed there, is then neither taken away nor set down anew.
pub fn notes(old: &Note, new: &Note, there: Option<There<'_>>) -> Vec<Op> {
    if old.text() == new.text() {
        return Vec::new();
    }
    let note = there.map(|there| there.note);
    let split = |note| part::split(note).blocks();
    let (before, after) = (split(old), split(new));
    let mut ops = property::changes(old, new, note);
    ops.extend(heading(&before, &after, note));
    ops.extend(tasks(old, new, there));
    let crlf = note.filter(|note| note.text().contains("\r\n"));
    let rewritten = crlf.map(|note| Note::parse(note.text().replace("\r\n", "\n")));
    let note = rewritten.as_ref().or(note);
    let parts = note.map(split);
    let moved = Moved::of(&before, &after, note.zip(parts.as_ref()));
    phase::changes(&before.preface, &after.preface, new, &moved, phase::Shape::default(), &mut ops);
    // The summary on top is a person's for ever once they have changed it.
    let bare = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let is_theirs = |old: &str| {
        let units = parts.as_ref().map(|parts| &parts.preface.units);
        units.is_some_and(|units| !units.iter().any(|unit| bare(unit.text) == bare(old)))
    };
    ops.retain(|op| match op {
        Op::Replace { phase: None, old, .. } => !(old.starts_with(SUMMARY) && is_theirs(old)),
        _ => true,
    });
    let known = parts.as_ref().map(|parts| parts.phases.iter().map(|part| (part.id.as_deref(), part)));
    let known: Option<HashMap<Option<&str>, &part::Part<'_>>> = known.map(Iterator::collect);
    let open = there.and_then(|there| declared(&before, there.session));
    let last = before.phases.len().saturating_sub(1);
    for (at, (before, after)) in before.phases.iter().zip(&after.phases).enumerate() {
        let untouched = |known: &HashMap<Option<&str>, &part::Part<'_>>| {
            known.get(&before.id.as_deref()).is_some_and(|part| part.says(before))
        };
        let end = open.as_deref().filter(|_| at == last);
        let shape = phase::Shape { untouched: end.is_none() && known.as_ref().is_none_or(untouched), end };
        phase::changes(before, after, new, &moved, shape, &mut ops);
    }
    for gone in before.phases.iter().skip(after.phases.len()).rev() {
        phase::removal(gone, &mut ops);
    }
    for fresh in after.phases.iter().skip(before.phases.len()) {
        let (fates, _) = phase::fates(&part::Part::default(), fresh, &moved);
        ops.extend(phase::whole(fresh, &fates, new).map(|text| Op::Phase { text }));
    }
    ops
}

/// The phase that was begun by other means behind the last one of `before`: what comes now belongs to it.
fn declared(before: &part::NoteParts<'_>, there: &Session) -> Option<String> {
    let own: HashSet<&str> = before.phases.iter().filter_map(|part| part.id.as_deref()).collect();
    let last = before.phases.last()?.id.as_deref()?;
    let behind = there.phases.iter().skip_while(|phase| phase.id != last).skip(1);
    let open = behind.filter(|phase| phase.id_written && !own.contains(phase.id.as_str())).last()?;
    Some(open.id.clone())
}

/// Blocks that go from one place to another, and whether the note still has them.
struct Moved<'t> {
    /// Texts that a person deleted or changed: they do not come back elsewhere.
    lost: HashSet<&'t str>,
    /// The same of the table of tokens, whose text changes as it moves.
    usage_lost: bool,
}

impl<'t> Moved<'t> {
    fn of(
        before: &part::NoteParts<'t>,
        after: &part::NoteParts<'_>,
        note: Option<(&Note, &part::NoteParts<'_>)>,
    ) -> Self {
        let mut moved = Self { lost: HashSet::new(), usage_lost: false };
        let Some((note, there)) = note else { return moved };
        let (known, there) = (after.texts(), there.texts());
        for unit in before.all().flat_map(|part| &part.units) {
            let moves = unit.kind == PieceKind::Usage || known.contains(unit.text);
            // A block that a person has put into another one is no piece of the note any more, but still in it.
            if moves && !there.contains(unit.text) && !note.text().contains(unit.text) {
                moved.usage_lost |= unit.kind == PieceKind::Usage;
                moved.lost.insert(unit.text);
            }
        }
        moved
    }

    fn has_lost(&self, unit: &part::DeltaUnit<'_>) -> bool {
        self.lost.contains(unit.text) || (self.usage_lost && unit.kind == PieceKind::Usage)
    }
}

/// The heading of the whole note, where a person did not change it.
fn heading(before: &part::NoteParts<'_>, after: &part::NoteParts<'_>, note: Option<&Note>) -> Option<Op> {
    let (old, new) = (before.title?, after.title?);
    let untouched = note.is_none_or(|note| note.text().lines().any(|line| line == old));
    (old != new && untouched).then(|| Op::Replace { phase: None, old: old.to_owned(), new: new.to_owned() })
}

/// The rows of the task list that changed. Rows that are gone can only be taken out by naming all that stay, those of a
/// person among them.
fn tasks(old: &Note, new: &Note, there: Option<There<'_>>) -> Option<Op> {
    // Mostly nothing changed, or there are none.
    if fences(old).eq(fences(new)) {
        return None;
    }
    let (before, after) = (seal::tasks(&read::written(old).0), seal::tasks(&read::written(new).0));
    let own = there.map(|there| seal::tasks(there.session));
    task_merge::merge(&before, own.as_deref(), &after)
}

/// The fences and lists that hold tasks, before the first phase.
fn fences(note: &Note) -> impl Iterator<Item = &str> {
    let preface = note.blocks().iter().enumerate();
    let preface = preface.take_while(|(_, block)| !matches!(block.kind, BlockKind::Heading { level: 2 | 3, .. }));
    let is_fence =
        |block: &Block| matches!(&block.kind, BlockKind::Fence { info, .. } if info.of(note.text()).trim() == "tasks");
    let is_tasks = move |(top, block): &(usize, &Block)| is_fence(block) || task_list::is_list(note, *top);
    preface.filter(is_tasks).map(|(_, block)| block.span.of(note.text()))
}
