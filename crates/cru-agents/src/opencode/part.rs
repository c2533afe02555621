//! Parts of the agent's messages: which are final, what lasts of them, and what they tell.

use serde_json::{Value, json};

use super::message::Turn;
use super::reason;
use super::session::OpenCodeSession;
use crate::file::value::{filled, list, millis, word};
use crate::unknown::unknown;
use cru_session::event::EventKind;

/// Whether a part changes no more while its message goes on; `followed`: another stands behind it.
pub(super) fn is_final(part: &Value, followed: bool) -> bool {
    match word(part, "type") {
        "tool" => {
            let status = part.get("state").map_or("", |state| word(state, "status"));
            !matches!(status, "pending" | "running")
        }
        "text" | "reasoning" => followed || part.get("time").and_then(|time| time.get("end")).is_some(),
        _ => true,
    }
}

/// What stays the same of a part in every place that it is kept in.
pub(super) fn lasting(part: &Value) -> Value {
    let kind = word(part, "type");
    let get = |key: &str| part.get(key).unwrap_or(&Value::Null);
    match kind {
        "text" | "reasoning" => json!([kind, get("text"), get("synthetic"), get("ignored")]),
        "tool" => {
            let state = get("state");
            let of = |key: &str| state.get(key).unwrap_or(&Value::Null);
            json!([kind, get("tool"), of("status"), of("input"), of("output"), of("error")])
        }
        "step-finish" => json!([kind, get("tokens"), get("cost")]),
        "patch" => json!([kind, get("hash"), get("files")]),
        "file" => json!([kind, get("mime"), get("filename")]),
        "subtask" => json!([kind, get("prompt"), get("command")]),
        _ => json!([kind]),
    }
}

impl OpenCodeSession<'_> {
    /// Reads a part of the agent's message.
    pub(super) fn part(&mut self, record: u64, part: &Value, turn: &mut Turn) {
        let kind = word(part, "type");
        if kind == "step-start" {
            self.flush(&[]);
        }
        let time = part.get("time").and_then(|time| millis(time, "start")).or(turn.time);
        let left = match (kind, filled(part, "text")) {
            ("text" | "reasoning", None) => Some(reason::EMPTY),
            ("text", Some(words)) if turn.summary => {
                self.summed(record, time, words);
                None
            }
            ("text", Some(words)) => {
                self.told.emit(record, time, EventKind::Reply(words.into()));
                None
            }
            ("reasoning", Some(words)) => {
                self.told.emit(record, time, EventKind::Thinking(words.into()));
                None
            }
            ("tool", _) => {
                self.tool(record, part, turn.time);
                None
            }
            ("step-finish", _) => {
                turn.counted = true;
                self.tokens(record, &turn.model, &part["tokens"], part);
                None
            }
            ("patch", _) => {
                let files: Vec<&str> = list(part, "files").iter().filter_map(Value::as_str).collect();
                self.flush(&files);
                None
            }
            ("step-start", _) => Some("begin of a step"),
            ("snapshot", _) => Some("snapshot of the files"),
            ("retry", _) => Some("try of the model service that failed"),
            ("agent", _) => Some("choice of an agent"),
            ("file", _) => Some("file of the agent"),
            ("compaction", _) => Some("mark of a compaction"),
            ("", _) => Some("no part type"),
            (kind, _) => Some(unknown("unknown part", kind)),
        };
        self.told.count(left);
    }

    /// A summary of what was said before takes its place.
    fn summed(&mut self, record: u64, time: Option<jiff::Timestamp>, words: &str) {
        if self.compaction.is_none() {
            self.compaction = Some((record, time, ""));
        }
        self.compacted(Some(words));
    }

    /// Tells the compaction that is under way, if any.
    pub(super) fn compacted(&mut self, summary: Option<&str>) {
        let Some((record, time, trigger)) = self.compaction.take() else { return };
        let tokens_before = Some(self.context).filter(|tokens| *tokens > 0);
        let trigger = Some(trigger.into()).filter(|trigger: &std::borrow::Cow<'_, str>| !trigger.is_empty());
        self.told.emit(
            record,
            time,
            EventKind::Compaction { trigger, tokens_before, summary: summary.map(Into::into) },
        );
    }
}
