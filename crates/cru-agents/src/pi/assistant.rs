//! Messages of the agent: prose, thinking, tool calls, tokens and cost, and how each ended.

use std::borrow::Cow;

use super::reason;
use super::record::{PiMessage, PiTokens};
use super::session::PiSession;
use crate::stream::out::{Fate, Out};
use crate::unknown::unknown;
use cru_session::event::{EventKind, SessionFact, Usage};

impl PiSession {
    /// Reads a message of the agent; `id` is its entry's.
    pub(super) fn assistant(&mut self, message: &PiMessage<'_>, id: &str, out: &mut Out<'_>) -> Fate {
        self.tokens(message.usage.0.as_ref(), message.model.filled(), out);
        let stopped = message.stop_reason.str() == "aborted";
        let failed = message.stop_reason.str() == "error";
        let mut strange = None;
        for mut block in message.blocks() {
            match block.kind.str() {
                "text" => {
                    if let Some(text) = block.text.take() {
                        let told = crate::wrapper::reply(super::IMPORTER.id, &text);
                        let text = if told.len() == text.len() { text } else { Cow::Owned(told.to_owned()) };
                        out.emit(EventKind::Reply(text));
                    }
                }
                "thinking" => {
                    if let Some(text) = block.thinking.take() {
                        out.emit(EventKind::Thinking(text));
                    }
                }
                "toolCall" => self.call(block, id, !(stopped || failed), out),
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        if stopped {
            out.emit(EventKind::Interrupt { call: None });
        } else if failed {
            let text = message.error.filled().unwrap_or("The model service failed.");
            out.emit(EventKind::ApiError(Cow::Borrowed(text)));
        }
        match (strange, out.told) {
            (Some(reason), _) => Fate::Skipped(reason),
            (None, true) => Fate::Shown,
            (None, false) => Fate::Skipped(reason::EMPTY),
        }
    }

    /// Tells the tokens and the stored cost of one message; `model` is the one that it names.
    pub(super) fn tokens(&mut self, tokens: Option<&PiTokens>, model: Option<&str>, out: &mut Out<'_>) {
        let Some(tokens) = tokens else { return };
        let usage = Usage {
            input: tokens.input.or_zero(),
            output: tokens.output.or_zero(),
            cache_write: tokens.cache_write.or_zero(),
            cache_read: tokens.cache_read.or_zero(),
            ..Usage::default()
        };
        let cost = tokens.cost.0.as_ref().and_then(|cost| cost.total.0);
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
