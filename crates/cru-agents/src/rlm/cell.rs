//! What lies in a session's folder beside its state: cells, each a call with its answer; decisions; traces of reasoning; the memory
//! at its end.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use crate::call::argument;
use crate::file::value::{filled, number, objects, strings};
use crate::stream::out::{Out, remark};
use crate::stream::place::Place;
use cru_base::text::{fold_whitespace, thousands};
use cru_session::event::{CallResult, DecisionEvent, EventKind};

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
