//! Failed steps that worked later, read from a note.
//!
//! The rule is [`cru_session::recovery`]'s, by which an import also writes its `[!error]` callouts.

use cru_action::Verdict;
use cru_session::attempt::{Attempt, is_same_command, is_shell};
use cru_session::recovery::{self, Tried};
use cru_session::{Session, Step, StepStatus};

use super::place::{self, Place};

pub use cru_session::recovery::{Failure, Outcomes};

/// A failed step, and the later success of the same command or check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The first failure.
    pub failed: Place,
    /// The last failure before the success.
    pub again: Place,
    /// How often it failed.
    pub count: usize,
    /// The steps between the last failure and the success that changed something.
    pub between: Vec<Place>,
    /// The success.
    pub worked: Place,
    /// Whether what worked is literally what failed, at first or at last; else it is the same check with other arguments.
    pub is_same: bool,
}

/// The recoveries of a session's own steps, in the order of the successes: where the same command worked later, or the same
/// check with other arguments. Linear in the steps, but for `between`.
pub fn recoveries(session: &Session) -> Vec<Recovery> {
    let steps: Vec<(Place, &Step)> =
        place::items(session).filter_map(|(place, item)| Some((place, item.as_step()?))).collect();
    let found = outcomes(steps.iter().map(|(_, step)| *step).enumerate(), acts);
    let changes = |at: &usize| steps[*at].1.status == StepStatus::Complete && acts(steps[*at].1);
    let recovered = found.recovered.into_iter().filter_map(|(failure, worked)| {
        let (first, last) = (failure.first, failure.last);
        let success = steps[worked].1;
        let is_same = [first, last].iter().any(|at| is_same_command(steps[*at].1, success));
        let recovery = Recovery {
            failed: steps[first].0,
            again: steps[last].0,
            count: failure.count,
            between: (last + 1..worked).filter(changes).map(|at| steps[at].0).collect(),
            worked: steps[worked].0,
            is_same,
        };
        (is_same || matches!(attempt(success), Attempt::Check(_))).then_some(recovery)
    });
    recovered.collect()
}

/// Whether a resolution says nothing but which steps it was, as an import writes it: `passed in [[#^n-016]]`. It reads notes
/// that hold no other mark of that.
pub fn names_steps(resolution: &str) -> bool {
    const LINKING: &[&str] = &[
        "fixed",
        "by",
        "passed",
        "worked",
        "in",
        "see",
        "and",
        "with",
        "after",
        "a",
        "run",
        "other",
        "arguments",
        "changes",
    ];
    let mut plain = String::new();
    let mut rest = resolution;
    while let Some((before, link)) = rest.split_once("[[") {
        plain.push_str(before);
        plain.push(' ');
        rest = link.split_once("]]").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.all(|word| LINKING.contains(&word.to_lowercase().as_str()))
}

/// How a step ended: a check by its verdict, anything else by its status.
fn verdict(step: &Step) -> Verdict {
    match (step.check, step.status) {
        (Some(verdict @ (Verdict::Unknown | Verdict::Failed)), _) => verdict,
        (_, StepStatus::Complete) => Verdict::Passed,
        _ => Verdict::Failed,
    }
}

/// What became of the failures among `steps`, each with its number. `acts` says which steps change something.
pub fn outcomes<'a>(steps: impl Iterator<Item = (usize, &'a Step)>, acts: impl Fn(&Step) -> bool) -> Outcomes {
    let tried: Vec<(usize, Attempt, Verdict, bool)> = steps
        .filter(|(_, step)| matches!(step.status, StepStatus::Complete | StepStatus::Failed))
        .map(|(index, step)| (index, attempt(step), verdict(step), acts(step)))
        .collect();
    let tried = tried.iter().map(|(index, attempt, verdict, acts)| {
        let tried = Tried { key: attempt.key(), verdict: *verdict, acts: *acts };
        (*index, tried)
    });
    recovery::outcomes(tried)
}

/// What a step of a note tried.
pub fn attempt(step: &Step) -> Attempt {
    attempt_of(&step.tool, step.full_args())
}

/// What a step tried whose line names `tool` and `args`.
pub fn attempt_of(tool: &str, args: &str) -> Attempt {
    // A hand-written step may be the command itself, without the tool that ran it.
    match Attempt::of(tool, args) {
        Attempt::Command(_) if tool.starts_with(|c: char| c.is_ascii_lowercase()) && !is_shell(tool) => {
            Attempt::of("Bash", &format!("{tool} {args}"))
        }
        other => other,
    }
}

/// Whether a step changed something, as far as its tool and its files tell.
fn acts(step: &Step) -> bool {
    !step.writes.is_empty() || attempt(step) != Attempt::Look
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolutions_that_only_name_steps() {
        assert!(names_steps("fixed by [[#^n-014]], [[#^n-015]]; passed in [[#^n-016]]"));
        assert!(names_steps("a run with other arguments passed in [[#^n-016]]"));
        assert!(names_steps("see [[#^n-016]]."));
        assert!(!names_steps("inject a clock, see [[#^n-005]]"));
    }

    use cru_note::Note;

    #[test]
    fn recoveries_of_a_note() {
        let text = "---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
                    - `Bash cargo test -p auth` → ✗ 2 failed ^n-001\n- `Bash cargo test` → ✗ 1 failed ^n-002\n\
                    - `Read a.rs` → ok ^n-003\n- `Edit a.rs` → ok ^n-004\n\n\
                    ## Two @a #dev\n\n*2026-11-20T10:00:00Z* ^p-02\n\n\
                    - `cargo test -p auth` → ok ^n-005\n- `Bash make` → ✗ no rule ^n-006\n- `Bash make` → ok ^n-007\n";
        let (session, _) = cru_session::read::session(&Note::parse(text));
        let id = |place: Place| place.id_in(&session).unwrap_or("?").to_owned();
        let told: Vec<String> = recoveries(&session)
            .iter()
            .map(|it| {
                let between: Vec<String> = it.between.iter().map(|at| id(*at)).collect();
                format!("{}…{} {}: {} → {}", id(it.failed), id(it.again), it.count, between.join(","), id(it.worked))
            })
            .collect();
        assert_eq!(told, ["n-001…n-002 2: n-004 → n-005"]);
    }
}
