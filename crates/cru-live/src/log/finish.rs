//! The end of a phase and of a session: totals, status, where to go on.

use serde_json::{Value as Json, json};

use jiff::Timestamp;

use super::item;
use super::page::Page;
use crate::entry;
use cru_base::text::sanitise;
use cru_session::op::Op;
use cru_session::{Agent, Callout, Item, Status, time, usage};

impl Page<'_> {
    /// A key gets a value; nothing happens where it has it.
    pub(super) fn set(&mut self, key: &str, new: Option<Json>) {
        let old = self.values.get(key).cloned();
        if old == new {
            return;
        }
        match &new {
            Some(value) => self.values.insert(key.to_owned(), value.clone()),
            None => self.values.remove(key),
        };
        self.ops.push(Op::Set { key: key.to_owned(), old, new });
    }

    /// The same for a key that `cru` keeps up to date: what a person made of it, also that it is gone, stays.
    fn keep(&mut self, key: &'static str, new: Option<Json>) {
        let now = self.values.get(key);
        if now == new.as_ref() {
            return;
        }
        let is_just_set = |op: &Op| matches!(op, Op::Set { key: it, new, .. } if it == key && new.as_ref() == now);
        // The sums of a table of usage are those of `cru` wherever they are right; the others say how the session stands.
        let is_sum = matches!(key, "tokens_used" | "cost_usd");
        let is_unproven = if is_sum { self.right_sums.contains(&key) } else { self.seals.is_unknown(key) };
        if self.seals.is_own(key, now) || is_unproven || self.ops.iter().any(is_just_set) {
            self.set(key, new);
        }
    }

    /// A phase of an agent begins, which takes part from then on.
    pub(super) fn join(&mut self, agent: Agent) {
        let mut names: Vec<String> = match self.values.get("participants") {
            Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            Some(Json::String(one)) => vec![one.clone()],
            _ => Vec::new(),
        };
        let name = agent.to_string();
        // `coder` was meant where `coder@2.0` then worked.
        if !self.agents.contains(&agent) && !names.iter().any(|known| *known == name || *known == agent.name) {
            names.push(name);
            self.set("participants", Some(json!(names)));
        }
        self.agents.push(agent);
    }

    /// Model and tokens as they now are.
    pub(super) fn totals(&mut self) {
        self.write_usage(false);
        let Some(callout) = self.known.usage.as_ref().map(super::amend::NoteCallout::callout) else { return };
        let rows = usage::read(&callout.body);
        if rows.is_empty() {
            return;
        }
        if let Some((model, _)) = rows.iter().max_by_key(|(_, used)| used.output)
            && self.values.get("model").is_none_or(Json::is_null)
        {
            self.set("model", Some(json!(model)));
        }
        for (key, sum) in self.sums() {
            self.keep(key, Some(sum));
        }
    }

    /// What the table of usage comes to, by the properties that say it.
    pub(super) fn sums(&self) -> Vec<(&'static str, Json)> {
        let body = self.known.usage.as_ref().map(|it| it.callout().body).unwrap_or_default();
        let tokens = usage::total(&usage::read(&body)).known().map(|used| ("tokens_used", json!(used)));
        let cost = Some(self.written_cost()).filter(|cost| *cost > 0.0).map(|cost| ("cost_usd", json!(cost)));
        tokens.into_iter().chain(cost).collect()
    }

    pub(super) fn set_status(&mut self, status: &Status) {
        self.set("status", Some(json!(status.as_str())));
        self.status = Some(status.clone());
    }

    /// Pause, close, or take up again; nothing where the session has the status already.
    pub(super) fn change_status(&mut self, it: &entry::Status, at: Timestamp) {
        let status = Status::parse(&it.status);
        if self.status.as_ref() == Some(&status) {
            return;
        }
        if status == Status::Active {
            self.keep("ended", None);
            self.set_status(&status);
            return;
        }
        if let Some(reason) = it.reason.as_deref().map(sanitise).filter(|reason| !reason.trim().is_empty()) {
            let mut title = status.as_str().to_owned();
            title[..1].make_ascii_uppercase();
            let callout = Callout { body: reason.trim().to_owned(), ..item::callout("summary", title, it.at) };
            self.put(Item::Callout(callout));
        }
        self.flush();
        self.write_usage(true);
        self.totals();
        if status == Status::Paused {
            self.set_resume_point();
        } else {
            self.keep("ended", Some(json!(time::format(at))));
        }
        self.set_status(&status);
    }

    fn set_resume_point(&mut self) {
        let Some(phase) = self.phase.as_mut() else { return };
        let id = phase.id.clone();
        if !std::mem::replace(&mut phase.written, true) {
            self.ops.push(Op::Identify { phase: id.clone(), time: None });
        }
        self.keep("resume_point", Some(json!(id)));
    }
}
