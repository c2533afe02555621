//! Whole transcripts of small invented messages.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, lines, survives_a_writer, survives_cuts, survives_flips, told, told_base, told_of};

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
fn a_list_that_is_changed_in_part_keeps_its_other_tasks() {
    let call = json!({"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "TodoWrite",
        "input": {"merge": true, "todos": [{"id": "2", "content": "test", "status": "completed"}]}}]}});
    let told = told_of(&IMPORTER, "9f.jsonl", lines(&[call]));
    assert!(told.stream("9f").contains("task 2 test completed") && !told.stream("9f").contains("tasks "));
}

#[test]
fn a_transcript_is_told() {
    let told = told_of(&IMPORTER, "9f/9f.jsonl", lines(&session()));
    insta::assert_snapshot!(told.stream("9f"), @r#"
    1 prompt (typed) list them
    2 reply I look.
    2 call Shell#2.0 Shell ls -la
    2 result Shell#2.0 answer not recorded
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

fn row(key: &str, value: &Value) -> String {
    format!("INSERT INTO cursorDiskKV VALUES ('{key}', '{}');", value.to_string().replace('\'', "''"))
}

fn bubble(session: &str, number: u32, mut message: Value) -> String {
    message["createdAt"] = json!(format!("2026-11-20T09:00:{number:02}.000Z"));
    row(&format!("bubbleId:{session}:b{number}"), &message)
}

fn composer(session: &str, numbers: &[u32], mut fields: Value) -> String {
    let named: Vec<Value> = numbers
        .iter()
        .map(|number| json!({"bubbleId": format!("b{number}"), "type": if number % 10 == 1 { 1 } else { 2 }}))
        .collect();
    fields["fullConversationHeadersOnly"] = named.into();
    fields["createdAt"] = json!(1_795_165_200_000_i64);
    row(&format!("composerData:{session}"), &fields)
}

fn tool(name: &str, id: &str, status: &str, args: &Value, result: &Value) -> Value {
    json!({"type": 2, "text": "", "toolFormerData": {"name": name, "toolCallId": id, "status": status,
        "rawArgs": args.to_string(), "result": result.to_string()}})
}

fn window() -> String {
    let main = json!({"name": "Mend the lamp", "modelConfig": {"modelName": "opus-9"}, "blobEncryptionKey": "secret",
        "workspaceIdentifier": {"uri": {"fsPath": "/home/mia/lamp"}}, "usageData": {"opus-9": {"costInCents": 12.5}}});
    let sub = json!({"name": "Look for the fuse", "subagentInfo": {"parentComposerId": "s1", "toolCallId": "c4", "subagentTypeName": "explore"}});
    let rows = [
        "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);".to_owned(),
        composer("s1", &[1, 2, 3, 4, 5, 6, 7, 8, 9], main),
        composer("s2", &[1, 2], sub),
        bubble("s1", 1, json!({"type": 1, "text": "Mend the lamp"})),
        bubble("s1", 2, json!({"type": 2, "text": "I look.", "thinking": {"text": "hm"}, "tokenCount": {"inputTokens": 90, "outputTokens": 7}})),
        bubble("s1", 3, tool("run_terminal_command_v2", "c1", "completed", &json!({"command": "make test"}), &json!({"output": "2 failed", "exitCode": 2}))),
        bubble("s1", 4, tool("edit_file_v2", "c2", "completed", &json!({"path": "/home/mia/lamp/a.c"}), &json!({"beforeContentId": "composer.content.x", "afterContentId": "composer.content.y"}))),
        bubble("s1", 5, tool("read_file_v2", "c3", "error", &json!({"path": "/home/mia/lamp/b.c"}), &json!({"error": "no such file"}))),
        bubble("s1", 6, tool("task_v2", "c4", "completed", &json!({"description": "Look for the fuse"}), &json!({"output": "In the box."}))),
        bubble("s1", 7, tool("run_terminal_command_v2", "c5", "loading", &json!({"command": "rm -r x"}), &json!({"rejected": true}))),
        bubble("s1", 8, json!({"type": 7})),
        bubble("s2", 1, json!({"type": 1, "text": "Look for the fuse"})),
        bubble("s2", 2, json!({"type": 2, "text": "In the box."})),
        bubble("s1", 30, json!({"type": 2, "text": "of no session"})),
        row("composer.content.x", &json!("")).replace("'\"\"'", "'a\nb\nc\nd\n'"),
        row("composer.content.y", &json!("")).replace("'\"\"'", "'a\nb\nx\nd\n'"),
        row("composerData:s3", &json!([])),
    ];
    rows.concat()
}

#[test]
fn a_session_of_the_window_is_told() {
    let first = told_base(&IMPORTER, "state.vscdb", &window());
    assert!(
        first.stream("s1").ends_with("agent explore s1/agent-s2\n"),
        "a call that runs waits: {}",
        first.stream("s1")
    );
    let told = told_base(&IMPORTER, "state.vscdb", &window().replace("loading", "completed"));
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 title Host Mend the lamp
    1 Meta(Model("opus-9"))
    1 Meta(TotalCost(0.125))
    2 prompt (typed) Mend the lamp
    3 thinking hm
    3 reply I look.
    4 call c1 run_terminal_command_v2 make test
    4 result c1 failed exit 2 2 failed
    5 call c2 edit_file_v2 a.c
    5 result c2 +1 −1 writes a.c
    6 call c3 read_file_v2 b.c
    6 result c3 failed no such file
    7 call c4 task_v2 Look for the fuse
    7 result c4 In the box. agent explore s1/agent-s2
    8 call c5 run_terminal_command_v2 rm -r x
    8 result c5 denied {"rejected":true}
    "#);
    insta::assert_snapshot!(told.stream("s1/agent-s2"), @r"
    1 title Host Look for the fuse
    2 prompt (task) Look for the fuse
    3 reply In the box.
    ");
    assert_eq!((told.tokens("s1").input, told.tokens("s1").output), (90, 7));
    let named =
        ["unknown message type", "message that is not there", "message that no session names", "broken session"];
    assert_eq!(named.map(|name| told.skipped(name)), [1, 1, 1, 1]);
    assert!(!format!("{:?}", told.headers).contains("secret"));
}

#[test]
fn a_window_in_use_is_read_without_harm() {
    let more = [
        "DELETE FROM cursorDiskKV WHERE key IN ('composerData:s1', 'bubbleId:s1:b7');".to_owned(),
        composer(
            "s1",
            &[1, 2, 3, 4, 5, 6, 10],
            json!({"name": "Mend the lamp", "modelConfig": {"modelName": "opus-9"}, "workspaceIdentifier": {"uri": {"fsPath": "/home/mia/lamp"}}, "usageData": {"opus-9": {"costInCents": 12.5}}}),
        ),
        bubble("s1", 10, json!({"type": 2, "text": "Done."})),
    ];
    survives_a_writer(&IMPORTER, "state.vscdb", &window(), &more.concat());
}

#[test]
fn what_the_window_has_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let (base, own, other) =
        (folder.path().join("state.vscdb"), folder.path().join("s1.jsonl"), folder.path().join("s9.jsonl"));
    rusqlite::Connection::open(&base).unwrap().execute_batch(&window()).unwrap();
    for path in [&own, &other] {
        cru_base::files::create(path, b"{\"role\":\"user\",\"message\":{\"content\":\"one\"}}\n").unwrap();
    }
    let bundles = (IMPORTER.bundle)(vec![own, other, base]).unwrap();
    assert_eq!(bundles.iter().map(|it| it.files.len()).collect::<Vec<_>>(), [2, 1]);
    let mut told = Told::default();
    for bundle in &bundles {
        (IMPORTER.read)(bundle, &mut told).unwrap();
    }
    assert_eq!((told.skipped("session that the database tells"), told.stream("s9")), (1, "1 prompt (typed) one\n"));
}
