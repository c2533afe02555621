//! One record of a session as events: a message, an output, an access, a copy of the context, a summary; and what lies in a
//! session's folder beside its state: cells, decisions, traces of reasoning, the memory at its end.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::touch::{Access, FileAccess};
use crate::call::argument;
use crate::file::value::{self, filled, flag, moment, number, objects, strings};
use crate::stream::out::{Out, remark};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_base::text::{fold_whitespace, plural, thousands, truncate};
use cru_session::event::{CallResult, DecisionEvent, EventKind, PromptOrigin, Remark};
use cru_session::{FileRef, time};

/// The messages of a context.
pub(super) const MESSAGES: &[&str] = &["messages", "conversation"];

/// Tells a message.
pub(super) fn message(value: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let words = words(value);
    if words.trim().is_empty() {
        return Some("empty message");
    }
    match filled(value, ["role", "type"]).unwrap_or("") {
        "user" | "human" => {
            out.prompt(words, PromptOrigin::Typed);
            None
        }
        "assistant" | "ai" => {
            out.emit(EventKind::Reply(words.into()));
            None
        }
        "system" => Some("system prompt"),
        "tool" | "tool_result" | "function" => Some("answer without its call"),
        role => Some(unknown("unknown role", role)),
    }
}

/// What a message says: a text, or the texts of its blocks.
fn words(value: &Value) -> String {
    let content = value.get("content").or_else(|| value.get("text")).or_else(|| value.get("message"));
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(blocks @ Value::Array(_)) => {
            let texts = objects(Some(blocks)).filter_map(|block| filled(block, "text"));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// Tells the output of a tool, with the file that it touched where the log says so; `id` is the call's.
pub(super) fn output(
    value: &Value,
    access: Option<&Access>,
    id: &str,
    place: &Place,
    out: &mut Out<'_>,
) -> Option<&'static str> {
    let tool = filled(value, ["tool_name", "tool", "name"]).unwrap_or("tool");
    let input = value.get("tool_input").or_else(|| value.get("input")).cloned().unwrap_or_default();
    let args = match access {
        Some(access) => place.show(&access.path).into_owned(),
        None => argument::telling(tool, &input, place),
    };
    out.call(id, tool, args, input);
    if let Some(cell) = filled(value, "cell_id") {
        out.detail(id, "cell", cell);
    }
    let exit = value::exit(value, "exit_code");
    let told_so = flag(value, "is_error");
    let failed = exit.map_or(told_so, |code| code != 0);
    let preview = filled(value, ["content_preview", "preview", "content", "output"]).unwrap_or("");
    let (reads, writes) = access.map(|access| files(access, place)).unwrap_or_default();
    out.emit(EventKind::Result(CallResult {
        call: id.into(),
        output: preview.into(),
        failed,
        exit: exit.filter(|_| failed),
        reads,
        writes,
        ..CallResult::default()
    }));
    None
}

/// Tells an access that no output belongs to.
pub(super) fn access(access: &Access, id: &str, place: &Place, out: &mut Out<'_>) -> Option<&'static str> {
    let (tool, brief) = match access.access {
        FileAccess::Read => ("Read", "read"),
        FileAccess::Write => ("Write", "written"),
        FileAccess::Create => ("Write", "created"),
    };
    out.call(id, tool, place.show(&access.path), Value::Null);
    let (reads, writes) = files(access, place);
    let brief = Some(brief.into());
    out.emit(EventKind::Result(CallResult { call: id.into(), brief, reads, writes, ..CallResult::default() }));
    None
}

fn files(access: &Access, place: &Place) -> (Vec<FileRef>, Vec<FileRef>) {
    let created = access.access == FileAccess::Create;
    let file = vec![FileRef { path: place.show(&access.path).into_owned(), created, ..FileRef::default() }];
    if access.access == FileAccess::Read { (file, Vec::new()) } else { (Vec::new(), file) }
}

/// Tells which files a context knew, where no log does.
pub(super) fn file_table(files: &Value, place: &Place, out: &mut Out<'_>) -> Option<&'static str> {
    let row = |(name, about): (&String, &Value)| {
        let size = number(about, ["size_bytes", "size"]).map(|size| plural(size, "byte"));
        let hash = filled(about, "hash").map(|hash| format!("hash {}", truncate(&fold_whitespace(hash), 64)));
        let facts: Vec<String> = size.into_iter().chain(hash).collect();
        let facts = if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) };
        format!("- `{}`{facts}", place.show(name).replace('`', "'"))
    };
    let rows: Vec<String> = files.as_object().into_iter().flatten().map(row).collect();
    let told = remark("context", plural(rows.len() as u64, "file"), rows.join("\n"));
    out.emit(EventKind::Remark(Remark { folded: true, ..told }));
    None
}

/// Tells a copy of the context that was made before it was shortened; `file` is where it lies.
pub(super) fn backup(value: &Value, file: &str, out: &mut Out<'_>) -> Option<&'static str> {
    const LAST: usize = 200;
    let whole = value.get("context").filter(|context| context.is_object()).unwrap_or(value);
    let messages = MESSAGES.iter().find_map(|name| whole.get(*name)?.as_array());
    let length = |name: &str| match whole.get(name) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    };
    let users = messages.into_iter().flatten().rev().filter(|it| filled(it, "role") == Some("user"));
    let last = users.map(words).map(|words| fold_whitespace(&words)).find(|words| !words.is_empty());
    let mut fields = Vec::new();
    if let Some(last) = last {
        fields.push(("Asked".into(), format!("\"{}\"", truncate(&last, LAST)).into()));
    }
    let counts = [
        ("Messages", messages.map_or(0, Vec::len)),
        ("Tool outputs", length("tool_outputs")),
        ("Files", length("files")),
    ];
    fields.extend(
        counts.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.into(), count.to_string().into())),
    );
    let memory = whole.get("working_memory").and_then(Value::as_object);
    let memory: Vec<&str> = memory.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    if !memory.is_empty() {
        fields.push(("Memory".into(), memory.join(", ").into()));
    }
    fields.push(("Copy".into(), format!("`{file}`").into()));
    if let Some(at) = out.time {
        fields.push(("At".into(), time::format(at).into()));
    }
    let words = filled(value, ["summary", "reason", "trigger"]).unwrap_or("");
    let told = remark("checkpoint", "compaction: before the context was shortened", words);
    out.emit(EventKind::Remark(Remark { fields, folded: true, ..told }));
    None
}

