//! What the transcript of a session says beyond its note, for the workflow that is made of it.

use serde_json::Value;

use crate::action::ToolKind;
use crate::commands::session::show::diff;
use crate::session::{Session, StepStatus};
use crate::sync::evidence::Transcripts;
use crate::workflow::Evidence;

/// Lines of the change of one file that are kept; of a longer one the rest is counted.
const LINES: usize = 600;

/// What edits changed, what failed calls, pushes and sub-agents answered, and what sub-agents were told; nothing where there is no transcript.
pub(super) fn evidence(session: &Session, transcripts: &Transcripts) -> Evidence {
    let mut evidence = Evidence::default();
    let mut whole = transcripts.steps(session);
    for (id, diffs) in diff::diffs_of(session, &whole, LINES) {
        evidence.add_changes(id, diffs);
    }
    // What failed, what sub-agents answered, and how a push ended.
    let is_told = |step: &crate::session::Step| {
        step.status == StepStatus::Failed
            || step.check == Some(crate::action::Verdict::Failed)
            || ToolKind::of(&step.tool) == ToolKind::Subagent
            || step.action().pushes()
    };
    for (_, step) in session.steps().filter(|(_, step)| is_told(step)) {
        let Some((id, whole)) = step.id.clone().and_then(|id| Some((id.clone(), whole.remove(&id)?))) else { continue };
        if ToolKind::of(&step.tool) == ToolKind::Subagent
            && let Some(prompt) = longest_text(&whole.input)
        {
            evidence.add_prompt(id.clone(), prompt.to_owned());
        }
        if let Some(output) = whole.output {
            evidence.add_output(id, output);
        }
    }
    evidence
}

/// The longest text among the arguments of a call: hosts call the words for a sub-agent by many names, and all else that
/// they give it is short.
fn longest_text(input: &Value) -> Option<&str> {
    input.as_object()?.values().filter_map(Value::as_str).max_by_key(|text| text.len())
}
