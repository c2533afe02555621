//! Where a failed step succeeded later, within the turn in which it failed.
//!
//! Something must have been done in between: a look that found nothing, a mistyped call and a failure that went away by
//! itself teach nothing. What a person said meanwhile ends the search, since then the words may have been the help.

use super::slip;
use super::trail::Beat;
use cru_session::{Item, Step, StepStatus};

/// How far behind the failure a success is looked for, in things done.
const REACH: usize = 40;

/// The index of the step by which the failed step at `failed` succeeded.
pub(super) fn of(beats: &[Beat<'_>], failed: usize) -> Option<usize> {
    let step = step_at(beats, failed).filter(|step| step.status == StepStatus::Failed)?;
    let key = slip::key(step)?;
    let mut acted = false;
    for at in failed + 1..beats.len().min(failed + 1 + REACH) {
        let Some(later) = step_at(beats, at) else { continue };
        if slip::key(later).as_ref() == Some(&key) {
            match later.status {
                // The next failure of the same thing stands nearer to what helped.
                StepStatus::Failed => return None,
                StepStatus::Complete if acted => return Some(at),
                _ => {}
            }
        }
        acted |= later.status == StepStatus::Complete && slip::acts(later);
    }
    None
}

/// The step at `index`.
pub(super) fn step_at<'a>(beats: &[Beat<'a>], index: usize) -> Option<&'a Step> {
    match beats.get(index).map(|beat| beat.item) {
        Some(Item::Step(step)) => Some(step),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry;

    fn recovered(steps: &[(&str, &str, bool)]) -> Option<usize> {
        let items: Vec<Item> = steps
            .iter()
            .map(|(tool, args, failed)| {
                let status = if *failed { StepStatus::Failed } else { StepStatus::Complete };
                Item::Step(Step { tool: (*tool).into(), args: (*args).into(), status, ..Step::default() })
            })
            .collect();
        let beat = |item| Some(Beat { item, entry: entry::of_item(item, &str::to_owned)? });
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
