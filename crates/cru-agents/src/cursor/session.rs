//! One transcript while it is read: each message to its events.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::chat::Chat;
use super::{said, stamp};
use crate::call::open::Calls;
use crate::call::started::StartedAgents;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::jsonl::{State, list, word};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_session::event::{Attachment, CallResult, EventKind, Prompt, PromptOrigin, SubagentRun};

/// Nothing that says anything.
const EMPTY: &str = "empty message";

/// What stands where the host keeps no answer.
const UNKNOWN: &str = "answer not recorded";

/// Calls that may still get an answer; more of them are not searched.
const MOST: usize = 64;

/// The state of one transcript.
#[derive(Debug, Default)]
pub(super) struct CursorSession {
    is_agent: bool,
    /// Not told yet.
    chat: Option<Chat>,
    place: Place,
    calls: Calls,
    /// Calls since the last words of a person, with their tools.
    open: Vec<(String, String)>,
    /// Sub-agents whose call was not met yet.
    started: StartedAgents,
    /// Those of open calls, by the id of the call.
    runs: HashMap<String, SubagentRun<'static>>,
}

impl CursorSession {
    /// A transcript of a session or of a sub-agent.
    pub(super) fn new(is_agent: bool, chat: Option<Chat>, started: StartedAgents) -> Self {
        Self { is_agent, chat, started, ..Self::default() }
    }
}

impl State for CursorSession {
    fn id<'v>(&self, _: &'v Value) -> &'v str {
        ""
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        let told = || match word(record, "/role") {
            "user" => blocks(record).iter().find_map(|block| stamp::time(word(block, "/text"))),
            _ => None,
        };
        word(record, "/timestamp").parse().ok().or_else(told)
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if let Some(chat) = self.chat.take() {
            chat.tell(out);
        }
        match (word(&record, "/role"), word(&record, "/type")) {
            ("user", _) => self.user(&record, out),
            ("assistant", _) => self.assistant(record, out),
            ("system", _) => Fate::Skipped("system prompt"),
            ("tool", _) => self.answers(&record, out),
            ("", "turn_ended") => ended(&record, out),
            ("", "") => Fate::Skipped("no record type"),
            ("", kind) => Fate::Skipped(unknown("unknown record type", kind)),
            (role, _) => Fate::Skipped(unknown("unknown role", role)),
        }
    }

    /// Most calls never get an answer.
    fn waits(&self) -> bool {
        false
    }
}

/// How a turn ended.
fn ended(record: &Value, out: &mut Out<'_>) -> Fate {
    match word(record, "/status") {
        "error" | "failed" => {
            let told = ["/error/message", "/error", "/message"].iter().map(|place| word(record, place));
            let text = told.into_iter().find(|text| !text.is_empty()).unwrap_or("The turn ended with an error.");
            out.emit(EventKind::ApiError(text.into()));
            Fate::Shown
        }
        "aborted" | "cancelled" | "canceled" | "interrupted" => {
            out.emit(EventKind::Interrupt { call: None });
            Fate::Shown
        }
        _ => Fate::Skipped("end of a turn"),
    }
}

/// The blocks of a message: words are one.
fn blocks(record: &Value) -> Cow<'_, [Value]> {
    match record.pointer("/message/content") {
        Some(Value::String(text)) => Cow::Owned(vec![serde_json::json!({"type": "text", "text": text})]),
        _ => Cow::Borrowed(list(record, "/message/content")),
    }
}

/// What a message asks, without what the host put around it.
pub(super) fn asked(record: &Value) -> Option<String> {
    let blocks = blocks(record);
    let words = blocks.iter().find_map(|block| said::words(word(block, "/text")).map(Cow::into_owned));
    words.filter(|words| !words.trim().is_empty())
}