/// Tells the summary of a run, of which these are the events; `file` is where it lies.
pub(super) fn trajectory(value: &Value, events: usize, file: &str, out: &mut Out<'_>) -> Option<&'static str> {
    let listed = ["events", "steps"].iter().find_map(|name| value.get(*name)?.as_array()).map_or(0, Vec::len);
    let metadata = &value["metadata"];
    let count = number(value, ["events_count", "event_count"]).unwrap_or((events + listed) as u64);
    let names = ["summary", "final_summary", "outcome", "final_answer", "result"];
    let words = filled(value, names).or_else(|| filled(metadata, names)).unwrap_or("");
    let mut fields = Vec::new();
    if let Some(query) = filled(value, ["query", "task", "goal"]) {
        fields.push(("Task".into(), query.to_owned().into()));
    }
    if count > 0 {
        fields.push(("Events".into(), count.to_string().into()));
    }
    fields.push(("Record".into(), format!("`{file}`").into()));
    out.emit(EventKind::Remark(Remark { fields, ..remark("summary", "Trajectory", words) }));
    None
}

/// The names under which the time of a record stands.
pub(super) fn when(value: &Value) -> Option<jiff::Timestamp> {
    moment(value, ["timestamp", "time", "ts", "created_at", "externalized_at", "saved_at", "ended_at", "started_at"])
}

/// The id of a cell.
pub(super) fn id(value: &Value) -> Option<&str> {
    filled(value, ["id", "cell_id"])
}

/// Tells a cell; `call` is the id of its call, `known` has those of the cells before it.
pub(super) fn cell(value: &Value, call: &str, known: &HashMap<&str, String>, place: &Place, out: &mut Out<'_>) {
    let (input, output) = (&value["input"], &value["output"]);
    let kind = filled(value, "type").unwrap_or("tool");
    let tool = filled(input, ["operation", "source"]).unwrap_or(kind);
    let given = input.get("args").cloned().unwrap_or_default();
    out.call(call, tool, argument::telling(tool, &given, place), given);
    if let Some(id) = id(value) {
        out.detail(call, "cell", id);
    }
    if kind != tool && kind != "tool" {
        out.detail(call, "type", kind);
    }
    for needed in strings(value.get("dependencies").filter(|it| it.is_array())) {
        match known.get(needed) {
            Some(before) => out.detail(call, "after", before),
            None => out.detail(call, "needs", needed),
        }
    }
    let metadata = &value["metadata"];
    if let Some(model) = filled(metadata, "model") {
        out.detail(call, "model", model);
    }
    for (name, label) in [("depth", "depth"), ("tokens_used", "tokens")] {
        if let Some(number) = number(metadata, name).filter(|number| *number > 0) {
            out.detail(call, label, thousands(number));
        }
    }
    let error = filled(output, "error");
    let result = output.get("result").filter(|result| !result.is_null());
    let told = result.map(|result| result.as_str().map_or_else(|| Cow::Owned(result.to_string()), Cow::Borrowed));
    if let Some(said) = error.map(Cow::Borrowed).or(told) {
        out.emit(EventKind::Result(CallResult {
            call: call.into(),
            output: said,
            failed: error.is_some(),
            duration_ms: number(output, "execution_time_ms"),
            ..CallResult::default()
        }));
    }
}

/// Tells a decision of `reasoning/decisions.jsonl`.
pub(super) fn decision(value: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let Some(title) = filled(value, ["decision", "title", "chosen", "summary", "question"]) else {
        return Some("decision without words");
    };
    let words = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        other => filled(other, ["option", "title", "text", "description"]).map(str::to_owned),
    };
    let list = |names: &[&str]| -> Vec<String> {
        let found = names.iter().find_map(|name| value.get(*name)?.as_array());
        found.into_iter().flatten().filter_map(words).collect()
    };
    let evidence = list(&["evidence", "cells"]);
    let evidence = if evidence.is_empty() { String::new() } else { format!("Evidence: {}", evidence.join("; ")) };
    let rejected = list(&["alternatives", "rejected", "options"]);
    out.emit(EventKind::Decision(DecisionEvent {
        title: fold_whitespace(title).into(),
        text: evidence.into(),
        why: filled(value, ["rationale", "why", "reason", "reasoning"]).map(|why| why.to_owned().into()),
        rejected: rejected.into_iter().filter(|option| option != title).map(Into::into).collect(),
        ..DecisionEvent::default()
    }));
    None
}

/// Tells a trace of reasoning, as thinking.
pub(super) fn trace(value: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match filled(value, ["content", "thought", "text", "trace", "reasoning"]) {
        Some(words) => {
            out.emit(EventKind::Thinking(words.to_owned().into()));
            None
        }
        None => Some("trace without words"),
    }
}

/// Tells the memory at the end of a session.
pub(super) fn snapshot(value: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let names = ["entries", "facts", "memories", "items"];
    let listed = names.iter().find_map(|name| value.get(*name).filter(|list| list.is_array()));
    let lines: Vec<String> = if let Some(list) = listed {
        let words = objects(Some(list)).filter_map(|it| filled(it, ["content", "text", "value"]));
        words.map(|words| format!("- {}", fold_whitespace(words))).collect()
    } else {
        let map = ["working_memory", "memory", "task"].iter().find_map(|name| value.get(*name)?.as_object());
        let line = |(key, value): (&String, &Value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("- {key}: {}", fold_whitespace(&value))
        };
        map.into_iter().flatten().map(line).collect()
    };
    if lines.is_empty() {
        return Some("empty memory");
    }
    out.emit(EventKind::Remark(remark("summary", "Memory at the end", lines.join("\n"))));
    None
}
