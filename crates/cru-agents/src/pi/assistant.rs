//! Messages of the agent: prose, thinking, tool calls, tokens and cost, and how each ended.

use std::borrow::Cow;

use serde_json::Value;

use super::session::PiSession;
use crate::file::value::{blocks, filled, object, word};
use crate::record::session::usage;
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::{EventKind, SessionFact, Usage};

impl PiSession {
    /// Reads a message of the agent; `id` is its entry's.
    pub(super) fn assistant(&mut self, message: &Value, id: &str, out: &mut Out<'_>) -> Option<&'static str> {
        self.tokens(object(message, "usage"), filled(message, "model"), out);
        let stopped = word(message, "stopReason") == "aborted";
        let failed = word(message, "stopReason") == "error";
        let mut strange = None;
        for block in blocks(&message["content"]) {
            match word(&block, "type") {
                "text" => {
                    if let Some(words) = filled(&block, "text") {
                        out.emit(EventKind::Reply(crate::wrapper::reply(super::IMPORTER.id, words).into()));
                    }
                }
                "thinking" => {
                    if let Some(words) = filled(&block, "thinking") {
                        out.emit(EventKind::Thinking(words.into()));
                    }
                }
                "toolCall" => self.call(&block, id, !(stopped || failed), out),
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        if stopped {
            out.emit(EventKind::Interrupt { call: None });
        } else if failed {
            let text = filled(message, "errorMessage").unwrap_or("The model service failed.");
            out.emit(EventKind::ApiError(Cow::Borrowed(text)));
        }
        out.left(strange)
    }

    /// Tells the tokens and the stored cost of one message; `model` is the one that it names.
    pub(super) fn tokens(&mut self, tokens: Option<&Value>, model: Option<&str>, out: &mut Out<'_>) {
        let Some(tokens) = tokens else { return };
        let usage = usage(tokens, ["input", "output", "cacheRead", "cacheWrite"]);
        let cost = tokens["cost"]["total"].as_f64();
        if let Some(cost) = cost.filter(|cost| cost.is_finite() && *cost > 0.0) {
            out.emit(EventKind::Meta(SessionFact::Cost(cost)));
        }
        if usage != Usage::default() {
            // Ids say nothing here: the first version has none, and a damaged file has some twice.
            self.messages += 1;
            let model = model.unwrap_or(if self.model.is_empty() { "unknown" } else { &self.model });
            let message = self.messages.to_string().into();
            out.emit(EventKind::Usage { message, model: Cow::Borrowed(model), usage });
        }
    }
}
