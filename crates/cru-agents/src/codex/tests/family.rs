//! Sessions that start or go on with others.

use serde_json::{Value, json};

use super::{answers, asks, calls, event, meta, read, says};

fn concat(parts: &[&[Value]]) -> Vec<Value> {
    parts.iter().flat_map(|part| part.to_vec()).collect()
}

#[test]
fn a_fork_tells_only_what_is_its_own() {
    let parent = concat(&[&[meta("a", json!({}))], &asks("one"), &says("first")]);
    let child = concat(&[&[meta("b", json!({ "forked_from_id": "a" }))], &parent, &asks("two"), &says("first")]);
    let told = read(&[("b.jsonl", &child), ("a.jsonl", &parent)]);
    insta::assert_snapshot!(told.stream("b"), @r"
    8 prompt (typed) two
    10 reply first
    ");
    assert_eq!(told.headers[1].parent.as_ref().unwrap().to_string(), "a");
    assert_eq!(told.skipped("copied from another session"), parent.len() as u64);
    // Without the other file the copies are all there is.
    let alone = read(&[("b.jsonl", &child)]);
    assert!(alone.stream("b").contains("prompt (typed) one"));
    assert_eq!(alone.skipped("copied from another session"), 1);
}

#[test]
fn sub_agents_stand_in_files_of_their_own() {
    let parent = concat(&[
        &[meta("a", json!({}))],
        &asks("review"),
        &[
            calls("c1", "spawn_agent", json!({ "agent_type": "reviewer", "message": "Look at clock.rs" })),
            answers("c1", "{\"agent_id\":\"b\"}"),
            calls("c2", "wait", json!({ "ids": ["b"] })),
            answers("c2", "{\"status\":{\"b\":{\"completed\":\"All good.\"}},\"timed_out\":false}"),
        ],
    ]);
    let source = json!({ "source": { "subagent": { "thread_spawn": { "parent_thread_id": "a", "depth": 1 } } } });
    let child = concat(&[&[meta("b", source)], &asks("Look at clock.rs"), &says("All good.")]);
    let told = read(&[("1.jsonl", &child), ("2.jsonl", &parent)]);
    insta::assert_snapshot!(told.stream("a"), @r#"
    3 prompt (typed) review
    4 call c1 spawn_agent Look at clock.rs
    5 result c1 {"agent_id":"b"} agent reviewer a/agent-b background
    6 call c2 wait b
    7 result c2 {"status":{"b":{"completed":"All good."}},"timed_out":false}
    7 done a/agent-b All good. false
    "#);
    insta::assert_snapshot!(told.stream("a/agent-b"), @r"
    3 prompt (task) Look at clock.rs
    5 reply All good.
    ");
    let header = &told.headers[1];
    assert_eq!(header.parent.as_ref().unwrap().to_string(), "a");
    assert_eq!((header.agent.as_deref(), header.task.as_deref()), (Some("reviewer"), Some("Look at clock.rs")));
}

#[test]
fn sessions_in_a_circle_are_read() {
    let one = concat(&[&[meta("a", json!({ "forked_from_id": "b" }))], &asks("one")]);
    let two = concat(&[&[meta("b", json!({ "forked_from_id": "a" }))], &asks("two")]);
    let told = read(&[("a.jsonl", &one), ("b.jsonl", &two)]);
    assert!(told.stream("a").contains("one") && told.stream("b").contains("two"));
}

#[test]
fn captures_of_a_session_are_told_once_though_written_anew() {
    let first = concat(&[&[meta("s", json!({}))], &asks("one"), &says("first")]);
    let mut second = first.clone();
    // The same record with its fields in another order.
    second[1] =
        json!({ "type": second[1]["type"], "payload": second[1]["payload"], "timestamp": second[1]["timestamp"] });
    second.extend(asks("two"));
    second.push(event(json!({ "type": "thread_name_updated", "thread_name": "Clock" })));
    let told = read(&[("1.jsonl", &first), ("2.jsonl", &second)]);
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) one
    5 reply first
    7 prompt (typed) two
    8 title Custom Clock
    ");
    assert_eq!(told.skipped("duplicate record"), first.len() as u64);
}
