//! What is known of a whole session: when and where it ran, how it was set, what it used, what it remembered.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::file::value::{dollars, filled, moment, number};
use crate::stream::out::{Out, remark};
use crate::stream::place::Place;
use cru_base::text::{plural, thousands};
use cru_session::event::{EventKind, SessionFact};

/// Depth that a session may have which does not say how much.
const MAX_DEPTH: u64 = 2;

/// Recursive calls that a session may make which does not say how many.
const MAX_CALLS: u64 = 10;

/// What the files of a session say of all of it.
#[derive(Debug, Default)]
pub(super) struct RlmHead {
    pub(super) started: Option<Timestamp>,
    pub(super) latest: Option<Timestamp>,
    cwd: String,
    /// The `rlm` property.
    rlm: Map<String, Value>,
    memory: Map<String, Value>,
    tokens: Option<u64>,
    cost: Option<f64>,
    calls: Option<u64>,
    max_calls: Option<u64>,
    models: Vec<(String, u64, u64, Option<f64>)>,
}

impl RlmHead {
    /// Takes in `{id}.json`, flat or in sections, or `session.json`.
    pub(super) fn state(&mut self, state: &Value) {
        let none = Value::Null;
        let section = |name: &str| state.get(name).filter(|value| value.is_object()).unwrap_or(&none);
        let (metadata, activation, budget) = (section("metadata"), section("activation"), section("budget"));
        self.times(state);
        self.times(metadata);
        self.metadata(metadata);
        self.metadata(state);
        for name in
            ["rlm_active", "activation_mode", "activation_reason", "complexity_score", "current_depth", "max_depth"]
        {
            if let Some(value) = activation.get(name).or_else(|| state.get(name)) {
                self.rlm.insert(name.to_owned(), value.clone());
            }
        }
        self.rlm.entry("max_depth").or_insert_with(|| json!(MAX_DEPTH));
        let names = [
            (section("trajectory"), "events_count", "trajectory_events"),
            (state, "trajectory_events_count", "trajectory_events"),
            (section("trajectory"), "export_path", "trajectory"),
            (state, "trajectory_path", "trajectory"),
            (section("cells"), "count", "cells"),
            (metadata, "rlm_version", "version"),
        ];
        for (from, name, key) in names {
            if let Some(value) = from.get(name).filter(|value| !value.is_null() && **value != 0) {
                self.rlm.insert(key.to_owned(), value.clone());
            }
        }
        self.remember(section("context").get("working_memory"));
        self.remember(state.get("working_memory"));
        for used in [state, budget] {
            self.tokens = number(used, "total_tokens_used").or(self.tokens);
            self.cost = dollars(used, "cost_usd").or(self.cost);
            self.calls = number(used, "total_recursive_calls").or(self.calls);
            self.max_calls = number(used, "max_recursive_calls").or(self.max_calls);
        }
        for (model, used) in budget.get("by_model").and_then(Value::as_object).into_iter().flatten() {
            let number = |name: &str| number(used, name).unwrap_or(0);
            self.models.push((model.clone(), number("calls"), number("tokens"), dollars(used, "cost_usd")));
        }
    }

    /// Takes in `session-metadata.json`, or the section of that name.
    pub(super) fn metadata(&mut self, metadata: &Value) {
        self.times(metadata);
        if let Some(cwd) = filled(metadata, "cwd").filter(|_| self.cwd.is_empty()) {
            cwd.clone_into(&mut self.cwd);
        }
        if let Some(path) = filled(metadata, ["claude_transcript_path", "transcript_path"]) {
            self.rlm.insert("transcript".to_owned(), Value::from(path));
        }
    }

    /// Takes in a working memory. It is stored twice now and then: what comes later counts.
    pub(super) fn remember(&mut self, memory: Option<&Value>) {
        for (key, value) in memory.and_then(Value::as_object).into_iter().flatten() {
            self.memory.insert(key.clone(), value.clone());
        }
    }

    fn times(&mut self, value: &Value) {
        self.started = self.started.or_else(|| moment(value, ["created_at", "started_at"]));
        self.latest = self.latest.max(moment(value, "ended_at")).max(moment(value, "updated_at"));
    }

    /// What the session was about, where its memory says so.
    pub(super) fn subject(&self) -> Option<&str> {
        let names = ["task", "goal", "current_task", "objective", "topic"];
        names.iter().find_map(|name| self.memory.get(*name)?.as_str()).filter(|text| !text.trim().is_empty())
    }

    /// Whether there is anything but its settings.
    pub(super) fn says_something(&self) -> bool {
        !self.memory.is_empty() || self.tokens.is_some_and(|tokens| tokens > 0) || !self.models.is_empty()
    }

    /// Tells what stands before the first record.
    pub(super) fn open(&self, place: &mut Place, out: &mut Out<'_>) {
        out.folder(place, &self.cwd);
        let mut rlm = self.rlm.clone();
        for name in ["transcript", "trajectory"] {
            if let Some(Value::String(path)) = rlm.get_mut(name) {
                *path = place.tilde(path).into_owned();
            }
        }
        let rlm = Some(rlm).filter(|rlm| !rlm.is_empty());
        out.facts(rlm.map(|rlm| SessionFact::Property { key: "rlm".into(), value: Value::Object(rlm) }));
        let memory = self.memory.iter();
        out.facts(memory.map(|(key, value)| SessionFact::Memory { key: key.into(), value: value.clone() }));
    }

    /// Tells what stands behind the last one.
    pub(super) fn close(&self, out: &mut Out<'_>) {
        out.facts(self.cost.map(SessionFact::Cost));
        // Zero is what a session says that counted nothing.
        let tokens = self.tokens.filter(|tokens| *tokens > 0);
        out.facts(tokens.map(SessionFact::Tokens));
        let calls = self.calls.filter(|calls| *calls > 0);
        if calls.is_none() && self.models.is_empty() {
            return;
        }
        let most = self.max_calls.unwrap_or(MAX_CALLS);
        let calls = calls.map(|calls| format!("{} of {} recursive calls", thousands(calls), thousands(most)));
        let title =
            tokens.map(|tokens| plural(tokens, "token")).into_iter().chain(calls).collect::<Vec<_>>().join(", ");
        let mut table = String::new();
        if !self.models.is_empty() {
            table.push_str("| Model | Calls | Tokens | Cost |\n| --- | ---: | ---: | ---: |");
        }
        for (model, calls, tokens, cost) in &self.models {
            let model = model.replace(['|', '\n'], " ");
            let cost = cost.map(|cost| format!("${cost}")).unwrap_or_default();
            let _ = write!(table, "\n| {model} | {} | {} | {cost} |", thousands(*calls), thousands(*tokens));
        }
        out.quiet(EventKind::Remark(remark("usage", title, table)));
    }
}
