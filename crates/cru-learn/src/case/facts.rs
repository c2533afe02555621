//! What the note's line of a step says of its call.

use cru_action::Verdict;
use cru_session::{Step, StepStatus};

/// What the note's line of a step says of its call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepFacts {
    pub(super) tool: String,
    /// The command or argument as the note has it, secrets included: it is asked, and never shown.
    pub(super) args: String,
    pub(super) status: StepStatus,
    pub(super) verdict: Option<Verdict>,
    pub(super) exit: Option<i32>,
    /// The commits that its output shows, the last one last.
    pub(super) commits: Vec<String>,
}

impl StepFacts {
    /// The facts of a step.
    pub(crate) fn of(step: &Step) -> Self {
        Self {
            tool: step.tool.clone(),
            args: step.full_args().to_owned(),
            status: step.status,
            verdict: step.verdict(),
            exit: step.exit,
            commits: step.commits().map(|(id, _)| id.to_owned()).filter(|id| !id.is_empty()).collect(),
        }
    }
}

#[cfg(test)]
impl StepFacts {
    /// Those of a step that ran a check.
    pub(crate) fn with_verdict(verdict: Option<Verdict>) -> Self {
        Self { verdict, ..Self::default() }
    }
}
