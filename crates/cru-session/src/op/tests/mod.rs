//! Operations on notes, by example.

mod again;
mod conflict;
mod growth;
mod interleaving;
mod place;
mod property;
mod task;

use super::*;

/// A note of the usual kind.
const NOTE: &str = "---
type: session
session_id: s
title: Refresh tokens
status: active
---
# Refresh tokens

## Research @planner@1.2 #dev

*2026-11-20T09:31:10Z* ^p-01

**Tool calls:**
- `Read src/auth.rs` → 412 lines (09:31:42) ^n-001
- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002

> [!error] Flaky clock
> Expiry was compared with the wall clock.

### Aside

Words.

## Build @coder #dev

*2026-11-20T10:02:00Z* ^p-02

> [!user]
> \"go on\"
";

/// The note with the operations, first time, and what became of them.
fn applied(note: &str, ops: &[Op]) -> (String, Vec<Outcome>) {
    with(note, ops, Mode::First)
}

fn with(note: &str, ops: &[Op], mode: Mode) -> (String, Vec<Outcome>) {
    let applied = apply(note.as_bytes(), ops, mode).unwrap();
    let changes: Vec<Change> = applied.done.iter().flat_map(|done| done.edits.clone()).collect();
    assert_eq!(undo(&applied.bytes, &changes).map(|bytes| String::from_utf8(bytes).unwrap()), Ok(note.to_owned()));
    (String::from_utf8(applied.bytes).unwrap(), applied.done.iter().map(|done| done.outcome).collect())
}

/// Only the lines that changed.
fn diff(old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let lines = diff.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal);
    let shown = |change: similar::Change<&str>| [change.tag().to_string(), change.value().replace('\r', "␍")].concat();
    lines.map(shown).collect()
}

fn changed(note: &str, ops: &[Op]) -> String {
    let (new, outcomes) = applied(note, ops);
    format!("{outcomes:?}\n{}", diff(note, &new))
}

fn step(id: u32) -> String {
    format!("**Tool calls:**\n- `Bash step {id}` → ok (10:05:00) ^n-{id:03}\n")
}

fn append(phase: &str, text: &str) -> Op {
    Op::Append { phase: Some(phase.to_owned()), text: text.to_owned() }
}

fn after(block: &str, text: &str) -> Op {
    Op::InsertAfter { block: block.to_owned(), phase: Some("p-01".to_owned()), text: text.to_owned() }
}

fn replace(old: &str, new: &str) -> Op {
    Op::Replace { phase: Some("p-01".to_owned()), old: old.to_owned(), new: new.to_owned() }
}

fn set(key: &str, old: serde_json::Value, new: serde_json::Value) -> Op {
    let some = |value: serde_json::Value| Some(value).filter(|value| !value.is_null());
    Op::Set { key: key.to_owned(), old: some(old), new: some(new) }
}
