//! Messages and their parts: what lasts of each, which of the agent's may still change, and what they tell.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::session::OpenCodeSession;
use super::session::{OpenCodeContent, OpenCodeItem, OpenCodeMessage};
use super::{newer, reason};
use crate::file::value::{self, count, filled, flag, list, millis, word};
use crate::unknown::left_out;
use cru_session::event::{EventKind, SessionFact, Usage};

impl OpenCodeSession<'_> {
    /// Reads a message. `settled`: the agent has answered since, so that nothing in it changes any more.
    pub(super) fn message(&mut self, message: OpenCodeMessage, settled: bool) {
        let OpenCodeMessage { info: OpenCodeItem { id, content }, parts } = message;
        let info = match content {
            OpenCodeContent::Whole(info) => info,
            OpenCodeContent::Cut => {
                self.told.held = true;
                self.told.skip("partial last message");
                return self.lost(&parts);
            }
            OpenCodeContent::Broken(bytes, why) => {
                // A file may be half written.
                self.told.held |= !settled;
                self.told.take_broken(&bytes, &id, why);
                return self.lost(&parts);
            }
        };
        let role = word(&info, "role");
        let time = millis(&info, "/time/created");
        let done = settled || is_done(&info);
        // The words of a message are written after it.
        self.told.held |= parts.is_empty() && !done;
        let Some(record) = self.told.take(&json!({ "message": role, "created": time.map(|it| it.to_string()) }), &id)
        else {
            return self.lost(&parts);
        };
        self.begins(&id, record);
        let left = match role {
            "user" => {
                self.user(record, time, &info, &parts);
                None
            }
            "assistant" | newer::SHELL => {
                self.by_person |= role == newer::SHELL;
                self.assistant(record, time, &info, parts, done);
                self.by_person &= role != newer::SHELL;
                None
            }
            newer::COMPACTION => self.compaction_row(record, time, &info),
            "location-switched" => {
                self.told.out(record, None).folder(&mut self.place, word(&info, "/location/directory"));
                None
            }
            role => {
                self.lost(&parts);
                Some(left_out(super::IMPORTER.id, "unknown role", role))
            }
        };
        self.told.count(left);
    }

    /// Counts parts whose message says nothing.
    fn lost(&mut self, parts: &[OpenCodeItem]) {
        for _ in parts {
            if self.told.held { self.told.later() } else { self.told.skip(reason::OF_NONE) }
        }
    }

    /// A compaction that is a message of its own.
    fn compaction_row(&mut self, record: u64, time: Option<Timestamp>, info: &Value) -> Option<&'static str> {
        if word(info, "status") == "failed" {
            return Some("compaction that failed");
        }
        let trigger = if word(info, "reason") == "manual" { "manual" } else { "auto" };
        self.compaction = Some((record, time, trigger));
        self.compacted(filled(info, "summary"));
        if let Some(tokens) = info.get("tokens") {
            self.tokens(record, filled(info, "modelID").unwrap_or("unknown"), tokens, info);
        }
        None
    }

    fn assistant(&mut self, record: u64, time: Option<Timestamp>, info: &Value, parts: Vec<OpenCodeItem>, done: bool) {
        self.told.out(record, None).folder(&mut self.place, word(info, "/path/cwd"));
        let mut turn = Turn {
            time,
            model: filled(info, "modelID").unwrap_or("unknown").to_owned(),
            summary: flag(info, "summary") || word(info, "mode") == "compaction",
            counted: false,
        };
        if !turn.summary {
            self.compacted(None);
        }
        let last = parts.len().saturating_sub(1);
        for (index, part) in parts.into_iter().enumerate() {
            let OpenCodeItem { id, content } = part;
            match content {
                OpenCodeContent::Whole(part) => {
                    self.told.held |= !done && !is_final(&part, index < last);
                    if let Some(record) = self.told.take(&lasting(&part), &id) {
                        self.part(record, &part, &mut turn);
                    }
                }
                OpenCodeContent::Broken(bytes, _) => {
                    self.told.held |= !done;
                    self.told.take_broken(&bytes, &id, "broken part");
                }
                OpenCodeContent::Cut => self.told.skip("partial last part"),
            }
        }
        if done {
            self.close(info, &turn);
        }
        self.flush(&[]);
    }

    /// The end of the agent's message: how it ended, and what it took where no step says so.
    fn close(&mut self, info: &Value, turn: &Turn) {
        let error = info.get("error").filter(|error| error.is_object());
        let tokens = info.get("tokens").filter(|tokens| !turn.counted && usage(tokens) != Usage::default());
        if (error.is_none() && tokens.is_none()) || !self.told.takes_more() {
            return;
        }
        let name = error.map_or("", |error| word(error, "name"));
        let Some(record) = self.told.take(&json!({ "end": name, "tokens": tokens, "cost": info.get("cost") }), "")
        else {
            return;
        };
        let time = millis(info, "/time/completed").or(turn.time);
        if let Some(tokens) = tokens {
            self.tokens(record, &turn.model, tokens, info);
        }
        match (error, name) {
            (None, _) => {}
            (Some(_), "MessageAbortedError") => {
                self.told.emit(record, time, EventKind::Interrupt { call: None, unnamed: false });
            }
            (Some(error), _) => {
                let data = &error["data"];
                let said = filled(data, "message").or_else(|| filled(error, "message"));
                let text = said.map_or_else(|| Cow::Owned(failure(name)), Cow::Borrowed);
                self.told.emit(record, time, EventKind::ApiError(text));
            }
        }
    }

    /// Tells the tokens and the cost that `row` stores.
    pub(super) fn tokens(&mut self, record: u64, model: &str, tokens: &Value, row: &Value) {
        let usage = usage(tokens);
        let cost = row.get("cost").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost > 0.0);
        self.told.out(record, None).facts(cost.map(SessionFact::Cost));
        if usage != Usage::default() {
            let message = record.to_string().into();
            self.told.emit(record, None, EventKind::Usage { message, model: model.into(), usage });
        }
        self.context = usage.used().saturating_add(usage.cache_read);
    }
}

