//! Which failures teach nothing, and when a later success answers one.
//!
//! What was tried is judged by [`Attempt`], as the notes that `cru` writes are. A failed step without a callout must
//! say what was wrong: a refused call, a call without an answer and a bare exit code do not.

use crate::case::action;
use cru_graph::recovery::attempt;
use cru_session::attempt::Attempt;
use cru_session::words::list::{NO_REASON, TROUBLE};
use cru_session::{Step, StepStatus};

/// Whether a person stopped or refused the step.
pub(crate) const fn stopped(step: &Step) -> bool {
    matches!(step.status, StepStatus::Denied | StepStatus::Interrupted)
}

/// Whether the result of a failed step says what was wrong, in two words at least.
pub(crate) fn tells(step: &Step) -> bool {
    let result = step.result.as_deref().unwrap_or_default().to_lowercase();
    let told = result.trim_start_matches("exit code");
    step.status == StepStatus::Failed
        && !is_hosts(step)
        && told.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1).count() >= 2
}

/// Whether a failed step says no more than that its host stopped it: nothing of the work.
pub(crate) fn is_hosts(step: &Step) -> bool {
    NO_REASON.is_in(&step.result.as_deref().unwrap_or_default().to_lowercase())
}

/// Whether a text has a word of something that went wrong; a text in other letters is not judged.
pub(crate) fn has_sign(text: &str) -> bool {
    let text = text.to_lowercase();
    TROUBLE.rows().iter().any(|sign| text.contains(sign)) || text.chars().any(|c| c.is_alphabetic() && c > '\u{24f}')
}

/// The name of what a step tried, where its failure can matter.
pub(crate) fn key(step: &Step) -> Option<String> {
    attempt(step).key().map(str::to_owned)
}

/// Whether a step changed something, as far as its line tells.
pub(crate) fn acts(step: &Step) -> bool {
    !step.writes.is_empty() || (attempt(step) != Attempt::Look && !action::looks(&step.tool, step.full_args()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(result: &str) -> Step {
        let status = StepStatus::Failed;
        Step { tool: "Bash".into(), args: "make".into(), result: Some(result.into()), status, ..Step::default() }
    }

    #[test]
    fn failures_that_tell() {
        let table = [
            ("error[E0308]: mismatched types", true),
            ("2 of 41 failed in auth", true),
            ("Exit code 1", false),
            ("Exit code 1 error: unknown flag --stat", true),
            ("File has not been read yet. Read it first", false),
            ("", false),
            ("1", false),
        ];
        for (result, tells) in table {
            assert_eq!(super::tells(&failed(result)), tells, "{result:?}");
        }
        for status in [StepStatus::Denied, StepStatus::Interrupted, StepStatus::NoResult] {
            assert!(!super::tells(&Step { status, ..failed("error[E0308]: mismatched types") }));
        }
        assert!(!stopped(&Step { status: StepStatus::Complete, ..failed("interrupted") }));
    }

    #[test]
    fn what_was_tried() {
        let step = |tool: &str, args: &str| Step { tool: tool.into(), args: args.into(), ..Step::default() };
        assert_eq!(key(&step("Bash", "cd a && cargo test -p b")).as_deref(), Some("cargo test"));
        assert_eq!(key(&step("cargo", "test -p b")).as_deref(), Some("cargo test"));
        // A shell by another name is no command of its own: else all that is done in one folder were the same.
        assert_eq!(key(&step("bash", "cd /a && git push")).as_deref(), Some("git push"));
        assert_eq!(key(&step("shell", "cd /a && git commit -m b")).as_deref(), Some("git commit"));
        assert_eq!(key(&step("Read", "src/a.rs")), None);
        assert!(acts(&step("Edit", "src/a.rs")));
        assert!(!acts(&step("Bash", "git log | head")));
        assert!(!acts(&step("Bash", "pumpctl status")));
        assert!(acts(&step("Bash", "pumpctl start")));
    }
}
