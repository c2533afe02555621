//! The sub-agents of a bundle: what the calls and files say of each.
//!
//! A sub-agent's own file carries its parent's session id; its name and the parent's records say who started it, as
//! what, and for which task.

use std::collections::HashMap;

use cru_session::event::StreamKey;

/// What is known of a sub-agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The stream that started it.
    pub(super) parent: Option<StreamKey>,
    /// Its type, `reviewer`.
    pub(super) agent: Option<String>,
    /// What it was asked, in a few words.
    pub(super) task: Option<String>,
    /// Whether its own work is in a file of the bundle.
    pub(super) has_stream: bool,
    /// Whether a call is known that started it.
    pub(super) started: bool,
}

/// A sub-agent of a workflow, and what it was asked.
pub(super) type RunAgent = (String, Option<String>);

/// Sub-agents by session and id.
#[derive(Debug, Default)]
pub(super) struct Agents {
    known: HashMap<StreamKey, Known>,
    /// Sub-agents with a file, by what they were asked first.
    by_prompt: HashMap<(String, String), Vec<String>>,
    /// Sub-agents of a workflow, in the order of their files, by session and run: the agent, and what it was asked.
    of_runs: HashMap<(String, String), Vec<RunAgent>>,
}

impl Agents {
    /// A file holds the work of `key`, which was asked `prompt` first.
    pub(super) fn has_file(&mut self, key: &StreamKey, prompt: Option<&str>) {
        let Some(agent) = &key.agent else { return };
        let known = self.known.entry(key.clone()).or_default();
        if std::mem::replace(&mut known.has_stream, true) {
            return;
        }
        if let Some(prompt) = prompt {
            let asked = (key.session.clone(), prompt.trim().to_owned());
            self.by_prompt.entry(asked).or_default().push(agent.clone());
        }
    }

    /// A file holds the work of `key`, which a run of a workflow started.
    pub(super) fn has_run(&mut self, key: &StreamKey, run: &str, prompt: Option<&str>) {
        let Some(agent) = &key.agent else { return };
        let all = self.of_runs.entry((key.session.clone(), run.to_owned())).or_default();
        if !all.iter().any(|(known, _)| known == agent) {
            all.push((agent.clone(), prompt.map(str::to_owned)));
        }
    }

    /// The sub-agents of a run of a workflow that no call was found for yet.
    pub(super) fn of_run(&mut self, session: &str, run: &str) -> Vec<RunAgent> {
        self.of_runs.remove(&(session.to_owned(), run.to_owned())).unwrap_or_default()
    }

    /// The sub-agent with a file that was asked `prompt`, each told once.
    pub(super) fn asked(&mut self, session: &str, prompt: &str) -> Option<String> {
        let waiting = self.by_prompt.get_mut(&(session.to_owned(), prompt.trim().to_owned()))?;
        (!waiting.is_empty()).then(|| waiting.remove(0))
    }

    /// A call of `parent` started `key`. What was known before stays.
    pub(super) fn started(
        &mut self,
        key: &StreamKey,
        parent: &StreamKey,
        agent: Option<&str>,
        task: Option<&str>,
    ) -> &Known {
        let known = self.known.entry(key.clone()).or_default();
        if !std::mem::replace(&mut known.started, true) {
            known.parent = Some(parent.clone());
            known.agent = agent.map(str::to_owned).or(known.agent.take());
            known.task = task.map(str::to_owned).or(known.task.take());
        }
        known
    }

    /// What a file beside the transcript says of `key`.
    pub(super) fn described(&mut self, key: &StreamKey, agent: Option<String>, task: Option<String>) {
        let known = self.known.entry(key.clone()).or_default();
        known.agent = known.agent.take().or(agent);
        known.task = known.task.take().or(task);
    }

    /// What is known of `key`.
    pub(super) fn get(&self, key: &StreamKey) -> Option<&Known> {
        self.known.get(key)
    }
}
