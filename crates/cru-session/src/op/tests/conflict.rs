//! What is told where a person and `cru` changed the same.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

const OLD: &str = "> [!error] Flaky clock\n> Expiry was compared with the wall clock.\n";
const NEW: &str = "> [!error] Flaky clock\n> Expiry was compared with the wall clock.\n> Resolution: inject a clock, see [[#^n-002]]\n";
const STEP: &str = "- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002\n";
const STEP_NOW: &str = "- `Bash cargo test` → ok (09:33:20) ^n-002\n";

#[test]
fn a_block_is_replaced() {
    assert_snapshot!(changed(NOTE, &[replace(OLD, NEW)]), @"
    [Done]
    +> Resolution: inject a clock, see [[#^n-002]]
    ");
    assert_snapshot!(changed(NOTE, &[replace(STEP, STEP_NOW)]), @"
    [Done]
    -- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002
    +- `Bash cargo test` → ok (09:33:20) ^n-002
    ");
    assert_snapshot!(changed(NOTE, &[replace(&format!("**Tool calls:**\n{STEP}\n{OLD}"), &format!("**Tool calls:**\n{STEP_NOW}\n{NEW}"))]), @"
    [Done]
    -- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002
    +- `Bash cargo test` → ok (09:33:20) ^n-002
    +> Resolution: inject a clock, see [[#^n-002]]
    ");
    assert_snapshot!(changed(NOTE, &[replace(OLD, "")]), @"
    [Done]
    -> [!error] Flaky clock
    -> Expiry was compared with the wall clock.
    -
    ");
    assert_snapshot!(changed(NOTE, &[replace(STEP, "")]), @"
    [Done]
    -- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002
    ");
    assert_snapshot!(changed(&NOTE.replace('\n', "\r\n"), &[replace(OLD, NEW), replace(STEP, STEP_NOW)]), @"
    [Done, Done]
    -- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002␍
    +- `Bash cargo test` → ok (09:33:20) ^n-002␍
    +> Resolution: inject a clock, see [[#^n-002]]␍
    ");
    let split = format!("{STEP}- `Bash two` → ok ^n-003\n");
    assert_snapshot!(changed(NOTE, &[replace(STEP, &split)]), @"
    [Done]
    +- `Bash two` → ok ^n-003
    ");
}

#[test]
fn both_changes_are_kept_where_they_stand_apart() {
    assert_snapshot!(changed(&NOTE.replace("Flaky clock", "Flaky clock!"), &[replace(OLD, NEW)]), @"
    [Done]
    +> Resolution: inject a clock, see [[#^n-002]]
    ");
    assert_snapshot!(changed(&NOTE.replace("wall clock", "clock on the wall"), &[replace(OLD, NEW)]), @"
    [Done]
    +> Resolution: inject a clock, see [[#^n-002]]
    ");
    let nested = NOTE.replace("exit 101) ^n-002", "exit 101) ^n-002\n    - reads: `a`\n    - note: mine");
    let [old, new] = ["- x\n", "- y\n"].map(|_| format!("{STEP}    - reads: `a`\n"));
    let new = new.replace("2 failed", "two");
    assert_snapshot!(changed(&nested, &[replace(&old, &new)]), @"
    [Done]
    -- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002
    +- `Bash cargo test` → ✗ two (09:33:20, exit 101) ^n-002
    ");
}

#[test]
fn an_edited_block_stays_and_ours_is_told() {
    let other = NEW.replace("wall clock", "system clock");
    assert_snapshot!(changed(&NOTE.replace("wall clock", "clock on the wall"), &[replace(OLD, &other)]), @"
    [Conflict]
    +> [!conflict] Error: Flaky clock
    +> You have changed this block, so it stays as you wrote it. cru wanted it to be
    +>
    +> ```markdown
    +> > [!error] Flaky clock
    +> > Expiry was compared with the system clock.
    +> > Resolution: inject a clock, see [[#^n-002]]
    +> ```
    +
    ");
    let edited = NOTE.replace("2 failed", "two failed");
    assert_snapshot!(changed(&edited, &[replace(STEP, STEP_NOW)]), @"
    [Conflict]
    +> [!conflict] n-002
    +> You have changed this block, so it stays as you wrote it. cru wanted it to be
    +>
    +> ```markdown
    +> - `Bash cargo test` → ok (09:33:20) ^n-002
    +> ```
    +
    ");
    let again = STEP_NOW.replace("ok", "all well");
    assert_snapshot!(changed(&edited, &[replace(STEP, STEP_NOW), replace(STEP_NOW, &again)]), @"
    [Conflict, Conflict]
    +> [!conflict] n-002
    +> You have changed this block, so it stays as you wrote it. cru wanted it to be
    +>
    +> ```markdown
    +> - `Bash cargo test` → all well (09:33:20) ^n-002
    +> ```
    +
    ");
}

#[test]
fn a_deleted_block_stays_deleted() {
    let gone = NOTE.replace(STEP, "").replace(OLD, "");
    assert_eq!(applied(&gone, &[replace(STEP, STEP_NOW), replace(OLD, NEW)]), (gone.clone(), vec![Outcome::Gone; 2]));
}

#[test]
fn nothing_in_a_conflict_counts_twice() {
    let edited = NOTE.replace("2 failed", "two failed");
    let (new, _) = applied(&edited, &[replace(STEP, STEP_NOW)]);
    let note = cru_note::Note::parse(new);
    let (session, diagnostics) = crate::read::session(&note);
    assert_eq!(session.steps().count(), 2);
    assert!(!diagnostics.iter().any(|it| it.code == "duplicate-id"), "{diagnostics:?}");
    assert!(note.diagnostics().is_empty());
}

#[test]
fn keys() {
    assert_snapshot!(changed(NOTE, &[set("status", json!("active"), json!("paused")), set("ended", json!(null), json!("2026-11-20T11:02:40Z"))]), @r"
    [Done, Done]
    -status: active
    +status: paused
    +ended: 2026-11-20T11:02:40Z
    ");
    assert_snapshot!(changed(NOTE, &[set("title", json!("Tokens"), json!("New"))]), @"
    [Conflict]
    +> [!conflict] title
    +> You have changed this property, so it stays as you wrote it. cru wanted to write `title: New`
    +
    ");
    assert_snapshot!(changed(NOTE, &[set("title", json!("Tokens"), json!("New")), set("title", json!("New"), json!("Newer"))]), @"
    [Conflict, Conflict]
    +> [!conflict] title
    +> You have changed this property, so it stays as you wrote it. cru wanted to write `title: Newer`
    +
    ");
    assert_snapshot!(changed(NOTE, &[set("title", json!("Tokens"), json!(null))]), @"
    [Conflict]
    +> [!conflict] title
    +> You have changed this property, so it stays as you wrote it. cru wanted to remove it.
    +
    ");
    assert_eq!(applied(NOTE, &[set("status", json!("x"), json!("active"))]), (NOTE.to_owned(), vec![Outcome::Present]));
    assert_eq!(applied(NOTE, &[set("model", json!("x"), json!("y"))]), (NOTE.to_owned(), vec![Outcome::Gone]));
    let twice = NOTE.replace("status: active", "status: active\nstatus: done");
    assert_snapshot!(changed(&twice, &[set("status", json!("active"), json!("paused"))]), @"
    [Conflict]
    +> [!conflict] status
    +> You have changed this property, so it stays as you wrote it. cru wanted to write `status: paused`
    +
    ");
}

#[test]
fn lists_are_merged() {
    let note = "---\nparticipants:\n  - a # first\n  - mine\nsubagents:\n  - session: s1\n    tokens: 1\n    note: mine\n  - session: s0\n---\n";
    let participants = set("participants", json!(["a"]), json!(["a", "b"]));
    let agents = set(
        "subagents",
        json!([{"session": "s1", "tokens": 1}, {"session": "s0"}]),
        json!([{"session": "s1", "tokens": 2}, {"session": "s2", "agent": "x"}]),
    );
    assert_snapshot!(changed(note, &[participants, agents]), @"
    [Done, Done]
    +  - b
    -    tokens: 1
    +    tokens: 2
    -  - session: s0
    +  - session: s2
    +    agent: x
    ");
}

#[test]
fn frontmatter_without_end_is_an_error() {
    let refused = apply(b"---\ntitle: x\n", &[append("p-01", "text"), set("a", json!(null), json!(1))], Mode::First);
    assert_eq!(refused.map_err(|(index, _)| index), Err(1));
}
