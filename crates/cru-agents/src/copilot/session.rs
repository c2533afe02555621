//! One stream while it is read: each record to its events.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use super::tokens::CopilotTokens;
use crate::call::open::Calls;
use crate::file::jsonl::{State, count, list, word};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_session::event::{Attachment, Call, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank};

/// Why a record is left out that only says what the host does.
const BOOKKEEPING: &str = "bookkeeping of the host";

/// Nothing that says anything.
const EMPTY: &str = "empty message";

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct CopilotSession {
    pub(super) key: StreamKey,
    pub(super) place: Place,
    pub(super) calls: Calls,
    /// Calls that were refused, and whether a person did.
    pub(super) denied: HashMap<String, bool>,
    /// When a person allowed a call to run.
    pub(super) allowed: HashMap<String, Timestamp>,
    /// Calls that only tell the host what to show.
    pub(super) silent: HashSet<String>,
    /// Types of sub-agents that were started, by their calls.
    pub(super) agents: HashMap<String, String>,
    tokens: CopilotTokens,
    model: String,
    /// What a sub-agent was asked, until it is told.
    task: Option<String>,
}

impl CopilotSession {
    /// A stream; `task` is what a sub-agent was asked.
    pub(super) fn new(key: &StreamKey, task: Option<String>) -> Self {
        Self { key: key.clone(), task: task.filter(|task| !task.trim().is_empty()), ..Self::default() }
    }
}

impl State for CopilotSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        Some(word(record, "/id")).filter(|id| *id != "REDACTED").unwrap_or("")
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        word(record, "/timestamp").parse().ok()
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if let Some(task) = self.task.take() {
            let prompt = Prompt { text: task.into(), origin: PromptOrigin::Task, attachments: Vec::new() };
            out.quiet(EventKind::Prompt(prompt));
        }
        match word(&record, "/type") {
            "session.start" | "session.resume" | "session.context_changed" => self.context(&record, out),
            "session.model_change" => {
                self.sees_model(word(&record, "/data/newModel"));
                Fate::Skipped("choice of a model")
            }
            "session.title_changed" => told(word(&record, "/data/title"), out, |text| {
                EventKind::Meta(SessionFact::Title { rank: TitleRank::Host, text })
            }),
            "session.error" | "model.call_failure" => told(word(&record, "/data/message"), out, EventKind::ApiError),
            "session.compaction_complete" => Self::compaction(&record, out),
            "session.shutdown" => self.shutdown(&record, out),
            "session.task_complete" => told(word(&record, "/data/summary"), out, EventKind::Reply),
            "user.message" => self.user(&record, out),
            "assistant.message" => self.assistant(&record, out),
            "assistant.reasoning" => told(word(&record, "/data/content"), out, EventKind::Thinking),
            "tool.execution_start" => self.started(record, out),
            "tool.user_requested" => self.requested(&record, out),
            "tool.execution_complete" => self.completed(&record, out),
            "permission.completed" => self.permission(&record, out),
            "abort" => {
                out.emit(EventKind::Interrupt { call: None });
                Fate::Shown
            }
            "subagent.started" => {
                let name = word(&record, "/data/agentName").to_owned();
                self.agents.insert(word(&record, "/data/toolCallId").to_owned(), name);
                Fate::Shown
            }
            "system.message" => Fate::Skipped("system prompt"),
            "system.notification" => Fate::Skipped("notice of the host"),
            "skill.invoked" => Fate::Skipped("text of a skill"),
            kind => Fate::Skipped(reason(kind)),
        }
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }
}

/// Why a record of a kind is left out that no note shows.
fn reason(kind: &str) -> &'static str {
    match kind.split('.').next().unwrap_or("") {
        "hook" => "hook",
        "permission" | "user_input" | "elicitation" | "sampling" | "external_tool" | "command" => {
            "question of the host"
        }
        "subagent" => "end of a sub-agent",
        "tool" if matches!(kind, "tool.execution_progress" | "tool.execution_partial_result") => "progress",
        "assistant" if KNOWN_OF_ASSISTANT.contains(&kind) => BOOKKEEPING,
        "session" if KNOWN_OF_SESSION.contains(&kind) => BOOKKEEPING,
        "pending_messages" | "capabilities" | "mcp" | "exit_plan_mode" | "auto_mode_switch" => BOOKKEEPING,
        "" => "no record type",
        _ => unknown("unknown record type", kind),
    }
}

const KNOWN_OF_ASSISTANT: &[&str] = &[
    "assistant.intent",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning_delta",
    "assistant.streaming_delta",
    "assistant.turn_end",
    "assistant.turn_start",
    // What it says of tokens, the message and the sum at the end say, too.
    "assistant.usage",
];

const KNOWN_OF_SESSION: &[&str] = &[
    "session.background_tasks_changed",
    "session.compaction_start",
    "session.custom_agents_updated",
    "session.extensions_loaded",
    "session.handoff",
    "session.idle",
    "session.info",
    "session.mcp_server_status_changed",
    "session.mcp_servers_loaded",
    "session.mode_changed",
    "session.plan_changed",
    "session.remote_steerable_changed",
    "session.skills_loaded",
    "session.snapshot_rewind",
    "session.tools_updated",
    "session.truncation",
    "session.usage_info",
    "session.warning",
    "session.workspace_file_changed",
];

