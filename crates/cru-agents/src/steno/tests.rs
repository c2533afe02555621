//! Whole graphs of small invented nodes.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, told};
use cru_session::source::Bundle;

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn bytes(value: Value) -> Vec<u8> {
    serde_json::to_vec_pretty(&value).unwrap()
}

fn graph() -> Value {
    json!({
        "version": "1.0",
        "sessions": [
            {"id": "sess_20260105_100000", "created": "2026-01-05T10:00:00Z", "project": "/home/mia/trial", "nodes": [
                {"id": "n_001", "timestamp": "2026-01-05T10:00:05Z", "raw": "dx:@samples.csv +normalize .plot:png",
                 "intent": {"verb": "dx", "target": "@samples.csv", "additions": ["+normalize"], "flags": [".plot:png"],
                            "precision": "literal", "mode": "sketch"},
                 "status": "complete", "children": ["n_002"], "summary": "18 samples, 3 groups",
                 "inputs": [{"path": "samples.csv", "hash": "9e107d9d372bb6826bd81d3542a419d6", "mtime": 1}],
                 "outputs": [{"path": "/home/mia/trial/plots/dx.png", "hash": "md5:0cc175b9c0f1b6a831c399e269772661", "created": true}]},
                {"id": "n_002", "timestamp": "2026-01-05T10:02:00Z", "raw": "stat:ttest @baseline-pca ^", "parent": "n_001",
                 "intent": {"verb": "stat", "target": "ttest"}, "status": "failed", "error": "column `group` is missing",
                 "inputs": ["samples.csv"], "outputs": []},
                {"id": "n_003", "timestamp": "2026-01-05T10:30:00Z", "raw": "pca:^ +scale", "parent": "n_001",
                 "intent": {"verb": "pca"}, "status": "complete", "summary": "2 components hold 81 %"}
            ]},
            {"id": "sess_20260106_090000", "created": "2026-01-06T09:00:00Z", "project": "/home/mia/trial", "nodes": []}
        ],
        "fileIndex": {"samples.csv": {"readers": ["n_001"], "writers": []}},
        "bookmarks": {"baseline-pca": "n_003", "gone": "n_999"}
    })
}

fn open(status: &str) -> Value {
    json!({"id": "sess_20260107_080000", "created": "2026-01-07T08:00:00Z", "project": "/home/mia/trial", "nodes": [
        {"id": "n_004", "timestamp": "2026-01-07T08:00:01Z", "raw": "ch ^ +filter", "intent": {"verb": "ch"}, "status": "complete"},
        {"id": "n_005", "timestamp": "2026-01-07T08:01:00Z", "raw": "report", "status": status, "summary": "3 pages"}
    ]})
}

/// Reads one graph without a disk.
fn from_memory(bytes: Vec<u8>) -> Told {
    let path = PathBuf::from("graph.json");
    let bundle = Bundle { files: vec![path.clone()], memory: [(path, bytes)].into() };
    let mut all = Told::default();
    (IMPORTER.read)(&bundle, &mut all).unwrap();
    all
}

fn both() -> Told {
    told(&IMPORTER, &[("graph.json", bytes(graph())), ("current-session.json", bytes(open("running")))])
}

/// What a later version of the program adds: branches, and the folder once for the whole graph.
#[test]
fn branches_and_the_folder_of_a_graph_are_kept() {
    let mut graph = graph();
    graph["project"] = json!("/home/mia/trial");
    let session = graph["sessions"][0].as_object_mut().unwrap();
    session.remove("project");
    session.insert("branch".into(), json!("main"));
    session["nodes"][2]["branch"] = json!("scaled");
    graph["branches"] = json!({"main": {"head": "n_002"}, "scaled": "n_003", "lost": {"head": "n_999"}});
    let all = from_memory(bytes(graph));
    let told = all.stream("sess_20260105_100000");
    for wanted in ["name: \"branch\", value: \"scaled\"", "title: \"branch main\"", "title: \"branch scaled\""] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    assert!(!told.contains("lost"), "{told}");
}

