//! One session of the window while it is read: its own row, and each message to its events.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::said;
use crate::call::open::Calls;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::call::touched::changed;
use crate::file::document::moment;
use crate::file::jsonl::{State, count, list, word};
use crate::file::value::{self, filled};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use crate::wrapper;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, SubagentRun, Usage};

/// The host's words for a model that it chooses by itself.
const NO_MODEL: &[&str] = &["default", "auto"];

/// A sub-agent: its identity, its type and what it was asked.
type WindowAgent = (StreamKey, Option<String>, Option<String>);

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct WindowSession {
    is_agent: bool,
    place: Place,
    calls: Calls,
    model: String,
    /// Sub-agents by the call that started each.
    agents: HashMap<String, WindowAgent>,
}

impl WindowSession {
    pub(super) fn new(is_agent: bool, agents: HashMap<String, WindowAgent>) -> Self {
        Self { is_agent, agents, ..Self::default() }
    }
}

impl State for WindowSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        word(record, "/bubbleId")
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        let started = || moment(record.get("timingInfo")?, &["clientStartTime", "clientRpcSendTime"]);
        moment(record, &["createdAt"]).or_else(started)
    }

    fn waits(&self) -> bool {
        false
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if record.get("composerId").is_some() {
            self.head(&record, out);
            return Fate::Shown;
        }
        match record.get("type").and_then(Value::as_u64) {
            Some(1) => self.user(&record, out),
            Some(2) => self.agent(&record, out),
            Some(other) => Fate::Skipped(unknown("unknown message type", &other.to_string())),
            None => Fate::Skipped("message that is not there"),
        }
    }
}

impl WindowSession {
    /// What is said of the session as a whole; it may be another the next time.
    fn head(&mut self, row: &Value, out: &mut Out<'_>) {
        let places =
            ["/workspaceIdentifier/uri/fsPath", "/workspaceIdentifier/uri/path", "/trackedGitRepos/0/repoPath"];
        let folder = places.iter().map(|place| word(row, place)).find(|folder| !folder.is_empty()).unwrap_or_default();
        out.folder(&mut self.place, folder);
        out.title(filled(row, "name"));
        self.model_is(word(row, "/modelConfig/modelName"), out);
        let cents = |used: &Value| used.get("costInCents").and_then(Value::as_f64).filter(|cents| *cents > 0.0);
        let used = row.get("usageData").and_then(Value::as_object);
        let cents: f64 = used.into_iter().flat_map(|it| it.values()).filter_map(cents).sum();
        if cents > 0.0 {
            out.quiet(EventKind::Meta(SessionFact::TotalCost(cents / 100.0)));
        }
    }

    fn model_is(&mut self, model: &str, out: &mut Out<'_>) {
        if !model.is_empty() && !NO_MODEL.contains(&model) && model != self.model {
            model.clone_into(&mut self.model);
            out.model(Some(model));
        }
    }

    fn user(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        self.model_is(word(record, "/modelInfo/modelName"), out);
        let text = word(record, "/text");
        if wrapper::means("cursor", text).is_some() {
            return Fate::Skipped("notice of the host");
        }
        let images = ["/images", "/context/selectedImages"].into_iter().flat_map(|place| list(record, place));
        let attachments: Vec<_> = images.map(|_| Attachment { media_type: "image".into(), bytes: 0 }).collect();
        let words = said::words(text).unwrap_or_default();
        if words.is_empty() && attachments.is_empty() {
            return Fate::Skipped("empty message");
        }
        self.calls.begin_turn();
        let origin = if self.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
        out.emit(EventKind::Prompt(Prompt { text: words, origin, attachments }));
        Fate::Shown
    }