/// Tells words where there are any.
fn told<'a>(text: &'a str, out: &mut Out<'_>, event: impl FnOnce(Cow<'a, str>) -> EventKind<'a>) -> Fate {
    if text.trim().is_empty() {
        return Fate::Skipped(EMPTY);
    }
    out.emit(event(Cow::Borrowed(text)));
    Fate::Shown
}

impl CopilotSession {
    fn sees_model(&mut self, model: &str) {
        if !model.is_empty() {
            model.clone_into(&mut self.model);
        }
    }

    /// Where it runs.
    fn context(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        self.sees_model(word(record, "/data/selectedModel"));
        let of = |key: &str| {
            let nested = word(record, &format!("/data/context/{key}"));
            if nested.is_empty() { word(record, &format!("/data/{key}")) } else { nested }
        };
        if self.place.see(of("cwd")) {
            let cwd = self.place.tilde(of("cwd"));
            out.quiet(EventKind::Meta(SessionFact::Cwd(cwd)));
        }
        let filled = |key: &str| Some(of(key)).filter(|text| !text.trim().is_empty());
        if let Some(text) = filled("branch") {
            out.quiet(EventKind::Meta(SessionFact::Branch(text.into())));
        }
        if let Some(text) = filled("headCommit") {
            out.quiet(EventKind::Meta(SessionFact::Commit(text.into())));
        }
        if let Some(text) = filled("copilotVersion") {
            out.quiet(EventKind::Meta(SessionFact::HostVersion(text.into())));
        }
        Fate::Shown
    }

    fn compaction(record: &Value, out: &mut Out<'_>) -> Fate {
        if record.pointer("/data/success") == Some(&Value::Bool(false)) {
            return Fate::Skipped("compaction that failed");
        }
        let summary = Some(word(record, "/data/summaryContent")).filter(|text| !text.trim().is_empty());
        out.emit(EventKind::Compaction {
            trigger: None,
            tokens_before: Some(count(record, "/data/preCompactionTokens")).filter(|tokens| *tokens > 0),
            summary: summary.map(Cow::Borrowed),
        });
        Fate::Shown
    }

    fn shutdown(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        self.tokens.shutdown(record, out);
        if word(record, "/data/shutdownType") == "error" {
            return told(word(record, "/data/errorReason"), out, EventKind::ApiError);
        }
        if out.told { Fate::Shown } else { Fate::Skipped(BOOKKEEPING) }
    }

    fn user(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let source = word(record, "/data/source");
        if !matches!(source, "" | "user") && !source.starts_with("command") {
            return Fate::Skipped(if source.starts_with("skill") { "text of a skill" } else { "words of the host" });
        }
        let text = word(record, "/data/content");
        let attachments: Vec<_> = list(record, "/data/attachments").iter().filter_map(attachment).collect();
        if text.trim().is_empty() && attachments.is_empty() {
            return Fate::Skipped(EMPTY);
        }
        let origin = match (self.key.agent.is_some(), text.starts_with('/') && source.starts_with("command")) {
            (true, _) => PromptOrigin::Task,
            (_, true) => PromptOrigin::Command,
            _ => PromptOrigin::Typed,
        };
        self.calls.begin_turn();
        out.emit(EventKind::Prompt(Prompt { text: text.into(), origin, attachments }));
        Fate::Shown
    }

    fn assistant(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let stated = word(record, "/data/model");
        self.sees_model(stated);
        let model = if self.model.is_empty() { "unknown" } else { &self.model };
        self.tokens.message(model, !stated.is_empty(), count(record, "/data/outputTokens"), out);
        for (key, event) in
            [("reasoningText", EventKind::Thinking as fn(_) -> _), ("content", EventKind::Reply as fn(_) -> _)]
        {
            let text = word(record, &format!("/data/{key}"));
            if !text.trim().is_empty() {
                out.emit(event(Cow::Borrowed(text)));
            }
        }
        let calls = !list(record, "/data/toolRequests").is_empty();
        match (out.told, calls) {
            (true, _) => Fate::Shown,
            // Each call is told again when it runs.
            (false, true) => Fate::Skipped("message of calls alone"),
            (false, false) => Fate::Skipped(EMPTY),
        }
    }

    /// A person runs a command in the host.
    fn requested(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        let command = word(record, "/data/arguments/command");
        if command.trim().is_empty() {
            return Fate::Skipped("question of the host");
        }
        let prompt = Prompt { text: command.into(), origin: PromptOrigin::Shell, attachments: Vec::new() };
        out.emit(EventKind::Prompt(prompt));
        let host_id = word(record, "/data/toolCallId");
        let id = self.calls.name(host_id, out.record);
        self.calls.open(crate::call::open::OpenCall::new(id.clone(), host_id, "Shell", ""));
        let input = serde_json::json!({ "command": command });
        out.emit(EventKind::Call(Call { id: id.into(), tool: "Shell".into(), args: command.into(), input }));
        Fate::Shown
    }
}

/// Something sent along: a picture, a file.
fn attachment(sent: &Value) -> Option<Attachment<'_>> {
    let kind = word(sent, "/mimeType");
    let path = ["/path", "/displayName"].iter().map(|key| word(sent, key)).find(|path| !path.is_empty());
    let shown = if kind.is_empty() { path? } else { kind };
    Some(Attachment { media_type: shown.into(), bytes: count(sent, "/size") })
}
