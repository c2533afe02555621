//! One session while it is read: each record to its events.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::settings::Settings;
use crate::call::open::Calls;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::jsonl::{State, count, list, word};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use crate::wrapper;
use cru_action::ToolKind;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, TitleRank};

/// Nothing that says anything.
const EMPTY: &str = "empty message";

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct DroidSession {
    place: Place,
    calls: Calls,
    /// Not told yet.
    settings: Option<Settings>,
}

impl State for DroidSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        // The first line's is the session's.
        let id = if word(record, "/type") == "session_start" { "" } else { word(record, "/id") };
        if id == "REDACTED" { "" } else { id }
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        word(record, "/timestamp").parse().ok()
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if let Some(settings) = self.settings.take() {
            settings.tell(out);
        }
        match word(&record, "/type") {
            "session_start" => self.start(&record, out),
            "message" => self.message(record, out),
            "todo_state" => {
                let input = if record.pointer("/todos/todos").is_some() { &record["todos"] } else { &record };
                let rows = task_list::of_call(input);
                if rows.is_empty() {
                    return Fate::Skipped("empty task list");
                }
                out.emit(EventKind::Tasks(rows));
                Fate::Shown
            }
            "compaction_state" => {
                let summary = ["/summaryText", "/summary"].iter().map(|place| word(&record, place));
                let summary = summary.into_iter().find(|text| !text.trim().is_empty()).map(Cow::Borrowed);
                let tokens = Some(count(&record, "/tokensBefore")).filter(|tokens| *tokens > 0);
                out.emit(EventKind::Compaction { trigger: None, tokens_before: tokens, summary });
                Fate::Shown
            }
            "session_end" => Fate::Skipped("end of the session"),
            "" => Fate::Skipped("no record type"),
            kind => Fate::Skipped(unknown("unknown record type", kind)),
        }
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }
}

impl DroidSession {
    /// A session with these settings.
    pub(super) fn of(settings: Option<Settings>) -> Self {
        Self { settings, ..Self::default() }
    }

    fn start(&mut self, record: &Value, out: &mut Out<'_>) -> Fate {
        if self.place.see(word(record, "/cwd")) {
            let cwd = self.place.tilde(word(record, "/cwd"));
            out.quiet(EventKind::Meta(SessionFact::Cwd(cwd)));
        }
        // `title` is only the beginning of the first words.
        let title = word(record, "/sessionTitle");
        if !title.trim().is_empty() {
            out.quiet(EventKind::Meta(SessionFact::Title { rank: TitleRank::Host, text: title.into() }));
        }
        Fate::Shown
    }

    fn message(&mut self, mut record: Value, out: &mut Out<'_>) -> Fate {
        let role = word(&record, "/message/role").to_owned();
        let hidden = matches!(word(&record, "/message/visibility"), "llm" | "llm_only" | "hidden" | "model_only");
        let mut blocks = match record.pointer_mut("/message/content").map(Value::take) {
            Some(Value::Array(blocks)) => blocks,
            Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
            _ => Vec::new(),
        };
        match role.as_str() {
            "user" => self.user(&blocks, hidden, out),
            "assistant" => self.assistant(&mut blocks, out),
            "system" => Fate::Skipped("system prompt"),
            "" => Fate::Skipped(EMPTY),
            role => Fate::Skipped(unknown("unknown role", role)),
        }
    }

