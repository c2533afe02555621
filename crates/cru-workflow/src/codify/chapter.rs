//! Groups turns into chapters: what was done together becomes one step.
//!
//! Phases that a person or agent declared (`## Research @planner`) stay as they are. Turns of phases that an import made
//! of prompts are put together: talk, corrections and looking around go to their neighbour, small turns that change the
//! same files become one, and where too many remain the lightest neighbours are joined.

use std::collections::HashSet;

use super::condense::{Neighbour, condense};
use super::unit::{Entry, Unit};
use cru_session::User;

/// How many chapters a workflow has at most, declared ones aside.
const MAX_CHAPTERS: usize = 14;
/// Weight up to which a turn is a small change.
const SMALL: usize = 9;
/// How many turns become one chapter because they change the same files.
const MAX_ALIKE: usize = 5;

/// Turns that become one step.
#[derive(Clone, Debug)]
pub(super) struct Chapter<'a> {
    /// In order.
    pub units: Vec<Unit<'a>>,
}

impl Chapter<'_> {
    /// The turn in which most was done.
    pub(super) fn lead(&self) -> usize {
        let mut best = 0;
        for (at, unit) in self.units.iter().enumerate() {
            let rank = |unit: &Unit<'_>| (unit.weight > 0 && !unit.talk && !unit.corrects, unit.weight);
            if self.units.get(best).is_some_and(|lead| rank(unit) > rank(lead)) {
                best = at;
            }
        }
        // What an answer lets go on was asked for before.
        while best > 0 && self.units.get(best).is_some_and(|unit| unit.answers) {
            best -= 1;
        }
        best
    }

    /// Whether its heading is somebody's own.
    pub(super) fn declared(&self) -> bool {
        self.units.iter().any(|unit| unit.declared)
    }
}

impl Neighbour for Chapter<'_> {
    fn weight(&self) -> usize {
        self.units.iter().map(|unit| unit.weight).sum()
    }

    fn may_join(&self) -> bool {
        !self.declared()
    }

    fn join(&mut self, next: Self, _: bool) {
        self.units.extend(next.units);
    }
}

/// The chapters of a session's turns.
pub(super) fn chapters(units: Vec<Unit<'_>>) -> Vec<Chapter<'_>> {
    // Where nothing was ever changed, looking around is the work.
    let only_looks = units.iter().all(|unit| unit.weight == 0);
    let mut chapters: Vec<Chapter<'_>> = Vec::new();
    let mut waiting: Vec<Unit<'_>> = Vec::new();
    for unit in units {
        if unit.declared && unit.weight == 0 && !unit.looked {
            continue;
        }
        if unit.declared || (only_looks && unit.looked) {
            flush(&mut waiting, &mut chapters);
            chapters.push(Chapter { units: vec![unit] });
        } else if unit.corrects && waiting.is_empty() && chapters.last().is_some_and(|last| !last.declared()) {
            chapters.last_mut().into_iter().for_each(|last| last.units.push(unit.clone()));
        } else if unit.weight == 0 {
            waiting.push(unit);
        } else if let Some(last) = chapters.last_mut().filter(|last| waiting.is_empty() && goes_on(last, &unit)) {
            last.units.push(unit);
        } else {
            let mut units = std::mem::take(&mut waiting);
            units.push(unit);
            chapters.push(Chapter { units });
        }
    }
    flush(&mut waiting, &mut chapters);
    chapters.retain(|chapter| chapter.units.iter().any(|unit| unit.weight > 0 || unit.looked));
    condense(chapters, MAX_CHAPTERS)
}

/// Takes off the turns at the end for which nothing was done or said, and gives their requests.
pub(super) fn idle<'a>(units: &mut Vec<Unit<'a>>) -> Vec<&'a User> {
    let is_idle = |unit: &Unit<'_>| {
        !unit.declared
            && !unit.talk
            && unit.weight == 0
            && !unit.looked
            && unit.all().all(|entry| matches!(entry, Entry::Request { .. } | Entry::Item(..)))
    };
    let kept = units.iter().rposition(|unit| !is_idle(unit)).map_or(0, |last| last + 1);
    // Where nothing at all was done, the words are all there is.
    if kept == 0 {
        return Vec::new();
    }
    units.drain(kept..).flat_map(|unit| unit.entries).filter_map(|entry| entry.said()).collect()
}

