//! What `cru undo` takes back, and a session that is taken up by nobody.

use serde_json::json;

use super::world::MemoryLab;

const OLD: &str = "---\ntype: session\nsession_id: 2026-11-01-tides\ntitle: Tides\nstatus: completed\nstarted: 2026-11-01T09:00:00Z\n---\n# Tides\n\n## Build\n\nText.\n";

/// A session at work, and an old one that another note links.
fn lab() -> MemoryLab {
    let lab = MemoryLab::new();
    lab.put_note("2026-11-01-tides", OLD);
    lab.put("index.md", "See [[2026-11-01-tides]].\n");
    lab.ok(&["session", "start", "Work", "--agent", "coder@1"]);
    lab.ok(&["log", "decision", "Minutes", "--why", "printed"]);
    lab
}

#[test]
fn a_rename_of_another_session_is_the_last_thing() {
    let lab = lab();
    lab.wait(60);
    lab.ok(&["session", "rename", "tides", "Ebb and flow"]);
    assert_eq!(lab.read("index.md"), "See [[2026-11-01-ebb-flow]].\n");
    lab.wait(60);
    let told = lab.cru(&["undo", "--list"]);
    assert!(told.out.contains("rename"), "{}{}", told.out, told.err);
    let done = lab.cru(&["undo"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(done.err.contains("2026-11-01-tides"), "it says which: {}", done.err);
    assert_eq!(lab.read("index.md"), "See [[2026-11-01-tides]].\n");
    let note = lab.read("sessions/2026-11-01-tides.md");
    assert!(note.contains("title: Tides") && note.contains("# Tides"), "{note}");
    lab.wait(60);
    lab.ok(&["undo"]);
    assert!(
        !std::fs::read_dir(lab.path("vault/sessions"))
            .unwrap()
            .flatten()
            .any(|note| { std::fs::read_to_string(note.path()).unwrap_or_default().contains("Minutes") })
    );
}

#[test]
fn the_first_words_of_a_new_note() {
    let lab = MemoryLab::new();
    lab.ok(&["session", "start", "Work"]);
    lab.ok(&["log", "note", "hello"]);
    lab.wait(60);
    lab.ok(&["log", "note", "more"]);
    for _ in 0..2 {
        lab.ok(&["undo"]);
    }
    let note = lab.note().1;
    assert!(note.trim_end().ends_with("# Work"), "{note}");
    // What is undone is still told, and comes back as the list names it.
    let list: serde_json::Value = serde_json::from_str(&lab.ok(&["undo", "--list", "-f", "json"])).unwrap();
    assert_eq!(list["writes"].as_array().map(Vec::len), Some(4), "{list}");
    lab.ok(&["undo", "--write", &format!("r{}", list["writes"][0]["revision"])]);
    assert!(lab.note().1.ends_with("\nhello\n"));
}

#[test]
fn what_hooks_bring_in_is_passed_over() {
    let lab = MemoryLab::new();
    lab.prompt("s-1", "go");
    lab.bash("s-1", "true");
    lab.hook("s-1", "stop", &json!({}));
    let session = lab.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
    lab.ok(&["log", "decision", "Minutes", "--why", "printed", "--session", &session]);
    lab.bash("s-1", "echo later");
    lab.hook("s-1", "stop", &json!({}));
    assert!(lab.note().1.contains("Minutes") && lab.note().1.contains("echo later"));
    lab.ok(&["undo", "--session", &session]);
    let note = lab.note().1;
    assert!(!note.contains("Minutes") && note.contains("echo later"), "{note}");
}

#[test]
fn a_session_that_nothing_goes_on_with_keeps_its_status() {
    let lab = MemoryLab::new();
    lab.put_note("2026-11-01-tides", &OLD.replace("completed", "paused"));
    let before = lab.read("sessions/2026-11-01-tides.md");
    for args in [&["session", "resume", "tides"][..], &["session", "resume", "tides", "-f", "json"]] {
        let done = lab.cru(args);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(lab.read("sessions/2026-11-01-tides.md"), before, "{args:?}");
        assert!(done.err.contains("--no-start"), "{}", done.err);
    }
    lab.ok(&["session", "resume", "tides", "--no-start"]);
    assert!(lab.read("sessions/2026-11-01-tides.md").contains("status: active"));
}
