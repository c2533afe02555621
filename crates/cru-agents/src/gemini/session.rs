//! One session while it is told: its messages as events.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::call::is_open;
use super::reason;
use super::said::{self, GeminiSaid, Ran};
use crate::call::tools;
use crate::file::value::{count, filled, list, text, time};
use crate::record::session::usage_with_cache;
use crate::stream::teller::Teller;
use crate::unknown::unknown;
use cru_session::event::{CallResult, EventKind, Prompt, PromptOrigin, SessionFact, TitleRank, Usage};

/// One session.
pub(super) struct GeminiSession<'s> {
    pub(super) told: Teller<'s>,
}

impl GeminiSession<'_> {
    /// What is said of the session.
    pub(super) fn begin(&mut self, summary: Option<&str>, directory: Option<&str>) {
        let id = self.told.own_id().to_owned();
        let Some(record) = self.told.take(&json!({ "session": id }), "") else { return };
        if let Some(directory) = directory {
            self.told.see(record, directory);
        }
        if let Some(summary) = summary {
            let text = summary.trim().trim_end_matches('.').into();
            self.told.emit(record, None, EventKind::Meta(SessionFact::Title { rank: TitleRank::Host, text }));
        }
    }

    /// What follows goes on behind that record.
    pub(super) fn rewind(&mut self, to: u64) {
        if let Some(record) = self.told.take(&json!({ "rewind": to }), "") {
            self.told.shown();
            self.told.emit(record, None, EventKind::Rewind { to });
        }
    }

    /// Tells a message; the record that it ends with. `last`: nothing stands behind it.
    pub(super) fn message(&mut self, message: &Value, last: bool) -> u64 {
        let (kind, id, at) = (text(message, "type"), text(message, "id"), time(message, "timestamp"));
        let words = said::words(message);
        let Some(record) = self.told.take(&json!({ "type": kind, "id": id, "words": words.trim() }), id) else {
            return self.told.intake.records();
        };
        let left = match kind {
            "user" => self.user(record, at, message, &words),
            "gemini" => self.agent(record, at, message, &words, last),
            "info" | "warning" => self.notice(record, at, &words),
            "error" => {
                let text = words.trim().trim_start_matches("[API Error: ").trim_end_matches(']');
                self.told.emit(record, at, EventKind::ApiError(text.into()));
                None
            }
            "" => Some("no record type"),
            kind => Some(unknown("unknown record type", kind)),
        };
        self.told.count(left);
        self.told.intake.records()
    }

    fn user(&mut self, record: u64, at: Option<Timestamp>, message: &Value, words: &str) -> Option<&'static str> {
        if said::is_answer(message) {
            return Some("answer of a tool, as its call tells it");
        }
        let attachments = said::attachments(message);
        let (words, origin) = match said::tell(words) {
            GeminiSaid::Nothing if attachments.is_empty() => return Some(reason::EMPTY),
            GeminiSaid::Host => return Some(reason::HOST_WORDS),
            GeminiSaid::Nothing => ("".into(), PromptOrigin::Typed),
            GeminiSaid::Words(words) => (words, PromptOrigin::Typed),
            GeminiSaid::Command(words) => (words, PromptOrigin::Command),
            GeminiSaid::Ran(ran) => {
                self.ran(record, at, &ran);
                return None;
            }
            GeminiSaid::Summary(words) => {
                let summary = Some(words.into());
                self.told.emit(record, at, EventKind::Compaction { trigger: None, tokens_before: None, summary });
                return None;
            }
        };
        let origin = if self.told.is_agent() { PromptOrigin::Task } else { origin };
        self.told.emit(record, at, EventKind::Prompt(Prompt { text: words, origin, attachments }));
        None
    }

    /// A shell command that the person ran in the host.
    fn ran(&mut self, record: u64, at: Option<Timestamp>, ran: &Ran<'_>) {
        let Ran { command, output, exit, stopped } = *ran;
        self.told.out(record, at).prompt(command, PromptOrigin::Shell);
        let failed = stopped || exit.is_some();
        let brief = match (output.trim().is_empty(), stopped, failed) {
            (true, true, _) => Some("stopped".into()),
            (true, false, false) => Some("no output".into()),
            _ => None,
        };
        let result = CallResult { output: output.into(), brief, failed, exit, ..CallResult::default() };
        let mut calls = std::mem::take(&mut self.told.calls);
        tools::shell_line(&mut calls, command, result, &mut self.told.out(record, at));
        self.told.calls = calls;
    }

    fn notice(&mut self, record: u64, at: Option<Timestamp>, words: &str) -> Option<&'static str> {
        if let Some(tokens) = said::compressed(words) {
            let tokens_before = Some(tokens).filter(|tokens| *tokens > 0);
            let trigger = Some("manual".into());
            self.told.emit(record, at, EventKind::Compaction { trigger, tokens_before, summary: None });
            return None;
        }
        if words.trim() == "Request cancelled." {
            self.told.emit(record, at, EventKind::Interrupt { call: None });
            return None;
        }
        Some(reason::NOTICE)
    }

    fn agent(
        &mut self,
        record: u64,
        at: Option<Timestamp>,
        message: &Value,
        words: &str,
        last: bool,
    ) -> Option<&'static str> {
        let calls = list(message, "toolCalls");
        let thoughts = list(message, "thoughts");
        for thought in thoughts {
            let (subject, said) = (text(thought, "subject").trim(), text(thought, "description").trim());
            let text = if subject.is_empty() { said.to_owned() } else { format!("**{subject}**\n\n{said}") };
            if !text.trim().is_empty() {
                self.told.emit(record, time(thought, "timestamp").or(at), EventKind::Thinking(text.into()));
            }
        }
        if !words.trim().is_empty() {
            self.told.emit(record, at, EventKind::Reply(words.into()));
        }
        let counted = message.get("tokens").filter(|tokens| tokens.is_object());
        if let Some(tokens) = counted {
            let usage = usage(tokens);
            let model = filled(message, "model").unwrap_or("unknown");
            if usage != Usage::default() {
                let message = record.to_string().into();
                self.told.emit(record, at, EventKind::Usage { message, model: model.into(), usage });
            }
        }
        for call in calls.iter().filter(|call| call.is_object()) {
            self.told.held |= last && is_open(call);
            let lasting = json!([text(call, "name"), call.get("args"), text(call, "status")]);
            if self.told.takes_more()
                && let Some(record) = self.told.take(&lasting, "")
            {
                self.call(record, call, at);
            }
        }
        let says = !words.trim().is_empty() || !calls.is_empty() || !thoughts.is_empty() || counted.is_some();
        (!says).then_some(reason::EMPTY)
    }
}

/// Tokens: those of the cache are counted among the input, thoughts beside the output.
fn usage(tokens: &Value) -> Usage {
    let mut usage = usage_with_cache(tokens, ["input", "output", "cached", ""]);
    usage.input = usage.input.saturating_add(count(tokens, "tool"));
    usage.output = usage.output.saturating_add(count(tokens, "thoughts"));
    usage
}
