//! Damaged and hostile files.

use proptest::prelude::*;

use super::*;

fn hash(lines: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in lines {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

#[test]
fn broken_lines_are_counted_and_a_partial_one_is_left() {
    let first = user("a", "", "one").to_string();
    let second = says("b", "a", "Two.").to_string();
    let cut = &second[..second.len() / 2];
    let text = format!("{first}\n\n  \n{{broken\n[1]\n\"x\"\n{second}\n{cut}");
    let told = read_bytes(&[("s.jsonl", text.into_bytes())]);
    assert_eq!(told.stream("s"), "1 prompt (typed) one\n5 reply Two.\n");
    assert_eq!((told.skipped("broken line"), told.skipped("partial last line")), (3, 1));
    let consumed = &told.consumed["s"];
    assert_eq!((consumed.records, consumed.last.as_deref()), (5, Some("b")));
    assert_eq!(consumed.hash, hash(&[&first, "{broken", "[1]", "\"x\"", &second]));
}

#[test]
fn records_of_one_line_are_told_apart() {
    let [first, second] = [user("a", "", "one"), says("b", "a", "Two.")].map(|record| record.to_string());
    for (between, records) in [("", 2), ("{\"type\":\"user\",\"message\":{\"role\":\"us", 3)] {
        let told = read_bytes(&[("s.jsonl", format!("{first}{between}{second}\n").into_bytes())]);
        assert_eq!(told.stream("s"), format!("1 prompt (typed) one\n{records} reply Two.\n"));
        assert_eq!((told.records(), told.skipped("broken line")), (records, records - 2));
    }
}

#[test]
fn a_whole_last_line_without_newline_counts() {
    let first = user("a", "", "one").to_string();
    let told = read_bytes(&[("s.jsonl", first.clone().into_bytes())]);
    assert_eq!(told.consumed["s"].hash, hash(&[&first]));
}

#[test]
fn nul_bytes_and_bytes_that_are_no_text() {
    let mut text = vec![0; 64];
    text.extend(user("a", "", "caf\u{e9}").to_string().into_bytes());
    text.extend(b"\n\0\0\0\n");
    let mut broken = user("b", "a", "bad X byte").to_string().into_bytes();
    let at = broken.iter().position(|byte| *byte == b'X').unwrap();
    broken[at] = 0xff;
    text.extend(broken);
    let told = read_bytes(&[("s.jsonl", text)]);
    assert_eq!(told.stream("s"), "1 prompt (typed) café\n2 prompt (typed) bad \u{fffd} byte\n");
}

#[test]
fn a_name_given_twice_takes_the_last() {
    let twice = r#"{"type":"user","uuid":"a","uuid":"b","sessionId":"s","message":{"content":"one","content":"two"}}"#;
    let told = read_bytes(&[("s.jsonl", twice.as_bytes().to_vec())]);
    assert_eq!(told.stream("s"), "1 prompt (typed) two\n");
    assert_eq!(told.consumed["s"].last.as_deref(), Some("b"));
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        "{{\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"s\",\"unknown\":{deep},\"message\":{{\"content\":\"one\"}}}}\n{{\"message\":{{\"content\":{deep}}}}}\n"
    );
    let told = read_bytes(&[("s.jsonl", text.into_bytes())]);
    assert_eq!(told.accounts[0].records, 2);
}

#[test]
fn values_of_other_types_break_nothing() {
    crate::told::survives_other_types(&crate::claude::IMPORTER, "s.jsonl", &crate::told::lines(&samples()));
}

/// Records of every kind, to be damaged.
fn samples() -> Vec<Value> {
    vec![
        user("a", "", "one"),
        says("b", "a", "Two."),
        calls(
            "c",
            "b",
            "t1",
            "Edit",
            json!({ "file_path": "/home/mia/api/a.rs", "old_string": "a", "new_string": "b" }),
        ),
        answers(
            "d",
            "c",
            "t1",
            "ok",
            json!({ "originalFile": "a\n", "oldString": "a", "newString": "b", "structuredPatch": [{ "lines": ["-a", "+b"] }] }),
        ),
        calls(
            "e",
            "d",
            "t2",
            "AskUserQuestion",
            json!({ "questions": [{ "question": "W?", "header": "H", "options": [{ "label": "x" }] }] }),
        ),
        answers("f", "e", "t2", "ok", json!({ "answers": { "W?": "x" } })),
        calls("g", "f", "t3", "Task", json!({ "description": "D", "prompt": "P", "subagent_type": "r" })),
        answers("h", "g", "t3", "ok", json!({ "agentId": "a1", "isAsync": true })),
        calls("i", "h", "t4", "Bash", json!({ "command": "echo x > y" })),
        fails("j", "i", "t4", "Exit code 1\nno"),
        calls("k", "j", "t5", "TodoWrite", json!({ "todos": [{ "content": "x", "status": "y" }] })),
        answers("l", "k", "t5", "ok", json!({})),
        record(
            "system",
            "m",
            "",
            json!({ "subtype": "compact_boundary", "logicalParentUuid": "l", "compactMetadata": { "trigger": "auto", "preTokens": 3 } }),
        ),
        record(
            "attachment",
            "n",
            "m",
            json!({ "attachment": { "type": "queued_command", "prompt": [{ "type": "text", "text": "q" }] } }),
        ),
        record("progress", "o", "n", json!({ "data": {} })),
        json!({ "type": "queue-operation", "operation": "enqueue", "content": "q", "sessionId": "s" }),
        json!({ "type": "queue-operation", "operation": "remove", "sessionId": "s" }),
        json!({ "type": "summary", "summary": "x", "leafUuid": "a" }),
        json!({ "type": "pr-link", "prNumber": 1, "prUrl": "u", "sessionId": "s" }),
        json!({ "type": "file-history-snapshot", "messageId": "a", "snapshot": {} }),
    ]
}

/// Walks to the `at`-th value of a record, counted through all levels, and changes it.
fn change(value: &mut Value, at: &mut usize, to: &Value) {
    if *at == 0 {
        *value = to.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| change(value, at, to)),
        Value::Object(map) => map.values_mut().for_each(|value| change(value, at, to)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_damage_stops_the_reading(
        changes in prop::collection::vec((0..20_usize, 0..40_usize, 0..9_usize), 0..12),
        cuts in prop::collection::vec((0..20_usize, 0..400_usize), 0..3),
        swaps in prop::collection::vec((0..20_usize, 0..20_usize), 0..4),
    ) {
        let values = [
            Value::Null, json!(true), json!(-7), json!(1e300), json!(""), json!("text"), json!([]),
            json!([{ "type": "text", "text": {} }, 4]), json!({ "type": "tool_use", "text": [], "id": 3 }),
        ];
        let mut records = samples();
        for (record, at, to) in changes {
            change(&mut records[record], &mut at.clone(), &values[to]);
        }
        for (one, other) in swaps {
            records.swap(one, other);
        }
        let mut lines: Vec<String> = records.iter().map(Value::to_string).collect();
        for (line, at) in cuts {
            let at = cru_base::lines::floor_char_boundary(&lines[line], at);
            lines[line].truncate(at);
        }
        let told = read_bytes(&[("s.jsonl", lines.join("\n").into_bytes())]);
        let records = lines.iter().filter(|line| !line.is_empty()).count() as u64;
        prop_assert_eq!(told.accounts.iter().map(|account| account.records).sum::<u64>(), records);
        let again = read_bytes(&[("s.jsonl", lines.join("\n").into_bytes())]);
        prop_assert_eq!(told.streams, again.streams);
    }
}
