//! What is known of a session while its records are told: its row, its messages, and the parts of each.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use super::kept::{COMPACTION, SHELL};
use super::{EMPTY, HOST};
use crate::call::tools::Answer;
use crate::file::jsonl::State;
use crate::file::value::{self, count, dollars, filled, flag, list, millis, word};
use crate::record::session::RecordSession;
use crate::stream::out::{Out, remark};
use crate::unknown::left_out;
use cru_session::event::{EventKind, Prompt, SessionFact, Usage};
use cru_session::source::Header;

/// The state of one session.
#[derive(Debug)]
pub(super) struct OpenCodeSession {
    pub(super) session: RecordSession,
    /// Where it is kept.
    pub(super) transcript: std::path::PathBuf,
    /// The message that is told: whose it is, when it was begun, whether it sums up what was said before.
    role: String,
    pub(super) time: Option<Timestamp>,
    is_summary: bool,
    /// What the person said and sent in that message, and its record.
    pub(super) typed: Prompt<'static>,
    pub(super) typed_in: u64,
    /// A compaction that was asked for and whose summary was not read yet: its record, time, and what started it.
    compaction: Option<(u64, Option<Timestamp>, &'static str)>,
    /// Whether the next command was run by the person.
    pub(super) by_person: bool,
    /// Tokens of the context after the last answer.
    context: u64,
    /// Answers of shell commands of the current step, by the record, time and id of the call: what they changed is told behind it.
    pub(super) waiting: Vec<(u64, Option<Timestamp>, String, Answer<'static>)>,
    /// Files that other calls of the current step changed.
    pub(super) changed: Vec<String>,
}

impl State for OpenCodeSession {
    fn id(&self, record: &Value) -> String {
        self.session.id(record)
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        let inner = record.get("part").or_else(|| record.get("end")).unwrap_or(record);
        let own = ["/time/start", "/time/created"].into_iter().find_map(|place| millis(inner, place));
        own.or(self.time.filter(|_| record.get("role").is_none()))
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        if let Some(part) = record.get("part") {
            return if self.role == "user" { self.said(part, out) } else { self.part(part, out) };
        }
        if let Some(info) = record.get("end") {
            self.ended(info, out);
            return None;
        }
        if let Some(head) = record.get("session") {
            self.session.head(head, out);
            return None;
        }
        self.message(&record, out)
    }

    fn waits(&self) -> bool {
        false
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.said_all(out);
        self.flush(&[], out);
    }
}

impl OpenCodeSession {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            session: RecordSession::new(&HOST, header.key.clone(), Value::Null),
            transcript: header.transcript.clone(),
            role: String::new(),
            time: None,
            is_summary: false,
            typed: Prompt::default(),
            typed_in: 0,
            compaction: None,
            by_person: false,
            context: 0,
            waiting: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// A message begins; its parts follow.
    fn message(&mut self, info: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.end(out);
        let id = self.session.id(info);
        if !id.is_empty() {
            self.session.records.entry(id).or_insert(out.record);
        }
        let role = word(info, "role");
        self.by_person &= self.role != SHELL && role != "user";
        (self.role, self.time) = (role.to_owned(), out.time);
        match role {
            "user" => {
                self.compacted(None, out);
                self.typed_in = out.record;
            }
            "assistant" | SHELL => {
                self.by_person |= role == SHELL;
                out.folder(&mut self.session.place, word(info, "/path/cwd"));
                filled(info, "modelID").unwrap_or_default().clone_into(&mut self.session.model);
                self.is_summary = flag(info, "summary") || word(info, "mode") == "compaction";
                if !self.is_summary {
                    self.compacted(None, out);
                }
            }
            COMPACTION if word(info, "status") == "failed" => return Some("compaction that failed"),
            COMPACTION => {
                self.compaction_asked(if word(info, "reason") == "manual" { "manual" } else { "auto" }, out);
                self.compacted(filled(info, "summary"), out);
                filled(info, "modelID").unwrap_or_default().clone_into(&mut self.session.model);
                self.ended(info, out);
            }
            "location-switched" => out.folder(&mut self.session.place, word(info, "/location/directory")),
            role => return Some(left_out(HOST.id, "unknown role", role)),
        }
        None
    }

    /// A part of the agent's message.
    fn part(&mut self, part: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        match (word(part, "type"), filled(part, "text")) {
            ("text" | "reasoning", None) => return Some(EMPTY),
            ("text", words @ Some(_)) if self.is_summary => {
                if self.compaction.is_none() {
                    self.compaction_asked("", out);
                }
                self.compacted(words, out);
            }
            ("text", Some(words)) => self.session.reply(words, out),
            ("reasoning", Some(words)) => self.session.think(words, out),
            ("tool", _) => self.tool(part, out),
            ("step-finish", _) => self.tokens(&part["tokens"], part, out),
            ("patch", _) => {
                let files: Vec<&str> = list(part, "files").iter().filter_map(Value::as_str).collect();
                self.flush(&files, out);
            }
            ("step-start", _) => {
                self.flush(&[], out);
                return Some("begin of a step");
            }
            ("snapshot", _) => return Some("snapshot of the files"),
            ("agent", _) => return Some("choice of an agent"),
            ("file", _) => return Some("file of the agent"),
            ("compaction", _) => return Some("mark of a compaction"),
            ("", _) => return Some("no part type"),
            (kind, _) => return Some(left_out(HOST.id, "unknown part", kind)),
        }
        None
    }

    /// How a message ended, and what it took.
    fn ended(&mut self, info: &Value, out: &mut Out<'_>) {
        if let Some(tokens) = info.get("tokens") {
            self.tokens(tokens, info, out);
        }
        match (&info["error"], word(info, "/error/name")) {
            (Value::Null, _) => {}
            (_, "MessageAbortedError") => drop(self.session.stop(out)),
            (error, name) => {
                let said = filled(error, ["/data/message", "message"]);
                let text = said.map_or_else(|| Cow::Owned(failure(name)), Cow::Borrowed);
                self.session.fail(&text, out);
            }
        }
    }

    /// Tells the tokens and the cost that `row` stores.
    fn tokens(&mut self, tokens: &Value, row: &Value, out: &mut Out<'_>) {
        let usage = usage(tokens);
        // When they were counted stands nowhere.
        let time = out.time.take();
        out.facts(dollars(row, "cost").map(SessionFact::Cost));
        self.session.usage("", "", usage, out);
        out.time = time;
        self.context = usage.used().saturating_add(usage.cache_read);
    }

    /// A compaction begins; its summary follows.
    pub(super) fn compaction_asked(&mut self, trigger: &'static str, out: &Out<'_>) {
        self.compaction = Some((out.record, out.time, trigger));
    }

    /// Tells the compaction that is under way, if any.
    fn compacted(&mut self, summary: Option<&str>, out: &mut Out<'_>) {
        let Some((record, time, trigger)) = self.compaction.take() else { return };
        let tokens_before = Some(self.context).filter(|tokens| *tokens > 0);
        let trigger = Some(trigger.into()).filter(|trigger: &Cow<'_, str>| !trigger.is_empty());
        let summary = summary.map(Into::into);
        out.emit_at(record, time, EventKind::Compaction { trigger, tokens_before, summary });
    }

    /// The messages from this one on were undone, where it is known.
    pub(super) fn undone(&mut self, message: &str, out: &mut Out<'_>) {
        self.end(out);
        let Some(record) = self.session.records.get(message) else { return };
        // By which words or key it was done stands nowhere.
        out.emit(EventKind::Remark(remark("context", "Undone by the person", "")));
        out.emit(EventKind::Rewind { to: record.saturating_sub(1) });
    }
}

/// Tokens; thinking is counted beside the other output, but where the total that stands with them has no room for it.
pub(super) fn usage(tokens: &Value) -> Usage {
    let usage = value::usage(tokens, ["input", "output", "/cache/read", "/cache/write"]);
    let all =
        usage.input.saturating_add(usage.output).saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let is_within = tokens["total"].as_u64().is_some_and(|total| total <= all);
    let thinking = if is_within { 0 } else { count(tokens, "reasoning") };
    Usage { output: usage.output.saturating_add(thinking), ..usage }
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
