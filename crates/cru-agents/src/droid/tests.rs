//! Whole sessions of small invented records.

use proptest::prelude::*;
use serde_json::{Value, json};

use std::path::Path;

use super::{IMPORTER, is_named, of_transcript, recognise, transcript};
use crate::told::{lines, survives_cuts, survives_flips, told, told_of};
use cru_session::event::Usage;

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn message(id: u64, role: &str, content: Value) -> Value {
    json!({"type": "message", "id": format!("m{id}"), "timestamp": format!("2026-04-01T10:00:{id:02}Z"),
        "message": {"role": role, "content": content}})
}

fn session() -> Vec<Value> {
    vec![
        json!({"type": "session_start", "id": "s1", "title": "mend the", "sessionTitle": "Mend the tests", "version": 2, "cwd": "/home/mia/api"}),
        message(
            1,
            "user",
            json!([{"type": "text", "text": "<system-reminder>x</system-reminder>mend the tests"},
            {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}}]),
        ),
        message(
            2,
            "assistant",
            json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "Execute", "input": {"command": "npm test > out.txt"}},
            {"type": "tool_use", "id": "c2", "name": "Edit", "input": {"file_path": "/home/mia/api/a.ts", "old_str": "a", "new_str": "b"}},
            {"type": "tool_use", "id": "c3", "name": "TodoWrite", "input": {"todos": "1. [completed] look\n2. [pending] mend"}}]),
        ),
        message(
            3,
            "user",
            json!([
            {"type": "tool_result", "tool_use_id": "c1", "content": "2 failed\n\n[Process exited with code 1]", "is_error": true},
            {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "ok"}]},
            {"type": "tool_result", "tool_use_id": "c3", "content": "ok"}]),
        ),
        json!({"type": "todo_state", "id": "t1", "timestamp": "2026-04-01T10:00:04Z", "todos": {"todos": "1. [completed] mend"}}),
        json!({"type": "compaction_state", "id": "k1", "timestamp": "2026-04-01T10:00:05Z", "summaryText": "So far."}),
        message(6, "user", json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"}])),
        message(7, "assistant", json!("Done.")),
    ]
}

#[test]
fn a_session_is_told() {
    let told = told_of(&IMPORTER, "x.jsonl", lines(&session()));
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 title Host Mend the tests
    2 prompt (typed) mend the tests +image/png 3
    3 thinking hm
    3 reply I look.
    3 call c1 Execute npm test > out.txt
    3 call c2 Edit a.ts
    3 tasks 1 look completed, 2 mend pending
    3 call c3 TodoWrite 2 tasks
    4 result c1 failed exit 1 2 failed
    4 result c2 +1 −1 writes a.ts
    4 result c3 ok
    5 tasks 1 mend completed
    6 compaction - 0 So far.
    8 reply Done.
    "#);
    assert_eq!(told.skipped("words of the host"), 1);
    assert_eq!((told.consumed["s1"].last.as_deref(), told.consumed["s1"].open), (Some("m7"), None));
}

#[test]
fn copies_are_told_once_and_slices_are_named_after_their_file() {
    let all = session();
    let read = told(&IMPORTER, &[("a.jsonl", lines(&all[..4])), ("b.jsonl", lines(&all))]);
    assert_eq!(read.stream("s1"), told_of(&IMPORTER, "x.jsonl", lines(&all)).stream("s1"));
    assert_eq!(read.skipped("duplicate record"), 4);
    assert_eq!(told_of(&IMPORTER, "/x/9f.jsonl", lines(&all[3..])).headers[0].key.to_string(), "9f");
}

fn settings() -> Value {
    json!({"assistantActiveTimeMs": 61_500, "model": "opus-9", "reasoningEffort": "high", "autonomyMode": "normal",
        "autonomyLevel": "off", "interactionMode": "auto", "providerLock": "anthropic", "tags": [{"name": "exec"}],
        "tokenUsage": {"inputTokens": 100, "outputTokens": 20, "cacheCreationTokens": 3, "cacheReadTokens": 400,
            "thinkingTokens": 7}})
}