/// Turns that only looked and have no work after them belong to the work before them.
fn flush<'a>(waiting: &mut Vec<Unit<'a>>, chapters: &mut Vec<Chapter<'a>>) {
    if waiting.is_empty() {
        return;
    }
    match chapters.last_mut().filter(|last| !last.declared()) {
        Some(last) => last.units.append(waiting),
        None => chapters.push(Chapter { units: std::mem::take(waiting) }),
    }
}

/// Whether `unit` goes on with what `chapter` did.
fn goes_on(chapter: &Chapter<'_>, unit: &Unit<'_>) -> bool {
    let Some(last) = chapter.units.last() else { return false };
    let place = |unit: &Unit<'_>| unit.phase.map(|(_, phase)| (phase.agent.clone(), phase.channel.clone()));
    if chapter.declared() || place(last) != place(unit) {
        return false;
    }
    if unit.talk {
        return true;
    }
    let work: Vec<_> = chapter.units.iter().filter(|unit| unit.weight > 0).collect();
    let written: HashSet<&str> = work.iter().flat_map(|unit| &unit.written).map(AsRef::as_ref).collect();
    let own: HashSet<&str> = unit.written.iter().map(AsRef::as_ref).collect();
    let shared = own.iter().filter(|path| written.contains(*path)).count();
    // A small change to the same files belongs to what it changes; much work is a step of its own.
    let small = unit.weight <= SMALL || unit.weight * 3 <= chapter.weight();
    let same_files = shared > 0 && shared * 2 >= own.len();
    // The same commands once more, and nothing changed in between.
    let same_commands = own.is_empty()
        && !unit.ran.is_empty()
        && unit.ran.iter().all(|key| work.iter().any(|other| other.ran.contains(key)));
    small && work.len() < MAX_ALIKE && (same_files || same_commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{FileRef, Item, Phase, Session, Step};

    fn phase(words: &str, writes: &[&str]) -> Phase {
        let user = User { words: words.into(), ..User::default() };
        let steps = writes.iter().map(|path| {
            let writes = vec![FileRef { path: (*path).into(), ..FileRef::default() }];
            Item::Step(Step { tool: "Edit".into(), args: (*path).into(), writes, ..Step::default() })
        });
        let items = std::iter::once(Item::User(user)).chain(steps).collect();
        Phase { title: words.into(), level: 2, items, ..Phase::default() }
    }

    fn sizes(phases: Vec<Phase>) -> Vec<usize> {
        let session = Session { phases, ..Session::default() };
        let path = cru_graph::FinalPath::of(&session);
        chapters(super::super::unit::units(&session, &path)).iter().map(|chapter| chapter.units.len()).collect()
    }

    #[test]
    fn talk_and_same_files_join() {
        let phases = vec![
            phase("add the parser", &["a.rs"]),
            phase("continue", &["b.rs"]),
            phase("now rename the field", &["a.rs"]),
            phase("what is this?", &[]),
            phase("write the guide", &["guide.md"]),
        ];
        assert_eq!(sizes(phases), [3, 2]);
    }

    #[test]
    fn long_sessions_are_condensed() {
        let phases = (0..90).map(|n| phase(&format!("rework part {n} of the parser"), &[&format!("{n}.rs")])).collect();
        let sizes = sizes(phases);
        assert!(sizes.len() <= MAX_CHAPTERS && sizes.len() > 5, "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), 90);
    }

    #[test]
    fn declared_phases_stay() {
        let mut phases = vec![phase("go", &["a.rs"]), phase("on", &["a.rs"])];
        for (phase, title) in phases.iter_mut().zip(["Build", "Polish"]) {
            phase.title = title.into();
        }
        assert_eq!(sizes(phases), [1, 1]);
    }
}