/// What the parts of one message have in common.
pub(super) struct Turn {
    /// When it was begun.
    pub(super) time: Option<Timestamp>,
    pub(super) model: String,
    /// Whether it sums up what was said before.
    pub(super) summary: bool,
    /// Whether a step told its tokens.
    pub(super) counted: bool,
}

/// Tokens; thinking is counted beside the other output.
fn usage(tokens: &Value) -> Usage {
    let usage = value::usage(tokens, ["input", "output", "/cache/read", "/cache/write"]);
    Usage { output: usage.output.saturating_add(count(tokens, "reasoning")), ..usage }
}

/// Whether the host has said that a message is whole.
fn is_done(info: &Value) -> bool {
    let completed = info.pointer("/time/completed").is_some_and(Value::is_number);
    match word(info, "role") {
        "user" => false,
        "assistant" => completed || info.get("error").is_some_and(Value::is_object),
        newer::SHELL => completed || !matches!(word(info, "status"), "" | "running"),
        _ => word(info, "status") != "running",
    }
}

/// `Provider auth error` for `ProviderAuthError`.
fn failure(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars().take(80) {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(if words.is_empty() { c } else { c.to_ascii_lowercase() });
    }
    if words.is_empty() { "The model service failed.".to_owned() } else { words }
}

/// Whether a part changes no more while its message goes on; `followed`: another stands behind it.
pub(super) fn is_final(part: &Value, followed: bool) -> bool {
    match word(part, "type") {
        "tool" => {
            let status = word(part, "/state/status");
            !matches!(status, "pending" | "running")
        }
        "text" | "reasoning" => followed || part.pointer("/time/end").is_some(),
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
        let time = millis(part, "/time/start").or(turn.time);
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
            ("agent", _) => Some("choice of an agent"),
            ("file", _) => Some("file of the agent"),
            ("compaction", _) => Some("mark of a compaction"),
            ("", _) => Some("no part type"),
            (kind, _) => Some(left_out(super::IMPORTER.id, "unknown part", kind)),
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