impl CursorSession {
    fn user(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let blocks = blocks(record);
        let mut words = String::new();
        let mut attachments = Vec::new();
        let (mut of_host, mut strange) = (false, None);
        for block in blocks.iter() {
            match word(block, "/type") {
                "text" => {
                    let said = said::words(word(block, "/text"));
                    of_host |= said.is_none();
                    if let Some(said) = said {
                        words.push_str(if words.is_empty() { "" } else { "\n\n" });
                        words.push_str(&said);
                    }
                }
                "image" => attachments.push(image(block)),
                "tool-result" | "tool_result" => {}
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        self.answers(record, out);
        if words.trim().is_empty() && attachments.is_empty() {
            return match (strange, out.told, of_host) {
                (Some(reason), ..) => Fate::Skipped(reason),
                (_, true, _) => Fate::Shown,
                (_, _, true) => Fate::Skipped("context of the host"),
                _ => Fate::Skipped(EMPTY),
            };
        }
        let origin = if self.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
        self.calls.begin_turn();
        self.open.clear();
        out.emit(EventKind::Prompt(Prompt { text: words.into(), origin, attachments }));
        strange.map_or(Fate::Shown, Fate::Skipped)
    }

    fn assistant(&mut self, mut record: Value, out: &mut Out<'_>) -> Fate {
        let mut blocks = match record.pointer_mut("/message/content").map(Value::take) {
            Some(Value::Array(blocks)) => blocks,
            Some(text @ Value::String(_)) => vec![serde_json::json!({"type": "text", "text": text})],
            _ => Vec::new(),
        };
        let mut strange = None;
        for block in &mut blocks {
            match word(block, "/type") {
                "text" => {
                    let text = said::prose(word(block, "/text"));
                    if !text.is_empty() {
                        out.emit(EventKind::Reply(text.into()));
                    }
                }
                "thinking" | "reasoning" => {
                    let text = ["/thinking", "/text"].iter().map(|place| word(block, place)).find(|it| !it.is_empty());
                    if let Some(text) = text.map(said::prose).filter(|text| !text.is_empty()) {
                        out.emit(EventKind::Thinking(text.into()));
                    }
                }
                "tool_use" | "tool_call" | "tool-call" => self.call(block, out),
                // Blocks of a later version that hold words still say them.
                _ => match Some(word(block, "/text").trim()).filter(|text| !text.is_empty()) {
                    Some(text) => out.emit(EventKind::Reply(text.into())),
                    None => strange = Some(unknown("unknown block", word(block, "/type"))),
                },
            }
        }
        match (strange, out.told) {
            (Some(reason), _) => Fate::Skipped(reason),
            (None, true) => Fate::Shown,
            (None, false) => Fate::Skipped(EMPTY),
        }
    }

    fn call(&mut self, block: &mut Value, out: &mut Out<'_>) {
        let name = ["/name", "/toolName"].iter().map(|place| word(block, place)).find(|name| !name.is_empty());
        // `Shell` is what a person ran.
        let tool = match name.unwrap_or("tool") {
            "Shell" => "shell".to_owned(),
            name => name.to_owned(),
        };
        let host_id = ["/id", "/toolCallId"].iter().map(|place| word(block, place)).find(|id| !id.is_empty());
        let host_id = host_id.unwrap_or("").to_owned();
        let key = ["input", "args", "arguments"].into_iter().find(|key| block.get(*key).is_some());
        let input = key.and_then(|key| block.get_mut(key)).map(Value::take).unwrap_or_default();
        if matches!(tool.as_str(), "TodoWrite" | "todo_write") {
            Self::tasks(&input, out);
        }
        // Without ids an answer finds its call by the name of the tool.
        let own = if host_id.is_empty() { format!("{tool}#{}.{}", out.record, self.open.len()) } else { host_id };
        let subagent = self.started.run(&tool, &input);
        let id = tools::call(&mut self.calls, &self.place, &own, &tool, input, out);
        if let Some(run) = &subagent {
            self.runs.insert(own.clone(), run.clone());
        }
        // Until an answer comes, none is known; one that comes takes the place of this.
        let brief = Some(Cow::Borrowed(UNKNOWN));
        out.emit(EventKind::Result(CallResult { call: id.into(), brief, subagent, ..CallResult::default() }));
        if self.open.len() < MOST {
            self.open.push((own, tool));
        }
    }

    fn tasks(input: &Value, out: &mut Out<'_>) {
        let rows = task_list::of_call(input);
        if input.get("merge") == Some(&Value::Bool(true)) {
            for row in rows {
                out.emit(EventKind::Task(row));
            }
        } else if !rows.is_empty() {
            out.emit(EventKind::Tasks(rows));
        }
    }

    /// Answers in a message, where the version of the host keeps them.
    fn answers(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let blocks = blocks(record);
        for block in blocks.iter().filter(|block| matches!(word(block, "/type"), "tool-result" | "tool_result")) {
            let ids = ["/tool_use_id", "/toolCallId"].iter().map(|place| word(block, place)).find(|id| !id.is_empty());
            let tool = ["/name", "/toolName"].iter().map(|place| word(block, place)).find(|name| !name.is_empty());
            let tool = if tool == Some("Shell") { Some("shell") } else { tool };
            let is = |(id, name): &(String, String)| match ids {
                Some(wanted) => id == wanted,
                None => tool.is_none_or(|tool| name == tool),
            };
            let Some(at) = self.open.iter().position(is) else { continue };
            let (id, _) = self.open.remove(at);
            let Some(call) = self.calls.close(&id, ["", ""]) else { continue };
            let failed = ["/is_error", "/isError"].iter().any(|key| block.pointer(key) == Some(&Value::Bool(true)));
            let subagent = self.runs.remove(&id);
            let answer = Answer { output: flat(block).into(), failed, subagent, ..Answer::default() };
            tools::answer(&call, answer, &self.place, out);
        }
        if out.told { Fate::Shown } else { Fate::Skipped("answer without its call") }
    }
}

/// The text of an answer.
fn flat(block: &Value) -> String {
    let text = ["/content", "/result", "/output"].iter().map(|place| word(block, place)).find(|text| !text.is_empty());
    if let Some(text) = text {
        return text.to_owned();
    }
    list(block, "/content").iter().map(|part| word(part, "/text")).collect::<Vec<_>>().join("\n")
}

/// A picture that was sent along.
fn image(block: &Value) -> Attachment<'static> {
    let media = ["/mimeType", "/media_type", "/source/media_type"].iter().map(|place| word(block, place));
    let media = media.into_iter().find(|media| !media.is_empty()).unwrap_or("image").to_owned();
    let data = ["/data", "/source/data"].iter().map(|place| word(block, place).len()).max().unwrap_or(0);
    Attachment { media_type: media.into(), bytes: (data as u64).saturating_mul(3) / 4 }
}
