//! What is told of invented sessions, as documents and as lines.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, lines, told};
use cru_session::event::Usage;
use cru_session::source::Account;

fn head() -> Value {
    json!({ "sessionId": "s", "projectHash": "p", "startTime": "2026-01-10T07:00:00.000Z", "summary": "Fix the port." })
}

fn user(id: &str, words: &str) -> Value {
    json!({ "id": id, "timestamp": "2026-01-10T07:00:01.000Z", "type": "user", "content": words })
}

fn agent(id: &str, words: &str, calls: &[Value]) -> Value {
    json!({ "id": id, "timestamp": "2026-01-10T07:00:05.000Z", "type": "gemini", "content": words, "model": "m",
        "toolCalls": calls, "thoughts": [{ "subject": "Plan", "description": "first this" }],
        "tokens": { "input": 100, "output": 5, "cached": 60, "thoughts": 7, "tool": 2, "total": 114 } })
}

fn call(tool: &str, args: &Value, status: &str, response: &Value) -> Value {
    json!({ "id": format!("{tool}-1"), "name": tool, "args": args, "status": status,
        "result": [{ "functionResponse": { "response": response } }] })
}

fn write() -> Value {
    let output = "Successfully created and wrote to new file: /home/mia/api/docs/a.md.";
    call("write_file", &json!({"file_path": "docs/a.md", "content": "x\n"}), "success", &json!({ "output": output }))
}

fn document(messages: &[Value]) -> Vec<u8> {
    let mut document = head();
    document["messages"] = messages.into();
    serde_json::to_vec_pretty(&document).unwrap()
}

fn of_lines(records: &[Value]) -> Told {
    told(&IMPORTER, &[("session-1.jsonl", lines(records))])
}

fn whole() -> Vec<Value> {
    vec![
        user("u1", "write it"),
        agent("g1", "Writing.", &[write()]),
        user("u2", "now the port"),
        agent(
            "g2",
            "",
            &[call(
                "replace",
                &json!({"file_path": "c.json"}),
                "cancelled",
                &json!({"error": "[Operation Cancelled]"}),
            )],
        ),
        json!({ "id": "i1", "timestamp": "2026-01-10T07:00:06.000Z", "type": "info", "content": "Request cancelled." }),
        json!({ "id": "e1", "timestamp": "2026-01-10T07:00:07.000Z", "type": "error", "content": "[API Error: no capacity]" }),
        json!({ "id": "i2", "timestamp": "2026-01-10T07:00:08.000Z", "type": "info", "content": "Gemini CLI update available!" }),
    ]
}

const WHOLE: &str = "1 title Host Fix the port\n\
    2 prompt (typed) write it\n\
    3 thinking **Plan**\n\nfirst this\n\
    3 reply Writing.\n\
    4 call write_file-1 write_file docs/a.md\n\
    4 result write_file-1 created, 1 line writes docs/a.md\n\
    5 prompt (typed) now the port\n\
    6 thinking **Plan**\n\nfirst this\n\
    7 call replace-1 replace c.json\n\
    7 result replace-1 failed [Operation Cancelled]\n\
    8 interrupt -\n\
    9 failure no capacity\n";

/// Older versions keep a sub-agent's chat beside the session's own, under its id.
#[test]
fn a_chat_that_a_call_began_is_its_sub_agents() {
    let mut run = call(
        "delegate_to_agent",
        &json!({"question": "which port?", "agent_name": "help"}),
        "cancelled",
        &json!({"error": "[Operation Cancelled] Reason: User did not allow tool call"}),
    );
    run["timestamp"] = json!("2026-01-10T07:00:09.000Z");
    let mut asked = user("u2", "Answer this: which port?");
    asked["timestamp"] = json!("2026-01-10T07:00:06.000Z");
    let mut later = user("u3", "again: which port?");
    later["timestamp"] = json!("2026-01-10T07:00:10.000Z");
    let files = [
        ("chats/session-1-s.json", document(&[user("u1", "find it"), agent("g1", "", &[run])])),
        ("chats/session-2-s.json", document(&[asked, agent("g2", "80", &[])])),
        ("chats/session-3-s.json", document(&[later])),
    ];
    let told = told(&IMPORTER, &files);
    let wanted = "1 title Host Fix the port\n2 prompt (typed) find it\n3 thinking **Plan**\n\nfirst this\n\
        4 call delegate_to_agent-1 delegate_to_agent which port?\n\
        4 result delegate_to_agent-1 denied [Operation Cancelled] Reason: User did not allow tool call agent delegate_to_agent s/agent-session-2-s\n\
        5 prompt (typed) again: which port?\n";
    assert_eq!(told.stream("s"), wanted);
    let agent = "2 prompt (task) Answer this: which port?\n3 thinking **Plan**\n\nfirst this\n3 reply 80\n";
    assert_eq!(told.stream("s/agent-session-2-s"), agent, "{:?}", told.streams.keys());
}

