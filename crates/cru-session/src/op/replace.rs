//! A block that `cru` wrote becomes another one, or goes.
//!
//! Old and new text are paired piece by piece, and each pair finds its own place: the piece as it was written, else the
//! one that a person made of it, into which the change goes by lines where it can.

use super::conflict::{self, Conflict, Where};
use super::draft::TextDraft;
use super::find::{Found, find, is_whole};
use super::piece::{RenderedPiece, pairs};
use super::presence::joined;
use super::run::{Mode, Outcome, Run};
use super::unit::{Unit, alone, units};
use super::{add, merge, remove};
use cru_note::edit::{EditError, add_id, same, same_frontmatter};
use cru_note::{Note, Patch};

/// Replaces `old` by `new`.
pub(super) fn replace(
    run: &mut Run<'_>,
    index: usize,
    phase: Option<&str>,
    old: &str,
    new: &str,
) -> Result<Outcome, EditError> {
    let written = alone(new);
    let mut units = units(&written, false).into_iter();
    let mut result = None;
    let (mut above, mut fresh) = (None, Vec::new());
    for pair in pairs(old, new) {
        let unit = pair.new.as_ref().and_then(|_| units.next());
        if let (None, Some(piece), Some(unit)) = (&pair.old, &pair.new, unit)
            && !is_there(run, index, phase, piece)
        {
            fresh.push((unit, piece.clone()));
            continue;
        }
        result = worse(result, put(run, phase, &written, &mut above, &mut fresh)?);
        let outcome = match (&pair.old, &pair.new) {
            (Some(old), Some(new)) if old == new => None,
            (Some(old), Some(new)) => Some(change(run, index, phase, old, new)?),
            (Some(old), None) => Some(drop(run, phase, old)?),
            (None, Some(_)) => Some(Outcome::Present),
            (None, None) => None,
        };
        above = pair.new.or(above);
        result = worse(result, outcome);
    }
    result = worse(result, put(run, phase, &written, &mut above, &mut fresh)?);
    Ok(result.unwrap_or(Outcome::Present))
}

/// Puts new pieces that stand together in `written` behind the one `above` them, or to the end of the phase. The last of
/// them is the one above what follows.
fn put(
    run: &mut Run<'_>,
    phase: Option<&str>,
    written: &Note,
    above: &mut Option<RenderedPiece>,
    pieces: &mut Vec<(Unit, RenderedPiece)>,
) -> Result<Option<Outcome>, EditError> {
    let (units, mut pieces): (Vec<Unit>, Vec<RenderedPiece>) = std::mem::take(pieces).into_iter().unzip();
    let Some(last) = pieces.pop() else { return Ok(None) };
    let text = joined(written, &units);
    let draft = &mut run.draft;
    let found = above.replace(last).and_then(|above| find(draft.note(), phase, &above, &above));
    if let Some((unit, _)) = found
        && add::insert_behind(draft, unit, &text)?
    {
        return Ok(Some(Outcome::Done));
    }
    add::append(draft, phase, &text).map(Some)
}

/// Of several outcomes the one to be told.
fn worse(one: Option<Outcome>, other: Option<Outcome>) -> Option<Outcome> {
    let weight = |outcome: &Outcome| match outcome {
        Outcome::Present => 0,
        Outcome::Gone => 1,
        Outcome::Done => 2,
        Outcome::Moved => 3,
        Outcome::Conflict => 4,
    };
    one.into_iter().chain(other).max_by_key(weight)
}

fn change(
    run: &mut Run<'_>,
    index: usize,
    phase: Option<&str>,
    old: &RenderedPiece,
    new: &RenderedPiece,
) -> Result<Outcome, EditError> {
    if let Some(presence) = &mut run.presence
        && presence.is_replaced(&new.text, index)
    {
        return Ok(give_id(&mut run.draft, phase, new));
    }
    let Some((unit, found)) = find(run.draft.note(), phase, old, new) else { return Ok(Outcome::Gone) };
    if found == Found::New {
        return Ok(give_id(&mut run.draft, phase, new));
    }
    let later = run.later_texts(&new.text, index);
    let conflict = || Conflict {
        title: new.name(),
        wanted: conflict::block(&new.text),
        before: Some(conflict::block(&old.text)),
        later: later.iter().map(|text| conflict::block(text)).collect(),
    };
    let note = run.draft.note();
    // What did not fit beside the blocks around it may fit beside the callout that says so.
    if run.mode == Mode::Again && conflict().is_told(note) {
        return Ok(Outcome::Conflict);
    }
    let ours = |unit: Unit| run.presence.as_ref().is_some_and(|presence| presence.is_ours(&unit.text(note)));
    if found == Found::Edited && old.id.is_none() && ours(unit) {
        return Ok(Outcome::Gone);
    }
    // Found as it was written, it may differ by blanks at the ends of its lines.
    let base = if found == Found::Old { unit.text(note).into_owned() } else { old.text.clone() };
    let patch = (is_whole(note, unit))
        .then(|| merge::edits(note, unit.span, &base, &new.text))
        .flatten()
        .and_then(|edits| Patch::new(edits).ok());
    match patch {
        Some(patch) if patch.is_empty() => return Ok(give_id(&mut run.draft, phase, new)),
        Some(patch) if keeps_the_rest(note, unit, &patch, (found == Found::Old).then_some(new)) => {
            run.draft.apply(&patch);
            if let Some(presence) = &mut run.presence {
                presence.change(&old.text, &new.text);
            }
            give_id(&mut run.draft, phase, new);
            return Ok(Outcome::Done);
        }
        _ => {}
    }
    conflict().tell(&mut run.draft, Where::Behind(unit))?;
    Ok(Outcome::Conflict)
}

