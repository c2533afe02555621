//! A note cut into the pieces that are compared: its phases, and in each the blocks one by one, as operations speak of
//! them ([`units`]).

use std::collections::HashSet;

use crate::op::task_list;
use crate::op::unit::{Unit, units};
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
    /// A list of tasks, or the line above it.
    Tasks,
    /// A fence of tasks.
    TaskFence,
    /// The title of the note.
    Title,
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

/// A whole note but for its frontmatter.
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

    /// Without what is compared by itself: the title and the tasks.
    pub(super) fn blocks(mut self) -> Self {
        for part in std::iter::once(&mut self.preface).chain(&mut self.phases) {
            part.units.retain(|unit| !matches!(unit.kind, PieceKind::Title | PieceKind::Tasks | PieceKind::TaskFence));
        }
        self
    }

    /// The texts of all pieces.
    pub(super) fn texts(&self) -> HashSet<&'t str> {
        self.all().flat_map(|part| part.units.iter().map(|unit| unit.text)).collect()
    }
}

/// Cuts a note.
pub(super) fn split(note: &Note) -> NoteParts<'_> {
    let mut parts = NoteParts::default();
    for unit in units(note, true) {
        let Some(block) = unit.block(note) else { continue };
        let mut piece = piece(note, unit, block);
        if let BlockKind::Heading { level: 1, .. } = block.kind
            && parts.title.is_none()
            && parts.phases.is_empty()
        {
            parts.title = Some(block.content.of(note.text()));
            piece.kind = PieceKind::Title;
        }
        if piece.kind == PieceKind::Heading {
            let id = note.id(block).map(str::to_owned);
            parts.phases.push(Part { id, units: Vec::new() });
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
        part.units.push(piece);
    }
    for (index, phase) in parts.phases.iter_mut().enumerate() {
        phase.id.get_or_insert_with(|| format!("p-{:02}", index + 1));
    }
    parts
}

fn piece<'t>(note: &'t Note, unit: Unit, block: &'t Block) -> DeltaUnit<'t> {
    let id = unit.id(note);
    let is_tasks = task_list::is_list(note, unit.top) || task_list::is_list(note, unit.top + 1);
    let kind = match &block.kind {
        BlockKind::Paragraph | BlockKind::List { .. } | BlockKind::ListItem { .. } if is_tasks => PieceKind::Tasks,
        _ if unit.item.is_some() => id.map_or(PieceKind::Text, PieceKind::Step),
        BlockKind::List { .. } => PieceKind::List,
        BlockKind::Heading { level: 2 | 3, .. } => PieceKind::Heading,
        BlockKind::Callout { kind, .. } if kind.of(note.text()) == usage::KIND => PieceKind::Usage,
        BlockKind::Callout { kind, .. } => PieceKind::Callout(kind.of(note.text())),
        BlockKind::Fence { info, .. } if info.of(note.text()).trim() == "tasks" => PieceKind::TaskFence,
        _ if block.content.of(note.text()) == STEPS_HEADER => PieceKind::Header,
        _ => PieceKind::Text,
    };
    let span = unit.whole();
    DeltaUnit { kind, text: span.of(note.text()).trim_end(), span, id }
}