#[test]
fn a_document_and_its_lines_are_the_same_session() {
    let one = told(&IMPORTER, &[("session-1.json", document(&whole()))]);
    assert_eq!(one.stream("s"), WHOLE);
    assert_eq!(one.tokens("s"), Usage { input: 84, output: 24, cache_write: 0, cache_read: 120, ..Usage::default() });
    assert_eq!((one.records(), one.skipped("notice of the host")), (8, 1));
    let mut records = vec![head()];
    records.extend(whole());
    let two = of_lines(&records);
    assert_eq!(two.streams, one.streams);
    assert_eq!(two.consumed, one.consumed);
    assert_eq!(two.records(), 8);
}

#[test]
fn the_folder_of_the_work_is_found_in_an_answer() {
    let read =
        call("read_file", &json!({"file_path": "/home/mia/api/src/a.rs"}), "success", &json!({"output": "a\nb"}));
    let told = of_lines(&[head(), agent("g1", "", &[write(), read])]);
    assert!(told.stream("s").contains("read_file src/a.rs"), "{}", told.stream("s"));
}

#[test]
fn messages_written_again_rewinds_and_settings() {
    let told = of_lines(&[
        head(),
        user("u1", "one"),
        agent("g1", "", &[]),
        agent("g1", "answer", &[]),
        json!({"$set": {"lastUpdated": "x"}}),
        user("u2", "two"),
        json!({"$rewindTo": "u2"}),
        user("u3", "three"),
        json!({"$set": {"messages": [
            {"id": "k", "type": "user", "content": [{"text": "<state_snapshot>all</state_snapshot>"}]}, user("u3", "three"),
        ]}}),
        json!({"what": 1}),
    ]);
    let events: Vec<_> =
        told.stream("s").lines().filter(|line| !line.contains("thinking") && !line.is_empty()).collect();
    assert_eq!(
        events,
        [
            "1 title Host Fix the port",
            "2 prompt (typed) one",
            "first this",
            "3 reply answer",
            "4 prompt (typed) two",
            "5 rewind to 3",
            "6 prompt (typed) three",
            "7 compaction - 0 all",
        ]
    );
    let skipped = |reason| told.skipped(reason);
    assert_eq!((skipped("replaced by a later line"), skipped("time of the last change")), (1, 1));
    assert_eq!(skipped("unknown record type"), 1);
}

#[test]
fn commands_failures_and_compression() {
    let failed = call(
        "run_shell_command",
        &json!({"command": "make"}),
        "success",
        &json!({"output": "Output: no\nExit Code: 2"}),
    );
    let wrong = call("replace", &json!({"file_path": "a"}), "error", &json!({"error": "0 occurrences"}));
    let todos =
        call("write_todos", &json!({"todos": [{"description": "one", "status": "pending"}]}), "success", &json!({}));
    let told = of_lines(&[
        head(),
        user("u1", "/init"),
        agent("g1", "", &[failed, wrong, todos]),
        json!({"id": "i", "timestamp": "t", "type": "info", "content": "Chat history compressed from 1200 to 300 tokens."}),
        user("u2", "System: Please continue."),
        user(
            "u3",
            "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na\n```",
        ),
        json!({"id": "x", "timestamp": "t", "type": "hologram", "content": ""}),
    ]);
    let events: Vec<_> = told.stream("s").lines().skip(1).filter(|line| !line.is_empty()).collect();
    assert_eq!(
        events,
        [
            "2 prompt (command) /init",
            "3 thinking **Plan**",
            "first this",
            "4 call run_shell_command-1 run_shell_command make",
            "4 result run_shell_command-1 failed exit 2 no",
            "5 call replace-1 replace a",
            "5 result replace-1 failed 0 occurrences",
            "6 tasks 1 one pending",
            "7 compaction manual 1200 -",
            "9 prompt (shell) ls",
            "9 call shell Shell ls",
            "9 result shell a",
        ]
    );
    assert_eq!((told.skipped("words of the host"), told.skipped("unknown record type")), (1, 1));
}