#[test]
fn settings_tell_the_model_and_the_tokens() {
    let transcript = ("s1.jsonl", lines(&session()[..2]));
    let read = told(&IMPORTER, &[transcript.clone(), ("s1.settings.json", settings().to_string().into_bytes())]);
    insta::assert_snapshot!(read.stream("s1"), @r#"
    1 Meta(Model("opus-9"))
    1 Meta(Property { key: "droid", value: Object {"reasoning_effort": String("high"), "provider": String("anthropic"), "mode": String("auto"), "autonomy": String("off"), "active_seconds": Number(62), "thinking_tokens": Number(7)} })
    1 title Host Mend the tests
    2 prompt (typed) mend the tests +image/png 3
    "#);
    let usage = Usage { input: 100, output: 20, cache_write: 3, cache_read: 400, ..Usage::default() };
    assert_eq!(read.tokens("s1"), usage);
    assert_eq!((read.records(), read.consumed["s1"].records), (3, 2), "they are no record of the stream");
    let alone = told_of(&IMPORTER, transcript.0, transcript.1);
    assert_eq!(read.consumed["s1"], alone.consumed["s1"]);
}

#[test]
fn odd_settings_are_named() {
    let transcript = ("s1.jsonl", lines(&session()[..2]));
    let of =
        |settings: &str| told(&IMPORTER, &[transcript.clone(), ("s1.settings.json", settings.as_bytes().to_vec())]);
    let plain = told_of(&IMPORTER, transcript.0, transcript.1.clone());
    for (settings, reason) in [
        ("{\"model\": \"a", "broken settings"),
        ("", "broken settings"),
        ("[1]", "broken settings"),
        ("{\"model\": 7, \"tokenUsage\": [3], \"assistantActiveTimeMs\": -1}", "empty settings"),
    ] {
        let read = of(settings);
        assert_eq!((read.skipped(reason), read.stream("s1")), (1, plain.stream("s1")), "{settings}");
    }
    // Tokens of which nobody says whose they are.
    assert!(of(r#"{"tokenUsage": {"inputTokens": 5, "cacheReadTokens": 9}}"#).stream("s1").contains("Tokens(5)"));
    let both = ("s1.settings.json", settings().to_string().into_bytes());
    let copies = [
        transcript.clone(),
        ("copy.jsonl", transcript.1.clone()),
        ("copy.settings.json", b"{\"model\": \"x\"}".to_vec()),
        both,
    ];
    let read = told(&IMPORTER, &copies);
    assert_eq!(read.skipped("settings of a copy"), 1);
    assert!(read.stream("s1").contains("Model(\"opus-9\")"), "{}", read.stream("s1"));
    assert_eq!(
        told_of(&IMPORTER, "s1.settings.json", settings().to_string().into_bytes())
            .skipped("settings of no transcript"),
        1
    );
}

#[test]
fn damage_is_named_and_the_rest_told() {
    let mut bytes =
        lines(&[json!({"type": "session_start", "id": "../../s1", "cwd": 5}), message(1, "user", json!("one"))]);
    bytes.extend(b"\xff no\n[]\n{\"type\":7}\n{\"type\":\"novel\"}\n{\"type\":\"todo_state\"}\n{\"type\":\"message\",\"message\":[]}\n");
    bytes.extend(lines(&[
        message(2, "king", json!([])),
        message(3, "user", json!([{"type": "tool_result", "tool_use_id": "never"}])),
        message(4, "assistant", json!([{"type": "novel"}, 7])),
        message(5, "assistant", json!([{"type": "tool_use", "id": 7, "name": [], "input": "x"}])),
        json!({"type": "message", "message": {"role": "user", "visibility": "llm_only", "content": "hidden"}}),
    ]));
    let told = told_of(&IMPORTER, "x.jsonl", bytes);
    insta::assert_snapshot!(told.stream("../../s1"), @r"
    2 prompt (typed) one
    12 call @12 tool
    ");
    let named = [
        "broken line",
        "no record type",
        "unknown record type",
        "unknown role",
        "unknown block",
        "answer without its call",
        "words of the host",
    ];
    assert_eq!(named.map(|name| told.skipped(name)), [2, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn a_file_cut_at_any_byte_is_told_to_there() {
    survives_cuts(&IMPORTER, "x.jsonl", &lines(&session()), true);
}

proptest! {
    #[test]
    fn flipped_bytes_never_break_the_account(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        survives_flips(&IMPORTER, "x.jsonl", &lines(&session()), &flips);
    }
}

#[test]
fn by_content() {
    let is = |head: &str| recognise(Path::new("a.jsonl"), head.as_bytes());
    assert!(is("{\"type\":\"session_start\",\"id\":\"s\",\"cwd\":\"/x\"}\n"));
    assert!(is("{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}}\n"));
    assert!(!is("{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n"));
    assert!(!is(
        "{\"type\":\"message\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}}\n"
    ));
    assert!(!is("{\"type\":\"session\",\"id\":\"s\"}\n"));
    assert!(!is(""));
}

#[test]
fn files_that_lie_beside() {
    let (transcript_path, settings_path) = (Path::new("/x/9f.a.jsonl"), Path::new("/x/9f.a.settings.json"));
    assert_eq!(of_transcript(transcript_path), settings_path);
    assert_eq!(transcript(settings_path), transcript_path);
    assert!(is_named(settings_path) && !is_named(transcript_path) && !is_named(Path::new("/x/settings.json")));
}