#[test]
fn a_graph_is_told_node_by_node() {
    let all = both();
    insta::assert_snapshot!(all.stream("sess_20260105_100000"), @r#"
    1 Phase("dx:@samples.csv +normalize .plot:png")
    1 call n_001 dx @samples.csv +normalize .plot:png
    1 Detail { call: "n_001", name: "raw", value: "dx:@samples.csv +normalize .plot:png" }
    1 Detail { call: "n_001", name: "node", value: "n_001" }
    1 Detail { call: "n_001", name: "precision", value: "exact" }
    1 Detail { call: "n_001", name: "mode", value: "sketch" }
    1 Detail { call: "n_001", name: "md5", value: "samples.csv 9e107d9d372bb6826bd81d3542a419d6" }
    1 Detail { call: "n_001", name: "md5", value: "plots/dx.png 0cc175b9c0f1b6a831c399e269772661" }
    1 result n_001 18 samples, 3 groups reads samples.csv writes plots/dx.png
    2 call n_002 stat ttest @baseline-pca ^
    2 Detail { call: "n_002", name: "raw", value: "stat:ttest @baseline-pca ^" }
    2 Detail { call: "n_002", name: "node", value: "n_002" }
    2 result n_002 failed column `group` is missing reads samples.csv
    3 rewind to 1
    3 Phase("pca:^ +scale")
    3 call n_003 pca ^ +scale
    3 Detail { call: "n_003", name: "raw", value: "pca:^ +scale" }
    3 Detail { call: "n_003", name: "node", value: "n_003" }
    3 result n_003 2 components hold 81 %
    3 Remark(Remark { kind: "bookmark", title: "baseline-pca", text: "", fields: [], folded: false, about: Some("n_003"), id: None })
    "#);
    insta::assert_snapshot!(all.stream("sess_20260107_080000"), @r#"
    1 Phase("ch ^ +filter")
    1 call n_004 ch ^ +filter
    1 Detail { call: "n_004", name: "node", value: "n_004" }
    1 result n_004 done
    "#);
    assert_eq!(all.skipped("not finished yet"), 1);
    assert_eq!(all.skipped("bookmark of an unknown node"), 1);
    assert_eq!(all.skipped("index of files: it is computed"), 1);
    assert_eq!(all.records(), 8);
}

#[test]
fn a_session_grows_and_moves_into_the_graph() {
    let before = both();
    let done = told(&IMPORTER, &[("current-session.json", serde_json::to_vec(&open("complete")).unwrap())]);
    let key = "sess_20260107_080000";
    assert_eq!((before.consumed[key].records, done.consumed[key].records), (1, 2));
    let mut graph = graph();
    graph["sessions"].as_array_mut().unwrap().push(open("complete"));
    // Which nodes depend on a node is told later and says nothing new.
    graph["sessions"][2]["nodes"][0]["children"] = json!(["n_005"]);
    let moved = told(&IMPORTER, &[("graph.json", bytes(graph.clone()))]);
    assert_eq!(moved.consumed[key].hash, done.consumed[key].hash);
    let twice = told(&IMPORTER, &[("graph.json", bytes(graph)), ("current-session.json", bytes(open("complete")))]);
    assert_eq!(twice.consumed[key], done.consumed[key]);
    assert_eq!(twice.skipped("duplicate node"), 2);
}

#[test]
fn odd_graphs() {
    let odd = json!({"version": 1, "sessions": {"a": {"id": "../../x", "nodes": [
        {"id": "n_001", "parent": "n_002", "raw": "a"}, {"id": "n_002", "parent": "n_001", "raw": "b"},
        {"id": "n_001", "raw": "again"}, 7, null, [], {"id": {}, "inputs": 3, "outputs": [[], {"path": 1}], "intent": []}]},
        "b": {"nodes": [{}]}, "c": 3}, "bookmarks": [], "fileIndex": 1});
    let all = told(&IMPORTER, &[("graph.json", bytes(odd))]);
    assert!(all.stream("../../x").contains("call n_002 b"));
    assert_eq!((all.skipped("broken record"), all.skipped("session without a name")), (3, 1));
    let deep = format!(
        "{{\"version\":1,\"sessions\":[{{\"id\":\"s\",\"nodes\":[{}1{},{{\"id\":\"n\",\"raw\":\"x\"}}]}}]}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let all = told(&IMPORTER, &[("graph.json", deep.into_bytes())]);
    assert_eq!(all.skipped("broken record"), 1);
    assert!(all.stream("s").contains("call n x"));
}

#[test]
fn cut_off_anywhere_the_rest_is_told() {
    let whole = serde_json::to_vec(&graph()).unwrap();
    let mut most = 0;
    for end in 0..whole.len() {
        let all = from_memory(whole[..end].to_vec());
        let records = all.consumed.get("sess_20260105_100000").map_or(0, |consumed| consumed.records);
        assert!(records >= most, "{end}");
        most = records;
    }
    assert_eq!(most, 3);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn flipped_bytes_never_stop_it(flips in proptest::collection::vec((proptest::num::usize::ANY, 0_u8..255), 1..8)) {
        let mut damaged = bytes(graph());
        for (at, byte) in flips {
            let at = at % damaged.len();
            damaged[at] = byte;
        }
        from_memory(damaged);
    }
}
