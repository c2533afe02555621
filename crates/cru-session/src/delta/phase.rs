//! The operations that bring one phase from its old blocks to its new ones.
//!
//! What goes and what changes comes first, then what is new, from the top down: so a block that moves to the end is
//! gone before it comes again, and new blocks find their neighbours in place.

use std::collections::HashMap;

use super::Moved;
use super::align;
use super::part::{DeltaUnit, Part, PieceKind};
use crate::op::Op;
use crate::op::unit::{alone, units};
use cru_base::Span;
use cru_note::Note;

/// What becomes of a new block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stands there.
    Kept,
    /// The old block with this index becomes it.
    Changed(usize),
    /// It is new.
    Fresh,
    /// It is new here, and does not come: a person has deleted it where it was, or it stands elsewhere.
    Lost,
}

/// How a phase stands in the note.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape<'a> {
    /// No person has changed anything in it, so it may be written anew as a whole where new blocks would not find their
    /// place.
    pub(super) untouched: bool,
    /// The phase at whose end it goes on, where that is another.
    pub(super) end: Option<&'a str>,
}

/// The operations for a phase, or for the preface.
pub(super) fn changes(
    before: &Part<'_>,
    after: &Part<'_>,
    new: &Note,
    moved: &Moved<'_>,
    shape: Shape<'_>,
    ops: &mut Vec<Op>,
) {
    if before.says(after) {
        return;
    }
    let (fates, gone) = fates(before, after, moved);
    let phase = &before.id;
    let mut found = Vec::new();
    let mut exact = true;
    for (unit, fate) in after.units.iter().zip(&fates) {
        let Fate::Changed(at) = *fate else { continue };
        let old = before.units[at].text;
        if old != unit.text {
            found.push(replace(before, old, unit.text));
        }
    }
    // The line above steps goes with the last of them.
    let is_named = |at: &usize| before.units[*at].kind != PieceKind::Header;
    for at in gone.into_iter().filter(is_named).filter(|&at| !moved.has_lost(&before.units[at])) {
        found.push(replace(before, before.units[at].text, ""));
    }
    let end = shape.end.or(phase.as_deref());
    exact &= insertions(phase.as_deref(), end, &after.units, &fates, new, &mut found);
    // A block is named by its text: where that stands twice, the other one may be meant.
    let mut seen: HashMap<&str, u32> = HashMap::new();
    for unit in &before.units {
        *seen.entry(unit.text).or_default() += 1;
    }
    let named = found.iter().filter_map(|op| if let Op::Replace { old, .. } = op { Some(old.as_str()) } else { None });
    exact &= named.into_iter().all(|old| seen.get(old).is_none_or(|count| *count == 1));
    if exact || !shape.untouched || phase.is_none() || !rewrite(before, after, new, ops) {
        ops.extend(found);
    }
}

