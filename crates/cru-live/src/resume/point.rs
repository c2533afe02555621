//! Where a session goes on: the phase of its resume point, and what stands before and behind it.

use cru_session::{Item, Phase, Session, Step};

/// Where an item stands: index of its phase (`None`: before the first), index in it.
pub(super) type ItemPlace = (Option<usize>, usize);

/// The place in a session from which work goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    session: &'a Session,
    /// Index of the phase; `None` where the note has none.
    pub(super) phase: Option<usize>,
    /// The first phase behind it: its sub-phases still belong to it.
    pub(super) end: usize,
    /// A resume point that no block of the note has.
    pub(super) lost: Option<&'a str>,
    /// The block that was named, where it is none of a phase.
    pub(super) block: Option<&'a str>,
}

impl<'a> Point<'a> {
    /// That of `session`: the phase that `from`, else `resume_point`, names or holds; else the last one.
    pub(super) fn of(session: &'a Session, from: Option<&'a str>) -> Self {
        let phases = &session.phases;
        let wanted = from.or(session.meta.resume_point.as_deref()).map(|id| id.trim().trim_start_matches('^'));
        let wanted = wanted.filter(|id| !id.is_empty());
        let found = wanted.and_then(|id| {
            let holds = |phase: &Phase| phase.items.iter().any(|item| item.id() == Some(id));
            phases.iter().position(|phase| phase.id.eq_ignore_ascii_case(id)).or_else(|| phases.iter().position(holds))
        });
        let phase = found.or(phases.len().checked_sub(1));
        let end = phase.map_or(0, |at| {
            let inner = phases[at + 1..].iter().take_while(|phase| phase.parent == Some(at)).count();
            at + 1 + inner
        });
        let is_phase = |id: &&str| phases.iter().any(|phase| phase.id.eq_ignore_ascii_case(id));
        let block = wanted.filter(|id| found.is_some() && !is_phase(id));
        Self { session, phase, end, lost: wanted.filter(|_| found.is_none()), block }
    }

    /// The phase that goes on.
    pub(super) fn phase(&self) -> Option<&'a Phase> {
        self.phase.and_then(|at| self.session.phases.get(at))
    }

    /// The phases up to it, in order.
    pub(super) fn before(&self) -> &'a [Phase] {
        &self.session.phases[..self.end]
    }

    /// The phases behind it, which somebody has gone back from.
    pub(super) fn behind(&self) -> &'a [Phase] {
        &self.session.phases[self.end..]
    }

    /// Everything up to it, with the index of its phase.
    pub(super) fn items(&self) -> impl DoubleEndedIterator<Item = (Option<usize>, &'a Item)> {
        let phases = self.before().iter().enumerate();
        let items = phases.flat_map(|(index, phase)| phase.items.iter().map(move |item| (Some(index), item)));
        self.session.preface.iter().map(|item| (None, item)).chain(items)
    }

    /// The last step up to it.
    pub(super) fn last_step(&self) -> Option<&'a Step> {
        self.items().rev().find_map(|(_, item)| item.as_step())
    }
}
