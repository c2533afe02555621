//! One stream while it is read: each record to its events.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::tokens::CopilotTokens;
use crate::call::open::OpenCall;
use crate::file::jsonl::State;
use crate::file::value::{count, filled, list, word};
use crate::record::RecordHost;
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::stream::out::{Out, remark};
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank};

/// Where a record has its id and its time.
static HOST: RecordHost = RecordHost { id: "copilot", ids: &["id"], times: &["timestamp"], ..RecordHost::PLAIN };

/// The state of one stream.
#[derive(Debug)]
pub(super) struct CopilotSession {
    pub(super) told: RecordSession,
    /// Calls that were refused, and whether a person did.
    pub(super) denied: BTreeMap<String, bool>,
    /// When a person allowed a call to run.
    pub(super) allowed: HashMap<String, Timestamp>,
    /// Calls that only tell the host what to show.
    pub(super) silent: HashSet<String>,
    /// Types of sub-agents that were started, by their calls.
    pub(super) agents: HashMap<String, String>,
    /// Whether it works on what it was asked.
    works: bool,
    tokens: CopilotTokens,
    /// What a sub-agent was asked, until it is told.
    task: Option<String>,
    /// What is said of the session as a whole, until it is told.
    beside: Value,
}

impl CopilotSession {
    /// A stream; `task` is what a sub-agent was asked, `beside` is said of the session as a whole.
    pub(super) fn new(key: &StreamKey, task: Option<String>, beside: Value) -> Self {
        Self {
            told: RecordSession::new(&HOST, key.clone(), Value::Null),
            denied: BTreeMap::new(),
            allowed: HashMap::new(),
            silent: HashSet::new(),
            agents: HashMap::new(),
            works: key.agent.is_some(),
            tokens: CopilotTokens::default(),
            task: task.filter(|task| !task.trim().is_empty()),
            beside,
        }
    }
}

impl State for CopilotSession {
    fn id(&self, record: &Value) -> String {
        self.told.id(record)
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        self.told.time(record)
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        let beside = self.beside.take();
        self.told.head(&beside, out);
        if let Some(task) = self.task.take() {
            out.prompt(task, PromptOrigin::Task);
            out.told = false;
        }
        let data = &record["data"];
        if matches!(word(&record, "/type"), "abort" | "session.shutdown" | "user.message") {
            self.end_refused(out);
        }
        let strange = match word(&record, "/type") {
            "session.start" | "session.resume" | "session.context_changed" => self.context(data, out),
            "session.model_change" => {
                self.sees_model(word(data, "/newModel"), out);
                Some("choice of a model")
            }
            "session.title_changed" => filled(data, "title").and_then(|text| {
                out.emit(EventKind::Meta(SessionFact::Title { rank: TitleRank::Host, text: text.into() }));
                None
            }),
            "session.error" if !self.works => filled(data, "message").and_then(|text| {
                out.emit(EventKind::Remark(remark("error", "error of the host", text)));
                None
            }),
            "session.error" | "model.call_failure" => {
                filled(data, "message").and_then(|text| self.told.fail(text, out))
            }
            "session.compaction_complete" if data["success"] == false => Some("compaction that failed"),
            "session.compaction_complete" => {
                let before = Some(count(data, "/preCompactionTokens"));
                self.told.compact(before, word(data, "/summaryContent"), out)
            }
            "session.shutdown" => self.shutdown(&record, out),
            "session.task_complete" => {
                self.told.reply(word(data, "/summary").trim(), out);
                None
            }
            "user.message" => self.user(data, out),
            "assistant.message" => self.assistant(data, out),
            "assistant.reasoning" => {
                self.told.think(word(data, "/content").trim(), out);
                None
            }
            "tool.execution_start" => self.started(record, out),
            "tool.user_requested" => self.requested(data, out),
            "tool.execution_complete" => self.completed(&record, out),
            "permission.completed" => self.permission(data, out),
            "abort" => {
                self.works = false;
                self.told.stop(out)
            }
            "subagent.started" => {
                self.agents.insert(word(data, "/toolCallId").to_owned(), word(data, "/agentName").to_owned());
                out.told = true;
                None
            }
            "" => Some("no record type"),
            kind => Some(self.told.left_out("unknown record type", kind)),
        };
        out.left(strange)
    }

    fn waits(&self) -> bool {
        self.told.waits()
    }
}

impl CopilotSession {
    fn sees_model(&mut self, model: &str, out: &mut Out<'_>) {
        self.told.head(&json!({ "model": model }), out);
    }

    /// Where it runs.
    fn context(&mut self, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.sees_model(word(data, "/selectedModel"), out);
        let of = |key: &str| filled(&data["context"], key).or_else(|| filled(data, key));
        let head = json!({
            "cwd": of("cwd"), "branch": of("branch"), "commit": of("headCommit"), "version": of("copilotVersion"),
        });
        self.told.head(&head, out);
        out.told = true;
        None
    }

    fn shutdown(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.tokens.shutdown(record, out);
        let is_error = word(record, "/data/shutdownType") == "error";
        match filled(&record["data"], "errorReason").filter(|_| is_error) {
            Some(reason) => self.told.fail(reason, out),
            None => Some(self.told.left_out("end of a session", word(record, "/type"))),
        }
    }

    fn user(&mut self, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let source = word(data, "/source");
        if !matches!(source, "" | "user") && !source.starts_with("command") {
            return Some(if source.starts_with("skill") { "text of a skill" } else { HOST_WORDS });
        }
        let text = word(data, "/content");
        let attachments: Vec<_> = list(data, "/attachments").iter().filter_map(attachment).collect();
        if text.trim().is_empty() && attachments.is_empty() {
            return None;
        }
        let origin = match (self.told.is_agent, text.starts_with('/') && source.starts_with("command")) {
            (true, _) => PromptOrigin::Task,
            (_, true) => PromptOrigin::Command,
            _ => PromptOrigin::Typed,
        };
        self.told.calls.begin_turn();
        self.works = true;
        out.emit(EventKind::Prompt(Prompt { text: text.into(), origin, attachments }));
        None
    }

    fn assistant(&mut self, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let stated = word(data, "/model");
        self.sees_model(stated, out);
        let model = if self.told.model.is_empty() { "unknown" } else { &self.told.model };
        self.tokens.message(model, !stated.is_empty(), count(data, "/outputTokens"), out);
        self.told.think(word(data, "/reasoningText").trim(), out);
        self.told.reply(word(data, "/content").trim(), out);
        // Each call is told again when it runs.
        self.works = !list(data, "/toolRequests").is_empty();
        self.works.then_some("message of calls alone")
    }

    /// A person runs a command in the host.
    fn requested(&mut self, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let Some(command) = filled(&data["arguments"], "command") else { return Some("question of the host") };
        out.prompt(command, PromptOrigin::Shell);
        let host_id = word(data, "/toolCallId");
        let id = self.told.calls.name(host_id, out.record);
        self.told.calls.open(OpenCall::new(id.clone(), host_id, "Shell", ""));
        out.call(&id, "Shell", command, json!({ "command": command }));
        None
    }
}

/// Something sent along: a picture, a file.
fn attachment(sent: &Value) -> Option<Attachment<'_>> {
    let kind = word(sent, "/mimeType");
    let path = filled(sent, ["/path", "/displayName"]);
    let shown = if kind.is_empty() { path? } else { kind };
    Some(Attachment { media_type: shown.into(), bytes: count(sent, "/size") })
}
