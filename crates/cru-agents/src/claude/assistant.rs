//! Assistant lines: prose, thinking, tool calls and tokens.
//!
//! The host writes one line for each block of a message, all with the message's id and its usage; the last one counts.

use std::borrow::Cow;

use serde_json::Value;

use super::agents::Agents;
use super::record::{block_words, words};
use super::said::reason;
use super::stream::ClaudeStream;
use crate::call::open::OpenCall;
use crate::call::{argument, shell};
use crate::file::value::{self, blocks, count, filled, flag, object, trimmed, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::unknown;
use crate::wrapper::{self, Means};
use cru_action::ToolKind;
use cru_session::event::{Call, EventKind, SessionFact, Usage};
use cru_session::usage::SERVED;

/// The model name of texts that the host wrote itself.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

impl ClaudeStream {
    /// Reads an assistant line.
    pub(super) fn assistant(&mut self, record: &Value, out: &mut Out<'_>, agents: &mut Agents) -> Option<&'static str> {
        let Some(message) = object(record, "message") else { return Some(reason::EMPTY) };
        self.flush_compaction(out);
        self.tell_untold(out);
        if word(message, "model") == SYNTHETIC || flag(record, "isApiErrorMessage") {
            return synthetic(&words(&message["content"]), flag(record, "isApiErrorMessage"), out);
        }
        self.worked += 1;
        self.tokens(message, record, out);
        let mut strange = None;
        for block in blocks(&message["content"]) {
            strange = self.block(&block, record, out, agents).or(strange);
        }
        out.left(strange)
    }

    /// Reads one block; why it is left out, where its kind is not known.
    fn block(&mut self, block: &Value, record: &Value, out: &mut Out<'_>, agents: &mut Agents) -> Option<&'static str> {
        match word(block, "type") {
            "text" | "connector_text" => {
                self.works = false;
                if let Some(words) = block_words(block) {
                    out.emit(EventKind::Reply(words.into()));
                }
            }
            "thinking" => {
                if let Some(words) = filled(block, "thinking") {
                    out.emit(EventKind::Thinking(words.into()));
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

    fn call(&mut self, block: &Value, record: &Value, out: &mut Out<'_>) {
        self.works = true;
        let input = &block["input"];
        let tool = filled(block, "name").unwrap_or("tool").to_owned();
        let id = self.calls.name(word(block, "id"), out.record);
        let mut call = OpenCall::new(id.clone(), word(block, "id"), &tool, word(record, "uuid"));
        call.path = argument::path(&tool, input).map(str::to_owned);
        match ToolKind::of(&tool) {
            // It watches a command that goes on.
            _ if tool == "Monitor" => {}
            ToolKind::Shell => call.effects = shell::effects(&tool, input, &self.place),
            // The text of an edit, where its answer does not tell it.
            ToolKind::Subagent | ToolKind::Task | ToolKind::Ask | ToolKind::Plan | ToolKind::Write | ToolKind::Edit => {
                call.input = Some(input.clone());
            }
            _ => {}
        }
        self.calls.open(call);
        let args = telling(&tool, input, &self.place);
        out.emit(EventKind::Call(Call { id: id.into(), tool: tool.into(), args: args.into(), input: input.clone() }));
    }

    fn tokens(&mut self, message: &Value, record: &Value, out: &mut Out<'_>) {
        let id = filled(message, "id").filter(|id| *id != "REDACTED").unwrap_or(word(record, "uuid"));
        if let Some(cost) =
            record["costUSD"].as_f64().filter(|cost| cost.is_finite() && *cost > 0.0 && self.cost_of != id)
        {
            id.clone_into(&mut self.cost_of);
            out.emit(EventKind::Meta(SessionFact::Cost(cost)));
        }
        let Some(usage) = object(message, "usage").map(usage).filter(|usage| *usage != Usage::default()) else {
            return;
        };
        if self.usage.as_ref().is_some_and(|(last, told)| last == id && *told == usage) {
            // The line repeats what was told; it is still a part of the message that a note counts.
            out.told = true;
            return;
        }
        if let Some(model) = filled(message, "model").filter(|model| !self.models.contains(*model)) {
            self.models.insert(model.to_owned());
        }
        self.usage = Some((id.to_owned(), usage));
        out.emit(EventKind::Usage {
            message: Cow::Borrowed(id),
            model: served(filled(message, "model").unwrap_or("unknown"), &message["usage"]),
            usage,
        });
    }
}

/// The model with how it was asked, where that has a price of its own.
fn served<'m>(model: &'m str, tokens: &Value) -> Cow<'m, str> {
    let [fast, us] = SERVED;
    let is = |key: &str, meant: &str| word(tokens, key).eq_ignore_ascii_case(meant);
    let is_fast = is("speed", "fast");
    let is_us = is("inference_geo", "us");
    match (is_fast, is_us) {
        (false, false) => Cow::Borrowed(model),
        (true, false) => Cow::Owned(format!("{fast}{model}")),
        (false, true) => Cow::Owned(format!("{us}{model}")),
        (true, true) => Cow::Owned(format!("{fast}{us}{model}")),
    }
}

fn usage(tokens: &Value) -> Usage {
    let names = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let usage = value::usage(tokens, names);
    let hour = count(tokens, "/cache_creation/ephemeral_1h_input_tokens");
    let web_searches = count(tokens, "/server_tool_use/web_search_requests");
    Usage { cache_write_1h: hour.min(usage.cache_write), web_searches, ..usage }
}

/// A text that the host wrote in the agent's name: a failure of the service, or nothing to tell.
pub(crate) fn synthetic(text: &str, marked: bool, out: &mut Out<'_>) -> Option<&'static str> {
    let text = text.trim();
    if text.is_empty() || !(marked || wrapper::is(super::IMPORTER.id, Means::Failed, text)) {
        return Some(reason::INJECTED);
    }
    out.emit(EventKind::ApiError(Cow::Borrowed(text)));
    None
}

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let get = |key: &str| trimmed(input, key);
    let found = match tool {
        "TaskCreate" => get("subject").map(str::to_owned),
        "TaskUpdate" | "TaskGet" => get("taskId").map(|id| match get("status").or(get("subject")) {
            Some(change) => format!("#{id} {change}"),
            None => format!("#{id}"),
        }),
        "SendMessage" => get("to").or(get("recipient")).map(|to| match get("summary").or(get("content")) {
            Some(words) => format!("{to}: {words}"),
            None => to.to_owned(),
        }),
        _ => None,
    };
    found.unwrap_or_else(|| argument::telling(tool, input, place))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_tool_shows_what_tells() {
        let check = |tool: &str, input: Value, wanted: &str| {
            assert_eq!(telling(tool, &input, &Place::default()), wanted, "{tool}");
        };
        check("TaskUpdate", json!({"taskId": "3", "status": "completed"}), "#3 completed");
        check("SendMessage", json!({"to": "reviewer", "content": "done"}), "reviewer: done");
        check("Bash", json!({"command": "ls"}), "ls");
    }
}
