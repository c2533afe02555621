//! One thread while it is read: its own row, and each message to its events.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::call::open::Calls;
use crate::call::started::StartedAgents;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::call::touched::changed;
use crate::file::document::moment;
use crate::file::jsonl::{State, list, word};
use crate::file::value::{self, filled, flag, text};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, SubagentRun, Usage};

/// What the host calls a thread that has no title yet.
const NO_TITLE: &[&str] = &["New Thread", "New Agent Thread"];

/// The host's words in the place of an answer, for a call that a person stopped, and that they refused.
const STOPPED: &str = "Tool canceled by user";
const REFUSED: [&str; 2] = ["Permission to run tool denied by user", "The user refused to"];

/// Arguments that name files, as the host writes them: with the name of the opened folder before them.
const PATHS: [&str; 4] = ["path", "source_path", "destination_path", "cd"];

/// The state of one thread.
#[derive(Debug, Default)]
pub(super) struct ZedSession {
    is_agent: bool,
    folder: String,
    place: Place,
    calls: Calls,
    /// Sub-agents whose call was not met yet.
    started: StartedAgents,
    /// What the document says of the whole thread.
    about: Map<String, Value>,
}

impl ZedSession {
    pub(super) fn new(is_agent: bool, folder: String, started: StartedAgents, about: Map<String, Value>) -> Self {
        Self { is_agent, folder, started, about, ..Self::default() }
    }
}

/// What a message of a person says, with the names of what it mentions.
pub(super) fn asked(message: &Value) -> String {
    let parts = list(message, "/User/content").iter();
    parts.filter_map(|part| part.get("Text").and_then(Value::as_str)).collect()
}

impl State for ZedSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        word(record, "/User/id")
    }

    /// A thread has times, its messages have none.
    fn time(&self, record: &Value) -> Option<Timestamp> {
        moment(record, &["updated_at"])
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if record.get("summary").is_some() {
            self.head(&record, out);
            return Fate::Shown;
        }
        let kind = record.as_object().and_then(|it| it.keys().next()).map(String::as_str).or(record.as_str());
        match (kind, word(&record, "/role")) {
            (Some("User"), _) => self.user(list(&record, "/User/content"), out),
            (Some("Agent"), _) => self.agent(&record["Agent"], out),
            (Some("Compaction"), _) => {
                let said = record["Compaction"].as_str().or_else(|| filled(&record["Compaction"], "summary"));
                let summary = said.map(|text| text.to_owned().into());
                out.emit(EventKind::Compaction { trigger: None, tokens_before: None, summary });
                Fate::Shown
            }
            (Some("Resume"), _) => Fate::Skipped("words of the host"),
            (_, "user") => self.user(&older(&record), out),
            (_, "assistant") => self.agent(&older_agent(&record), out),
            (_, "system") => Fate::Skipped("words of the host"),
            (Some(kind), _) => Fate::Skipped(unknown("unknown record type", kind)),
            (None, _) => Fate::Skipped("broken message"),
        }
    }
}

/// The parts of a message of older versions, in the form of newer ones.
fn older(message: &Value) -> Vec<Value> {
    let segment = |segment: &Value| match text(segment, "type") {
        "text" => json!({ "Text": segment.get("text") }),
        "thinking" => json!({ "Thinking": { "text": segment.get("text") } }),
        _ => json!({ "RedactedThinking": null }),
    };
    list(message, "/segments").iter().map(segment).collect()
}

fn older_agent(message: &Value) -> Value {
    let calls = list(message, "/tool_uses").iter().map(|call| json!({ "ToolUse": call }));
    let parts: Vec<Value> = older(message).into_iter().chain(calls).collect();
    let answers = list(message, "/tool_results").iter();
    let answers: Map<String, Value> = answers.map(|it| (text(it, "tool_use_id").to_owned(), it.clone())).collect();
    json!({ "content": parts, "tool_results": answers })
}

impl ZedSession {
    /// What is said of the thread as a whole; it may be another the next time.
    fn head(&mut self, row: &Value, out: &mut Out<'_>) {
        let about = Value::Object(std::mem::take(&mut self.about));
        let snapshot = about.pointer("/initial_project_snapshot/worktree_snapshots/0").cloned().unwrap_or_default();
        let folder = if self.folder.is_empty() { text(&snapshot, "worktree_path") } else { &self.folder };
        out.folder(&mut self.place, folder);
        if let Some(branch) = snapshot.get("git_state").and_then(|state| filled(state, "current_branch")) {
            out.quiet(EventKind::Meta(SessionFact::Branch(branch.to_owned().into())));
        }
        if let Some(commit) = snapshot.get("git_state").and_then(|state| filled(state, "head_sha")) {
            out.quiet(EventKind::Meta(SessionFact::Commit(commit.to_owned().into())));
        }
        out.title(filled(row, "summary").filter(|title| !NO_TITLE.contains(title)));
        if let Some(time) = moment(row, &["created_at"]) {
            out.quiet(EventKind::Meta(SessionFact::Started(time)));
        }
        let model = about.get("model").and_then(|model| filled(model, "model"));
        out.model(model);
        let mut usage = about.get("cumulative_token_usage").map(tokens).unwrap_or_default();
        if usage == Usage::default() {
            // The last request of each turn alone.
            let each = about.get("request_token_usage").and_then(Value::as_object);
            each.into_iter().flat_map(|it| it.values()).for_each(|row| usage.add(tokens(row)));
        }
        if usage != Usage::default() {
            let model = model.unwrap_or("unknown");
            out.quiet(EventKind::Usage { message: model.into(), model: model.into(), usage });
        }
    }

