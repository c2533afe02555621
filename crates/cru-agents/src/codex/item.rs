//! Items: what the model saw and said. Prose, thinking, calls and answers are told from here.

use std::borrow::Cow;

use serde_json::Value;

use super::call::{self, CodexTold};
use super::reason;
use super::record::words;
use super::said::{self, CodexSaid};
use super::stream::CodexStream;
use crate::call::open::OpenCall;
use crate::call::task_list;
use crate::file::value::{self, base64_size, blocks, filled, length, list, word};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::{CallResult, EventKind};

impl CodexStream {
    /// Reads an item.
    pub(super) fn item(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        match word(item, "type") {
            "message" => self.message(item, out),
            "reasoning" => self.reasoning(item, out),
            "function_call" | "custom_tool_call" | "tool_call" | "local_shell_call" => self.call(item, out),
            "function_call_output" | "custom_tool_call_output" | "tool_result" => {
                self.settle_users(out);
                self.answer(item, out)
            }
            "web_search_call" => self.search(item, out),
            "tool_search_call" => self.tool_search(item, out),
            "tool_search_output" => self.found_tools(item, out),
            "image_generation_call" => self.image(item, out),
            "ghost_snapshot" => Some("snapshot of the host"),
            "agent_message" => Some("message between agents"),
            "compaction" | "compaction_summary" | "context_compaction" => Some(reason::TWICE),
            "" => Some("no record type"),
            kind => Some(unknown("unknown item", kind)),
        }
    }

    fn message(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        match word(item, "role") {
            "assistant" => {
                let text = said::shown(&words(&blocks(&item["content"]))).to_owned();
                self.settle_users(out);
                if text.trim().is_empty() {
                    return Some(reason::EMPTY);
                }
                if self.replies.first(&text).is_none() {
                    return Some(reason::TWICE);
                }
                self.acts(out);
                out.emit(EventKind::Reply(text.into()));
                None
            }
            "user" => self.under_their_name(item, out),
            "developer" | "system" => Some("instructions of the host"),
            role => Some(unknown("unknown role", role)),
        }
    }

    /// A message under a person's name: it waits whether an event says that they are their words.
    fn under_their_name(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let mut text = String::new();
        let parts = blocks(&item["content"]);
        let pictures = super::record::pictures(&parts);
        for part in &parts {
            let Some(words) = filled(part, "text") else { continue };
            if matches!(said::read(words), CodexSaid::Words(_)) {
                text.push_str(if text.is_empty() { "" } else { "\n\n" });
                text.push_str(words);
            } else if matches!(said::read(words), CodexSaid::Shell(..)) {
                return self.prompt(words, Vec::new(), out);
            }
        }
        if text.is_empty() && pictures.is_empty() {
            return Some(reason::INJECTED);
        }
        if self.users.is_full() {
            self.settle_users(out);
        }
        self.users.second(out.record, out.time, &text, pictures);
        Some(reason::TWICE)
    }

    fn reasoning(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.settle_users(out);
        let parts = blocks(&item["content"]);
        let said = list(item, "summary").iter().chain(parts.iter().map(AsRef::as_ref));
        let (mut any, mut told) = (false, false);
        for text in said.filter_map(|part| filled(part, "text")) {
            any = true;
            if self.thoughts.first(text).is_some() {
                told = true;
                out.emit(EventKind::Thinking(text.into()));
            }
        }
        match (told, any) {
            (true, _) => None,
            (false, true) => Some(reason::TWICE),
            (false, false) => Some("thinking that the host encrypted"),
        }
    }

    fn call(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let kind = word(item, "type");
        let named = filled(&item["function"], "name");
        let name =
            filled(item, "name").or(named).unwrap_or(if kind == "local_shell_call" { "local_shell" } else { "tool" });
        let given = ["arguments", "input", "action"].iter().find_map(|key| item.get(*key).filter(|it| !it.is_null()));
        let input = arguments(given.unwrap_or(&Value::Null));
        let host_id = filled(item, "call_id").or(filled(item, "id").filter(|_| kind == "local_shell_call"));
        // Old calls have no id: the name joins their answer.
        let host_id = host_id.map_or_else(|| format!("{name}@"), str::to_owned);
        let running = |number: &str| self.running.get(number).map(|(_, told)| told.shown());
        let told = call::read(name, &input, &self.place, &running);
        let space = filled(item, "namespace").filter(|_| told.tool == name);
        let tool = space.map_or_else(|| told.tool.clone(), |space| qualified(space, name));
        self.open(&host_id, CodexTold { tool, ..told }, input, out);
        None
    }

