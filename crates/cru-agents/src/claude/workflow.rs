//! Runs of workflows: one call starts many sub-agents, whose files lie in a folder of the run's name.

use std::borrow::Cow;
use std::path::Path;

use super::agents::Agents;
use super::stream::ClaudeStream;
use crate::call::open::OpenCall;
use crate::stream::out::Out;
use cru_action::ToolKind;
use cru_session::event::{EventKind, StreamKey, SubagentRun};

/// How the names of runs begin.
const RUN: &str = "wf_";
/// Words of a task that are told.
const TASK: usize = 200;

/// The run that a sub-agent's file is of: `subagents/workflows/wf_<id>/agent-<id>.jsonl`.
pub(super) fn run_of(path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let is_of_workflows = folder.parent()?.file_name()? == "workflows";
    folder.file_name()?.to_str().filter(|name| is_of_workflows && name.starts_with(RUN))
}

/// The runs that a text names.
fn runs_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(RUN).map(|(at, _)| {
        let rest = &text[at..];
        rest.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).next().unwrap_or(rest)
    })
}

impl ClaudeStream {
    /// Tells what a call of a workflow started, where its answer names the run.
    pub(super) fn workflow(&self, call: &OpenCall, run: &str, answer: &str, out: &mut Out<'_>, agents: &mut Agents) {
        if ToolKind::of(&call.tool) != ToolKind::Subagent || matches!(call.tool.as_str(), "Task" | "Agent") {
            return;
        }
        let runs = std::iter::once(run).chain(runs_in(answer)).filter(|run| !run.is_empty());
        let started: Vec<_> = runs.flat_map(|run| agents.of_run(&self.key.session, run)).collect();
        for (agent, prompt) in started {
            let stream = StreamKey { session: self.key.session.clone(), agent: Some(agent) };
            let asked = prompt.as_deref().map(|prompt| cru_base::text::truncate(prompt.trim(), TASK).into_owned());
            let known = agents.started(&stream, &self.key, None, None);
            let (part, task) = (known.agent.clone(), known.task.clone().or(asked));
            let (agent, task) = (part.map(Cow::Owned), task.map(Cow::Owned));
            let run = SubagentRun { stream: Some(stream), agent, task, background: true, ..SubagentRun::default() };
            out.emit(EventKind::Subagent { call: Cow::Borrowed(&call.id), run });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_by_their_names() {
        let of = |path: &str| run_of(Path::new(path)).map(str::to_owned);
        assert_eq!(of("p/s/subagents/workflows/wf_1-a/agent-x.jsonl").as_deref(), Some("wf_1-a"));
        assert_eq!((of("p/s/subagents/agent-x.jsonl"), of("wf_1/agent-x.jsonl")), (None, None));
        let all: Vec<&str> = runs_in("Run ID: wf_1-a.\nTranscripts: /x/workflows/wf_2/").collect();
        assert_eq!(all, ["wf_1-a", "wf_2"]);
    }
}
