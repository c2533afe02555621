//! One session: what is told of it, and what is not.

use serde_json::json;

use super::{answers, asks, calls, event, item, read_bytes, says, session};
use crate::told::lines as jsonl;

fn concat(parts: &[&[serde_json::Value]]) -> Vec<serde_json::Value> {
    parts.iter().flat_map(|part| part.to_vec()).collect()
}

#[test]
fn a_turn_is_told_once() {
    let host = "<environment_context>\n<cwd>/home/mia/api</cwd>\n</environment_context>";
    let told = session(&concat(&[
        &[item(json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": host }] }))],
        &asks("Make the clock hourly"),
        &says("I look first."),
        &[
            calls("c1", "exec_command", json!({ "cmd": "cargo test", "workdir": "/home/mia/api" })),
            answers("c1", "Chunk ID: a\nWall time: 2.5 seconds\nProcess exited with code 101\nOutput:\nerror: no\n"),
            item(json!({
                "type": "custom_tool_call", "call_id": "c2", "name": "apply_patch",
                "input": "*** Begin Patch\n*** Update File: src/clock.rs\n@@\n-a\n+b\n+c\n*** End Patch",
            })),
            event(json!({ "type": "patch_apply_end", "call_id": "c2", "success": true, "changes": {} })),
            item(
                json!({ "type": "custom_tool_call_output", "call_id": "c2", "output": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n" }),
            ),
            calls("c3", "update_plan", json!({ "plan": [{ "step": "Test", "status": "in_progress" }] })),
            answers("c3", "Plan updated"),
        ],
        &says("Done."),
    ]));
    insta::assert_snapshot!(told.stream("s"), @r"
    4 prompt (typed) Make the clock hourly
    6 reply I look first.
    7 call c1 Bash cargo test
    8 result c1 failed exit 101 error: no

    9 call c2 Edit src/clock.rs
    11 result c2 exit 0 +2 −1 reads src/clock.rs writes src/clock.rs
    12 call c3 update_plan 1 task
    12 tasks 1 Test in_progress
    13 result c3 Plan updated
    15 reply Done.
    ");
    assert_eq!(told.skipped("said twice: its other record is used"), 4);
    assert_eq!(told.skipped("text the host put in"), 1);
}

#[test]
fn the_oldest_files_have_items_alone() {
    let lines = [
        json!({ "id": "old", "timestamp": "2025-06-01T10:00:00Z", "instructions": null, "git": { "branch": "main" } }),
        json!({ "record_type": "state" }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<user_instructions>\nx\n</user_instructions>" }] }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "List files" }] }),
        json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Looking" }] }),
        json!({ "type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c1" }),
        json!({ "type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}" }),
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "One." }] }),
    ];
    let told = read_bytes(&[("rollout.jsonl", jsonl(&lines))]);
    insta::assert_snapshot!(told.stream("old"), @r"
    4 prompt (typed) List files
    5 thinking Looking
    6 call c1 Bash ls
    7 result c1 exit 0 a

    8 reply One.
    ");
    assert_eq!(told.skipped("state of the host"), 1);
}

#[test]
fn going_back_and_compacting() {
    let told = session(&concat(&[
        &asks("one"),
        &says("first"),
        &asks("two"),
        &says("second"),
        &[event(json!({ "type": "thread_rolled_back", "num_turns": 1 }))],
        &asks("three"),
        &says("third"),
        &[
            event(json!({ "type": "token_count", "info": {
                "total_token_usage": { "input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 10, "total_tokens": 110 },
                "last_token_usage": { "input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 10, "total_tokens": 110 },
            } })),
            super::record(
                "compacted",
                json!({ "message": "What was done.", "replacement_history": [{ "type": "message" }] }),
            ),
            event(json!({ "type": "context_compacted" })),
            event(json!({ "type": "thread_rolled_back", "num_turns": 9 })),
        ],
    ]));
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) one
    5 reply first
    7 prompt (typed) two
    9 reply second
    10 rewind to 6
    12 prompt (typed) three
    14 reply third
    16 compaction - 110 What was done.
    18 rewind to 2
    ");
    let tokens = told.tokens("s");
    assert_eq!((tokens.input, tokens.cache_read, tokens.output), (40, 60, 10));
}

#[test]
fn what_only_one_record_tells_is_told() {
    let [_, said] = says("from the item");
    let [only, _] = says("from the event");
    let told = session(&concat(&[&asks("go"), &[said, only, event(json!({ "type": "context_compacted" }))]]));
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) go
    4 reply from the item
    5 reply from the event
    6 compaction - 0 -
    ");
    assert_eq!(told.skipped("said twice: its other record is used"), 1);
}

#[test]
fn refusals_answers_and_stops() {
    let question = json!({ "questions": [{ "id": "q", "header": "Store", "question": "Which?", "options": [{ "label": "Disk (Recommended)" }, { "label": "Memory" }] }] });
    let told = session(&concat(&[
        &asks("go"),
        &[
            calls("c1", "shell", json!({ "command": ["bash", "-lc", "rm -r out"] })),
            answers("c1", "exec command rejected by user"),
            calls("c2", "request_user_input", question),
            answers("c2", "{\"answers\":{\"q\":{\"answers\":[\"Memory\"]}}}"),
            calls("c3", "shell", json!({ "command": ["sleep", "99"] })),
            answers("c3", "aborted by user after 3.0s"),
            event(json!({ "type": "turn_aborted", "reason": "interrupted" })),
            event(json!({ "type": "error", "message": "no service" })),
            event(json!({ "type": "task_complete", "error": { "message": "no service" } })),
        ],
    ]));
    insta::assert_snapshot!(told.stream("s"), @r#"
    3 prompt (typed) go
    4 call c1 Bash rm -r out
    5 result c1 failed denied exec command rejected by user
    5 decision Refused: rm -r out rejected []
    6 call c2 request_user_input Which?
    7 result c2 {"answers":{"q":{"answers":["Memory"]}}}
    7 decision Store: Memory rejected ["Disk"]
    8 call c3 Bash sleep 99
    9 result c3 failed aborted by user after 3.0s
    10 interrupt -
    11 failure no service
    "#);
}

#[test]
fn a_command_that_runs_on_fails_where_it_was_called() {
    let told = session(&concat(&[
        &asks("go"),
        &[
            calls("c1", "exec_command", json!({ "cmd": "npm test > log.txt" })),
            answers("c1", "Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\n"),
            calls("c2", "write_stdin", json!({ "session_id": 7, "chars": "" })),
            answers("c2", "Chunk ID: b\nWall time: 9 seconds\nProcess exited with code 1\nOutput:\n1 failing\n"),
        ],
    ]));
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) go
    4 call c1 Bash npm test > log.txt
    5 result c1 still running
    6 call c2 write_stdin wait for npm test > log.txt
    7 result c1 failed exit 1 1 failing

    7 result c2 exited with 1
    ");
}

#[test]
fn a_script_says_how_it_ended() {
    let script = |id: &str, text: &str| {
        item(json!({ "type": "custom_tool_call", "name": "exec", "call_id": id, "input": text }))
    };
    let ends = |id: &str, state: &str, said: &str| {
        let head = format!("Script {state}\nWall time 1.2 seconds\nOutput:\n");
        let part = |text: &str| json!({ "type": "input_text", "text": text });
        item(json!({ "type": "custom_tool_call_output", "call_id": id, "output": [part(&head), part(said)] }))
    };
    let patch = "*** Begin Patch\\n*** Add File: lamp.c\\n+int on;\\n*** End Patch";
    let told = session(&concat(&[
        &asks("go"),
        &[
            script("c1", &format!("await tools.apply_patch(\"{patch}\")")),
            ends("c1", "failed", "Script error:\nlamp.c stands there"),
            script("c2", "const r = await tools.exec_command({cmd: 'make fit > log'}); text(r.output)"),
            ends("c2", "completed", "fits"),
            script("c3", "const r = await tools.exec_command({cmd: 'make on'}); text(r)"),
            ends("c3", "completed", "{\"wall_time_seconds\":1.1,\"exit_code\":2,\"output\":\"dark\"}"),
            script("c4", "const r = await tools.exec_command({cmd: 'make off'}); text(r.output)"),
            ends("c4", "running with cell ID 7", ""),
            calls("c5", "wait", json!({ "cell_id": "7", "terminate": true })),
            ends("c5", "terminated", ""),
        ],
    ]));
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) go
    4 call c1 Write lamp.c
    5 result c1 failed lamp.c stands there
    6 call c2 Bash make fit > log
    7 result c2 fits
    8 call c3 Bash make on
    9 result c3 failed exit 2 dark
    10 call c4 Bash make off
    11 result c4 still running
    12 call c5 wait wait for make off
    13 result c4 failed Script terminated
    13 result c5 Script terminated
    ");
}

#[test]
fn a_name_that_stands_beside_the_sessions() {
    let name = |id: &str, name: &str| json!({ "id": id, "thread_name": name, "updated_at": "2026-03-01T10:00:00Z" });
    let index = jsonl(&[name("s", "Old"), name("s", "Lamp"), name("other", "s")]);
    let all = concat(&[&[super::meta("s", json!({}))], &asks("go")]);
    let told = read_bytes(&[("session_index.jsonl", index), ("sessions/2026/03/01/s.jsonl", jsonl(&all))]);
    assert_eq!(told.stream("s"), "1 title Custom Lamp\n3 prompt (typed) go\n");
}

#[test]
fn packed_files_are_read() {
    let all = concat(&[&[super::meta("s", json!({}))], &asks("go"), &says("done")]);
    let text = jsonl(&all);
    let packed = ruzstd::encoding::compress_to_vec(text.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let plain = read_bytes(&[("s.jsonl", text.clone())]);
    let told = read_bytes(&[("s.jsonl.zst", packed.clone())]);
    assert_eq!(told.streams, plain.streams);
    assert!(told.stream("s").contains("prompt (typed) go"));
    // Beside the plain file the packed one says nothing new.
    let both = read_bytes(&[("s.jsonl", text), ("s.jsonl.zst", packed.clone())]);
    assert_eq!(both.streams, plain.streams);
    assert_eq!(both.skipped("duplicate record"), all.len() as u64);
    for cut in 0..packed.len() {
        let told = read_bytes(&[("s.jsonl.zst", packed[..cut].to_vec())]);
        assert!(told.streams.len() <= 1, "cut at {cut}");
    }
}

#[test]
fn words_that_stand_in_no_event() {
    let message = |text: &str| {
        let content = json!([{ "type": "input_text", "text": text }]);
        item(json!({ "type": "message", "role": "user", "content": content }))
    };
    let ran = "<user_shell_command>\n<command>\ngo test\n</command>\n<result>\nExit code: 1\nDuration: 2.5 seconds\nOutput:\nFAIL\n</result>\n</user_shell_command>";
    let told = session(&concat(&[
        &asks("Make the clock hourly, and tell me what changed"),
        &says("Done."),
        &[message("Now the same for the minutes, please"), message("<new_host_tag>\nx\n</new_host_tag>")],
        &says("Done, too."),
        // The host's own form of what an event told.
        &[message("Context: a.rs\n\nMake the clock hourly, and tell me what changed")],
        &says("Again."),
        &[message(ran)],
    ]));
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) Make the clock hourly, and tell me what changed
    5 reply Done.
    6 prompt (typed) Now the same for the minutes, please
    9 reply Done, too.
    12 reply Again.
    13 prompt (shell) go test
    13 call shell Shell go test
    13 result shell failed exit 1 FAIL
    ");
}

#[test]
fn tools_of_a_server_keep_their_separator() {
    let call = |id: &str, space: &str, name: &str| {
        item(json!({ "type": "function_call", "name": name, "namespace": space, "arguments": "{}", "call_id": id }))
    };
    let told =
        session(&[call("a", "mcp__hub", "_fetch"), call("b", "mcp__hub__", "fetch"), call("c", "mcp__hub", "fetch")]);
    for line in told.stream("s").lines() {
        assert!(line.contains("call") && line.contains(" mcp__hub__fetch"), "{line}");
    }
}