#[test]
fn sub_agents_lie_in_a_folder_of_their_parent() {
    let started = json!({"id": "c", "name": "codebase_investigator", "args": {"objective": "look"}, "status": "success", "agentId": "a1",
        "result": [{"functionResponse": {"response": {"output": "Found."}}}]});
    let child = json!({"sessionId": "a1", "projectHash": "p", "kind": "subagent"});
    let told = told(
        &IMPORTER,
        &[
            ("chats/session-1.jsonl", lines(&[head(), user("u1", "go"), agent("g1", "", &[started])])),
            ("chats/s/a1.jsonl", lines(&[child, user("u2", "look"), agent("g2", "Found.", &[])])),
        ],
    );
    assert!(
        told.stream("s").contains("result c Found. agent codebase_investigator s/agent-a1"),
        "{}",
        told.stream("s")
    );
    assert!(told.stream("s/agent-a1").contains("prompt (task) look"));
    assert_eq!(told.parents["s/agent-a1"], "s");
}

#[test]
fn a_call_that_runs_is_left_for_later() {
    let runs = call("run_shell_command", &json!({"command": "make"}), "executing", &json!(null));
    let held =
        of_lines(&[head(), user("u1", "go"), agent("g1", "On it.", std::slice::from_ref(&runs)), user("u2", "next")]);
    assert!(held.stream("s").ends_with("3 reply On it.\n"), "{}", held.stream("s"));
    let dead =
        of_lines(&[head(), user("u1", "go"), agent("g1", "", &[runs]), user("u2", "next"), agent("g2", "ok", &[])]);
    assert!(dead.stream("s").contains("4 call run_shell_command-1 run_shell_command make\n5 prompt"));
}

#[test]
fn odd_values_everywhere() {
    for odd in [json!(null), json!(true), json!(-3.5), json!("x"), json!([[]]), json!({"text": {}})] {
        let message = json!({"id": odd, "type": "gemini", "content": odd, "toolCalls": [odd, {"name": odd, "args": odd, "result": [odd]}],
            "thoughts": odd, "tokens": odd, "timestamp": odd});
        of_lines(&[
            head(),
            message.clone(),
            json!({"$set": {"messages": odd}}),
            json!({"$set": odd}),
            json!({"$rewindTo": odd}),
        ]);
        told(&IMPORTER, &[("session-1.json", document(&[odd, message]))]);
    }
}

#[test]
fn values_of_other_types_break_nothing() {
    let records = [vec![head()], whole()].concat();
    crate::told::survives_other_types(&IMPORTER, "session-1.jsonl", &lines(&records));
    crate::told::survives_other_types(&IMPORTER, "session-1.json", &document(&whole()));
}

#[test]
fn cut_at_every_byte() {
    let mut records = vec![head()];
    records.extend(whole());
    for bytes in [document(&whole()), lines(&records)] {
        let mut shown = 0;
        for end in 1..bytes.len() {
            let told = told(&IMPORTER, &[("session-1.jsonl", bytes[..end].to_vec())]);
            let now = told.streams.values().map(|events| events.lines().count()).max().unwrap_or(0);
            assert!(now + 1 >= shown, "what was whole stays: {end}");
            shown = now;
        }
        assert!(shown >= 10);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits(flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..20)) {
        let mut records = vec![head()];
        records.extend(whole());
        for mut bytes in [document(&whole()), lines(&records)] {
            for (at, bit) in &flips {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            told(&IMPORTER, &[("session-1.jsonl", bytes)]);
        }
    }
}

#[test]
fn files_of_one_session_are_one_stream() {
    let all = whole();
    let mut carried_on = vec![head()];
    carried_on.extend(all[2..].iter().cloned());
    // The first half as a document, and lines that begin with a copy of its end.
    let files = [("session-1.json", document(&all[..3])), ("session-2.jsonl", lines(&carried_on))];
    let (split, once) = (told(&IMPORTER, &files), told(&IMPORTER, &[("session-1.json", document(&all))]));
    assert_eq!(split.stream("s"), once.stream("s"));
    assert_eq!((split.streams.len(), split.skipped("duplicate record")), (1, 1));
    assert_eq!(split.records(), once.records() + 2, "its head and the copy");
    assert!(split.accounts.len() == 2 && split.accounts.iter().all(Account::balances));
}
