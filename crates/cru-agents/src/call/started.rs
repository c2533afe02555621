//! Which sub-agent a call started, where the host does not say: the one that was asked the same.

use std::borrow::Cow;

use serde_json::Value;

use cru_action::ToolKind;
use cru_session::event::{StreamKey, SubagentRun};

/// Arguments that hold what a sub-agent is asked.
const ASKED: [&str; 6] = ["prompt", "task", "message", "instructions", "goal", "description"];
/// Arguments that name its part.
const PART: [&str; 4] = ["subagent_type", "agent", "agent_type", "agentType"];
/// Shorter words may stand in others by chance.
const TELLING: usize = 12;

/// The sub-agents of a session that no call was found for yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartedAgents {
    waiting: Vec<(StreamKey, String)>,
}

impl StartedAgents {
    /// These streams, with the first words that each was told, in order of time.
    pub(crate) fn of(agents: impl IntoIterator<Item = (StreamKey, String)>) -> Self {
        Self { waiting: agents.into_iter().map(|(key, words)| (key, folded(&words))).collect() }
    }

    /// The work of a call; `None` where no sub-agent was asked what it asks.
    pub(crate) fn run(&mut self, tool: &str, input: &Value) -> Option<SubagentRun<'static>> {
        if self.waiting.is_empty() || ToolKind::of_call(tool, input) != ToolKind::Subagent {
            return None;
        }
        let word = |key: &str| input.get(key).and_then(Value::as_str).map(folded).filter(|words| !words.is_empty());
        let is_same = |asked: &String| self.waiting.iter().position(|(_, words)| words == asked);
        // A host may put more around it.
        let holds = |asked: &String| {
            let holds = |(_, words): &(StreamKey, String)| asked.len() >= TELLING && words.contains(asked.as_str());
            self.waiting.iter().position(holds)
        };
        let asked = || ASKED.iter().filter_map(|key| word(key));
        let at = asked().find_map(|it| is_same(&it)).or_else(|| asked().find_map(|it| holds(&it)))?;
        let (stream, _) = self.waiting.remove(at);
        let owned = |key: &str| input.get(key).and_then(Value::as_str).map(|word| Cow::Owned(word.to_owned()));
        Some(SubagentRun {
            stream: Some(stream),
            agent: PART.iter().find_map(|key| owned(key)),
            model: None,
            task: owned("description").or_else(|| ASKED.iter().find_map(|key| owned(key))),
            background: false,
        })
    }
}

fn folded(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_and_its_sub_agent_have_the_same_words() {
        let key = |id: &str| StreamKey { session: "s".to_owned(), agent: Some(id.to_owned()) };
        let mut agents = StartedAgents::of([
            (key("a"), "Context first.\n\nCheck the  plug".to_owned()),
            (key("b"), "Find".to_owned()),
            (key("c"), "Check the plug".to_owned()),
        ]);
        let mut of = |tool: &str, input: Value| {
            agents.run(tool, &input).and_then(|run| run.stream).and_then(|stream| stream.agent)
        };
        assert_eq!(of("bash", json!({"prompt": "Find"})), None);
        assert_eq!(
            of("Subagent", json!({"prompt": "Check the plug", "subagent_type": "explore"})).as_deref(),
            Some("c")
        );
        assert_eq!(of("task", json!({"task": "Check the plug"})).as_deref(), Some("a"));
        assert_eq!(of("task", json!({"task": "Fin"})), None);
        assert_eq!(of("task", json!({"task": "Find"})).as_deref(), Some("b"));
    }
}
