//! The pieces of a rendered text, and how those of an old and a new one belong together.

use similar::{Algorithm, DiffOp};

use super::unit::{Unit, alone, units};
use crate::escape;
use cru_base::diff;
use cru_base::text::truncate;
use cru_note::{BlockKind, Note};

/// A piece of a rendered text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RenderedPiece {
    /// Without a line of its own for the id.
    pub(super) text: String,
    pub(super) id: Option<String>,
    /// The id, where it has a line of its own.
    pub(super) own_line: Option<String>,
    /// Kind in lower case and title of a callout.
    pub(super) callout: Option<(String, String)>,
    /// Whether it is a step in a list.
    pub(super) step: bool,
}

/// What becomes of a piece; without `old` it is new, without `new` it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) old: Option<RenderedPiece>,
    pub(super) new: Option<RenderedPiece>,
}

impl RenderedPiece {
    pub(super) fn of(note: &Note, unit: &Unit) -> Self {
        let callout = unit.block(note).and_then(|block| match &block.kind {
            BlockKind::Callout { kind, title, .. } => {
                Some((kind.of(note.text()).to_lowercase(), title.of(note.text()).to_owned()))
            }
            _ => None,
        });
        Self {
            text: unit.text(note).into_owned(),
            id: unit.id(note).map(str::to_owned),
            own_line: unit.own_line(note).map(str::to_owned),
            callout,
            step: unit.item.is_some(),
        }
    }

    /// What a person calls it.
    pub(super) fn name(&self) -> String {
        match (&self.callout, &self.id) {
            (Some((kind, title)), _) if !title.is_empty() => {
                let mut letters = kind.chars();
                let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
                format!("{first}{}: {}", letters.as_str(), truncate(&escape::uninline(title), 80))
            }
            (_, Some(id)) => id.clone(),
            (Some((kind, _)), None) => kind.clone(),
            (None, None) => "Text".to_owned(),
        }
    }
}

/// The pieces of two texts, paired: by id, by text, else by order. Pairs of equal pieces are there too.
pub(super) fn pairs(old: &str, new: &str) -> Vec<Pair> {
    let [old, new] = [old, new].map(|text| {
        let note = alone(text);
        units(&note, false).iter().map(|unit| RenderedPiece::of(&note, unit)).collect::<Vec<_>>()
    });
    let key = |piece: &RenderedPiece| piece.id.clone().unwrap_or_else(|| piece.text.clone());
    let [olds, news] = [&old, &new].map(|pieces| pieces.iter().map(key).collect::<Vec<_>>());
    let ops = if old.len() == 1 && new.len() == 1 || old.len().saturating_mul(new.len()) > 1_000_000 {
        vec![DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() }]
    } else {
        diff(Algorithm::Myers, &olds, &news, None)
    };
    let mut pairs = Vec::new();
    for op in ops {
        let (olds, news) = (&old[op.old_range()], &new[op.new_range()]);
        pairs.extend(
            (0..olds.len().max(news.len())).map(|at| Pair { old: olds.get(at).cloned(), new: news.get(at).cloned() }),
        );
    }
    pairs
}
