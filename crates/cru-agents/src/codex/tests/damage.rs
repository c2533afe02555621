//! Broken files: what is good is told, the rest is named.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{answers, asks, calls, event, item, meta, read_bytes, says, session};
use crate::told::lines as jsonl;

fn sample() -> Vec<Value> {
    let mut all = vec![meta("s", json!({ "git": { "branch": "main" } }))];
    all.extend(asks("Make it hourly"));
    all.push(calls("c1", "shell", json!({ "command": ["bash", "-lc", "ls > out.txt"] })));
    all.push(answers("c1", "Exit code: 0\nWall time: 1 seconds\nOutput:\na"));
    all.extend(says("Done."));
    all
}

#[test]
fn values_of_other_types_break_nothing() {
    crate::told::survives_other_types(&crate::codex::IMPORTER, "s.jsonl", &jsonl(&sample()));
}

#[test]
fn cut_at_every_byte() {
    let text = jsonl(&sample());
    let whole = read_bytes(&[("s.jsonl", text.clone())]);
    for cut in 0..text.len() {
        let told = read_bytes(&[("s.jsonl", text[..cut].to_vec())]);
        let begun = text[..cut].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        assert_eq!(told.records(), begun as u64, "cut at {cut}");
        assert!(told.skipped("broken line") == 0 && told.skipped("partial last line") <= 1, "cut at {cut}");
        // Each thing that is told is told of the whole file too, if in another record.
        for line in told.stream("s").lines() {
            let said = line.split_once(' ').map_or("", |(_, said)| said);
            assert!(whole.stream("s").contains(said), "cut at {cut}: {line}");
        }
    }
}

#[test]
fn doubled_ids_ids_that_are_paths_and_missing_answers() {
    let told = session(&[
        calls("../../x", "shell", json!({ "command": ["one"] })),
        calls("../../x", "shell", json!({ "command": ["two"] })),
        answers("../../x", "1"),
        answers("../../x", "2"),
        answers("../../x", "3"),
        answers("never", "4"),
        calls("", "shell", json!({ "command": ["three"] })),
    ]);
    insta::assert_snapshot!(told.stream("s"), @r"
    2 call ../../x Bash one
    3 call ../../x@3 Bash two
    4 result ../../x 1
    5 result ../../x@3 2
    8 call shell@ Bash three
    ");
    assert_eq!((told.skipped("repeated answer"), told.skipped("answer without its call")), (1, 1));
    assert_eq!(told.consumed["s"].open, Some(8));
}

#[test]
fn a_session_named_like_a_path_is_only_a_name() {
    let text = jsonl(&[meta("../../etc/x", json!({})), asks("go")[1].clone()]);
    assert!(read_bytes(&[("s.jsonl", text)]).stream("../../etc/x").contains("go"));
}

#[test]
fn odd_bytes_and_unknown_records() {
    let mut text = jsonl(&sample()[..3]);
    text.extend(b"\0\0\0\n{\"broken\n\xff\xfe\n[1]\n\"x\"\n");
    text.extend(jsonl(&[
        json!({ "timestamp": "t", "type": "new_thing", "payload": {} }),
        event(json!({ "type": "new_event" })),
        item(json!({ "type": "new_item" })),
        json!({ "timestamp": 5, "type": "event_msg", "payload": [] }),
        json!({}),
    ]));
    text.extend(b"{\"type\":\"event_msg\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"twice named\"}}\n");
    text.extend(b"\0\0");
    let told = read_bytes(&[("s.jsonl", text)]);
    assert!(told.stream("s").contains("twice named"));
    assert_eq!(told.skipped("broken line"), 4);
    for reason in ["unknown record type", "unknown event", "unknown item"] {
        assert_eq!(told.skipped(reason), 1, "{reason}");
    }
    assert_eq!(told.skipped("no record type"), 2);
}

#[test]
fn fields_of_any_type_are_taken() {
    for odd in [json!(null), json!(5), json!("text"), json!([1, [2]]), json!({ "a": { "b": [] } })] {
        let mut records = Vec::new();
        for whole in sample() {
            for key in whole["payload"].as_object().unwrap().keys() {
                let mut record = whole.clone();
                record["payload"][key.as_str()] = odd.clone();
                records.push(record);
            }
        }
        let count = records.len() as u64;
        assert_eq!(read_bytes(&[("s.jsonl", jsonl(&records))]).records(), count);
    }
}

proptest! {
    #[test]
    fn flipped_bytes_break_nothing(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut text = jsonl(&sample());
        for (at, byte) in flips {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let told = read_bytes(&[("s.jsonl", text)]);
        prop_assert!(told.accounts.iter().all(cru_session::source::Account::balances));
    }
}
