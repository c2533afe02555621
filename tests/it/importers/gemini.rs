//! The notes of Gemini's sessions against a count made straight from the records, by none of the importer's code; and
//! what happens to a session that grows.

use std::path::Path;

use cru::base::files;
use serde_json::{Value, json};

use crate::importers::opencode::{Count, below, compare, grow};
use crate::imports::growth::World;
use crate::transcript_set::{TranscriptSet, on_both_sets};

/// The messages of a file of either form; none of them says anything twice.
fn messages(path: &Path) -> Vec<Value> {
    let bytes = files::read(path).unwrap();
    if let Ok(document) = serde_json::from_slice::<Value>(&bytes) {
        return document["messages"].as_array().unwrap().clone();
    }
    String::from_utf8_lossy(&bytes).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_records(path: &Path) -> Count {
    let mut count = Count::default();
    for message in messages(path) {
        count.prompts += usize::from(message["type"] == "user" && message["content"] != "System: Please continue.");
        let of = |key: &str| message["tokens"][key].as_u64().unwrap_or(0);
        count.tokens += of("input") - of("cached") + of("tool") + of("output") + of("thoughts");
        for call in message["toolCalls"].as_array().into_iter().flatten().filter(|call| call["name"] != "write_todos") {
            count.calls += 1;
            count.failures += usize::from(call["status"] != "success");
        }
    }
    count
}

fn notes_say_what_the_records_say(set: &TranscriptSet) {
    let folder = set.folder("gemini");
    compare("gemini", &folder, set.least(3, 9), &of_records);
}

fn sessions_that_grow_message_by_message(set: &TranscriptSet) {
    let folder = set.folder("gemini");
    for path in below(&folder) {
        let all = messages(&path);
        let head = json!({ "sessionId": "s", "projectHash": "p", "startTime": "2026-01-10T07:00:00.000Z" });
        let document = |end: usize| {
            let mut document = head.clone();
            document["messages"] = all[..end].into();
            serde_json::to_vec_pretty(&document).unwrap()
        };
        let lines = |end: usize| {
            let lines: Vec<String> = std::iter::once(&head).chain(&all[..end]).map(ToString::to_string).collect();
            format!("{}\n", lines.join("\n")).into_bytes()
        };
        let ends: Vec<usize> = (2..=all.len()).collect();
        grow("gemini", "session-1.json", &ends.iter().map(|end| document(*end)).collect::<Vec<_>>());
        grow("gemini", "session-1.jsonl", &ends.iter().map(|end| lines(*end)).collect::<Vec<_>>());
    }
}

#[test]
fn lines_that_replace_and_rewind() {
    let user = |id: &str, words: &str| json!({ "id": id, "timestamp": "2026-01-10T07:00:01.000Z", "type": "user", "content": words });
    let agent = |id: &str, words: &str, calls: Value| {
        json!({ "id": id, "timestamp": "2026-01-10T07:00:05.000Z", "type": "gemini", "content": words, "model": "flash",
            "tokens": { "input": 900, "output": 20, "cached": 100, "thoughts": 5, "total": 925 }, "toolCalls": calls })
    };
    let write = json!([{ "id": "w1", "name": "write_file", "args": { "file_path": "port.txt", "content": "9000\n" }, "status": "success",
        "timestamp": "2026-01-10T07:00:06.000Z", "result": [{ "functionResponse": { "response": {
            "output": "Successfully created and wrote to new file: /home/mia/api/port.txt." } } }] }]);
    let all = [
        json!({ "sessionId": "s-1", "projectHash": "p", "startTime": "2026-01-10T07:00:00.000Z", "kind": "main" }),
        user("u1", "put the port into a file"),
        agent("g1", "I write it.", json!([])),
        agent("g1", "I write it.", write),
        json!({ "$set": { "lastUpdated": "2026-01-10T07:00:07.000Z" } }),
        user("u2", "now delete everything"),
        agent("g2", "Are you sure?", json!([])),
        json!({ "$rewindTo": "u2" }),
        user("u3", "now the host"),
        agent("g3", "Where is it kept?", json!([])),
    ];
    let lines = |end: usize| {
        let lines: Vec<String> = all[..end].iter().map(ToString::to_string).collect();
        format!("{}\n", lines.join("\n")).into_bytes()
    };
    let states: Vec<Vec<u8>> = (3..=all.len()).map(lines).collect();
    grow("gemini", "session-1.jsonl", &states);
    let world = World::new();
    files::put(&world.input().join("session-1.jsonl"), states.last().unwrap()).unwrap();
    world.import_of("gemini");
    let note = world.notes().into_values().next().unwrap();
    insta::assert_snapshot!("gemini_note", note.replace(world.temp.path().to_str().unwrap(), "~"));
}

/// The host writes a message before it knows its tokens, and again with them.
#[test]
fn tokens_that_come_late_are_no_conflict() {
    let user = |id: &str, words: &str| json!({ "id": id, "timestamp": "2026-01-10T07:00:01.000Z", "type": "user", "content": words });
    let agent = |id: &str, tokens: Option<u64>| {
        let tokens = tokens.map(
            |output| json!({ "input": 900, "output": output, "cached": 100, "thoughts": 0, "total": 900 + output }),
        );
        json!({ "id": id, "timestamp": "2026-01-10T07:00:05.000Z", "type": "gemini", "content": format!("Said {id}."),
            "model": "flash", "tokens": tokens })
    };
    let head = json!({ "sessionId": "s-1", "projectHash": "p", "startTime": "2026-01-10T07:00:00.000Z" });
    let file = |lines: &[&Value]| lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect::<Vec<u8>>();
    let (u1, u2) = (user("u1", "put the port into a file"), user("u2", "now the host, please"));
    let states = [
        file(&[&head, &u1, &agent("g1", None)]),
        file(&[&head, &u1, &agent("g1", None), &agent("g1", Some(20)), &u2, &agent("g2", None)]),
        file(&[
            &head,
            &u1,
            &agent("g1", None),
            &agent("g1", Some(20)),
            &u2,
            &agent("g2", None),
            &agent("g2", Some(30)),
        ]),
        file(&[
            &head,
            &u1,
            &agent("g1", Some(20)),
            &u2,
            &agent("g2", Some(30)),
            &user("u3", "and the name"),
            &agent("g3", Some(5)),
        ]),
    ];
    for remembers in [false, true] {
        let world = World::remembering(remembers);
        for state in &states {
            files::put(&world.input().join("session-1.jsonl"), state).unwrap();
            world.import_of("gemini");
        }
        let note = world.notes().into_values().next().unwrap();
        assert!(!note.contains("[!conflict]"), "{note}");
        assert!(note.contains("\ntokens_used: 2455\n") && note.contains("| flash | 2,400 | 55 | 0 | 300 |"), "{note}");
    }
}

on_both_sets!(notes_say_what_the_records_say, sessions_that_grow_message_by_message);