/// The operations that put what is fresh of `units`, which stand in `new`, into a phase, and into the phase `end` where
/// nothing of them follows. Whether all of them come to stand where they should.
pub(super) fn insertions(
    phase: Option<&str>,
    end: Option<&str>,
    units: &[DeltaUnit<'_>],
    fates: &[Fate],
    new: &Note,
    ops: &mut Vec<Op>,
) -> bool {
    let mut exact = true;
    let mut at = 0;
    while at < fates.len() {
        if fates[at] != Fate::Fresh {
            at += 1;
            continue;
        }
        let to = at + fates[at..].iter().take_while(|fate| **fate == Fate::Fresh).count();
        let is_last = fates[to..].iter().all(|fate| *fate == Fate::Lost);
        // Nothing stands behind a block that is not there, between a heading and the line under it, or between steps and
        // the line above them.
        let is_place = |kind| !matches!(kind, PieceKind::Heading | PieceKind::Header);
        let is_anchor = |above: &usize| fates[*above] != Fate::Lost && is_place(units[*above].kind);
        let above = (0..at).rev().find(is_anchor);
        exact &= insert(InsertPlace { phase, end, above, is_last }, units, at..to, new, ops);
        at = to;
    }
    exact
}

/// All blocks below a phase's heading and the line under it go and come anew.
fn rewrite(before: &Part<'_>, after: &Part<'_>, new: &Note, ops: &mut Vec<Op>) -> bool {
    const HEAD: usize = 2;
    let is_line = |part: &Part<'_>| part.units.get(1).is_some_and(|unit| unit.id == part.id.as_deref());
    if !(is_line(before) && is_line(after)) {
        return false;
    }
    let (Some(first), Some(last)) = (after.units.get(HEAD), after.units.last()) else { return false };
    for (old, new) in before.units.iter().zip(&after.units).take(HEAD).filter(|(old, new)| old.text != new.text) {
        ops.push(replace(before, old.text, new.text));
    }
    let blocks = before.units[HEAD..].iter().rev().filter(|unit| unit.kind != PieceKind::Header);
    ops.extend(blocks.map(|unit| replace(before, unit.text, "")));
    let text = Span::new(first.span.start, last.span.end).of(new.text()).trim_end().to_owned();
    ops.push(Op::Append { phase: before.id.clone(), text });
    true
}

/// What becomes of each new block, and which old ones go.
pub(super) fn fates(before: &Part<'_>, after: &Part<'_>, moved: &Moved<'_>) -> (Vec<Fate>, Vec<usize>) {
    let texts = |part: &Part<'_>| -> Vec<String> {
        // The table of tokens has its place at the end: it is never what other blocks are placed by.
        let text =
            |unit: &DeltaUnit<'_>| if unit.kind == PieceKind::Usage { String::new() } else { unit.text.to_owned() };
        part.units.iter().map(text).collect()
    };
    let (old, new) = (texts(before), texts(after));
    let (mut ours, theirs): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    for text in ours.iter_mut().filter(|text| text.is_empty()) {
        *text = "\u{0}";
    }
    let pairs = align::pairs(&ours, &theirs);
    let mut fates = vec![Fate::Fresh; after.units.len()];
    let mut taken = vec![false; before.units.len()];
    for &(one, other) in &pairs {
        fates[other] = Fate::Kept;
        taken[one] = true;
    }
    let by_id: HashMap<&str, usize> = before
        .units
        .iter()
        .enumerate()
        .filter_map(|(at, unit)| match unit.kind {
            PieceKind::Step(id) if !taken[at] => Some((id, at)),
            _ => None,
        })
        .collect();
    for (at, unit) in after.units.iter().enumerate() {
        if let (PieceKind::Step(id), Fate::Fresh) = (unit.kind, fates[at])
            && let Some(&old) = by_id.get(id).filter(|old| !taken[**old])
        {
            fates[at] = Fate::Changed(old);
            taken[old] = true;
        }
    }
    pair_by_kind(before, after, &pairs, &mut fates, &mut taken);
    for (at, unit) in after.units.iter().enumerate() {
        if fates[at] == Fate::Fresh && moved.has_lost(unit) {
            fates[at] = Fate::Lost;
        }
    }
    let gone = (0..taken.len()).filter(|&at| !taken[at]).collect();
    (fates, gone)
}

/// Between two kept blocks, what went and what came of the same kind is one block that changed.
fn pair_by_kind(before: &Part<'_>, after: &Part<'_>, pairs: &[(usize, usize)], fates: &mut [Fate], taken: &mut [bool]) {
    let mut from = (0, 0);
    for to in pairs.iter().copied().chain([(before.units.len(), after.units.len())]) {
        let mut next = from.0;
        for at in from.1..to.1 {
            let kind = after.units[at].kind;
            // Words of a person are never made into other words.
            let fixed = matches!(kind, PieceKind::Step(_) | PieceKind::Callout("user"));
            // Where something new stands before the table of tokens, the table goes behind it.
            let alone = kind != PieceKind::Usage || fates[from.1..at].iter().all(|fate| *fate != Fate::Fresh);
            if fates[at] != Fate::Fresh || fixed || !alone {
                continue;
            }
            let is_pair = |old: &usize| !taken[*old] && before.units[*old].kind == kind;
            if let Some(old) = (next..to.0).find(is_pair) {
                fates[at] = Fate::Changed(old);
                taken[old] = true;
                next = old + 1;
            }
        }
        from = (to.0 + 1, to.1 + 1);
    }
}

/// Where new blocks go.
#[derive(Clone, Copy, Debug)]
struct InsertPlace<'a> {
    phase: Option<&'a str>,
    /// The phase that ends with them, where nothing follows.
    end: Option<&'a str>,
    /// The block of the note that they stand behind.
    above: Option<usize>,
    is_last: bool,
}

