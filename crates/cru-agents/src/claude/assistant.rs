//! Assistant lines: prose, thinking, tool calls and tokens.
//!
//! The host writes one line for each block of a message, all with the message's id and its usage; the last one counts.

use std::borrow::Cow;

use super::agents::Agents;
use super::record::{ClaudeBlock, ClaudeContent, ClaudeMessage, ClaudeRecord, ClaudeTokens};
use super::said::reason;
use super::stream::ClaudeStream;
use crate::call::argument;
use crate::call::open::OpenCall;
use crate::call::shell;
use crate::stream::out::{Fate, Out};
use crate::unknown::unknown;
use cru_action::ToolKind;
use cru_session::event::{Call, EventKind, SessionFact, Usage};
use cru_session::usage::SERVED;

/// The model name of texts that the host wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// Beginnings of synthetic texts that report a failure of the service.
const FAILURES: &[&str] = &[
    "API Error",
    "Claude AI usage limit reached",
    "Credit balance is too low",
    "Failed to authenticate",
    "Invalid API key",
    "OAuth token",
    "Prompt is too long",
    "Request timed out",
    "You've hit your",
    "You've reached your",
];

impl ClaudeStream {
    /// Reads an assistant line.
    pub(super) fn assistant(&mut self, record: &mut ClaudeRecord<'_>, out: &mut Out<'_>, agents: &mut Agents) -> Fate {
        let Some(message) = record.message.0.take() else { return Fate::Skipped(reason::EMPTY) };
        self.flush_compaction(out);
        self.tell_untold(out);
        if message.model.str() == SYNTHETIC || record.is_api_error_message.0 {
            return synthetic(&message, record.is_api_error_message.0, out);
        }
        self.worked += 1;
        self.tokens(&message, record, out);
        let mut strange = None;
        match message.content {
            ClaudeContent::None => {}
            ClaudeContent::Text(mut text) => {
                if let Some(text) = text.take() {
                    out.emit(EventKind::Reply(text));
                }
            }
            ClaudeContent::Blocks(blocks) => {
                for block in blocks {
                    strange = self.block(block, record, out, agents).or(strange);
                }
            }
        }
        match (strange, out.told) {
            // Its words may be in none of the blocks that were told.
            (Some(reason), _) => Fate::Skipped(reason),
            (None, true) => Fate::Shown,
            (None, false) => Fate::Skipped(reason::EMPTY),
        }
    }

    /// Reads one block; why it is left out, where its kind is not known.
    fn block(
        &mut self,
        mut block: ClaudeBlock<'_>,
        record: &ClaudeRecord<'_>,
        out: &mut Out<'_>,
        agents: &mut Agents,
    ) -> Option<&'static str> {
        match block.kind.str() {
            "text" | "connector_text" => {
                self.works = false;
                if let Some(text) = block.text.take() {
                    out.emit(EventKind::Reply(text));
                }
            }
            "thinking" => {
                if let Some(text) = block.thinking.take() {
                    out.emit(EventKind::Thinking(text));
                }
            }
            "redacted_thinking" | "fallback" => {}
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(block, record, out),
            kind if kind.ends_with("tool_result") => {
                self.result(block, record, true, out, agents);
            }
            kind => return Some(unknown("unknown block", kind)),
        }
        None
    }

    fn call(&mut self, block: ClaudeBlock<'_>, record: &ClaudeRecord<'_>, out: &mut Out<'_>) {
        self.works = true;
        let tool = block.name.filled().unwrap_or("tool").to_owned();
        let id = self.calls.name(block.id.str(), out.record);
        let mut call = OpenCall::new(id.clone(), block.id.str(), &tool, record.uuid.str());
        call.path = argument::path(&tool, &block.input).map(str::to_owned);
        match ToolKind::of(&tool) {
            // It watches a command that goes on.
            _ if tool == "Monitor" => {}
            ToolKind::Shell => call.effects = shell::effects(&tool, &block.input, &self.place),
            // The text of an edit, where its answer does not tell it.
            ToolKind::Subagent | ToolKind::Task | ToolKind::Ask | ToolKind::Plan | ToolKind::Write | ToolKind::Edit => {
                call.input = Some(block.input.clone());
            }
            _ => {}
        }
        self.calls.open(call);
        let args = super::argument::telling(&tool, &block.input, &self.place);
        out.emit(EventKind::Call(Call { id: id.into(), tool: tool.into(), args: args.into(), input: block.input }));
    }

    fn tokens(&mut self, message: &ClaudeMessage<'_>, record: &ClaudeRecord<'_>, out: &mut Out<'_>) {
        let id = message.id.filled().filter(|id| *id != "REDACTED").unwrap_or(record.uuid.str());
        if let Some(cost) = record.cost.0.filter(|cost| cost.is_finite() && *cost > 0.0 && self.cost_of != id) {
            id.clone_into(&mut self.cost_of);
            out.emit(EventKind::Meta(SessionFact::Cost(cost)));
        }
        let Some(usage) = message.usage.0.as_ref().map(usage).filter(|usage| *usage != Usage::default()) else {
            return;
        };
        if self.usage.as_ref().is_some_and(|(last, told)| last == id && *told == usage) {
            // The line repeats what was told; it is still a part of the message that a note counts.
            out.told = true;
            return;
        }
        if let Some(model) = message.model.filled().filter(|model| !self.models.contains(*model)) {
            self.models.insert(model.to_owned());
        }
        self.usage = Some((id.to_owned(), usage));
        out.emit(EventKind::Usage {
            message: Cow::Borrowed(id),
            model: served(message.model.filled().unwrap_or("unknown"), message.usage.0.as_ref()),
            usage,
        });
    }
}

/// The model with how it was asked, where that has a price of its own.
fn served<'m>(model: &'m str, tokens: Option<&ClaudeTokens<'_>>) -> Cow<'m, str> {
    let [fast, us] = SERVED;
    let is = |told: Option<&str>, word: &str| told.is_some_and(|told| told.eq_ignore_ascii_case(word));
    let is_fast = is(tokens.map(|tokens| tokens.speed.str()), "fast");
    let is_us = is(tokens.map(|tokens| tokens.inference_geo.str()), "us");
    match (is_fast, is_us) {
        (false, false) => Cow::Borrowed(model),
        (true, false) => Cow::Owned(format!("{fast}{model}")),
        (false, true) => Cow::Owned(format!("{us}{model}")),
        (true, true) => Cow::Owned(format!("{fast}{us}{model}")),
    }
}

fn usage(tokens: &ClaudeTokens<'_>) -> Usage {
    let hour = tokens.by_life.0.as_ref().map_or(0, |writes| writes.hour.or_zero());
    Usage {
        input: tokens.input.or_zero(),
        output: tokens.output.or_zero(),
        cache_write: tokens.cache_write.or_zero(),
        cache_write_1h: hour.min(tokens.cache_write.or_zero()),
        cache_read: tokens.cache_read.or_zero(),
        web_searches: tokens.by_maker.0.as_ref().map_or(0, |calls| calls.web_search_requests.or_zero()),
        ..Usage::default()
    }
}

/// A text that the host wrote in the agent's name: a failure of the service, or nothing to tell.
fn synthetic(message: &ClaudeMessage<'_>, marked: bool, out: &mut Out<'_>) -> Fate {
    let text = message.content.to_string();
    let text = text.trim();
    if text.is_empty() || !(marked || FAILURES.iter().any(|head| text.starts_with(head))) {
        return Fate::Skipped(reason::INJECTED);
    }
    out.emit(EventKind::ApiError(Cow::Borrowed(text)));
    Fate::Shown
}
