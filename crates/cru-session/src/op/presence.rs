//! What of a text stands in a note already, for operations that are applied again.
//!
//! A block with an id stands there when its id does; one without, when its exact text does, once for each time. A text
//! that a later operation replaces counts as there when what it became is.

use std::collections::{HashMap, HashSet};

use super::Op;
use super::piece::pairs;
use super::unit::{Unit, alone, has_header, is_header, is_step, normal, units};
use crate::render::STEPS_HEADER;
use cru_note::edit::SEPARATOR;
use cru_note::{Block, BlockKind, Note};

/// What stands in a note.
#[derive(Debug, Default)]
pub(super) struct Presence {
    ids: HashSet<String>,
    texts: HashMap<String, usize>,
    /// What was matched with a text by operations that add.
    added: HashMap<String, usize>,
    /// The same for those that replace.
    replaced: HashMap<String, usize>,
    /// What texts become, and by which operation.
    later: HashMap<String, Vec<(usize, String)>>,
    /// Every text that one of the operations writes.
    written: HashSet<String>,
}

impl Presence {
    /// Of `note`, with what the operations say of texts that change.
    pub(super) fn of(note: &Note, ops: &[Op]) -> Self {
        let mut presence = Self::default();
        collect(note, note.blocks(), &mut presence.ids);
        presence.count(note);
        for (index, op) in ops.iter().enumerate() {
            let (Op::Append { text, .. }
            | Op::InsertAfter { text, .. }
            | Op::Preface { text }
            | Op::Phase { text }
            | Op::Replace { new: text, .. }) = op
            else {
                continue;
            };
            let note = alone(text);
            presence.written.extend(units(&note, false).iter().map(|unit| unit.text(&note).into_owned()));
            let Op::Replace { old, new, .. } = op else { continue };
            for pair in pairs(old, new) {
                if let (Some(old), Some(new)) = (pair.old, pair.new) {
                    presence.later.entry(old.text).or_default().push((index, new.text));
                }
            }
        }
        presence
    }

    /// A text was added to the note.
    pub(super) fn add(&mut self, text: &str) {
        let note = alone(text);
        collect(&note, note.blocks(), &mut self.ids);
        self.count(&note);
    }

    /// One text became another, which no operation that adds takes for its own.
    pub(super) fn change(&mut self, old: &str, new: &str) {
        if let Some(count) = self.texts.get_mut(old) {
            *count = count.saturating_sub(1);
        }
        for map in [&mut self.texts, &mut self.added] {
            *map.entry(new.to_owned()).or_default() += 1;
        }
    }

    fn count(&mut self, note: &Note) {
        for unit in units(note, false) {
            *self.texts.entry(unit.text(note).into_owned()).or_default() += 1;
        }
    }

    /// Whether the block is there, for the operation `index`, which would add it.
    pub(super) fn has(&mut self, id: Option<&str>, text: &str, index: usize) -> bool {
        if let Some(id) = id {
            return !self.ids.insert(id.to_lowercase());
        }
        let stands = self.stands(text, index, &self.added);
        *self.added.entry(stands.clone().unwrap_or_else(|| text.to_owned())).or_default() += 1;
        stands.is_some()
    }

    /// Whether what the operation `index` would make of a block is there.
    pub(super) fn is_replaced(&mut self, text: &str, index: usize) -> bool {
        let stands = self.stands(text, index, &self.replaced);
        *self.replaced.entry(stands.clone().unwrap_or_else(|| text.to_owned())).or_default() += 1;
        stands.is_some()
    }

    /// The form in which a text is there: as it is, or as a later operation has made it.
    fn stands(&self, text: &str, index: usize, taken: &HashMap<String, usize>) -> Option<String> {
        let free = |text: &str| {
            let count = |map: &HashMap<String, usize>| map.get(text).copied().unwrap_or_default();
            count(&self.texts) > count(taken)
        };
        let (mut text, mut index) = (text, index);
        loop {
            if free(text) {
                return Some(text.to_owned());
            }
            let (at, next) = self.later.get(text)?.iter().find(|(at, _)| *at > index)?;
            (text, index) = (next, *at);
        }
    }

