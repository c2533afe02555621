//! Whole sessions of small invented events.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, lines, survives_cuts, survives_flips, told, told_of};

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn event(id: u64, kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data, "id": format!("e{id}"), "timestamp": format!("2026-03-01T10:00:{id:02}Z"), "parentId": null})
}

fn start() -> Value {
    event(
        1,
        "session.start",
        json!({"sessionId": "s1", "copilotVersion": "1.2.3", "selectedModel": "m",
        "context": {"cwd": "/home/mia/api", "branch": "main", "headCommit": "0123456789"}}),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn call(id: u64, call: &str, tool: &str, input: Value) -> Value {
    event(id, "tool.execution_start", json!({"toolCallId": call, "toolName": tool, "arguments": input}))
}

fn done(id: u64, call: &str, success: bool, text: &str) -> Value {
    let key = if success { json!({"content": text}) } else { Value::Null };
    let error = if success { Value::Null } else { json!({"message": text}) };
    event(id, "tool.execution_complete", json!({"toolCallId": call, "success": success, "result": key, "error": error}))
}

fn session() -> Vec<Value> {
    vec![
        start(),
        event(2, "hook.start", json!({"hookType": "x"})),
        event(3, "system.message", json!({"role": "system", "content": "You are"})),
        event(
            4,
            "user.message",
            json!({"content": "fix the tests", "transformedContent": "<x>fix the tests",
            "attachments": [{"type": "file", "path": "a.ts"}]}),
        ),
        event(
            5,
            "assistant.message",
            json!({"content": "I look.", "reasoningText": "hm", "outputTokens": 7,
            "toolRequests": [{"toolCallId": "c1", "name": "bash"}]}),
        ),
        call(6, "c0", "report_intent", json!({"intent": "Fixing"})),
        call(7, "c1", "bash", json!({"command": "npm test > out.txt"})),
        done(8, "c0", true, "Intent logged"),
        done(9, "c1", true, "2 failed\n<exited with exit code 1>"),
        call(10, "c2", "edit", json!({"path": "/home/mia/api/src/a.ts", "old_str": "a", "new_str": "b"})),
        done(11, "c2", true, "changed"),
        call(12, "c3", "create", json!({"path": "b.ts", "file_text": "x"})),
        event(
            13,
            "permission.completed",
            json!({"toolCallId": "c3", "requestId": "r",
            "result": {"kind": "denied-interactively-by-user", "feedback": "not there"}}),
        ),
        done(14, "c3", false, "The user rejected this tool call."),
        call(15, "c4", "ask_user", json!({"question": "Which?", "choices": ["red", "blue"]})),
        done(16, "c4", true, "User selected: blue"),
        event(17, "user.message", json!({"content": "<skill-context>", "source": "skill-x"})),
        event(18, "assistant.message", json!({"content": "Done.", "outputTokens": 3, "toolRequests": []})),
        event(19, "session.title_changed", json!({"title": "Tests"})),
        event(
            20,
            "tool.user_requested",
            json!({"toolCallId": "c5", "toolName": "bash", "arguments": {"command": "ls"}}),
        ),
        done(21, "c5", true, "src\n<exited with exit code 0>"),
        call(22, "c6", "bash", json!({"command": "rm x"})),
        event(23, "permission.completed", json!({"toolCallId": "c6", "result": {"kind": "denied-by-rules"}})),
        done(24, "c6", false, "Permission denied by a rule."),
    ]
}

#[test]
fn a_session_is_told() {
    let beside = b"id: s1\nname: 'Mia''s tests'\nuser_named: true\nsummary: Tests\n".to_vec();
    let told = told(&IMPORTER, &[("x/workspace.yaml", beside), ("x/events.jsonl", lines(&session()))]);
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 title Custom Mia's tests
    1 Meta(Model("m"))
    1 Meta(Commit("0123456789"))
    4 prompt (typed) fix the tests +a.ts 0
    5 thinking hm
    5 reply I look.
    7 call c1 bash npm test > out.txt
    9 result c1 failed exit 1 2 failed
    10 call c2 edit src/a.ts
    11 result c2 +1 −1 writes src/a.ts
    12 call c3 create b.ts
    13 prompt (denial of c3) not there
    14 result c3 failed denied The user rejected this tool call.
    15 call c4 ask_user Which?
    16 result c4 User selected: blue
    16 decision blue rejected ["red"]
    18 reply Done.
    19 title Host Tests
    20 prompt (shell) ls
    20 call c5 Shell ls
    21 result c5 src
    22 call c6 bash rm x
    24 result c6 failed denied by the host Permission denied by a rule.
    "#);
    assert_eq!(told.tokens("s1").output, 10);
    assert_eq!((told.skipped("hook"), told.skipped("line of state"), told.skipped("text of a skill")), (1, 2, 1));
    assert_eq!(told.consumed["s1"].last.as_deref(), Some("e24"));
    assert_eq!(told.consumed["s1"].open, None);
}

#[test]
fn the_sum_at_the_end_counts_once_and_for_each_run() {
    let sum = |id: u64, input: u64| {
        event(
            id,
            "session.shutdown",
            json!({"shutdownType": "routine", "modelMetrics": {"m": {"requests": {"count": 1},
            "usage": {"inputTokens": input, "outputTokens": 10, "cacheReadTokens": 40, "cacheWriteTokens": 0}}}}),
        )
    };
    let mut all = session();
    all.extend([sum(25, 100), event(26, "session.resume", json!({})), sum(27, 50)]);
    let usage = told_of(&IMPORTER, "x.jsonl", lines(&all)).tokens("s1");
    assert_eq!((usage.input, usage.output, usage.cache_read), (70, 20, 80));
}

#[test]
fn a_sub_agent_is_a_stream_of_its_own() {
    let of = |mut event: Value| {
        event["data"]["parentToolCallId"] = json!("c1");
        event
    };
    let all = [
        start(),
        event(2, "user.message", json!({"content": "look around"})),
        call(3, "c1", "task", json!({"agent_type": "explore", "description": "find it", "prompt": "Find the bug."})),
        event(4, "subagent.started", json!({"toolCallId": "c1", "agentName": "explorer"})),
        of(call(5, "c2", "view", json!({"path": "/home/mia/api/a.ts"}))),
        of(done(6, "c2", true, "1. a\n2. b")),
        of(event(7, "assistant.message", json!({"content": "It is in a.ts.", "toolRequests": []}))),
        event(8, "subagent.completed", json!({"toolCallId": "c1", "agentName": "explorer"})),
        done(9, "c1", true, "It is in a.ts."),
        event(10, "abort", json!({"reason": "user initiated"})),
    ];
    let told = told_of(&IMPORTER, "x.jsonl", lines(&all));
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 Meta(Model("m"))
    1 Meta(Commit("0123456789"))
    2 prompt (typed) look around
    3 call c1 task find it
    6 result c1 It is in a.ts. agent explorer s1/agent-c1
    7 interrupt -
    "#);
    insta::assert_snapshot!(told.stream("s1/agent-c1"), @r"
    1 prompt (task) Find the bug.
    1 call c2 view ~/api/a.ts
    2 result c2 2 lines reads ~/api/a.ts
    3 reply It is in a.ts.
    ");
    assert_eq!(told.parents["s1/agent-c1"], "s1");
    assert_eq!(told.headers[1].agent.as_deref(), Some("explorer"));
}

#[test]
fn files_that_were_seen_are_no_folders() {
    let view = |id: u64, path: &str, text: &str, kind: Value| {
        let mut done = done(id + 1, path, true, text);
        done["data"]["toolTelemetry"] = json!({ "properties": { "viewType": kind } });
        [call(id, path, "view", json!({ "path": path })), done]
    };
    let views = [
        view(2, ".github", "a.yml\nb.yml", json!("directory")),
        view(4, "Makefile", "1. all:\n2. \n3. x:", json!("file")),
        view(6, "empty", "\ndiff --git a/empty b/empty\n", json!("file")),
        view(8, ".config", "a.yml\nb.yml", Value::Null),
        view(10, "ghostty/config", "1. a", Value::Null),
        view(12, "big.txt", "File too large to read at once (9 MB).", json!("file")),
    ];
    let told = told_of(&IMPORTER, "x.jsonl", lines(&[vec![start()], views.concat()].concat()));
    let stream = told.stream("s1");
    let reads: Vec<&str> =
        stream.lines().filter_map(|line| line.split_once(" reads ")).map(|(_, files)| files).collect();
    let files: Vec<&str> = reads.iter().filter_map(|file| file.split([':', '@']).next()).collect();
    assert_eq!(files, ["Makefile", "empty", "ghostty/config"], "{stream}");
}

#[test]
fn errors_outside_of_a_turn_do_not_end_it() {
    let error = |id: u64, text: &str| event(id, "session.error", json!({"errorType": "x", "message": text}));
    let said = |id: u64, calls: Value| event(id, "assistant.message", json!({"content": "Hi.", "toolRequests": calls}));
    let asked = |id: u64| event(id, "user.message", json!({"content": "hi"}));
    let all = [
        start(),
        error(2, "no servers"),
        asked(3),
        said(4, json!([])),
        error(5, "no models"),
        asked(6),
        error(7, "busy"),
    ];
    let told = told_of(&IMPORTER, "x.jsonl", lines(&all));
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 Meta(Model("m"))
    1 Meta(Commit("0123456789"))
    2 Remark(Remark { kind: "error", title: "error of the host", text: "no servers", fields: [], folded: false, about: None, id: None })
    3 prompt (typed) hi
    4 reply Hi.
    5 Remark(Remark { kind: "error", title: "error of the host", text: "no models", fields: [], folded: false, about: None, id: None })
    6 prompt (typed) hi
    7 failure busy
    "#);
    let all = [start(), asked(2), said(3, json!([{"toolCallId": "c1"}])), error(4, "busy")];
    assert!(told_of(&IMPORTER, "x.jsonl", lines(&all)).stream("s1").trim_end().ends_with("4 failure busy"));
}

#[test]
fn what_a_person_refused_and_broke_off_is_denied() {
    let refused = |id: u64| {
        event(
            id,
            "permission.completed",
            json!({"toolCallId": "c1", "result": {"kind": "denied-interactively-by-user"}}),
        )
    };
    let mut all = vec![
        start(),
        event(2, "user.message", json!({"content": "go"})),
        call(3, "c1", "create", json!({"path": "a.md", "file_text": "x"})),
        refused(4),
        event(5, "abort", json!({"reason": "user_initiated"})),
    ];
    let told = told_of(&IMPORTER, "x.jsonl", lines(&all));
    assert!(told.stream("s1").contains("5 result c1 failed denied"), "{}", told.stream("s1"));
    assert_eq!(told.consumed["s1"].open, None);
    all.push(done(6, "c1", false, "rejected"));
    assert_eq!(told_of(&IMPORTER, "x.jsonl", lines(&all)).skipped("repeated answer"), 1);
}

#[test]
fn copies_are_told_once_and_files_are_named_by_their_place() {
    let all = session();
    let read = told(&IMPORTER, &[("a/events.jsonl", lines(&all[..9])), ("b/events.jsonl", lines(&all))]);
    assert_eq!(read.stream("s1"), told_of(&IMPORTER, "x.jsonl", lines(&all)).stream("s1"));
    assert_eq!(read.skipped("duplicate record"), 9);
    let slice = told_of(&IMPORTER, "9f/events.jsonl", lines(&all[3..5]));
    assert_eq!(slice.headers[0].key.to_string(), "9f");
}

#[test]
fn damage_is_named_and_the_rest_told() {
    let mut bytes = lines(&[start(), event(2, "user.message", json!({"content": "one"}))]);
    bytes.extend(b"\xff not json\n[1]\nnull\n{\"type\":1}\n{\"type\":\"session.teleported\",\"data\":7}\n");
    bytes.extend(lines(&[
        done(3, "never", true, "x"),
        call(4, "../../x", "", json!([1])),
        call(4, "../../x", "", json!(1)),
    ]));
    bytes.extend(br#"{"type":"user.message","type":"assistant.message","data":{"content":5,"toolRequests":{}}}"#);
    let told: Told = told_of(&IMPORTER, "x.jsonl", bytes);
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 Meta(Model("m"))
    1 Meta(Commit("0123456789"))
    2 prompt (typed) one
    9 call ../../x tool
    "#);
    assert_eq!(told.skipped("broken line"), 3);
    assert_eq!((told.skipped("unknown record type"), told.skipped("no record type")), (1, 1));
    assert_eq!((told.skipped("answer without its call"), told.skipped("repeated call")), (1, 1));
    assert_eq!(told.consumed["s1"].open, Some(9));
}

#[test]
fn a_file_cut_at_any_byte_is_told_to_there() {
    survives_cuts(&IMPORTER, "x.jsonl", &lines(&session()[..12]), true);
}

#[test]
fn output_of_messages_without_a_model_counts_once() {
    let message = |id: u64, data: Value| event(id, "assistant.message", data);
    let sum = |of: Value| event(9, "session.shutdown", json!({"shutdownType": "routine", "modelMetrics": of}));
    let used = |output: u64| json!({"usage": {"outputTokens": output}});
    let output = |records: &[Value]| told_of(&IMPORTER, "x.jsonl", lines(records)).tokens("s1").output;
    let start = event(1, "session.start", json!({"sessionId": "s1"}));
    let bare = message(2, json!({"content": "a", "outputTokens": 40}));
    let named = message(3, json!({"content": "b", "outputTokens": 5, "model": "m"}));
    assert_eq!(output(&[start.clone(), bare.clone()]), 40);
    assert_eq!(output(&[start.clone(), bare.clone(), sum(json!({"m": used(40)}))]), 40);
    assert_eq!(output(&[start.clone(), bare.clone(), named.clone(), sum(json!({"m": used(45)}))]), 45);
    // What was taken for one model was that of two.
    let both = sum(json!({"m": used(15), "n": used(30)}));
    assert_eq!(output(&[start.clone(), named, message(4, json!({"content": "c", "outputTokens": 40})), both]), 45);
    // The host sums up nothing.
    assert_eq!(output(&[start, bare, sum(json!({}))]), 40);
}

#[test]
fn what_went_in_is_known_at_the_end_alone() {
    let start = event(1, "session.start", json!({"sessionId": "s1"}));
    let said = event(2, "assistant.message", json!({"content": "a", "outputTokens": 40, "model": "m"}));
    let used = json!({"m": {"usage": {"inputTokens": 900, "outputTokens": 40, "cacheReadTokens": 100}}});
    let end = event(9, "session.shutdown", json!({"shutdownType": "routine", "modelMetrics": used}));
    let tokens = |records: &[Value]| told_of(&IMPORTER, "x.jsonl", lines(records)).tokens("s1");
    let open = tokens(&[start.clone(), said.clone()]);
    assert_eq!((open.output, open.only_output, open.known()), (40, true, None));
    assert_eq!(tokens(&[start, said, end]).known(), Some(840));
}

proptest! {
    #[test]
    fn flipped_bytes_never_break_the_account(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        survives_flips(&IMPORTER, "x.jsonl", &lines(&session()), &flips);
    }
}
