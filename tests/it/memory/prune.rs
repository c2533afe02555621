//! Old copies are removed on request, and nothing else is.

use super::world::{MemoryLab, checkpoints};

#[test]
fn copies_go_and_notes_stay() {
    let lab = MemoryLab::new();
    lab.write("a.txt", b"one\n");
    lab.repository();
    lab.write("a.txt", b"two\n");
    lab.ok(&["session", "start", "Work"]);
    lab.ok(&["checkpoint", "old"]);
    let note = lab.note().1;
    let id = checkpoints(&note).remove(0);
    lab.at("2030-01-01T09:00:00Z");
    lab.write("a.txt", b"three\n");
    lab.ok(&["checkpoint", "young"]);
    let plan = lab.ok(&["prune", "--dry-run"]);
    assert!(plan.starts_with("copies    2 files") && plan.contains("nothing was removed"), "{plan}");
    assert_eq!(lab.cru(&["prune"]).code, 2, "without a terminal nobody can answer");
    let gone = lab.ok(&["prune", "--yes"]);
    assert!(gone.contains("removed 2 files"), "{gone}");
    assert!(
        lab.ok(&["prune", "copies", "base", "recovery", "--dry-run", "--older", "3000d"]).contains("base      0 files")
    );
    // The mark and what was open are told all the same.
    assert!(lab.note().1.contains(&format!("^{id}")));
    let refused = lab.cru(&["checkpoint", "restore", &id]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("on another machine, or was removed"), "{}", refused.err);
    assert!(lab.ok(&["checkpoint", "show", &id]).contains("manual: old"));
    assert_eq!(lab.cru(&["checkpoint", "restore", "latest", "--dry-run"]).code, 0);
}
