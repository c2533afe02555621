//! The open calls of a stream, and how an answer finds its call.
//!
//! Ids join them; where an id was masked by a redaction tool or is used twice, the record that made the call decides.

use std::collections::HashMap;

use serde_json::Value;

use super::shell::Effects;

/// Why an answer is left out whose call no record tells.
pub(crate) const UNMET: &str = "answer without its call";

/// More open calls of one record are not searched; it bounds the work for damaged files.
const MAX: usize = 512;

/// A call that waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenCall {
    /// The id told in events: unique within the stream.
    pub(crate) id: String,
    /// Tool name as the host writes it.
    pub(crate) tool: String,
    /// Its arguments, for the tools whose answer needs them.
    pub(crate) input: Option<Value>,
    /// The path argument.
    pub(crate) path: Option<String>,
    /// What the shell command does if it succeeds.
    pub(crate) effects: Effects,
    /// The inline sub-agent stream that works for it.
    pub(crate) sidechain: Option<String>,
    /// The turn it was made in.
    turn: u32,
    host_id: String,
    made_by: String,
}

impl OpenCall {
    /// A call of `tool` made by the record `made_by`.
    pub(crate) fn new(id: String, host_id: &str, tool: &str, made_by: &str) -> Self {
        Self {
            id,
            tool: tool.to_owned(),
            input: None,
            path: None,
            effects: Effects::default(),
            sidechain: None,
            turn: 0,
            host_id: host_id.to_owned(),
            made_by: made_by.to_owned(),
        }
    }
}

/// Open calls by the id told in events.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: HashMap<String, OpenCall>,
    /// Ids of open calls by the record that made them, in order.
    by_record: HashMap<String, Vec<String>>,
    /// Open calls of sub-agents, in order.
    agents: Vec<String>,
    turn: u32,
    /// Calls of the current turn without an answer.
    waiting: usize,
    /// Every id that was told.
    told: std::collections::HashSet<String>,
}

impl Calls {
    /// An id for events: the host's own where it is new, else one that cannot be taken for another call.
    pub(crate) fn name(&mut self, host_id: &str, record: u64) -> String {
        let mut id = host_id.to_owned();
        let mut number = 0;
        while id.is_empty() || !self.told.insert(id.clone()) {
            id = if number == 0 { format!("{host_id}@{record}") } else { format!("{host_id}@{record}.{number}") };
            number += 1;
        }
        id
    }

    /// Adds a call.
    pub(crate) fn open(&mut self, mut call: OpenCall) {
        call.turn = self.turn;
        self.waiting += 1;
        let same_record = self.by_record.entry(call.made_by.clone()).or_default();
        if same_record.len() < MAX {
            same_record.push(call.id.clone());
        }
        if matches!(call.tool.as_str(), "Task" | "Agent") && self.agents.len() < MAX {
            self.agents.push(call.id.clone());
        }
        self.open.insert(call.id.clone(), call);
    }

    /// The call that an answer with the id `host_id` belongs to; `made_by` names the records that may have made it, the
    /// likeliest first.
    pub(crate) fn get(&self, host_id: &str, made_by: [&str; 2]) -> Option<&OpenCall> {
        let same = |id: &&String| self.open.get(*id).is_some_and(|call| call.host_id == host_id);
        let by_record = made_by.iter().find_map(|record| self.by_record.get(*record)?.iter().find(same));
        let named = || self.open.get(host_id).filter(|call| call.host_id == host_id);
        by_record.and_then(|id| self.open.get(id)).or_else(named)
    }

    /// Takes it.
    pub(crate) fn close(&mut self, host_id: &str, made_by: [&str; 2]) -> Option<OpenCall> {
        let id = self.get(host_id, made_by)?.id.clone();
        let call = self.open.remove(&id)?;
        if call.turn == self.turn {
            self.waiting = self.waiting.saturating_sub(1);
        }
        if let Some(ids) = self.by_record.get_mut(&call.made_by) {
            ids.retain(|other| *other != id);
        }
        self.agents.retain(|other| *other != id);
        Some(call)
    }

    /// A turn begins: what is still open will get no answer any more.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = self.turn.saturating_add(1);
        self.waiting = 0;
    }

    /// How many calls of the current turn have no answer.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Why an answer is left out whose call is not open.
    pub(crate) fn unmet(&self, host_id: &str) -> &'static str {
        if self.knows(host_id) { "repeated answer" } else { UNMET }
    }

    /// Whether a call of that id was ever told.
    pub(crate) fn knows(&self, host_id: &str) -> bool {
        self.told.contains(host_id)
    }

    /// The open sub-agent call that asked `prompt`, else the first that no inline sub-agent works for yet.
    pub(crate) fn agent_for(&mut self, prompt: &str) -> Option<&mut OpenCall> {
        let free = |id: &&String| self.open.get(*id).is_some_and(|call| call.sidechain.is_none());
        let asks = |id: &&String| {
            let input = self.open.get(*id).and_then(|call| call.input.as_ref());
            input.and_then(|input| input.get("prompt")).and_then(Value::as_str).map(str::trim) == Some(prompt.trim())
        };
        let id = self.agents.iter().filter(free).find(asks).or_else(|| self.agents.iter().find(free))?.clone();
        self.open.get_mut(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(calls: &mut Calls, host_id: &str, tool: &str, record: u64, made_by: &str) -> String {
        let id = calls.name(host_id, record);
        calls.open(OpenCall::new(id.clone(), host_id, tool, made_by));
        id
    }

    #[test]
    fn joined_by_id() {
        let mut calls = Calls::default();
        open(&mut calls, "t1", "Bash", 1, "a1");
        open(&mut calls, "t2", "Bash", 1, "a1");
        assert_eq!(calls.close("t2", ["", "a1"]).unwrap().id, "t2");
        assert_eq!(calls.close("t1", ["", "elsewhere"]).unwrap().id, "t1");
        assert!(calls.close("t1", ["", "a1"]).is_none());
    }

    #[test]
    fn masked_ids_are_joined_by_record() {
        let mut calls = Calls::default();
        let one = open(&mut calls, "MASKED", "Read", 1, "a1");
        let two = open(&mut calls, "MASKED", "Bash", 2, "a2");
        assert_ne!(one, two);
        assert_eq!(calls.close("MASKED", ["a2", "x"]).unwrap().id, two);
        assert_eq!(calls.close("MASKED", ["a1", "x"]).unwrap().id, one);
        assert_eq!(calls.name("", 7), "@7");
    }

    #[test]
    fn sub_agents_by_prompt_then_order() {
        let mut calls = Calls::default();
        for (id, prompt) in [("t1", "one"), ("t2", "two"), ("t3", "three")] {
            let mut call = OpenCall::new(id.into(), id, "Task", "a1");
            call.input = Some(serde_json::json!({ "prompt": prompt }));
            calls.open(call);
        }
        let two = calls.agent_for(" two\n").unwrap();
        two.sidechain = Some("s".into());
        assert_eq!(two.id, "t2");
        assert_eq!(calls.agent_for("else").unwrap().id, "t1");
    }
}
