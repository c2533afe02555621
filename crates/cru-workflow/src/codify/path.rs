//! Which phases lie on the way to the end: what a person went back from is left out.

use std::collections::{BTreeMap, HashMap};

use cru_session::{Item, Session};

/// The final path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Path {
    /// Indices of the level-2 phases, in order.
    pub tops: Vec<usize>,
    /// How many items of a phase count, where a branch left it in the middle.
    pub cuts: BTreeMap<usize, usize>,
    /// How many level-2 phases are left out.
    pub abandoned: usize,
}

/// Walks from the last phase back to the first. Where a phase says `from: [[#^id]]`, what stands between that block and
/// the phase was abandoned. A link to another note, or to nothing, changes nothing.
pub(super) fn path(session: &Session) -> Path {
    let tops: Vec<usize> = (0..session.phases.len()).filter(|&index| session.phases[index].parent.is_none()).collect();
    let homes = homes(session);
    let mut path = Path::default();
    let mut position = tops.len();
    while let Some(here) = position.checked_sub(1) {
        let index = tops[here];
        path.tops.push(index);
        position = here;
        let from =
            session.phases[index].from.as_ref().filter(|link| link.target.is_empty() || names(session, &link.target));
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
        }
    }
    path.tops.reverse();
    path.abandoned = tops.len() - path.tops.len();
    path
}

fn names(session: &Session, target: &str) -> bool {
    session.meta.session_id.as_deref() == Some(target)
}

/// The level-2 phase that phase `index` stands in.
fn top_of(session: &Session, index: usize) -> usize {
    let mut at = index;
    // A parent always stands before its child, so this ends.
    while let Some(parent) = session.phases.get(at).and_then(|phase| phase.parent).filter(|&parent| parent < at) {
        at = parent;
    }
    at
}

/// Where each block id stands: its phase, and how many items of it come up to the block (`None`: the phase's own id).
/// Nobody asks where no phase goes back.
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

/// The items of phase `index` that count.
pub(super) fn items<'a>(session: &'a Session, path: &Path, index: usize) -> &'a [Item] {
    let Some(phase) = session.phases.get(index) else { return &[] };
    let len = path.cuts.get(&index).copied().unwrap_or(phase.items.len());
    phase.items.get(..len).unwrap_or(&phase.items)
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

    #[test]
    fn abandoned_branches_are_left_out() {
        assert_eq!(path(&session(&[None, None, None])).tops, [0, 1, 2]);
        let back = path(&session(&[None, None, Some("p-00"), None]));
        assert_eq!((back.tops, back.abandoned), (vec![0, 2, 3], 1));
        let middle = path(&session(&[None, None, Some("n-01")]));
        assert_eq!((middle.tops, middle.cuts), (vec![0, 2], BTreeMap::from([(0, 2)])));
        // A link forward, to itself or to nothing is no branch.
        for odd in ["p-02", "p-01", "gone"] {
            assert_eq!(path(&session(&[None, Some(odd), None])).tops, [0, 1, 2], "{odd}");
        }
    }
}
