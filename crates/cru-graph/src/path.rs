//! Which phases lie on the way to the end of a session: what somebody went back from is left out.

use std::collections::{BTreeMap, HashMap};

use cru_session::{Item, Session};

/// The final path of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalPath {
    /// Indices of the level-2 phases on it, in order.
    pub tops: Vec<usize>,
    /// How many items of a phase count, where a branch left it in the middle.
    pub cuts: BTreeMap<usize, usize>,
    /// How many level-2 phases are left out.
    pub abandoned: usize,
    /// By phase, whether it is left out.
    left: Vec<bool>,
}

impl FinalPath {
    /// Walks from the last phase back to the first. Where a phase says `from: [[#^id]]`, what stands between that block
    /// and the phase was abandoned. A link to another note, or to nothing, changes nothing.
    pub fn of(session: &Session) -> Self {
        let phases = &session.phases;
        let tops: Vec<usize> = (0..phases.len()).filter(|&index| phases[index].parent.is_none()).collect();
        let homes = homes(session);
        let mut path = Self { left: vec![false; phases.len()], ..Self::default() };
        let mut position = tops.len();
        while let Some(here) = position.checked_sub(1) {
            let index = tops[here];
            path.tops.push(index);
            position = here;
            let from = phases[index].from.as_ref();
            let from = from.filter(|link| link.target.is_empty() || is_own(session, &link.target));
            let Some(&(phase, items)) = from.and_then(|link| link.block.as_deref()).and_then(|id| homes.get(id)) else {
                continue;
            };
            let top = top_of(session, phase);
            let target = tops.partition_point(|&other| other < top);
            // Only a way back is a branch; anything else would not end.
            if target < here {
                position = target + 1;
                if let Some(items) = items {
                    path.cuts.insert(phase, items);
                }
                // The parts of the phase it goes back to stay where the whole phase is named.
                let whole = phase == top && items.is_none();
                let between = path.left.iter_mut().zip(phases).take(index).skip(phase + 1);
                for (left, phase) in between {
                    *left = !(whole && phase.parent == Some(top));
                }
            }
        }
        path.tops.reverse();
        path.abandoned = tops.len() - path.tops.len();
        path
    }

    /// Whether the phase at `index`, of any level, lies on it.
    pub fn has(&self, index: usize) -> bool {
        self.left.get(index).is_some_and(|left| !left)
    }

    /// The items of phase `index` that count.
    pub fn items<'a>(&self, session: &'a Session, index: usize) -> &'a [Item] {
        let Some(phase) = session.phases.get(index) else { return &[] };
        let len = self.cuts.get(&index).copied().unwrap_or(phase.items.len());
        phase.items.get(..len).unwrap_or(&phase.items)
    }
}

/// Whether a link target is the session itself.
pub(crate) fn is_own(session: &Session, target: &str) -> bool {
    session.meta.session_id.as_deref() == Some(target)
}

/// The level-2 phase that phase `index` stands in.
pub(crate) fn top_of(session: &Session, index: usize) -> usize {
    let mut at = index;
    // A parent always stands before its child, so this ends.
    while let Some(parent) = session.phases.get(at).and_then(|phase| phase.parent).filter(|&parent| parent < at) {
        at = parent;
    }
    at
}

/// Where each block id stands: its phase, and how many items of it come up to the block (`None`: the phase's own id).
/// Empty where no phase goes back, since nobody asks then.
fn homes(session: &Session) -> HashMap<&str, (usize, Option<usize>)> {
    let mut homes = HashMap::new();
    if session.phases.iter().all(|phase| phase.from.is_none()) {
        return homes;
    }
    for (index, phase) in session.phases.iter().enumerate() {
        homes.entry(phase.id.as_str()).or_insert((index, None));
        for (at, item) in phase.items.iter().enumerate() {
            if let Some(id) = item.id() {
                homes.entry(id).or_insert((index, Some(at + 1)));
            }
        }
    }
    homes
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{Link, Phase, Step};

    fn session(froms: &[Option<&str>]) -> Session {
        let phases = froms.iter().enumerate().map(|(index, from)| Phase {
            id: format!("p-{index:02}"),
            level: 2,
            from: from.map(Link::to_block),
            items: (0..3).map(|n| Item::Step(Step { id: Some(format!("n-{index}{n}")), ..Step::default() })).collect(),
            ..Phase::default()
        });
        Session { phases: phases.collect(), ..Session::default() }
    }

    fn on(path: &FinalPath) -> Vec<usize> {
        (0..path.left.len()).filter(|&index| path.has(index)).collect()
    }

    #[test]
    fn abandoned_branches_are_left_out() {
        assert_eq!(FinalPath::of(&session(&[None, None, None])).tops, [0, 1, 2]);
        let back = FinalPath::of(&session(&[None, None, Some("p-00"), None]));
        assert_eq!((on(&back), back.tops.as_slice(), back.abandoned), (vec![0, 2, 3], &[0, 2, 3][..], 1));
        let middle = FinalPath::of(&session(&[None, None, Some("n-01")]));
        assert_eq!((on(&middle), middle.cuts.clone()), (vec![0, 2], BTreeMap::from([(0, 2)])));
        // A link forward, to itself or to nothing is no branch.
        for odd in ["p-02", "p-01", "gone"] {
            assert_eq!(FinalPath::of(&session(&[None, Some(odd), None])).tops, [0, 1, 2], "{odd}");
        }
    }

    #[test]
    fn parts_of_a_phase() {
        let mut session = session(&[None, None, None, None, Some("p-00")]);
        for part in [1, 2] {
            session.phases[part].parent = Some(0);
        }
        assert_eq!(on(&FinalPath::of(&session)), [0, 1, 2, 4], "the whole phase stays with its parts");
        session.phases[4].from = Some(Link::to_block("p-01"));
        let path = FinalPath::of(&session);
        assert_eq!((on(&path), path.tops), (vec![0, 1, 4], vec![0, 4]), "what comes behind the part goes");
        session.phases[4].from = Some(Link::to_block("n-00"));
        assert_eq!(on(&FinalPath::of(&session)), [0, 4]);
    }
}