    fn agent(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        self.model_is(word(record, "/modelInfo/modelName"), out);
        let usage = Usage {
            input: count(record, "/tokenCount/inputTokens"),
            output: count(record, "/tokenCount/outputTokens"),
            ..Usage::default()
        };
        if usage != Usage::default() {
            let model = if self.model.is_empty() { "unknown" } else { self.model.as_str() };
            let message = word(record, "/bubbleId").to_owned().into();
            out.emit(EventKind::Usage { message, model: model.to_owned().into(), usage });
        }
        if let Some(text) = filled(&record["thinking"], "text") {
            out.emit(EventKind::Thinking(text.into()));
        }
        let text = said::prose(word(record, "/text"));
        if !text.is_empty() {
            out.emit(EventKind::Reply(text.into()));
        }
        let failure = ["/errorDetails/message", "/errorDetails/error"].iter().map(|place| word(record, place));
        if let Some(text) = failure.into_iter().find(|text| !text.is_empty()) {
            out.emit(EventKind::ApiError(text.into()));
        }
        if let Some(call) = record.get("toolFormerData").filter(|call| call.is_object()) {
            self.call(call, out);
        }
        out.fate(None)
    }

    /// A call with its answer.
    fn call(&mut self, call: &Value, out: &mut Out<'_>) {
        let tool = filled(call, "name").unwrap_or("tool");
        let id = word(call, "/toolCallId");
        let mut input = ["rawArgs", "params"].iter().find_map(|key| arguments(call.get(*key)?)).unwrap_or_default();
        if let [before, after] = list(call, "/texts")
            && input.is_object()
            && input.get("old_string").is_none()
        {
            let (before, after) = changed(before.as_str().unwrap_or_default(), after.as_str().unwrap_or_default());
            (input["old_string"], input["new_string"]) = (before.into(), after.into());
        }
        task_list::tell(tool, &input, out);
        let id = tools::call(&mut self.calls, &self.place, id, tool, input, out);
        let status = word(call, "/status");
        let result = call.get("result").map(|result| arguments(result).unwrap_or_else(|| result.clone()));
        let result = result.unwrap_or_default();
        let error =
            call.get("error").map(|error| arguments(error).unwrap_or_else(|| error.clone())).unwrap_or_default();
        let exit = result.get("exitCode").or_else(|| result.get("exit_code")).and_then(Value::as_i64);
        let exit = exit.and_then(|code| i32::try_from(code).ok()).filter(|code| *code != 0);
        let denied = word(call, "/userDecision") == "rejected" || status == "rejected" || result["rejected"] == true;
        let failed = !denied && (matches!(status, "error" | "failed") || exit.is_some() || said_in(&error).is_some());
        if status.is_empty() || matches!(status, "cancelled" | "canceled") {
            out.emit(EventKind::Interrupt { call: Some(id.into()) });
            return;
        }
        let Some(open) = self.calls.close(&id, ["", ""]) else { return };
        let output = said_in(&error).or_else(|| said_in(&result)).unwrap_or_default();
        let subagent = self.agents.remove(word(call, "/toolCallId")).map(|(stream, agent, task)| SubagentRun {
            stream: Some(stream),
            agent: agent.map(Cow::Owned),
            model: None,
            task: task.map(Cow::Owned),
            background: false,
        });
        let answer = Answer { output, failed, denied, exit, subagent, ..Answer::default() };
        tools::answer(&open, answer, &self.place, out);
    }
}

/// An object that stands there as it is or as text.
fn arguments(value: &Value) -> Option<Value> {
    let read = value.as_str().and_then(|text| value::read(text.as_bytes()));
    read.or_else(|| Some(value.clone())).filter(|value| value.as_object().is_some_and(|it| !it.is_empty()))
}

/// What an answer or an error says.
fn said_in(result: &Value) -> Option<Cow<'static, str>> {
    const NAMES: [&str; 7] =
        ["output", "contents", "content", "text", "message", "clientVisibleErrorMessage", "modelVisibleErrorMessage"];
    let text = match result {
        Value::Object(_) => {
            let word = NAMES.iter().find_map(|key| filled(result, key)).map(str::to_owned);
            let error = || result.get("error").and_then(said_in).map(Cow::into_owned);
            word.or_else(error).unwrap_or_else(|| result.to_string())
        }
        Value::String(text) => text.clone(),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty() && text != "{}").map(Cow::Owned)
}