/// New blocks that stand together: to the end, where nothing of ours follows, so that they stand behind what a person or
/// an agent has put there meanwhile; else steps go into the list before them and the rest behind it. Whether all of them
/// come to stand where they should.
fn insert(
    place: InsertPlace<'_>,
    units: &[DeltaUnit<'_>],
    mut range: std::ops::Range<usize>,
    new: &Note,
    ops: &mut Vec<Op>,
) -> bool {
    let phase = place.phase.map(str::to_owned);
    let next = units.get(range.end).map(|unit| unit.kind);
    let text = |from: usize, to: usize| {
        let span = Span::new(units[from].span.start, units[to - 1].span.end);
        span.of(new.text()).trim_end().to_owned()
    };
    let (mut from, mut above) = (range.start, place.above);
    if let Some(PieceKind::Step(block)) = above.map(|at| units[at].kind)
        && !place.is_last
    {
        let steps = units[range.clone()].iter().take_while(|unit| matches!(unit.kind, PieceKind::Step(_))).count();
        if steps > 0 {
            let text = text(from, from + steps);
            ops.push(Op::InsertAfter { block: block.to_owned(), phase: phase.clone(), text });
            from += steps;
            above = Some(from - 1);
        }
    }
    // A line above steps that are in a list already has nothing to stand above.
    let splits = matches!(next, Some(PieceKind::Step(_))) && units[range.end - 1].kind == PieceKind::Header;
    if splits {
        range.end = range.end.saturating_sub(1).max(from);
    }
    if from == range.end {
        return !splits;
    }
    let text = text(from, range.end);
    let before = from.checked_sub(1).map(|at| units[at].kind);
    // In the middle of a list there is no place for anything but a step.
    let in_list = matches!(before, Some(PieceKind::Step(_))) && matches!(next, Some(PieceKind::Step(_)));
    let above = above.map(|at| units[at]).filter(|_| !place.is_last);
    ops.push(match (&phase, above.map(|above| (above.id, above.text))) {
        (None, _) => Op::Preface { text },
        (Some(_), Some((Some(id), _))) => Op::InsertAfter { block: id.to_owned(), phase, text },
        (Some(_), Some((None, above))) if stands_apart(above, &text) => {
            Op::Replace { phase, old: above.to_owned(), new: format!("{above}\n\n{text}") }
        }
        _ => Op::Append { phase: place.end.map(str::to_owned), text },
    });
    !in_list && !splits && before != Some(PieceKind::Header)
}

/// Whether a text below a block leaves that as it is, and is none of its parts.
fn stands_apart(above: &str, text: &str) -> bool {
    let [both, below] = [alone(&format!("{above}\n\n{text}")), alone(text)];
    let all = units(&both, false);
    all.first().is_some_and(|first| first.text(&both) == above) && all.len() == 1 + units(&below, false).len()
}

/// A phase that is no longer there: its blocks go, from the last to the heading.
pub(super) fn removal(gone: &Part<'_>, ops: &mut Vec<Op>) {
    ops.extend(gone.units.iter().rev().map(|unit| replace(gone, unit.text, "")));
}

/// A block of a phase that becomes `new`, or goes.
pub(super) fn replace(part: &Part<'_>, old: &str, new: &str) -> Op {
    Op::Replace { phase: part.id.clone(), old: old.to_owned(), new: new.to_owned() }
}

/// The text of a new phase, without the blocks that are not fresh.
pub(super) fn whole(part: &Part<'_>, fates: &[Fate], new: &Note) -> Option<String> {
    let (mut text, mut above) = (String::new(), None);
    let fresh: Vec<usize> = (0..fates.len()).filter(|at| fates[*at] == Fate::Fresh).collect();
    for run in fresh.chunk_by(|one, next| one + 1 == *next) {
        let (first, last) = (&part.units[*run.first()?], &part.units[*run.last()?]);
        text.push_str(match (above, first.kind) {
            (None, _) => "",
            (Some(PieceKind::Step(_) | PieceKind::Header), PieceKind::Step(_)) => "\n",
            _ => "\n\n",
        });
        above = Some(last.kind);
        text.push_str(Span::new(first.span.start, last.span.end).of(new.text()).trim_end());
    }
    (!text.is_empty()).then_some(text + "\n")
}
