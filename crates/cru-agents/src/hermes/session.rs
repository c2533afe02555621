//! One session while it is read: its own row, and each message to its events.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::open::Calls;
use crate::call::started::StartedAgents;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::document::{count, dollars, moment};
use crate::file::jsonl::{State, list, word};
use crate::file::value::{self, filled};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use crate::wrapper::{self, Means};
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, SubagentRun, Usage};

/// Whose wrappers are taken off.
const AGENT: &str = "hermes";

/// How content that is a list begins in the database.
const LIST: &str = "\u{0}json:";

/// How the host begins a prompt that a person gave with a skill, and what stands before their own words.
const SKILL: [&str; 2] = ["[SYSTEM: The user has invoked the \"", "[IMPORTANT: The user has invoked the \""];
const INSTRUCTION: &str = "The user has provided the following instruction alongside the skill invocation: ";

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct HermesSession {
    is_agent: bool,
    place: Place,
    calls: Calls,
    /// Sub-agents whose call was not met yet, and those of open calls, by the id of the call.
    started: StartedAgents,
    runs: HashMap<String, SubagentRun<'static>>,
    /// What each model took, as rows.
    used: Vec<Value>,
}

impl HermesSession {
    pub(super) fn new(is_agent: bool, started: StartedAgents, used: Vec<Value>) -> Self {
        Self { is_agent, started, used, ..Self::default() }
    }
}

impl State for HermesSession {
    fn id<'v>(&self, _: &'v Value) -> &'v str {
        ""
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        moment(record, &["timestamp", "started_at", "session_start"])
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        let is = |key: &str, wanted: u64| record.get(key).and_then(Value::as_u64) == Some(wanted);
        if is("active", 0) && !is("compacted", 1) {
            return Fate::Skipped("message that was taken back");
        }
        match word(&record, "/role") {
            "" if record.get("role").is_none() => {
                self.head(&record, out);
                Fate::Shown
            }
            "session_meta" => {
                self.head(&record, out);
                Fate::Shown
            }
            "user" => self.user(&record, out),
            "assistant" => self.assistant(&record, out),
            "tool" => self.answer(&record, out),
            "system" => Fate::Skipped("system prompt"),
            role => Fate::Skipped(unknown("unknown role", role)),
        }
    }
}

/// The words of a message, and the pictures that were sent along.
fn said(record: &Value) -> (Cow<'_, str>, Vec<Attachment<'static>>) {
    let text = word(record, "/content");
    let parts = text.strip_prefix(LIST).and_then(|list| value::read(list.as_bytes()));
    let parts = parts.as_ref().or_else(|| record.get("content")).and_then(Value::as_array);
    let Some(parts) = parts else { return (Cow::Borrowed(text), Vec::new()) };
    let words: Vec<&str> = parts.iter().filter_map(|part| filled(part, "text")).collect();
    let is_image = |part: &&Value| word(part, "/type").contains("image");
    let images = parts.iter().filter(is_image).map(|part| {
        let url = word(part, "/image_url/url");
        let (media, data) =
            url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).unwrap_or(("image", ""));
        Attachment { media_type: media.to_owned().into(), bytes: (data.len() as u64).saturating_mul(3) / 4 }
    });
    (Cow::Owned(words.join("\n\n")), images.collect())
}

fn tokens(row: &Value) -> Usage {
    let of = |name: &str| count(row, &[name]).unwrap_or(0);
    Usage {
        input: of("input_tokens"),
        output: of("output_tokens"),
        cache_read: of("cache_read_tokens"),
        cache_write: of("cache_write_tokens"),
        ..Usage::default()
    }
}

impl HermesSession {
    /// What is said of the session as a whole; it may be another the next time.
    fn head(&mut self, row: &Value, out: &mut Out<'_>) {
        out.folder(&mut self.place, word(row, "/cwd"));
        if let Some(branch) = filled(row, "git_branch") {
            out.quiet(EventKind::Meta(SessionFact::Branch(branch.into())));
        }
        out.title(filled(row, "title"));
        out.model(filled(row, "model"));
        let model = filled(row, "model").unwrap_or("unknown");
        if let Some(source) = filled(row, "source").or_else(|| filled(row, "platform")) {
            let value = json!({ "source": source });
            out.quiet(EventKind::Meta(SessionFact::Property { key: AGENT.into(), value }));
        }
        let used = std::mem::take(&mut self.used);
        let rows = if used.is_empty() { std::slice::from_ref(row) } else { &used[..] };
        let mut sums: Vec<(&str, Usage)> = Vec::new();
        for row in rows {
            let model = filled(row, "model").unwrap_or(model);
            match sums.iter_mut().find(|(known, _)| *known == model) {
                Some((_, sum)) => sum.add(tokens(row)),
                None => sums.push((model, tokens(row))),
            }
        }
        for (model, usage) in sums.into_iter().filter(|(_, usage)| *usage != Usage::default()) {
            let model = model.to_owned();
            out.quiet(EventKind::Usage { message: model.clone().into(), model: model.into(), usage });
        }
        let cost = dollars(row, &["actual_cost_usd", "estimated_cost_usd"]);
        let of_models = || rows.iter().filter_map(|row| dollars(row, &["actual_cost_usd", "estimated_cost_usd"])).sum();
        if let Some(cost) = cost.or_else(|| Some(of_models()).filter(|cost| *cost > 0.0)) {
            out.quiet(EventKind::Meta(SessionFact::TotalCost(cost)));
        }
    }

