//! A rendered note cut into the pieces that are compared: its phases, and in each the blocks one by one.
//!
//! A list of steps is no piece but each of its steps is, with its nested lines; everything else is a block as it stands
//! at top level.

use std::collections::HashSet;

use crate::op::task_list;
use crate::render::STEPS_HEADER;
use crate::usage;
use cru_base::Span;
use cru_note::{Block, BlockKind, Note};

/// What a piece is, as far as pieces are paired by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind<'t> {
    /// The heading of a phase.
    Heading,
    /// A step with its id.
    Step(&'t str),
    /// The table of tokens, which stands at the end of the whole note.
    Usage,
    /// Any other callout, by its kind.
    Callout(&'t str),
    /// A list.
    List,
    /// The line above steps.
    Header,
    /// Anything else.
    Text,
}

/// A piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeltaUnit<'t> {
    pub(super) kind: PieceKind<'t>,
    pub(super) text: &'t str,
    pub(super) span: Span,
    /// The id it can be named by.
    pub(super) id: Option<&'t str>,
}

/// A phase, or what stands before the first.
#[derive(Debug, Default)]
pub(super) struct Part<'t> {
    /// The phase's id; `None` for the preface.
    pub(super) id: Option<String>,
    pub(super) units: Vec<DeltaUnit<'t>>,
}

/// A whole note but for its frontmatter, its title and its tasks.
#[derive(Debug, Default)]
pub(super) struct NoteParts<'t> {
    /// The line of the title.
    pub(super) title: Option<&'t str>,
    pub(super) preface: Part<'t>,
    pub(super) phases: Vec<Part<'t>>,
}

impl Part<'_> {
    /// Whether it holds what the other holds.
    pub(super) fn says(&self, other: &Part<'_>) -> bool {
        self.units.len() == other.units.len()
            && self.units.iter().zip(&other.units).all(|(one, other)| one.text == other.text)
    }
}

impl<'t> NoteParts<'t> {
    /// The preface and every phase.
    pub(super) fn all(&self) -> impl Iterator<Item = &Part<'t>> {
        std::iter::once(&self.preface).chain(&self.phases)
    }

    /// The texts of all pieces.
    pub(super) fn texts(&self) -> HashSet<&'t str> {
        self.all().flat_map(|part| part.units.iter().map(|unit| unit.text)).collect()
    }
}

/// Cuts a note.
pub(super) fn split(note: &Note) -> NoteParts<'_> {
    let mut parts = NoteParts::default();
    for (top, block) in note.blocks().iter().enumerate() {
        match block.kind {
            BlockKind::Blank => continue,
            BlockKind::Heading { level: 1, .. } if parts.title.is_none() && parts.phases.is_empty() => {
                parts.title = Some(block.content.of(note.text()));
                continue;
            }
            BlockKind::Heading { level: 2 | 3, .. } => {
                let id = note.id(block).map(str::to_owned);
                parts.phases.push(Part { id, units: Vec::new() });
            }
            BlockKind::Fence { info, .. } if info.of(note.text()).trim() == "tasks" => continue,
            BlockKind::Paragraph if task_list::is_list(note, top + 1) => continue,
            BlockKind::List { .. } if task_list::is_list(note, top) => continue,
            _ => {}
        }
        let is_first = parts.phases.last().is_some_and(|phase| phase.units.len() == 1 && phase.id.is_none());
        let number = parts.phases.len();
        let part = parts.phases.last_mut().unwrap_or(&mut parts.preface);
        if is_first && matches!(block.kind, BlockKind::Paragraph | BlockKind::OrphanId) {
            part.id = note.id(block).map(str::to_owned);
        }
        if number > 0 && part.units.len() == 1 && part.id.is_none() {
            part.id = Some(format!("p-{number:02}"));
        }
        push(note, block, &mut part.units);
    }
    for (index, phase) in parts.phases.iter_mut().enumerate() {
        phase.id.get_or_insert_with(|| format!("p-{:02}", index + 1));
    }
    parts
}

fn push<'t>(note: &'t Note, block: &'t Block, units: &mut Vec<DeltaUnit<'t>>) {
    let is_steps = |block: &Block| block.children.iter().any(|item| note.id(item).is_some());
    let kind = match &block.kind {
        BlockKind::List { .. } if is_steps(block) => {
            units.extend(block.children.iter().map(|item| {
                let kind = note.id(item).map_or(PieceKind::Text, PieceKind::Step);
                unit(note, item, kind)
            }));
            return;
        }
        BlockKind::List { .. } => PieceKind::List,
        BlockKind::Heading { level: 2 | 3, .. } => PieceKind::Heading,
        BlockKind::Callout { kind, .. } if kind.of(note.text()) == usage::KIND => PieceKind::Usage,
        BlockKind::Callout { kind, .. } => PieceKind::Callout(kind.of(note.text())),
        _ if block.content.of(note.text()) == STEPS_HEADER => PieceKind::Header,
        _ => PieceKind::Text,
    };
    units.push(unit(note, block, kind));
}

fn unit<'t>(note: &'t Note, block: &Block, kind: PieceKind<'t>) -> DeltaUnit<'t> {
    let end = block.id.map_or(0, |id| id.end).max(block.content.end);
    let span = Span::new(block.content.start, end);
    DeltaUnit { kind, text: span.of(note.text()).trim_end(), span, id: note.id(block) }
}
