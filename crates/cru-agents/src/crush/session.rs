//! One session while it is read: its own row, and each message to its events.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::call::open::Calls;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::document::{count, dollars, moment};
use crate::file::jsonl::{State, word};
use crate::file::value::{self, filled, flag};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_action::ToolKind;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, SubagentRun};

/// What the host calls a session that has no title yet.
const NO_TITLE: &[&str] = &["New Session", "Untitled Session"];

/// The host's words for a call that a person refused.
const REFUSED: &str = "User denied permission";

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct CrushSession {
    is_agent: bool,
    folder: String,
    place: Place,
    calls: Calls,
    /// Sub-agents by the call that started each, with what they were asked.
    agents: HashMap<String, (StreamKey, Option<String>)>,
    model: String,
}

impl CrushSession {
    pub(super) fn new(is_agent: bool, folder: String, agents: HashMap<String, (StreamKey, Option<String>)>) -> Self {
        Self { is_agent, folder, agents, ..Self::default() }
    }
}

/// The parts of a message.
pub(super) fn parts(record: &Value) -> Vec<Value> {
    let parts = value::read(word(record, "/parts").as_bytes());
    parts.and_then(|parts| parts.as_array().cloned()).unwrap_or_default()
}

impl State for CrushSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        if record.get("parts").is_some() { word(record, "/id") } else { "" }
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        // An answer is there when it is done.
        moment(record, &["finished_at", "created_at"])
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if record.get("role").is_none() {
            self.head(&record, out);
            return Fate::Shown;
        }
        let parts = parts(&record);
        let is_summary = count(&record, &["is_summary_message"]) == Some(1);
        match word(&record, "/role") {
            _ if parts.is_empty() => Fate::Skipped("broken message"),
            "assistant" if is_summary => {
                let summary =
                    parts.iter().find_map(|part| filled(part.get("data")?, "text")).map(|it| Cow::Owned(it.to_owned()));
                out.emit(EventKind::Compaction { trigger: None, tokens_before: None, summary });
                Fate::Shown
            }
            "user" => self.user(&parts, out),
            "assistant" => {
                self.model_is(word(&record, "/model"), out);
                self.assistant(&parts, out)
            }
            "tool" => self.answers(&parts, out),
            "system" => Fate::Skipped("words of the host"),
            role => Fate::Skipped(unknown("unknown role", role)),
        }
    }
}

impl CrushSession {
    /// What is said of the session as a whole; it may be another the next time.
    fn head(&mut self, row: &Value, out: &mut Out<'_>) {
        let folder = std::mem::take(&mut self.folder);
        out.folder(&mut self.place, &folder);
        out.title(filled(row, "title").filter(|title| !NO_TITLE.contains(title)));
        let tokens = ["prompt_tokens", "completion_tokens"].map(|key| count(row, &[key]).unwrap_or(0));
        let tokens = tokens.into_iter().fold(0, u64::saturating_add);
        if tokens > 0 {
            out.quiet(EventKind::Meta(SessionFact::Tokens(tokens)));
        }
        if let Some(cost) = dollars(row, &["cost"]) {
            out.quiet(EventKind::Meta(SessionFact::TotalCost(cost)));
        }
    }

    fn model_is(&mut self, model: &str, out: &mut Out<'_>) {
        if !model.is_empty() && model != self.model {
            model.clone_into(&mut self.model);
            out.model(Some(model));
        }
    }

