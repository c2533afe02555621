//! The tables against the tools and commands of real transcripts.

#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that tells what is not known")]

use std::collections::BTreeMap;
use std::path::Path;

use cru_action::tool::{Role, argument};
use cru_action::{Action, Class, ToolKind, argv};
use serde_json::{Map, Value};

/// Adds each tool call in a record: hosts name it under one key and its input under another.
fn calls(value: &Value, found: &mut dyn FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| calls(item, found)),
        Value::Object(map) => {
            let name = ["name", "toolName", "tool"].iter().find_map(|key| map.get(*key)?.as_str());
            let input = ["input", "arguments", "args", "state"].iter().find_map(|key| map.get(*key));
            let parsed = input.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
            let input = parsed.as_ref().or(input).map(|input| input.get("input").unwrap_or(input));
            let kind = map.get("type").and_then(Value::as_str).unwrap_or("");
            let is_call = matches!(kind, "tool_use" | "server_tool_use" | "function_call" | "toolCall" | "tool")
                || map.contains_key("toolName");
            if let (Some(name), Some(Value::Object(input)), true) = (name, input, is_call) {
                found(name, input);
            }
            map.values().for_each(|value| calls(value, found));
        }
        _ => {}
    }
}

fn walk(folder: &Path, found: &mut dyn FnMut(&str, &Map<String, Value>)) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            records.for_each(|record| calls(&record, found));
        }
    }
}

#[test]
#[ignore = "needs ../shared/transcripts"]
#[expect(clippy::disallowed_methods, reason = "a test's own setting")]
fn most_calls_are_known_shared() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    let root = std::env::var_os("CRU_TEST_TRANSCRIPTS").map_or_else(beside, Into::into);
    let (mut tools, mut programs): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
    let (mut all_tools, mut all, mut known) = (0_usize, 0_usize, 0_usize);
    walk(&root, &mut |tool, input| {
        all_tools += 1;
        if ToolKind::of(tool) == ToolKind::Other && Action::of(tool, "").class() == Class::Unknown {
            *tools.entry(tool.to_owned()).or_default() += 1;
        }
        if ToolKind::of(tool) != ToolKind::Shell {
            return;
        }
        let command = argument(tool, input, Role::Command).and_then(|(_, value)| argv::script(value));
        for command in Action::of(tool, command.as_deref().unwrap_or("")).commands {
            all += 1;
            if command.class == Class::Unknown {
                *programs.entry(command.program.into_owned()).or_default() += 1;
            } else {
                known += 1;
            }
        }
    });
    let mut rows: Vec<_> = tools.iter().chain(&programs).collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (name, count) in rows.iter().take(60) {
        eprintln!("{count:5} {name}");
    }
    eprintln!("{known} of {all} commands known; {all_tools} calls");
    assert!(all > 1000, "{all} commands");
    assert!(known * 100 >= all * 95, "{known} of {all}");
    assert!(tools.values().sum::<usize>() * 100 <= all_tools, "{tools:?}");
}