    /// Tells a call and remembers it until its answer; the id told.
    fn open(&mut self, host_id: &str, told: CodexTold, input: Value, out: &mut Out<'_>) -> String {
        self.acts(out);
        let id = self.calls.name(host_id, out.record);
        self.calls.open(OpenCall::new(id.clone(), host_id, &told.tool, ""));
        out.call(&id, &told.tool, &told.args, input);
        task_list::tell(&told.name, &told.input, out);
        self.open.insert(id.clone(), told);
        id
    }

    /// A call that is its own answer.
    fn done(&mut self, result: CallResult<'_>, out: &mut Out<'_>) {
        self.calls.close(&result.call, ["", ""]);
        self.open.remove(result.call.as_ref());
        out.emit(EventKind::Result(result));
    }

    fn search(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let action = item["action"].clone();
        let get = |key: &str| action.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let first = || action.get("queries")?.as_array()?.iter().find_map(Value::as_str);
        let (tool, args) = match get("type").unwrap_or("search") {
            "open_page" | "openPage" => ("WebFetch", get("url").unwrap_or("").to_owned()),
            "find_in_page" | "findInPage" => {
                ("WebFetch", [get("url"), get("pattern")].into_iter().flatten().collect::<Vec<_>>().join(" "))
            }
            _ => ("WebSearch", get("query").or_else(first).unwrap_or("").to_owned()),
        };
        let host_id = format!("search@{}", out.record);
        let found = self.found.take().filter(|count| *count > 0);
        let failed = word(item, "status") == "failed";
        let id = self.open(&host_id, CodexTold::of(tool, args), action, out);
        let brief = match (failed, found) {
            (true, _) => None,
            (false, Some(count)) => Some(cru_base::text::plural(count, "result").into()),
            (false, None) => Some(Cow::Borrowed("done, results not recorded")),
        };
        self.done(CallResult { call: id.into(), failed, brief, ..CallResult::default() }, out);
        None
    }

    fn tool_search(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let input = arguments(&item["arguments"]);
        let args = word(&input, "query").to_owned();
        let host_id = filled(item, "call_id").map_or_else(|| "ToolSearch@".to_owned(), str::to_owned);
        self.open(&host_id, CodexTold::of("ToolSearch", args), input, out);
        None
    }

    fn found_tools(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let host_id = filled(item, "call_id").unwrap_or("ToolSearch@");
        let Some(call) = self.calls.close(host_id, ["", ""]) else { return Some(self.calls.unmet(host_id)) };
        self.open.remove(&call.id);
        let brief = length(item, "tools")
            .map(|count| cru_base::text::plural(count, "match").replace("matchs", "matches").into());
        out.emit(EventKind::Result(CallResult { call: call.id.into(), brief, ..CallResult::default() }));
        None
    }

    fn image(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let args = word(item, "revised_prompt").to_owned();
        let bytes = base64_size(word(item, "result"));
        let host_id = format!("image@{}", out.record);
        let failed = word(item, "status") == "failed";
        let id = self.open(&host_id, CodexTold::of("image_generation", args), Value::Null, out);
        let picture = cru_session::event::Attachment { media_type: "image/png".into(), bytes };
        let attachments = if bytes > 0 { vec![picture] } else { Vec::new() };
        self.done(CallResult { call: id.into(), failed, attachments, ..CallResult::default() }, out);
        None
    }
}

/// A tool of a server with the server before it, whatever of the separator stands in either.
fn qualified(space: &str, name: &str) -> String {
    const SEPARATOR: &str = "__";
    if space.starts_with("mcp__") {
        format!("{}{SEPARATOR}{}", space.trim_end_matches('_'), name.trim_start_matches('_'))
    } else {
        format!("{}.{}", space.trim_end_matches('.'), name)
    }
}

/// Arguments: a text that holds JSON, JSON itself, or a text.
fn arguments(given: &Value) -> Value {
    let Some(text) = given.as_str() else { return given.clone() };
    let whole = text.trim_start().starts_with('{').then(|| value::read(text.as_bytes())).flatten();
    whole.unwrap_or_else(|| given.clone())
}