    fn user(&mut self, blocks: &[Value], hidden: bool, out: &mut Out<'_>) -> Fate {
        let mut words = String::new();
        let mut attachments = Vec::new();
        let (mut reason, mut strange) = (EMPTY, None);
        for block in blocks {
            match word(block, "/type") {
                "text" => {
                    let said = wrapper::own_words(super::IMPORTER.id, word(block, "/text"));
                    if said.trim().is_empty() {
                        reason = "words of the host";
                    } else {
                        words.push_str(if words.is_empty() { "" } else { "\n\n" });
                        words.push_str(said.trim());
                    }
                }
                "image" | "document" => attachments.push(picture(block)),
                "tool_result" => {
                    if let Some(why) = self.answer(block, out) {
                        reason = why;
                    }
                }
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        if hidden && !words.is_empty() {
            (words, reason) = (String::new(), "words of the host");
        }
        if !words.is_empty() || !attachments.is_empty() {
            let origin = if words.starts_with('/') && !words.contains('\n') && !words[1..].contains('/') {
                PromptOrigin::Command
            } else {
                PromptOrigin::Typed
            };
            self.calls.begin_turn();
            out.emit(EventKind::Prompt(Prompt { text: words.into(), origin, attachments }));
        }
        match (strange, out.told) {
            (Some(reason), _) => Fate::Skipped(reason),
            (None, true) => Fate::Shown,
            (None, false) => Fate::Skipped(reason),
        }
    }

    fn assistant(&mut self, blocks: &mut [Value], out: &mut Out<'_>) -> Fate {
        let mut strange = None;
        for block in blocks {
            match word(block, "/type") {
                "text" if !word(block, "/text").trim().is_empty() => {
                    out.emit(EventKind::Reply(word(block, "/text").into()));
                }
                "thinking" if !word(block, "/thinking").trim().is_empty() => {
                    out.emit(EventKind::Thinking(word(block, "/thinking").into()));
                }
                "text" | "thinking" | "redacted_thinking" => {}
                "tool_use" => {
                    let (id, tool) = (word(block, "/id").to_owned(), word(block, "/name").to_owned());
                    let input = block.get_mut("input").map(Value::take).unwrap_or_default();
                    if tool == "TodoWrite" {
                        let rows = task_list::of_call(&input);
                        if !rows.is_empty() {
                            out.emit(EventKind::Tasks(rows));
                        }
                    }
                    tools::call(&mut self.calls, &self.place, &id, &tool, input, out);
                }
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        match (strange, out.told) {
            (Some(reason), _) => Fate::Skipped(reason),
            (None, true) => Fate::Shown,
            (None, false) => Fate::Skipped(EMPTY),
        }
    }

    /// An answer of a tool; why it is left out.
    fn answer(&mut self, block: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let host_id = word(block, "/tool_use_id");
        let Some(call) = self.calls.close(host_id, ["", ""]) else {
            return Some(if self.calls.knows(host_id) { "repeated answer" } else { "answer without its call" });
        };
        let (text, attachments) = flat(block);
        let shell = ToolKind::of(&call.tool) == ToolKind::Shell;
        let (output, exit) = if shell { ended(&text) } else { (text.as_str(), None) };
        let failed = block.get("is_error") == Some(&Value::Bool(true)) || exit.is_some_and(|code| code != 0);
        let answer = Answer {
            output: output.into(),
            failed,
            exit: exit.filter(|code| *code != 0),
            attachments,
            ..Answer::default()
        };
        tools::answer(&call, answer, &self.place, out);
        None
    }
}

/// The output of a command without the line that the host put below it, and the code in that.
fn ended(text: &str) -> (&str, Option<i32>) {
    let parts = || {
        let (output, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
        let code = last.strip_prefix("[Process exited with code ")?.strip_suffix(']')?;
        Some((output.trim_end(), code.parse().ok()?))
    };
    parts().map_or((text, None), |(output, code)| (output, Some(code)))
}

/// The text of an answer and the pictures in it.
fn flat(block: &Value) -> (String, Vec<Attachment<'static>>) {
    let whole = word(block, "/content");
    if !whole.is_empty() {
        return (whole.to_owned(), Vec::new());
    }
    let parts = list(block, "/content");
    let text = parts.iter().map(|part| word(part, "/text")).filter(|text| !text.is_empty());
    let pictures = parts.iter().filter(|part| word(part, "/type") == "image").map(picture);
    (text.collect::<Vec<_>>().join("\n"), pictures.collect())
}

fn picture(block: &Value) -> Attachment<'static> {
    let media = word(block, "/source/media_type");
    let media = if media.is_empty() { "image" } else { media };
    let data = word(block, "/source/data").trim_end_matches('=').len() as u64;
    Attachment { media_type: media.to_owned().into(), bytes: data.saturating_mul(3) / 4 }
}
