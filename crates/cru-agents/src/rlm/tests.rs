//! Whole sessions of small invented files.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, lines, told};
use cru_session::source::Bundle;

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn bytes(value: Value) -> Vec<u8> {
    serde_json::to_vec_pretty(&value).unwrap()
}

fn state() -> Value {
    json!({"created_at": 1_767_693_600, "rlm_active": true, "current_depth": 1, "working_memory": {"goal": "keys"},
        "total_tokens_used": 48210, "total_recursive_calls": 3, "trajectory_events_count": 12})
}

fn context() -> Value {
    json!({"messages": [
            {"role": "user", "content": "rotate the keys", "timestamp": 1_767_693_605},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}], "timestamp": 1_767_693_610},
            {"role": "system", "content": "be brief", "timestamp": 1_767_693_611},
            {"role": "user", "content": "go on", "timestamp": 1_767_693_990},
            {"role": "user", "content": "go on", "timestamp": 1_767_693_990}],
        "files": {"src/keys.rs": {"hash": "d41d8cd98f00b204e9800998ecf8427e"}},
        "tool_outputs": [
            {"tool_name": "Read", "content_preview": "pub struct Keys;", "exit_code": null, "timestamp": 1_767_693_612, "cell_id": "cell_1"},
            {"tool_name": "Bash", "content_preview": "1 failed", "exit_code": 101, "timestamp": 1_767_693_750}],
        "working_memory": {"goal": "rotate the keys"}})
}

fn log() -> Vec<u8> {
    lines(&[
        json!({"timestamp": 1_767_693_613, "operation": "read", "path": "src/keys.rs"}),
        json!({"timestamp": 1_767_693_700, "operation": "write", "path": "src/keys.rs"}),
        json!({"timestamp": 1, "operation": "read"}),
    ])
}

/// Reads files without a disk, as one session.
fn from_memory(files: &[(&str, Vec<u8>)]) -> Told {
    let memory = files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.clone())).collect();
    let bundle = Bundle { files: files.iter().map(|(name, _)| PathBuf::from(name)).collect(), memory };
    let mut all = Told::default();
    (IMPORTER.read)(&bundle, &mut all).unwrap();
    all
}

#[test]
fn a_session_is_put_together_from_its_files() {
    let all = told(
        &IMPORTER,
        &[
            ("rlm-state/s1.json", bytes(state())),
            ("rlm-state/s1_context.json", bytes(context())),
            ("rlm-state/session-metadata.json", bytes(json!({"session_id": "s1", "cwd": "/home/mia/api"}))),
            ("rlm-state/context.json", bytes(json!({"conversation": context()["messages"], "tool_outputs": []}))),
            ("rlm-state/file-access-s1.jsonl", log()),
            ("rlm-state/s2_context.json", bytes(context())),
            (
                "rlm-externalized/s1/a.json",
                bytes(json!({"timestamp": 1_767_693_800, "messages": context()["messages"]})),
            ),
            (
                "rlm-trajectories/s1.jsonl",
                lines(&[json!({"type": "start"}), json!({"summary": "two keys", "timestamp": 1_767_694_000})]),
            ),
        ],
    );
    let text = all.stream("s1");
    let order = [
        "prompt (typed) rotate the keys",
        "reply I look.",
        "call @4 Read src/keys.rs",
        "result @4 pub struct Keys; reads src/keys.rs",
        "Write src/keys.rs",
        "writes src/keys.rs",
        "failed exit 101 1 failed",
        "checkpoint",
        "prompt (typed) go on",
        "prompt (typed) go on",
        "two keys",
        "3 of 10 recursive calls",
    ];
    let mut rest = text;
    for part in order {
        let at = rest.find(part);
        assert!(at.is_some(), "{part} in {text}");
        rest = &rest[at.unwrap() + part.len()..];
    }
    assert!(text.contains("Memory { key: \"goal\", value: String(\"rotate the keys\") }"), "{text}");
    assert!(text.contains("Tokens(48210)"), "{text}");
    // All of the context that no file names, messages, outputs and the table of files.
    assert_eq!(all.skipped("no session file"), 8);
    assert_eq!(all.skipped("duplicate record"), 5);
    assert_eq!(all.skipped("system prompt"), 1);
    assert_eq!(all.skipped("access without a file"), 1);
    assert_eq!(all.skipped("event of a trajectory"), 1);
    assert_eq!(all.streams.len(), 1);
    assert_eq!(all.headers[0].transcript.file_name().unwrap(), "s1_context.json");
}

