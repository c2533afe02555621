//! What lies in a session's folder beside its state: cells, each a call with its answer; decisions; traces of reasoning; the memory
//! at its end.

use std::collections::HashMap;

use serde_json::Value;

use crate::call::argument;
use crate::file::document::{count, objects, text};
use crate::stream::out::{Fate, Out, remark};
use crate::stream::place::Place;
use cru_base::text::{fold_whitespace, thousands};
use cru_session::event::{Call, CallResult, DecisionEvent, EventKind};

/// The id of a cell.
pub(super) fn id(value: &Value) -> Option<&str> {
    text(value, &["id", "cell_id"])
}

/// Tells a cell; `call` is the id of its call, `known` has those of the cells before it.
pub(super) fn cell(
    value: &Value,
    call: &str,
    known: &HashMap<String, String>,
    place: &Place,
    out: &mut Out<'_>,
) -> Fate {
    let (input, output) = (&value["input"], &value["output"]);
    let kind = text(value, &["type"]).unwrap_or("tool");
    let tool = text(input, &["operation", "source"]).unwrap_or(kind);
    let given = input.get("args").cloned().unwrap_or_default();
    let args = argument::telling(tool, &given, place);
    out.emit(EventKind::Call(Call { id: call.into(), tool: tool.into(), args: args.into(), input: given }));
    let detail = |name: &'static str, value: String, out: &mut Out<'_>| {
        out.emit(EventKind::Detail { call: call.to_owned().into(), name: name.into(), value: value.into() });
    };
    if let Some(id) = id(value) {
        detail("cell", id.to_owned(), out);
    }
    if kind != tool && kind != "tool" {
        detail("type", kind.to_owned(), out);
    }
    for needed in value.get("dependencies").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        match known.get(needed) {
            Some(before) => detail("after", before.clone(), out),
            None => detail("needs", needed.to_owned(), out),
        }
    }
    let metadata = &value["metadata"];
    if let Some(model) = text(metadata, &["model"]) {
        detail("model", model.to_owned(), out);
    }
    for (name, label) in [("depth", "depth"), ("tokens_used", "tokens")] {
        if let Some(number) = count(metadata, &[name]).filter(|number| *number > 0) {
            detail(label, thousands(number), out);
        }
    }
    let error = text(output, &["error"]);
    let result = output.get("result").filter(|result| !result.is_null());
    if error.is_none() && result.is_none() {
        return Fate::Shown;
    }
    let said = match (error, result) {
        (Some(error), _) => error.to_owned(),
        (None, Some(Value::String(text))) => text.clone(),
        (None, Some(other)) => other.to_string(),
        (None, None) => String::new(),
    };
    out.emit(EventKind::Result(CallResult {
        call: call.into(),
        output: said.into(),
        failed: error.is_some(),
        duration_ms: count(output, &["execution_time_ms"]),
        ..CallResult::default()
    }));
    Fate::Shown
}

/// Tells a decision of `reasoning/decisions.jsonl`.
pub(super) fn decision(value: &Value, out: &mut Out<'_>) -> Fate {
    let Some(title) = text(value, &["decision", "title", "chosen", "summary", "question"]) else {
        return Fate::Skipped("decision without words");
    };
    let words = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        other => text(other, &["option", "title", "text", "description"]).map(str::to_owned),
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
        why: text(value, &["rationale", "why", "reason", "reasoning"]).map(|why| why.to_owned().into()),
        rejected: rejected.into_iter().filter(|option| option != title).map(Into::into).collect(),
        ..DecisionEvent::default()
    }));
    Fate::Shown
}

/// Tells a trace of reasoning, as thinking.
pub(super) fn trace(value: &Value, out: &mut Out<'_>) -> Fate {
    match text(value, &["content", "thought", "text", "trace", "reasoning"]) {
        Some(words) => {
            out.emit(EventKind::Thinking(words.to_owned().into()));
            Fate::Shown
        }
        None => Fate::Skipped("trace without words"),
    }
}

/// Tells the memory at the end of a session.
pub(super) fn snapshot(value: &Value, out: &mut Out<'_>) -> Fate {
    let names = ["entries", "facts", "memories", "items"];
    let listed = names.iter().find_map(|name| value.get(*name).filter(|list| list.is_array()));
    let lines: Vec<String> = if let Some(list) = listed {
        let words = objects(Some(list)).filter_map(|it| text(it, &["content", "text", "value"]));
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
        return Fate::Skipped("empty memory");
    }
    out.emit(EventKind::Remark(remark("summary", "Memory at the end", lines.join("\n"))));
    Fate::Shown
}
