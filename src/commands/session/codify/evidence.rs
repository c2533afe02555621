//! What the transcript of a session says beyond its note, for the workflow that is made of it.

use crate::action::ToolKind;
use crate::commands::session::show::diff;
use crate::session::{Session, StepStatus};
use crate::sync::evidence::Transcripts;
use crate::workflow::{Evidence, FileChange};

/// Lines of the change of one file that are kept; of a longer one the rest is counted.
const LINES: usize = 600;

/// What edits changed, and what failed calls, pushes and sub-agents answered; nothing where there is no transcript.
pub(super) fn evidence(session: &Session, transcripts: &Transcripts) -> Evidence {
    let mut evidence = Evidence::default();
    let mut whole = transcripts.steps(session);
    for (id, diffs) in diff::diffs_of(session, &whole, LINES) {
        let change = |it: diff::FileDiff| FileChange { path: it.path, lines: it.lines, more: it.more };
        evidence.add_changes(id, diffs.into_iter().map(change).collect());
    }
    // What failed, what sub-agents answered, and how a push ended.
    let is_told = |step: &crate::session::Step| {
        step.status == StepStatus::Failed
            || step.check == Some(crate::action::Verdict::Failed)
            || ToolKind::of(&step.tool) == ToolKind::Subagent
            || step.action().pushes()
    };
    for (_, step) in session.steps().filter(|(_, step)| is_told(step)) {
        let id = step.id.clone();
        let output = id.as_ref().and_then(|id| whole.remove(id)).and_then(|whole| whole.output);
        if let (Some(id), Some(output)) = (id, output) {
            evidence.add_output(id, output);
        }
    }
    evidence
}
