//! One session while it is read: what is said of it, and each entry to its events.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use crate::call::open::Calls;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::document::moment;
use crate::file::jsonl::{State, list, word};
use crate::file::value::filled;
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact};

/// The host's words for a call that a person refused.
const REFUSED: [&str; 2] = ["Tool use was cancelled by the user", "The user denied"];

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct KiroSession {
    place: Place,
    calls: Calls,
    /// What the file beside the lines says of the session, until it is told.
    beside: Option<Value>,
}

impl KiroSession {
    /// A session that a file beside its own describes.
    pub(super) fn of(beside: Value) -> Self {
        Self { beside: Some(beside), ..Self::default() }
    }
}

impl State for KiroSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        word(record, "/data/message_id")
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        let said = || moment(record.get("user")?, &["timestamp"]);
        let line = || moment(record.pointer("/data/meta")?, &["timestamp"]);
        moment(record, &["created_at"]).or_else(said).or_else(line)
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if let Some(beside) = self.beside.take() {
            self.head(&beside, out);
        }
        if record.get("table").is_some() {
            self.head(&record, out);
            return Fate::Shown;
        }
        let strange = match word(&record, "/kind") {
            "" if record.get("user").is_some() || record.get("assistant").is_some() => self.entry(&record, out),
            "Prompt" | "AssistantMessage" | "ToolResults" => self.line(&record, out),
            "" => Some("broken message"),
            kind => Some(unknown("unknown record type", kind)),
        };
        out.fate(strange)
    }
}

impl KiroSession {
    /// What is said of the session as a whole; it may be another the next time.
    fn head(&mut self, row: &Value, out: &mut Out<'_>) {
        let folder = filled(row, "key").or_else(|| filled(row, "cwd")).unwrap_or_default();
        out.folder(&mut self.place, folder);
        out.title(filled(row, "title"));
        let models = [row.get("model_info").and_then(|info| filled(info, "model_id")), filled(row, "model")];
        out.model(models.into_iter().flatten().next());
        if let Some(time) = moment(row, &["created_at"]) {
            out.quiet(EventKind::Meta(SessionFact::Started(time)));
        }
        // What was said before it is gone from the database.
        if let Some(summary) = row.pointer("/latest_summary/0").and_then(Value::as_str) {
            let summary = Some(summary.to_owned().into());
            out.quiet(EventKind::Compaction { trigger: None, tokens_before: None, summary });
        }
    }

    /// An entry of the database: why something of it is left out, where it is.
    fn entry(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let folder = word(record, "/user/env_context/env_state/current_working_directory");
        out.folder(&mut self.place, folder);
        let mut strange = None;
        let content = record.pointer("/user/content").and_then(Value::as_object);
        for (kind, said) in content.into_iter().flatten() {
            match kind.as_str() {
                "Prompt" | "CancelledToolUses" | "ToolUseResults" => {
                    for result in list(said, "/tool_use_results") {
                        strange = self.answer(result, kind == "CancelledToolUses", out).or(strange);
                    }
                    let images = list(record, "/user/images").len();
                    self.prompt(word(said, "/prompt"), images, out);
                }
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        // The answer came later than what was asked.
        out.time = record.get("request_metadata").and_then(|it| moment(it, &["stream_end_timestamp_ms"])).or(out.time);
        for (kind, said) in record.get("assistant").and_then(Value::as_object).into_iter().flatten() {
            match kind.as_str() {
                "Response" | "ToolUse" => {
                    reply(word(said, "/content"), out);
                    for call in list(said, "/tool_uses") {
                        self.call(word(call, "/id"), word(call, "/name"), call.get("args"), out);
                    }
                }
                kind => strange = Some(unknown("unknown part", kind)),
            }
        }
        strange
    }

    /// A line of the files.
    fn line(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let is_prompt = word(record, "/kind") == "Prompt";
        let (mut strange, mut words, mut images) = (None, Vec::new(), 0);
        for piece in list(record, "/data/content") {
            match (word(piece, "/kind"), is_prompt) {
                ("text", true) => words.push(word(piece, "/data")),
                ("text", false) => reply(word(piece, "/data"), out),
                ("image", true) => images += 1,
                ("toolUse", _) => {
                    let call = &piece["data"];
                    self.call(word(call, "/toolUseId"), word(call, "/name"), call.get("input"), out);
                }
                ("toolResult", _) => strange = self.answer(&piece["data"], false, out).or(strange),
                (kind, _) => strange = Some(unknown("unknown part", kind)),
            }
        }
        self.prompt(&words.join("\n\n"), images, out);
        strange
    }

    fn prompt(&mut self, words: &str, images: usize, out: &mut Out<'_>) {
        if words.trim().is_empty() && images == 0 {
            return;
        }
        self.calls.begin_turn();
        let attachments = (0..images).map(|_| Attachment { media_type: "image".into(), bytes: 0 }).collect();
        let text = words.trim().to_owned().into();
        out.emit(EventKind::Prompt(Prompt { text, origin: PromptOrigin::Typed, attachments }));
    }

    fn call(&mut self, id: &str, tool: &str, input: Option<&Value>, out: &mut Out<'_>) {
        let mut input = input.cloned().unwrap_or_default();
        // A reading of several files names them one by one.
        if let Some(path) = input.pointer("/operations/0/path").cloned() {
            input["path"] = path;
        }
        task_list::tell(tool, &input, out);
        tools::call(&mut self.calls, &self.place, id, tool, input, out);
    }

    /// Why an answer is left out, where it is.
    fn answer(&mut self, result: &Value, is_cancelled: bool, out: &mut Out<'_>) -> Option<&'static str> {
        let id = filled(result, "tool_use_id").or_else(|| filled(result, "toolUseId")).unwrap_or_default();
        let Some(call) = self.calls.close(id, ["", ""]) else { return Some("answer without its call") };
        let (mut words, mut exit) = (Vec::new(), None);
        for piece in list(result, "/content") {
            let text = filled(piece, "Text").or_else(|| filled(piece, "data")).map(str::to_owned);
            let object = piece.get("Json").or_else(|| piece.get("data")).filter(|it| it.is_object());
            let Some(object) = object else {
                words.extend(text);
                continue;
            };
            let status = object.get("exit_status");
            exit = status.and_then(|code| code.as_i64().or_else(|| code.as_str()?.parse().ok())).or(exit);
            let printed: Vec<&str> = ["stdout", "stderr"].iter().filter_map(|key| filled(object, key)).collect();
            words.push(if status.is_some() { printed.join("\n") } else { object.to_string() });
        }
        let exit = exit.and_then(|code| i32::try_from(code).ok()).filter(|code| *code != 0);
        let output: Cow<'_, str> = words.join("\n").into();
        let denied = is_cancelled || REFUSED.iter().any(|words| output.starts_with(words));
        let failed = !denied && (word(result, "/status").eq_ignore_ascii_case("error") || exit.is_some());
        tools::answer(&call, Answer { output, failed, denied, exit, ..Answer::default() }, &self.place, out);
        None
    }
}

fn reply(text: &str, out: &mut Out<'_>) {
    if !text.trim().is_empty() {
        out.emit(EventKind::Reply(text.trim().to_owned().into()));
    }
}