#[test]
fn the_older_and_the_newer_shape_say_the_same() {
    let newer = json!({"metadata": {"session_id": "s1", "created_at": 1_767_693_600}, "activation": {"rlm_active": true,
        "current_depth": 1, "max_depth": 3}, "context": {"working_memory": {"goal": "keys"}}, "budget":
        {"total_tokens_used": 48210, "total_recursive_calls": 3}, "trajectory": {"events_count": 12}, "cells": {"count": 0}});
    let (one, other) = (from_memory(&[("s1.json", bytes(state()))]), from_memory(&[("x/session.json", bytes(newer))]));
    assert_eq!(one.stream("s1").replace("Number(2)", "Number(3)"), other.stream("s1"));
    assert!(one.stream("s1").contains("max_depth"));
}

#[test]
fn what_nobody_knew_stays_unknown() {
    let state = json!({"created_at": 0, "updated_at": 0, "rlm_active": false, "working_memory": {"a": 1}});
    let context = json!({"messages": [{"role": "user", "content": "hi", "timestamp": 0}], "tool_outputs": [{"tool_name": "Read", "timestamp": null}]});
    let files = [("s1.json", bytes(state)), ("s1_context.json", bytes(context))];
    let mut times = Times::default();
    let bundle = Bundle {
        files: files.iter().map(|(name, _)| PathBuf::from(name)).collect(),
        memory: files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.clone())).collect(),
    };
    (IMPORTER.read)(&bundle, &mut times).unwrap();
    assert!(times.0.len() > 3 && times.0.iter().all(Option::is_none));
}

/// Keeps the times of events.
#[derive(Default)]
struct Times(Vec<Option<jiff::Timestamp>>);

impl cru_session::source::Sink for Times {
    fn open(&mut self, _: cru_session::source::Header) {}
    fn event(&mut self, _: &cru_session::event::StreamKey, event: cru_session::event::Event<'_>) {
        self.0.push(event.time);
    }
}

#[test]
fn written_anew_it_is_the_same_and_more_comes_behind_it() {
    let read = |state: Vec<u8>, context: Vec<u8>| {
        from_memory(&[("s1.json", state), ("s1_context.json", context)]).consumed["s1"].clone()
    };
    let one = read(bytes(state()), bytes(context()));
    assert_eq!(one, read(serde_json::to_vec(&state()).unwrap(), serde_json::to_vec(&context()).unwrap()));
    let mut later = state();
    later["updated_at"] = json!(1_767_700_000);
    assert_eq!(one, read(bytes(later), bytes(context())));
}

#[test]
fn odd_files() {
    let odd = json!({"messages": [1, null, [], {}, {"role": 3, "content": {}}, {"role": "user", "content": "hi", "timestamp": "x"}],
        "files": [], "tool_outputs": {"a": 1}, "working_memory": []});
    let all = from_memory(&[("../../x.json", bytes(state())), ("../../x_context.json", bytes(odd))]);
    assert!(all.stream("x").contains("prompt (typed) hi"));
    assert_eq!((all.skipped("broken record"), all.skipped("empty message")), (3, 2));
    let empty = from_memory(&[("s1.json", bytes(json!({"rlm_active": true})))]);
    assert_eq!((empty.streams.len(), empty.skipped("session without content")), (0, 1));
    let deep = format!("{{\"messages\":[{}{}],\"tool_outputs\":[]}}", "[".repeat(100_000), "]".repeat(100_000));
    let all = from_memory(&[("s1.json", bytes(state())), ("s1_context.json", deep.into_bytes())]);
    assert_eq!(all.skipped("broken record"), 1);
}

#[test]
fn cut_off_anywhere_the_rest_is_told() {
    let whole = serde_json::to_vec(&context()).unwrap();
    let mut most = 0;
    for end in 0..whole.len() {
        let all = from_memory(&[("s1.json", bytes(state())), ("s1_context.json", whole[..end].to_vec())]);
        let records = all.consumed["s1"].records;
        assert!(records >= most, "{end}");
        most = records;
        from_memory(&[("s1.json", whole[..end].to_vec()), ("file-access-s1.jsonl", whole[..end].to_vec())]);
    }
    assert_eq!(most, 8);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn flipped_bytes_never_stop_it(flips in proptest::collection::vec((proptest::num::usize::ANY, 0_u8..255), 1..8)) {
        let mut files = [("s1.json", bytes(state())), ("s1_context.json", bytes(context())), ("file-access-s1.jsonl", log())];
        for (at, byte) in flips {
            let file = &mut files[at % 3].1;
            let at = at % file.len();
            file[at] = byte;
        }
        from_memory(&files);
    }
}
