//! Whole sets of small invented nodes.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, told};
use cru_session::source::Bundle;

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn bytes(value: Value) -> Vec<u8> {
    serde_json::to_vec_pretty(&value).unwrap()
}

fn node(id: &str, session: &str, began: &str) -> Value {
    json!({"id": id, "version": 1, "previousVersions": [],
        "source": {"sessionFile": format!("/home/mia/.pi/x_{session}.jsonl"), "segment": {"startEntryId": "e1", "endEntryId": "e9", "entryCount": 9},
            "computer": "larch", "sessionId": session, "parentSession": "/home/mia/.pi/y_parent.jsonl"},
        "classification": {"type": "debugging", "project": "/home/mia/api", "hadClearGoal": true, "language": "rust"},
        "content": {"summary": format!("Fixed {id}. It was the zone."), "outcome": "success",
            "keyDecisions": [{"what": "UTC", "why": "two zones", "alternativesConsidered": ["local"]}],
            "filesTouched": ["src/a.rs"], "toolsUsed": ["edit"], "errorsSeen": [{"type": "test", "message": "red", "resolved": true}]},
        "lessons": {"project": [{"summary": "All is UTC.", "details": "All.", "confidence": "high", "tags": ["time"], "actionable": "Use it."}]},
        "observations": {"modelsUsed": [{"provider": "anthropic", "model": "claude", "tokensInput": 10, "tokensOutput": 5, "cacheRead": 3, "cacheWrite": 2, "cost": 0.5}],
            "promptingWins": ["named the test"], "promptingFailures": [], "modelQuirks": [{"model": "a/b", "observation": "odd", "frequency": "once", "severity": "low"}],
            "toolUseErrors": [{"tool": "edit", "errorType": "no match", "context": "tabs", "model": "a", "wasRetried": true}]},
        "metadata": {"tokensUsed": 17, "cost": 0.5, "durationMinutes": 22, "timestamp": began},
        "semantic": {"tags": ["jwt"], "topics": ["auth"]},
        "daemonMeta": {"decisions": [{"decision": "no split", "reasoning": "a pause", "needsReview": true}], "rlmUsed": false}})
}

fn edge(kind: &str, by: &str, from: &str, to: &str) -> Value {
    json!({"id": "e", "sourceNodeId": from, "targetNodeId": to, "type": kind, "metadata": {"similarity": 0.5}, "createdBy": by})
}

fn from_memory(bytes: Vec<u8>) -> Told {
    let path = PathBuf::from("nodes.json");
    let bundle = Bundle { files: vec![path.clone()], memory: [(path, bytes)].into() };
    let mut all = Told::default();
    (IMPORTER.read)(&bundle, &mut all).unwrap();
    all
}

#[test]
fn a_node_is_a_phase_with_all_that_it_says() {
    let all = told(&IMPORTER, &[("a.json", bytes(node("a1b2", "s1", "2026-01-07T08:00:00Z")))]);
    let text = all.stream("s1");
    let order = [
        "Phase(\"Fixed a1b2\")",
        "kind: \"segment\", title: \"debugging: success\", text: \"Fixed a1b2. It was the zone.\"",
        "(\"Goal\", \"clear\")",
        "(\"Files\", \"`src/a.rs`\")",
        "(\"Duration\", \"22 min\")",
        "(\"Entries\", \"`e1` … `e9` (9)\")",
        "id: Some(\"s-a1b2\")",
        "decision UTC rejected [\"local\"]",
        "kind: \"error\", title: \"test\", text: \"red\", fields: [(\"Resolution\"",
        "kind: \"error\", title: \"edit: no match\"",
        "kind: \"lesson\", title: \"project · high\", text: \"All is UTC.\\n\\nAll.\", fields: [(\"Do\", \"Use it.\"), (\"Tags\", \"time\")]",
        "kind: \"lesson\", title: \"user\", text: \"named the test\"",
        "kind: \"quirk\", title: \"a/b\", text: \"odd\"",
        "pi-brain: no split",
        "task REVIEW-a1b2-1 Review: no split pending",
        "Tag(\"jwt\")",
        "Cost(0.5)",
        "key: \"topics\"",
        "key: \"machine\", value: String(\"larch\")",
    ];
    let mut rest = text;
    for part in order {
        let at = rest.find(part);
        assert!(at.is_some(), "{part} in {text}");
        rest = &rest[at.unwrap() + part.len()..];
    }
    assert_eq!(all.tokens("s1").used(), 17);
    assert_eq!(all.parents["s1"], "parent");
    assert_eq!(all.headers[0].transcript, PathBuf::from("/home/mia/.pi/x_s1.jsonl"));
}

#[test]
fn segments_of_one_session_and_their_latest_reading() {
    let mut again = node("b", "s1", "2026-01-07T09:00:00Z");
    again["version"] = json!(2);
    let both = json!({"nodes": [node("a", "s1", "2026-01-07T08:00:00Z"), node("c", "s2", "2026-01-01T00:00:00Z")],
        "edges": [edge("semantic", "daemon", "a", "b"), edge("resume", "boundary", "a", "b"), edge("semantic", "user", "z", "a")]});
    let files = [
        ("1.json", bytes(again.clone())),
        ("2.json", bytes(node("b", "s1", "2026-01-07T09:00:00Z"))),
        ("3.json", bytes(both)),
    ];
    let all = told(&IMPORTER, &files);
    assert_eq!((all.consumed["s1"].records, all.consumed["s2"].records), (2, 1));
    assert!(all.stream("s1").contains("(\"Version\", \"2\")"));
    assert!(
        all.stream("s1").contains("1 reply - semantic [[#^s-b]] (similarity 0.5, by daemon)"),
        "{}",
        all.stream("s1")
    );
    assert!(all.stream("s1").contains("pi-brain: version 1"), "{}", all.stream("s1"));
    assert_eq!(all.skipped("copy of a node"), 0);
    assert_eq!((all.skipped("structural edge: it is computed"), all.skipped("edge of an unknown node")), (1, 1));
}

#[test]
fn odd_nodes() {
    let odd = json!([1, null, {"source": 3, "id": "../../x", "version": "two", "lessons": [], "content": {"summary": 7, "keyDecisions": {}}},
        {"source": {"sessionId": "s", "parentSession": "s"}, "metadata": {"timestamp": 0, "durationMinutes": 1e300}}, {}]);
    let all = from_memory(bytes(odd));
    assert!(all.stream("../../x").contains("Phase(\"other\")"));
    assert!(all.streams.contains_key("s") && all.parents.is_empty());
    assert_eq!((all.skipped("broken record"), all.skipped("node without a name")), (2, 1));
}

#[test]
fn cut_off_anywhere_the_rest_is_told() {
    let whole =
        serde_json::to_vec(&json!([node("a", "s1", "2026-01-07T08:00:00Z"), node("b", "s1", "2026-01-07T09:00:00Z")]))
            .unwrap();
    let mut most = 0;
    for end in 0..whole.len() {
        let records = from_memory(whole[..end].to_vec()).consumed.get("s1").map_or(0, |consumed| consumed.records);
        assert!(records >= most, "{end}");
        most = records;
    }
    assert_eq!(most, 2);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn flipped_bytes_never_stop_it(flips in proptest::collection::vec((proptest::num::usize::ANY, 0_u8..255), 1..8)) {
        let mut damaged = bytes(json!({"nodes": [node("a", "s1", "2026-01-07T08:00:00Z")], "edges": [edge("semantic", "user", "a", "a")]}));
        for (at, byte) in flips {
            let at = at % damaged.len();
            damaged[at] = byte;
        }
        from_memory(damaged);
    }
}
