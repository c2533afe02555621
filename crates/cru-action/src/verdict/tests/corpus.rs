//! Real outputs: what careful readers found, and a list of verdicts to read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::verdict::runners::RUNNERS;
use crate::verdict::{CheckRun, Decision, Shown, Verdict, decision};

/// A call of a shell with its result.
struct Call {
    file: String,
    line: String,
    command: String,
    output: String,
    exit: Option<i32>,
    failed: bool,
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(object) => {
            ["text", "content", "output"].iter().find_map(|key| object.get(*key)).map(text).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Exit code and output, where a wrapper of the host holds both.
fn unwrapped(output: String) -> (Option<i32>, String) {
    if let Ok(Value::Object(object)) = serde_json::from_str(&output)
        && let (Some(Value::String(inner)), Some(metadata)) = (object.get("output"), object.get("metadata"))
    {
        let code = metadata.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
        return (code, inner.clone());
    }
    let head: Vec<&str> = output.lines().take(8).collect();
    let stated = ["Process exited with code ", "Exit code: ", "Exit code ", "exit code: "];
    let code =
        head.iter().find_map(|line| stated.iter().find_map(|start| line.strip_prefix(start)?.trim().parse().ok()));
    let ended = output.trim_end().lines().last().unwrap_or("");
    let said = ended.strip_prefix("Command exited with code ").and_then(|code| code.trim().parse().ok());
    (code.or(said), output)
}

fn collect(value: &Value, file: &str, line: &str, asked: &mut HashMap<String, String>, calls: &mut Vec<Call>) {
    if let Value::Array(items) = value {
        for item in items {
            collect(item, file, line, asked, calls);
        }
        return;
    }
    let Value::Object(object) = value else { return };
    let string = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let command_of = |value: Option<&Value>| match value.and_then(|v| v.get("command").or_else(|| v.get("cmd"))) {
        Some(Value::String(command)) => Some(command.clone()),
        Some(Value::Array(words)) => words.last().and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    let mut add = |command: String, value: Option<&Value>, exit: Option<i32>, failed: bool| {
        let (stated, output) = unwrapped(value.map(text).unwrap_or_default());
        let exit = exit.or(stated);
        let failed = failed || exit.is_some_and(|code| code != 0);
        calls.push(Call { file: file.into(), line: line.into(), command, output, exit, failed });
    };
    let flag = |key: &str| object.get(key).and_then(Value::as_bool).unwrap_or(false);
    match object.get("type").and_then(Value::as_str).unwrap_or("") {
        "tool_use" => drop(command_of(object.get("input")).map(|command| asked.insert(string("id"), command))),
        "toolCall" => drop(command_of(object.get("arguments")).map(|command| asked.insert(string("id"), command))),
        "function_call" => {
            let arguments: Option<Value> = serde_json::from_str(&string("arguments")).ok();
            drop(command_of(arguments.as_ref()).map(|command| asked.insert(string("call_id"), command)));
        }
        "tool_result" => {
            if let Some(command) = asked.get(&string("tool_use_id")) {
                add(command.clone(), object.get("content"), None, flag("is_error"));
            }
        }
        "function_call_output" => {
            if let Some(command) = asked.get(&string("call_id")) {
                add(command.clone(), object.get("output"), None, false);
            }
        }
        "tool" => {
            if let Some(state) = object.get("state")
                && let Some(command) = command_of(state.get("input"))
            {
                let exit = state.get("metadata").and_then(|m| m.get("exit")).and_then(Value::as_i64);
                let failed = state.get("status").and_then(Value::as_str) == Some("error");
                add(command, state.get("output"), exit.and_then(|code| i32::try_from(code).ok()), failed);
            }
        }
        _ => {}
    }
    if string("role") == "toolResult"
        && let Some(command) = asked.get(&string("toolCallId"))
    {
        add(command.clone(), object.get("content"), None, flag("isError"));
    }
    for item in object.values() {
        collect(item, file, line, asked, calls);
    }
}

fn calls_of(path: &Path) -> Vec<Call> {
    let name = path.strip_prefix(shared().join("transcripts")).unwrap_or(path).to_string_lossy().into_owned();
    let content = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let (mut asked, mut calls) = (HashMap::new(), Vec::new());
    if let Ok(Value::Object(document)) = serde_json::from_str::<Value>(&content)
        && let Some(Value::Array(messages)) = document.get("messages")
    {
        for (index, message) in messages.iter().enumerate() {
            collect(message, &name, &format!("m{index}"), &mut asked, &mut calls);
        }
        return calls;
    }
    for (index, record) in content.lines().enumerate() {
        if let Ok(value) = serde_json::from_str::<Value>(record) {
            collect(&value, &name, &(index + 1).to_string(), &mut asked, &mut calls);
        }
    }
    calls
}

/// The simple commands of `text`, each with what stands before it; quotes are respected, here-documents end the reading.
fn pieces(text: &str) -> Vec<(&'static str, Vec<String>)> {
    let mut pieces: Vec<(&'static str, Vec<String>)> = vec![("", Vec::new())];
    let (mut word, mut has_word, mut quote) = (String::new(), false, None);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let operators: [(&str, &'static str); 9] = [
            ("2>&1", " "),
            ("&>", " "),
            (">&", " "),
            ("&&", "&&"),
            ("||", "||"),
            ("|", "|"),
            (";", ";"),
            ("\n", ";"),
            ("&", ";"),
        ];
        let mut taken = first.len_utf8();
        let operator = operators.iter().find(|(sign, _)| quote.is_none() && rest.starts_with(sign));
        if quote.is_none() && rest.starts_with("<<") {
            break;
        } else if quote == Some(first) {
            quote = None;
        } else if quote.is_none() && matches!(first, '\'' | '"') {
            (quote, has_word) = (Some(first), true);
        } else if quote.is_none() && (operator.is_some() || first.is_whitespace() || matches!(first, '(' | ')')) {
            if has_word {
                pieces.last_mut().unwrap().1.push(std::mem::take(&mut word));
                has_word = false;
            }
            if let Some((sign, name)) = operator {
                taken = sign.len();
                if *name != " " {
                    pieces.push((name, Vec::new()));
                }
            }
        } else {
            word.push(first);
            has_word = true;
        }
        rest = &rest[taken..];
    }
    if has_word {
        pieces.last_mut().unwrap().1.push(word);
    }
    pieces
}

/// The verdict over `call`, where a part of it is a check; `only` chooses checks by their first words.
fn judged(call: &Call) -> Option<Decision> {
    let all = pieces(&call.command);
    let all: Vec<_> = all.into_iter().filter(|(operator, words)| *operator == "|" || !words.is_empty()).collect();
    let is_check = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(index) = RUNNERS.of(&words) else { return false };
        let wrapper = RUNNERS.table[usize::from(index)].runs_others;
        let named = ["test", "lint", "check", "build", "typecheck", "tsc", "fmt", "format", "validate", "ci"];
        let names = |word: &&str| named.iter().any(|name| word.split([':', '-']).any(|part| part == *name));
        !wrapper || words.iter().skip(1).any(names) || words.first() == Some(&"make") || words.first() == Some(&"act")
    };
    let checks: Vec<usize> = (0..all.len()).filter(|index| is_check(&all[*index].1)).collect();
    let last = *checks.last()?;
    let first = *checks.first()?;
    let piped = checks.iter().any(|index| all.get(index + 1).is_some_and(|(operator, _)| *operator == "|"));
    let is_quiet =
        |words: &[String]| matches!(words.first().map(String::as_str), Some("cd" | "export" | "source" | "set"));
    let own = !piped
        && all[last + 1..].iter().all(|(operator, _)| *operator == "&&")
        && all[first + 1..=last].iter().all(|(operator, words)| *operator == "&&" || is_quiet(words));
    let chained = all[first + 1..=last].iter().all(|(operator, _)| *operator == "&&");
    let mut shown = Shown::Whole;
    for (operator, words) in &all[first..] {
        if *operator != "|" {
            continue;
        }
        shown = match (words.first().map_or("", String::as_str), shown) {
            ("tail", Shown::Whole) => Shown::End,
            ("head", Shown::Whole) => Shown::Start,
            ("tee" | "cat", shown) => shown,
            ("tail", Shown::End) => Shown::End,
            ("grep", Shown::Whole) if !words.iter().any(|word| word.contains('v') && word.starts_with('-')) => {
                let pattern = words.iter().skip(1).find(|word| !word.starts_with('-')).cloned().unwrap_or_default();
                Shown::Filtered(Box::leak(pattern.into_boxed_str()))
            }
            ("tail", Shown::Filtered(pattern)) => Shown::Filtered(pattern),
            _ => Shown::Filtered(""),
        };
    }
    let words: Vec<Vec<&str>> = checks.iter().map(|i| all[*i].1.iter().map(String::as_str).collect()).collect();
    let commands: Vec<&[&str]> = words.iter().map(Vec::as_slice).collect();
    Some(decision(&CheckRun {
        commands: &commands,
        output: &call.output,
        exit: call.exit,
        failed: call.failed,
        status_is_own: own,
        shown,
        chained,
    }))
}

fn transcripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            transcripts(&path, found);
        } else if path.extension().is_some_and(|end| end == "jsonl" || end == "json") {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs ../shared/transcripts"]
fn list_of_real_checks() {
    let mut files = Vec::new();
    transcripts(&shared().join("transcripts"), &mut files);
    let mut counted: HashMap<&str, usize> = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    for call in files.iter().flat_map(|file| calls_of(file)) {
        let Some(found) = judged(&call) else { continue };
        if !seen.insert((call.command.clone(), call.output.clone())) {
            continue;
        }
        *counted.entry(found.verdict.as_str()).or_default() += 1;
        let evidence = found.evidence.map_or("-", |range| call.output[range].trim());
        let lines: Vec<&str> = call.output.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown: Vec<String> =
            lines.iter().rev().take(3).rev().map(|line| line.chars().take(110).collect()).collect();
        println!(
            "{} | exit {:?} failed {} | {}:{} | {:?}\n    by: {:.140}\n    end: {:?}",
            found.verdict.as_str(),
            call.exit,
            call.failed,
            call.file,
            call.line,
            call.command,
            evidence,
            shown
        );
    }
    println!("{counted:?}");
    assert!(counted.values().sum::<usize>() > 100);
}

#[test]
#[ignore = "needs ../shared/transcripts"]
fn labels() {
    let (mut passed, mut of_passed) = (0, 0);
    let mut wrong = Vec::new();
    let mut files: Vec<PathBuf> = fs::read_dir(shared().join("labels")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let label: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let name = label["transcript"].as_str().unwrap();
        let calls = calls_of(&shared().join("transcripts").join(name));
        for check in label["checks"].as_array().into_iter().flatten() {
            let (command, last) = (check["command"].as_str().unwrap(), check["last"].as_str().unwrap());
            let line = check["line"].as_u64().map_or_else(|| check["line"].as_str().unwrap().into(), |n| n.to_string());
            // The label names the line of the call, of its result or of words about it.
            let number = |line: &str| line.trim_start_matches('m').parse::<usize>().unwrap_or(0);
            let called: Vec<&Call> = calls.iter().filter(|call| call.command.contains(command)).collect();
            let near = |call: &&&Call| (number(&line)..=number(&line) + 2).contains(&number(&call.line));
            let at: Vec<&Call> = called.iter().filter(near).copied().take(1).collect();
            let before = || called.iter().rev().find(|call| number(&call.line) <= number(&line)).copied();
            let call = at.first().copied().or_else(before);
            let found = call.and_then(judged);
            let exact = !at.is_empty();
            let shown = found.as_ref().map_or("no call", |found| found.verdict.as_str());
            println!(
                "{last} → {shown} (at the line: {exact}) {name} {line} {command:?} {:?}",
                call.map(|call| &call.command)
            );
            let verdict = found.map(|found| found.verdict);
            if last == "failed" && verdict == Some(Verdict::Passed) {
                wrong.push(command.to_owned());
            }
            if last == "passed" && exact {
                of_passed += 1;
                passed += usize::from(verdict == Some(Verdict::Passed));
            }
        }
    }
    println!("{passed} of {of_passed}");
    assert!(wrong.is_empty(), "{wrong:?}");
}
