//! Finding the piece of a note that an operation speaks of.

use super::piece::RenderedPiece;
use super::place::Spot;
use super::unit::{Unit, units};
use cru_note::Note;

/// Callouts that are less alike than this are not taken for one another.
const ALIKE: f64 = 0.6;

/// In which form a piece was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// As it was written.
    Old,
    /// As it is to be.
    New,
    /// As a person has made it.
    Edited,
}

/// Where the piece `old` stands, which is to become `new`: in its phase, else where it stands alone in the note.
pub(super) fn find(
    note: &Note,
    phase: Option<&str>,
    old: &RenderedPiece,
    new: &RenderedPiece,
) -> Option<(Unit, Found)> {
    let all = units(note, false);
    let spot = Spot::of(note, phase);
    let from = spot.floor.saturating_sub(1);
    let own = |unit: &&Unit| (from..spot.before).contains(&unit.top);
    let of_form = |piece: &RenderedPiece, is_item: bool| {
        let mut here =
            all.iter().filter(|unit| unit.item.is_some() == is_item && unit.text(note) == piece.text.as_str());
        let mut in_phase = here.clone().filter(own);
        // The same text under another id is another block.
        let right = |unit: &&Unit| unit.id.is_none() || piece.id.is_none() || unit.id(note) == piece.id.as_deref();
        in_phase.find(right).or_else(|| match (here.find(right), here.find(right)) {
            (Some(unit), None) => Some(unit),
            _ => None,
        })
    };
    // A list right behind steps is part of theirs where nothing keeps them apart.
    let exact = |piece: &RenderedPiece| {
        of_form(piece, piece.step).or_else(|| if piece.step { None } else { of_form(piece, true) })
    };
    if old != new
        && let Some(unit) = exact(old)
    {
        return Some((*unit, Found::Old));
    }
    if let Some(unit) = exact(new) {
        return Some((*unit, Found::New));
    }
    // Many editors take blanks off the ends of lines, and older versions wrote none.
    if old != new
        && old.callout.is_some()
        && let Some(unit) = all.iter().filter(own).find(|unit| is_same_but_for_blanks(&unit.text(note), &old.text))
    {
        return Some((*unit, Found::Old));
    }
    let edited = match &old.id {
        Some(id) => all.iter().find(|unit| unit.id(note).is_some_and(|own| own.eq_ignore_ascii_case(id))),
        None => alike(note, all.iter().filter(own), old).or_else(|| alike(note, all.iter(), old)),
    };
    edited.map(|unit| (*unit, Found::Edited))
}

/// Whether two texts differ by blanks at the ends of lines alone.
fn is_same_but_for_blanks(one: &str, other: &str) -> bool {
    one.lines().map(str::trim_end).eq(other.lines().map(str::trim_end))
}

/// The one callout that a person has made of `old`.
fn alike<'a>(note: &Note, units: impl Iterator<Item = &'a Unit>, old: &RenderedPiece) -> Option<&'a Unit> {
    let (kind, title) = old.callout.as_ref()?;
    let mut best: Option<(f64, &Unit)> = None;
    let mut second = 0.0;
    for unit in units {
        let piece = RenderedPiece::of(note, unit);
        let Some((own_kind, own_title)) = &piece.callout else { continue };
        // A callout with an id is another one, if `old` has none that a person could have changed.
        if own_kind != kind || kind == "conflict" {
            continue;
        }
        let mut score = strsim::sorensen_dice(cut(&piece.text), cut(&old.text));
        if !title.is_empty() && own_title == title {
            score = f64::midpoint(score, 1.0);
        }
        match best {
            Some((top, _)) if score <= top => second = f64::max(second, score),
            _ => {
                second = best.map_or(0.0, |(top, _)| top);
                best = Some((score, unit));
            }
        }
    }
    best.filter(|(score, _)| *score >= ALIKE && *score > second).map(|(_, unit)| unit)
}

fn cut(text: &str) -> &str {
    // How much of a text is compared.
    &text[..cru_base::lines::floor_char_boundary(text, 4_000)]
}

/// Whether the bytes of a piece are its text: what is no text is not changed.
pub(super) fn is_whole(note: &Note, unit: Unit) -> bool {
    let span = unit.whole();
    note.bytes().get(span.range()) == Some(span.of(note.text()).as_bytes())
}