    fn user(&mut self, parts: &[Value], out: &mut Out<'_>) -> Fate {
        let (mut words, mut attachments, mut strange) = (Vec::new(), Vec::new(), None);
        for part in parts {
            match word(part, "/type") {
                "text" => words.extend(filled(&part["data"], "text")),
                "image_url" => attachments.push(Attachment { media_type: "image".into(), bytes: 0 }),
                "binary" => attachments.push(binary(&part["data"])),
                "shell_command" => self.shell(&part["data"], out),
                "finish" => {}
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        if !words.is_empty() || !attachments.is_empty() {
            self.calls.begin_turn();
            let origin = if self.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
            out.emit(EventKind::Prompt(Prompt { text: words.join("\n\n").into(), origin, attachments }));
        }
        out.fate(strange)
    }

    /// A line that a person had the shell run.
    fn shell(&mut self, data: &Value, out: &mut Out<'_>) {
        let command = word(data, "/command").to_owned();
        out.emit(EventKind::Prompt(Prompt {
            text: command.clone().into(),
            origin: PromptOrigin::Shell,
            attachments: Vec::new(),
        }));
        let input = serde_json::json!({ "command": command });
        // It has no id of the host's.
        let id = format!("shell@{}", out.record);
        tools::call(&mut self.calls, &self.place, &id, "bash", input, out);
        let Some(call) = self.calls.close(&id, ["", ""]) else { return };
        let exit = data.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
        let exit = exit.filter(|code| *code != 0);
        let output = word(data, "/output").into();
        let answer = Answer { output, failed: exit.is_some(), exit, ..Answer::default() };
        tools::answer(&call, answer, &self.place, out);
    }

    fn assistant(&mut self, parts: &[Value], out: &mut Out<'_>) -> Fate {
        let mut strange = None;
        for part in parts {
            let data = &part["data"];
            match word(part, "/type") {
                "text" => {
                    if let Some(text) = filled(data, "text") {
                        out.emit(EventKind::Reply(text.trim().into()));
                    }
                }
                "reasoning" => {
                    if let Some(text) = filled(data, "thinking") {
                        out.emit(EventKind::Thinking(text.into()));
                    }
                }
                "tool_call" => self.call(data, out),
                "tool_result" => strange = self.answer(data, out).or(strange),
                "finish" => ended(data, out),
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        out.fate(strange)
    }

    fn call(&mut self, data: &Value, out: &mut Out<'_>) {
        let tool = filled(data, "name").unwrap_or("tool");
        let given = word(data, "/input");
        let input = value::read(given.as_bytes()).unwrap_or_else(|| given.into());
        task_list::tell(tool, &input, out);
        tools::call(&mut self.calls, &self.place, word(data, "/id"), tool, input, out);
    }

    fn answers(&mut self, parts: &[Value], out: &mut Out<'_>) -> Fate {
        let mut strange = None;
        for part in parts {
            match word(part, "/type") {
                "tool_result" => strange = self.answer(&part["data"], out).or(strange),
                "finish" => {}
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        out.fate(strange)
    }

    /// Why an answer is left out, where it is.
    fn answer(&mut self, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let id = word(data, "/tool_call_id");
        let Some(call) = self.calls.close(id, ["", ""]) else { return Some("answer without its call") };
        let said = value::read(word(data, "/metadata").as_bytes()).unwrap_or_default();
        let is_shell = ToolKind::of(&call.tool) == ToolKind::Shell;
        let (output, exit) = shell_ended(word(data, "/content"), is_shell);
        let denied = output.starts_with(REFUSED);
        let times = (value::millis(&said, "start_time"), value::millis(&said, "end_time"));
        let took =
            times.0.zip(times.1).and_then(|(from, to)| u64::try_from(to.as_millisecond() - from.as_millisecond()).ok());
        let subagent = self.agents.remove(id).map(|(stream, task)| SubagentRun {
            stream: Some(stream),
            agent: Some("agent".into()),
            model: None,
            task: task.map(Cow::Owned),
            background: false,
        });
        let lines = ["additions", "removals"].map(|key| said.get(key).and_then(Value::as_u64));
        let brief = lines[0].zip(lines[1]).map(|(added, removed)| Cow::Owned(format!("+{added} −{removed}")));
        let answer = Answer {
            output: output.into(),
            brief,
            diff: filled(&said, "diff").unwrap_or_default(),
            failed: !denied && (flag(data, "is_error") || exit.is_some()),
            denied,
            exit,
            duration_ms: took.filter(|_| is_shell),
            attachments: Some(binary(data)).filter(|sent| sent.bytes > 0).into_iter().collect(),
            subagent,
            ..Answer::default()
        };
        tools::answer(&call, answer, &self.place, out);
        None
    }
}

/// How a message of the agent ended.
fn ended(data: &Value, out: &mut Out<'_>) {
    match word(data, "/reason") {
        "canceled" => out.emit(EventKind::Interrupt { call: None }),
        reason @ ("error" | "content_filter") => {
            let text = ["message", "details"].iter().find_map(|key| filled(data, key)).unwrap_or(reason);
            out.emit(EventKind::ApiError(text.to_owned().into()));
        }
        _ => {}
    }
}

/// What a shell printed, without what the host put behind it, and its exit code where that is not 0.
fn shell_ended(content: &str, is_shell: bool) -> (&str, Option<i32>) {
    if !is_shell {
        return (content, None);
    }
    let output = content.rsplit_once("<cwd>").map_or(content, |(output, _)| output).trim_end();
    let (before, last) = output.rsplit_once('\n').unwrap_or(("", output));
    match last.strip_prefix("Exit code ").and_then(|code| code.parse().ok()) {
        Some(code) => (before.trim_end(), Some(code)),
        None if output == "no output" => ("", None),
        None => (output, None),
    }
}

/// A file that was sent along.
fn binary(data: &Value) -> Attachment<'static> {
    let media =
        ["MIMEType", "mime_type"].iter().find_map(|key| filled(data, key)).unwrap_or("application/octet-stream");
    let sent = ["Data", "data"].iter().find_map(|key| filled(data, key)).unwrap_or_default();
    let bytes = (sent.trim_end_matches('=').len() as u64).saturating_mul(3) / 4;
    Attachment { media_type: media.to_owned().into(), bytes }
}
