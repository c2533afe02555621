//! Whole transcripts of small invented messages.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{lines, survives_cuts, survives_flips, told, told_of};

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn message(role: &str, content: Value) -> Value {
    json!({"role": role, "message": {"content": content}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn session() -> Vec<Value> {
    vec![
        message("user", json!([text("<user_info>OS</user_info>"), text("<user_query>\nlist them\n</user_query>")])),
        message(
            "assistant",
            json!([text("I look.\n\n[REDACTED]"), {"type": "tool_use", "name": "Shell",
            "input": {"command": "ls -la", "description": "x"}}]),
        ),
        message(
            "assistant",
            json!([{"type": "tool_use", "name": "Read", "input": {"path": "/srv/a.ts", "offset": 3, "limit": 2}},
            {"type": "tool_use", "name": "TodoWrite", "input": {"merge": false, "todos": [{"id": "1", "content": "mend", "status": "pending"}]}}]),
        ),
        message("assistant", json!([text("Two files.")])),
        json!({"type": "turn_ended", "status": "success"}),
        message("user", json!("and now?")),
        message(
            "assistant",
            json!([{"type": "thinking", "thinking": "hm"}, {"type": "tool_call", "name": "read_file", "input": {"path": "b.log"}},
            {"type": "novel", "text": "Words."}, {"type": "novel"}]),
        ),
        message("user", json!([{"type": "tool-result", "name": "read_file", "content": [text("one\ntwo")]}])),
        json!({"type": "turn_ended", "status": "aborted"}),
    ]
}

#[test]
fn a_transcript_is_told() {
    let told = told_of(&IMPORTER, "9f/9f.jsonl", lines(&session()));
    insta::assert_snapshot!(told.stream("9f"), @r#"
    1 prompt (typed) list them
    2 reply I look.
    2 call shell#2.0 shell ls -la
    2 result shell#2.0 answer not recorded
    3 call Read#3.1 Read /srv/a.ts:3-4
    3 result Read#3.1 answer not recorded
    3 tasks 1 mend pending
    3 call TodoWrite#3.2 TodoWrite 1 task
    3 result TodoWrite#3.2 answer not recorded
    4 reply Two files.
    6 prompt (typed) and now?
    7 thinking hm
    7 call read_file#7.0 read_file b.log
    7 result read_file#7.0 answer not recorded
    7 reply Words.
    8 result read_file#7.0 2 lines reads b.log
    9 interrupt -
    "#);
    assert_eq!(told.skipped("end of a turn"), 1);
}

#[test]
fn a_sub_agent_has_a_file_of_its_own() {
    let child = [message("user", json!("find it")), message("assistant", json!("There."))];
    let read = told(&IMPORTER, &[("9f/9f.jsonl", lines(&session())), ("9f/subagents/a1.jsonl", lines(&child))]);
    assert_eq!(read.parents["9f/agent-a1"], "9f");
    assert_eq!(read.stream("9f/agent-a1"), "1 prompt (task) find it\n2 reply There.\n");
}

#[test]
fn damage_is_named_and_the_rest_told() {
    let mut bytes = lines(&[message("user", json!("one"))]);
    bytes.extend(b"\xff no\n7\n{}\n{\"type\":\"novel\"}\n{\"role\":\"king\"}\n{\"role\":\"user\",\"message\":7}\n");
    bytes.extend(lines(&[
        message("user", json!([{"type": "tool-result", "name": "never"}])),
        message("user", json!([{"type": "novel"}, 7])),
        message("user", json!("<git_status>x</git_status>")),
        message(
            "assistant",
            json!([{"type": "tool_use", "id": "../x", "name": 7, "input": [1]}, {"type": "tool_use", "id": "../x"}]),
        ),
        message("tool", json!([{"type": "tool_result", "tool_use_id": "../x", "content": "failed", "is_error": true}])),
    ]));
    let told = told_of(&IMPORTER, "9f.jsonl", bytes);
    insta::assert_snapshot!(told.stream("9f"), @r"
    1 prompt (typed) one
    11 call ../x tool 
    11 result ../x answer not recorded
    11 call ../x@11 tool 
    11 result ../x@11 answer not recorded
    12 result ../x failed failed
    ");
    let named = [
        "broken line",
        "no record type",
        "unknown record type",
        "unknown role",
        "unknown block",
        "context of the host",
        "empty message",
    ];
    assert_eq!(named.map(|name| told.skipped(name)), [2, 1, 1, 1, 1, 1, 2]);
}

#[test]
fn a_file_cut_at_any_byte_is_told_to_there() {
    survives_cuts(&IMPORTER, "9f.jsonl", &lines(&session()), true);
}

proptest! {
    #[test]
    fn flipped_bytes_never_break_the_account(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        survives_flips(&IMPORTER, "9f.jsonl", &lines(&session()), &flips);
    }
}