    /// What operations behind `index` make of a text, one after the other.
    pub(super) fn later_texts(&self, text: &str, index: usize) -> Vec<String> {
        let (mut text, mut index) = (text, index);
        let mut later = Vec::new();
        while let Some((at, next)) = self.later.get(text).and_then(|all| all.iter().find(|(at, _)| *at > index)) {
            later.push(next.clone());
            (text, index) = (next, *at);
        }
        later
    }

    /// The part of `text` that is not there: all of it as it was, or what is left; `None` where nothing is. Its first
    /// `kept` blocks stay in any case.
    pub(super) fn missing(&mut self, text: &str, index: usize, kept: usize) -> Option<String> {
        let note = alone(text);
        let all = units(&note, false);
        let missing: Vec<Unit> = all
            .iter()
            .copied()
            .filter(|unit| unit.top < kept || !self.has(unit.id(&note), &unit.text(&note), index))
            .collect();
        if missing.is_empty() {
            return None;
        }
        Some(if missing.len() == all.len() { normal(text).into_owned() } else { joined(&note, &missing) })
    }

    /// Whether one of the operations writes exactly this, so that no person made it of something else.
    pub(super) fn is_ours(&self, text: &str) -> bool {
        self.written.contains(text)
    }

    /// Whether a block has the id.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.ids.contains(&id.to_lowercase())
    }

    /// Whether a block says exactly this.
    pub(super) fn has_text(&self, text: &str) -> bool {
        self.texts.get(text).is_some_and(|&count| count > 0)
    }
}

/// Pieces of a text as a text of their own. Two lists stay two.
pub(super) fn joined(note: &Note, units: &[Unit]) -> String {
    let mut out = String::new();
    let mut list = None;
    for unit in units {
        let text = unit.whole().of(note.text());
        let block = unit.block(note);
        let is_list = unit.item.is_some() || block.is_some_and(|block| matches!(block.kind, BlockKind::List { .. }));
        match unit.item {
            Some(_) if list == Some(unit.top) => {}
            Some(_) if has_header(note, unit.top) && block.is_some_and(|item| is_step(note, item, true)) => {
                out.push_str(if out.is_empty() { "" } else { "\n" });
                out.push_str(STEPS_HEADER);
                out.push('\n');
            }
            _ if is_list && list.is_some() => out.extend(["\n", SEPARATOR, "\n\n"]),
            _ => out.push_str(if out.is_empty() { "" } else { "\n" }),
        }
        list = is_list.then_some(unit.top);
        out.push_str(text);
        out.push('\n');
    }
    out
}

/// Adds the ids of blocks, in lower case.
pub(super) fn collect(note: &Note, blocks: &[Block], ids: &mut HashSet<String>) {
    let mut open: Vec<&Block> = blocks.iter().collect();
    while let Some(block) = open.pop() {
        ids.extend(note.id(block).map(str::to_lowercase));
        open.extend(&block.children);
    }
}

/// The id of the phase that a text begins with, as written, and how many blocks its heading takes.
pub(super) fn phase_of(text: &str) -> (Option<String>, usize) {
    let note = alone(text);
    let (session, _) = crate::read::session(&note);
    let Some(phase) = session.phases.first() else { return (None, 0) };
    let id = phase.id_written.then(|| phase.id.clone());
    let is_line = |block: &Block| {
        let here = id.as_deref().is_some_and(|id| note.id(block) == Some(id));
        let timed = phase.started.is_some() && block.content.of(note.text()).starts_with('*');
        matches!(block.kind, BlockKind::Paragraph | BlockKind::OrphanId) && (here || timed) && !is_header(&note, block)
    };
    let line = note.blocks().get(1).is_some_and(is_line);
    (id, 1 + usize::from(line))
}

/// `text` without its first blocks.
pub(super) fn behind(text: &str, blocks: usize) -> String {
    let note = alone(text);
    let from = note.blocks().get(blocks).map_or(note.text().len(), |block| block.content.start);
    note.text()[from..].to_owned()
}
