//! Where a failed step succeeded later, within the turn in which it failed.
//!
//! The rule is [`cru_graph::recovery`]'s. What a person said meanwhile ends the search, since then the words may have
//! been the help.

use crate::find::failure;
use crate::find::turns::TurnItem;
use cru_graph::recovery;
use cru_session::{Item, Step};

/// How far behind the failure a success is looked for, in things done.
const REACH: usize = 40;

/// The index of the step by which the failed step at `failed` succeeded, where it did not fail again before.
pub(crate) fn of(beats: &[TurnItem<'_>], failed: usize) -> Option<usize> {
    let steps = (failed..beats.len().min(failed + 1 + REACH)).filter_map(|at| Some((at, step_at(beats, at)?)));
    let outcomes = recovery::outcomes(steps, failure::acts);
    let mut recovered = outcomes.recovered.iter();
    recovered.find(|(failure, _)| (failure.first, failure.last) == (failed, failed)).map(|(_, worked)| *worked)
}

/// The step at `index`.
pub(crate) fn step_at<'a>(beats: &[TurnItem<'a>], index: usize) -> Option<&'a Step> {
    match beats.get(index).map(|beat| beat.item) {
        Some(Item::Step(step)) => Some(step),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::entry;
    use cru_session::StepStatus;

    fn recovered(steps: &[(&str, &str, bool)]) -> Option<usize> {
        let items: Vec<Item> = steps
            .iter()
            .map(|(tool, args, failed)| {
                let status = if *failed { StepStatus::Failed } else { StepStatus::Complete };
                Item::Step(Step { tool: (*tool).into(), args: (*args).into(), status, ..Step::default() })
            })
            .collect();
        let beat = |item| Some(TurnItem { item, entry: entry::of_item(item, &str::to_owned)? });
        of(&items.iter().filter_map(beat).collect::<Vec<_>>(), 0)
    }

    #[test]
    fn recoveries() {
        let (bash, fail, ok) = ("Bash", true, false);
        assert_eq!(recovered(&[(bash, "cargo test", fail), ("Edit", "a.rs", ok), (bash, "cargo test", ok)]), Some(2));
        assert_eq!(
            recovered(&[(bash, "cargo test -p a", fail), ("Edit", "a.rs", ok), (bash, "cargo test", ok)]),
            Some(2)
        );
        assert_eq!(
            recovered(&[(bash, "git push", fail), (bash, "git pull --rebase", ok), (bash, "git push", ok)]),
            Some(2)
        );
    }

    #[test]
    fn no_recoveries() {
        let (bash, fail, ok) = ("Bash", true, false);
        // The call itself was set right.
        assert_eq!(recovered(&[(bash, "ruff check a.py", fail), (bash, "ruff check src/a.py", ok)]), None);
        // It went away by itself.
        assert_eq!(recovered(&[(bash, "cargo test", fail), (bash, "cargo test", ok)]), None);
        assert_eq!(recovered(&[(bash, "cargo test", fail), ("Read", "a.rs", ok), (bash, "cargo test", ok)]), None);
        assert_eq!(
            recovered(&[(bash, "pumpctl tap a", fail), (bash, "pumpctl list", ok), (bash, "pumpctl tap a", ok)]),
            None
        );
        // Something else succeeded.
        assert_eq!(recovered(&[(bash, "cargo test", fail), ("Edit", "a.rs", ok), (bash, "cargo build", ok)]), None);
        // It failed again first: that failure has the case.
        let again =
            [(bash, "make", fail), ("Edit", "a.c", ok), (bash, "make", fail), ("Edit", "a.c", ok), (bash, "make", ok)];
        assert_eq!(recovered(&again), None);
        // Looking around.
        assert_eq!(recovered(&[(bash, "ls a", fail), ("Write", "a/b", ok), (bash, "ls a", ok)]), None);
        assert_eq!(recovered(&[("Edit", "a", fail), ("Read", "a", ok), ("Edit", "a", ok)]), None);
    }
}