    fn user(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let (text, attachments) = said(record);
        match wrapper::means(AGENT, &text) {
            Some(Means::Summary) => return compaction(&text, out),
            Some(_) => return Fate::Skipped("words of the host"),
            None => {}
        }
        let (mut origin, mut words) = (PromptOrigin::Typed, wrapper::own_words(AGENT, &text));
        if let Some(skill) = SKILL.iter().find_map(|head| text.strip_prefix(head)) {
            let name = skill.split('"').next().unwrap_or_default();
            let asked = skill.split_once(INSTRUCTION).map_or("", |(_, rest)| rest);
            let asked = asked.split("\n\n[Runtime note:").next().unwrap_or_default();
            (origin, words) = (PromptOrigin::Command, format!("/{name} {}", asked.trim()).trim().to_owned().into());
        }
        if words.trim().is_empty() && attachments.is_empty() {
            return Fate::Skipped("empty message");
        }
        self.calls.begin_turn();
        let origin = if self.is_agent { PromptOrigin::Task } else { origin };
        out.emit(EventKind::Prompt(Prompt { text: words.trim().into(), origin, attachments }));
        Fate::Shown
    }

    fn assistant(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        if let Some(text) = ["reasoning", "reasoning_content"].iter().find_map(|key| filled(record, key)) {
            out.emit(EventKind::Thinking(text.into()));
        }
        let (text, _) = said(record);
        if wrapper::means(AGENT, &text) == Some(Means::Summary) {
            return compaction(&text, out);
        }
        if !text.trim().is_empty() {
            out.emit(EventKind::Reply(text.trim().into()));
        }
        let read = filled(record, "tool_calls").and_then(|calls| value::read(calls.as_bytes()));
        let calls = read.as_ref().and_then(Value::as_array).map_or_else(|| list(record, "/tool_calls"), Vec::as_slice);
        for call in calls {
            self.call(call, out);
        }
        out.fate(None)
    }

    fn call(&mut self, call: &Value, out: &mut Out<'_>) {
        let tool = [word(call, "/function/name"), word(call, "/name")].into_iter().find(|name| !name.is_empty());
        let given = ["/function/arguments", "/arguments", "/input"].iter().find_map(|place| call.pointer(place));
        let given = given.cloned().unwrap_or_default();
        let input = given.as_str().and_then(|text| value::read(text.as_bytes())).unwrap_or(given);
        let tool = tool.unwrap_or("tool");
        let id = word(call, "/id");
        task_list::tell(tool, &input, out);
        if let Some(run) = self.started.run(tool, &input) {
            self.runs.insert(id.to_owned(), run);
        }
        tools::call(&mut self.calls, &self.place, id, tool, input, out);
    }

    fn answer(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let id = word(record, "/tool_call_id");
        let Some(call) = self.calls.close(id, ["", ""]) else { return Fate::Skipped("answer without its call") };
        let (text, attachments) = said(record);
        let result = value::read(text.as_bytes()).filter(Value::is_object).unwrap_or_default();
        let exit = result.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
        let error = filled(&result, "error");
        let failed = error.is_some() || result["success"] == false || text.starts_with("Error executing tool");
        let failed = failed || exit.is_some_and(|code| code != 0);
        let words = ["output", "content", "result", "message", "diff"].iter().find_map(|key| filled(&result, key));
        let words = words.filter(|_| !failed || error.is_none()).or(error);
        // What a shell printed may be nothing.
        let is_silent = words.is_none() && result.get("output").is_some_and(Value::is_string);
        let output = if is_silent { "" } else { words.unwrap_or(&text) };
        let answer = Answer {
            output: output.into(),
            diff: filled(&result, "diff").unwrap_or_default(),
            failed,
            exit: exit.filter(|code| *code != 0),
            attachments,
            subagent: self.runs.remove(id),
            ..Answer::default()
        };
        tools::answer(&call, answer, &self.place, out);
        Fate::Shown
    }
}

/// The summary after a compaction, which stands in the place of a message.
fn compaction(text: &str, out: &mut Out<'_>) -> Fate {
    let summary = text.split_once(']').map_or(text, |(_, rest)| rest).trim_start_matches(':').trim();
    out.emit(EventKind::Compaction { trigger: None, tokens_before: None, summary: Some(summary.to_owned().into()) });
    Fate::Shown
}