/// Gives the block that says what `new` says its id, where that has a line of its own and the block has none.
fn give_id(draft: &mut TextDraft, phase: Option<&str>, new: &RenderedPiece) -> Outcome {
    let Some(id) = &new.own_line else { return Outcome::Present };
    let note = draft.note();
    let Some((unit, Found::New)) = find(note, phase, new, new) else { return Outcome::Present };
    let block = unit.block(note).filter(|_| unit.id.is_none());
    match block.and_then(|block| add_id(note, block, id).ok()) {
        Some(patch) => {
            draft.apply(&patch);
            Outcome::Done
        }
        None => Outcome::Present,
    }
}

/// Whether after the patch the piece is one still, of its kind, and everything else is as it was. `exact`: what it must
/// say then; else it is a person's, and keeps kind and id.
fn keeps_the_rest(note: &Note, unit: Unit, patch: &Patch, exact: Option<&RenderedPiece>) -> bool {
    let after = Note::parse(patch.apply(note.bytes()));
    let (old, new) = (note.blocks(), after.blocks());
    let top = unit.top;
    if old.len() != new.len()
        || !same_frontmatter(note, &after)
        || !same(note, &old[..top], &after, &new[..top])
        || !same(note, &old[top + 1..], &after, &new[top + 1..])
    {
        return false;
    }
    let Some(item) = unit.item else { return is_right(note, unit, &after, exact) };
    let (old, new) = (&old[top].children, &new[top].children);
    old.len() == new.len()
        && same(note, &old[..item], &after, &new[..item])
        && same(note, &old[item + 1..], &after, &new[item + 1..])
        && is_right(note, unit, &after, exact)
}

fn is_right(note: &Note, unit: Unit, after: &Note, exact: Option<&RenderedPiece>) -> bool {
    let Some(new) = units(after, true).into_iter().find(|it| (it.top, it.item) == (unit.top, unit.item)) else {
        return false;
    };
    if let Some(piece) = exact {
        return new.text(after) == piece.text.as_str();
    }
    let [was, is] = [(unit, note), (new, after)].map(|(unit, note)| RenderedPiece::of(note, &unit));
    let kind = |piece: &RenderedPiece| piece.callout.as_ref().map(|(kind, _)| kind.clone());
    kind(&was) == kind(&is) && was.id == is.id
}

/// Takes a piece out where it stands as it was written. Where it may have been taken out before, one that has no id and says the same may
/// be another one, a person's too: it stays.
fn drop(run: &mut Run<'_>, phase: Option<&str>, old: &RenderedPiece) -> Result<Outcome, EditError> {
    let note = run.draft.note();
    match find(note, phase, old, old) {
        Some((unit, Found::New)) if is_whole(note, unit) => {
            if old.id.is_none() && run.presence.is_some() {
                return Ok(Outcome::Gone);
            }
            let patch = remove::unit(note, unit)?;
            run.draft.apply(&patch);
            Ok(Outcome::Done)
        }
        Some(_) => Ok(Outcome::Conflict),
        None => Ok(Outcome::Gone),
    }
}

/// Whether a piece that is new is there already.
fn is_there(run: &mut Run<'_>, index: usize, phase: Option<&str>, new: &RenderedPiece) -> bool {
    match (&mut run.presence, &new.id) {
        (_, Some(_)) => find(run.draft.note(), phase, new, new).is_some(),
        (Some(presence), None) => presence.has(None, &new.text, index),
        (None, None) => false,
    }
}
