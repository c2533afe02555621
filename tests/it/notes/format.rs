//! The format by example: `tests/format/*.md`.
//!
//! A case is a heading, a fence `note` and the fences that follow it: `session` (what was read, one phase or item a
//! line), `diagnostics`, and `written` (the session rendered again). A fence that is not there is not checked. With
//! `FORMAT=overwrite` the fences are brought up to date instead; read what changed.

#![expect(clippy::unwrap_used, reason = "a test stops where something is missing")]

use std::fmt::Write as _;
use std::path::Path;

use cru::note::Note;
use cru::session::{Item, Session, read, render};
use serde_json::Value;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test's own switch and its own files")]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format");
    let overwrite = std::env::var("FORMAT").is_ok_and(|value| value == "overwrite");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = String::new();
    let mut count = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let current = bring_up_to_date(&text, &mut count);
        if overwrite {
            std::fs::write(&path, current).unwrap();
        } else if current != text {
            let difference = similar::TextDiff::from_lines(&text, &current);
            let _ = write!(wrong, "{}\n{}", path.display(), difference.unified_diff().context_radius(3));
        }
    }
    assert!(count >= 20, "only {count} fences were checked");
    assert!(wrong.is_empty(), "{wrong}");
}

/// The text with every fence holding what it should.
fn bring_up_to_date(text: &str, count: &mut usize) -> String {
    let mut out = String::new();
    let mut note = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks < 3 {
            continue;
        }
        let body: Vec<&str> = lines.by_ref().take_while(|line| !closes(line, ticks)).collect();
        let body = body.iter().fold(String::new(), |body, line| body + line + "\n");
        let known = match &line[ticks..] {
            "note" => {
                note.clone_from(&body);
                None
            }
            "session" => Some(session(&read::session(&Note::parse(note.clone())).0)),
            "diagnostics" => Some(diagnostics(&note)),
            "written" => Some(render::body(&read::session(&Note::parse(note.clone())).0)),
            _ => None,
        };
        *count += usize::from(known.is_some());
        out.push_str(&known.unwrap_or(body));
        let _ = writeln!(out, "{}", "`".repeat(ticks));
    }
    out
}

fn closes(line: &str, ticks: usize) -> bool {
    line.len() == ticks && line.bytes().all(|byte| byte == b'`')
}

fn diagnostics(note: &str) -> String {
    let note = Note::parse(note.to_owned());
    let (_, found) = read::session(&note);
    let mut out = String::new();
    for it in note.diagnostics().iter().chain(&found) {
        let (line, column) = note.lines().place(note.text(), it.span.start);
        let severity = format!("{:?}", it.severity).to_lowercase();
        let _ = writeln!(out, "{line}:{column} {severity}[{}] {}", it.code, it.message);
    }
    out
}

/// One line for each phase and item, what is empty left out.
fn session(session: &Session) -> String {
    let mut out = String::new();
    put(&mut out, "", "meta", serde_json::to_value(&session.meta).unwrap());
    if let Some(heading) = &session.heading {
        let _ = writeln!(out, "heading {heading:?}");
    }
    items(&mut out, "", &session.preface);
    for phase in &session.phases {
        let mut value = serde_json::to_value(phase).unwrap();
        value.as_object_mut().unwrap().shift_remove("items");
        put(&mut out, "", "phase", value);
        items(&mut out, "  ", &phase.items);
    }
    for fence in &session.memory {
        let _ = writeln!(out, "memory {:?}", fence.body);
    }
    out
}

fn items(out: &mut String, indent: &str, items_: &[Item]) {
    for item in items_ {
        let mut value = serde_json::to_value(item).unwrap();
        let map = value.as_object_mut().unwrap();
        let name = map.shift_remove("item").unwrap();
        map.shift_remove("items");
        let typed = !matches!(item, Item::Callout(_));
        if typed && item.callout().is_some() {
            for repeated in ["kind", "body", "fields"] {
                map.shift_remove(repeated);
            }
        }
        put(out, indent, name.as_str().unwrap(), value);
        if let Item::Subagent(it) = item {
            items(out, &format!("{indent}  "), &it.items);
        }
    }
}

fn put(out: &mut String, indent: &str, name: &str, mut value: Value) {
    strip(&mut value);
    let _ = writeln!(out, "{indent}{name} {value}");
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(strip);
            map.retain(|key, value| {
                let empty = match value {
                    Value::Null | Value::Bool(false) => true,
                    Value::String(text) => text.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    Value::Object(map) => map.is_empty(),
                    Value::Bool(true) | Value::Number(_) => false,
                };
                !empty && !key.ends_with("span")
            });
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