    fn user(&mut self, parts: &[Value], out: &mut Out<'_>) -> Fate {
        let (mut words, mut attachments, mut strange) = (String::new(), Vec::new(), None);
        for part in parts {
            let kind = part.as_object().and_then(|it| it.keys().next()).map_or("", String::as_str);
            match kind {
                "Text" => words.push_str(text(part, "Text")),
                "Mention" => words.push_str(&self.mention(&part["Mention"]["uri"])),
                "Image" => {
                    let bytes = (word(part, "/Image/source").len() as u64).saturating_mul(3) / 4;
                    attachments.push(Attachment { media_type: "image/png".into(), bytes });
                }
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        if !words.trim().is_empty() || !attachments.is_empty() {
            self.calls.begin_turn();
            let origin = if self.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
            out.emit(EventKind::Prompt(Prompt { text: words.trim().into(), origin, attachments }));
        }
        out.fate(strange)
    }

    /// The name of what a person mentioned: `@src/a.rs`.
    fn mention(&self, uri: &Value) -> String {
        let (kind, what) = uri.as_object().and_then(|it| it.iter().next()).unzip();
        let names = ["abs_path", "path", "name", "url", "id"];
        let name = names.iter().find_map(|key| filled(what?, key)).or(kind.map(String::as_str)).unwrap_or("?");
        format!("@{}", self.place.show(name))
    }

    fn agent(&mut self, message: &Value, out: &mut Out<'_>) -> Fate {
        let mut strange = None;
        for part in list(message, "/content") {
            let kind = part.as_object().and_then(|it| it.keys().next()).map_or("", String::as_str);
            match kind {
                "Text" if filled(part, "Text").is_some() => {
                    out.emit(EventKind::Reply(text(part, "Text").trim().into()));
                }
                "Thinking" if filled(&part["Thinking"], "text").is_some() => {
                    out.emit(EventKind::Thinking(word(part, "/Thinking/text").into()));
                }
                "Text" | "Thinking" | "RedactedThinking" => {}
                "ToolUse" => {
                    let call = &part["ToolUse"];
                    let answer = message.get("tool_results").and_then(|all| all.get(text(call, "id")));
                    self.call(call, answer, out);
                }
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        out.fate(strange)
    }

    /// A call with its answer, where that has come.
    fn call(&mut self, call: &Value, answer: Option<&Value>, out: &mut Out<'_>) {
        let tool = filled(call, "name").unwrap_or("tool");
        let given = call.get("input").filter(|input| input.is_object()).cloned();
        let mut input = given.or_else(|| value::read(text(call, "raw_input").as_bytes())).unwrap_or_default();
        let result = answer.and_then(|answer| answer.get("output")).unwrap_or(&Value::Null);
        self.complete(&mut input, result);
        task_list::tell(tool, &input, out);
        let subagent = self.started.run(tool, &input);
        let id = tools::call(&mut self.calls, &self.place, text(call, "id"), tool, input, out);
        let Some(answer) = answer else { return };
        let Some(open) = self.calls.close(text(call, "id"), ["", ""]) else { return };
        self.answer(&open, answer, result, subagent, out);
        if content(answer).starts_with(STOPPED) {
            out.emit(EventKind::Interrupt { call: Some(id.into()) });
        }
    }

    fn answer(
        &self,
        call: &crate::call::open::OpenCall,
        answer: &Value,
        result: &Value,
        subagent: Option<SubagentRun<'static>>,
        out: &mut Out<'_>,
    ) {
        let said = content(answer);
        let denied = REFUSED.iter().any(|words| said.starts_with(words));
        let answer = Answer {
            diff: text(result, "diff"),
            failed: !denied && flag(answer, "is_error"),
            denied,
            output: said,
            subagent,
            ..Answer::default()
        };
        tools::answer(call, answer, &self.place, out);
    }

    /// Takes the name of the opened folder from paths, and the texts of an edit that only the answer has.
    fn complete(&self, input: &mut Value, result: &Value) {
        let root = self.place.start().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        for key in PATHS {
            let Some(rest) = filled(input, key).and_then(|path| path.strip_prefix(root.as_str())) else { continue };
            let below = rest.trim_start_matches(['/', '\\']);
            if !root.is_empty() && (rest.is_empty() || rest.len() > below.len()) {
                input[key] = if below.is_empty() { "." } else { below }.into();
            }
        }
        let has_text = ["edits", "content", "old_text", "old_string"].iter().any(|key| input.get(key).is_some());
        if !has_text && input.is_object() && result.get("new_text").is_some() {
            let (before, after) = changed(text(result, "old_text"), text(result, "new_text"));
            (input["old_string"], input["new_string"]) = (before.into(), after.into());
        }
    }
}

/// The text of an answer.
fn content(answer: &Value) -> Cow<'static, str> {
    fn said(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().map(said).collect::<Vec<_>>().join("\n"),
            Value::Object(map) => map.get("Text").or_else(|| map.get("text")).map(said).unwrap_or_default(),
            _ => String::new(),
        }
    }
    let words = answer.get("content").map(said).filter(|text| !text.is_empty());
    words.or_else(|| answer.get("output").map(said)).unwrap_or_default().into()
}

fn tokens(row: &Value) -> Usage {
    Usage {
        input: value::count(row, "input_tokens"),
        output: value::count(row, "output_tokens"),
        cache_write: value::count(row, "cache_creation_input_tokens"),
        cache_read: value::count(row, "cache_read_input_tokens"),
        ..Usage::default()
    }
}
