//! Sub-agents in the layouts of all times.

use super::*;

fn side(mut record: Value, agent: &str) -> Value {
    record["isSidechain"] = json!(true);
    if !agent.is_empty() {
        record["agentId"] = json!(agent);
    }
    record
}

fn asks(id: &str, call: &str, prompt: &str) -> Value {
    calls(
        id,
        "",
        call,
        "Task",
        json!({ "description": format!("Do {prompt}"), "prompt": prompt, "subagent_type": "reviewer" }),
    )
}

#[test]
fn between_the_lines_of_the_session() {
    let told = session(&[
        user("a", "", "go"),
        asks("b", "t1", "one"),
        asks("c", "t2", "two"),
        side(user("x1", "", "two"), ""),
        side(user("y1", "", "one"), ""),
        side(says("x2", "x1", "Two is done."), ""),
        side(says("y2", "y1", "One is done."), ""),
        answers("d", "b", "t1", "One is done.", json!({})),
        answers("e", "c", "t2", "Two is done.", json!({})),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 prompt (typed) go
    2 call t1 Task Do one
    3 call t2 Task Do two
    4 result t1 One is done. agent reviewer s/agent-y1
    5 result t2 Two is done. agent reviewer s/agent-x1
    ");
    assert_eq!(told.stream("s/agent-x1"), "1 prompt (task) two\n2 reply Two is done.\n");
    assert_eq!(told.stream("s/agent-y1"), "1 prompt (task) one\n2 reply One is done.\n");
    assert_eq!(told.parents["s/agent-x1"], "s");
    let header = told.headers.iter().find(|header| header.key.agent.as_deref() == Some("x1")).unwrap();
    assert_eq!((header.agent.as_deref(), header.task.as_deref()), (Some("reviewer"), Some("Do two")));
}

#[test]
fn in_files_of_their_own() {
    let main = [
        asks("a", "t1", "one"),
        answers(
            "b",
            "a",
            "t1",
            "# All good\nmore",
            json!({ "agentId": "a1", "status": "completed", "totalDurationMs": 5 }),
        ),
        asks("c", "t2", "two"),
        // Older versions do not name the agent: what it was asked does.
        answers("d", "c", "t2", "Fine.", json!({})),
        asks("e", "t3", "three"),
        answers("f", "e", "t3", "launched", json!({ "agentId": "a3", "isAsync": true, "status": "async_launched" })),
        user(
            "g",
            "f",
            "<task-notification><task-id>a3</task-id><status>completed</status><result>Three found.</result></task-notification>",
        ),
        user("h", "g", "<task-notification><task-id>b9</task-id><status>completed</status></task-notification>"),
    ];
    let one = [side(user("x1", "", "one"), "a1"), side(says("x2", "x1", "All good"), "a1")];
    let two = [side(user("y1", "", "two"), "a2"), side(says("y2", "y1", "Fine."), "a2")];
    let own = [side(user("z1", "", "alone"), "a4")];
    let warm = [side(user("w1", "", "Warmup"), "a5"), side(says("w2", "w1", "Ready."), "a5")];
    let compact = [side(user("v1", "", "summarise"), "acompact-1")];
    let told = read(&[
        ("s.jsonl", &main),
        ("s/subagents/agent-a1.jsonl", &one),
        ("agent-a2.jsonl", &two),
        ("s/subagents/agent-a4.jsonl", &own),
        ("s/subagents/agent-a4.meta.json", &[json!({ "agentType": "planner", "description": "Plan" })]),
        ("agent-a5.jsonl", &warm),
        ("s/subagents/agent-acompact-1.jsonl", &compact),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 call t1 Task Do one
    2 result t1 All good agent reviewer s/agent-a1
    3 call t2 Task Do two
    4 result t2 Fine. agent reviewer s/agent-a2
    5 call t3 Task Do three
    6 result t3 started in the background agent reviewer s/agent-a3 background
    7 done s/agent-a3 Three found. false
    ");
    assert_eq!(told.streams.keys().collect::<Vec<_>>(), ["s", "s/agent-a1", "s/agent-a2", "s/agent-a4"]);
    assert_eq!(told.parents["s/agent-a4"], "s");
    let header = told.headers.iter().find(|header| header.key.agent.as_deref() == Some("a4")).unwrap();
    assert_eq!((header.agent.as_deref(), header.task.as_deref()), (Some("planner"), Some("Plan")));
    assert_eq!((told.skipped("the host's own summarising"), told.skipped("injected by the host")), (1, 2));
}

#[test]
fn without_their_parent() {
    let told = read(&[("s/subagents/agent-a1.jsonl", &[side(user("x1", "gone", "one"), "a1")])]);
    assert_eq!(told.parents["s/agent-a1"], "s");
    assert_eq!(told.stream("s/agent-a1"), "1 prompt (task) one\n");
}

#[test]
fn an_agent_that_is_resumed_stays_one() {
    let main = [
        asks("a", "t1", "one"),
        answers("b", "a", "t1", "First.", json!({ "agentId": "a1" })),
        calls("c", "b", "t2", "Task", json!({ "description": "More", "prompt": "more", "resume": "a1" })),
        answers("d", "c", "t2", "Second.", json!({ "agentId": "a1" })),
    ];
    let one = [
        side(user("x1", "", "one"), "a1"),
        side(says("x2", "x1", "First."), "a1"),
        side(user("x3", "x2", "more"), "a1"),
    ];
    let told = read(&[("s.jsonl", &main), ("agent-a1.jsonl", &one)]);
    assert_eq!(told.stream("s").matches("s/agent-a1").count(), 2);
    assert_eq!(told.headers[1].task.as_deref(), Some("Do one"));
    assert_eq!(told.stream("s/agent-a1"), "1 prompt (task) one\n2 reply First.\n3 prompt (task) more\n");
}

#[test]
fn a_run_of_a_workflow_stands_at_its_call() {
    let main = [
        user("a", "", "Check it all"),
        calls("b", "a", "t1", "Workflow", json!({ "name": "review" })),
        answers("c", "b", "t1", "Started. Run ID: wf_7-x", json!({ "status": "async_launched", "runId": "wf_7-x" })),
        says("d", "c", "It runs."),
    ];
    let one = [side(user("e", "", "Check the pump"), "a1"), side(says("f", "e", "Fine."), "a1")];
    let two = [side(user("g", "", "Check the valve"), "a2"), side(says("h", "g", "It leaks."), "a2")];
    let told = read(&[
        ("s.jsonl", &main),
        ("s/subagents/workflows/wf_7-x/agent-a1.jsonl", &one),
        ("s/subagents/workflows/wf_7-x/agent-a2.jsonl", &two),
    ]);
    insta::assert_snapshot!(told.stream("s"), @r#"
    1 prompt (typed) Check it all
    2 call t1 Workflow {"name":"review"}
    3 result t1 Started. Run ID: wf_7-x
    3 also t1 s/agent-a1 Check the pump
    3 also t1 s/agent-a2 Check the valve
    4 reply It runs.
    "#);
    assert_eq!(told.parents["s/agent-a2"], "s");
}
