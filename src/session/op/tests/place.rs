//! Where texts go.

use insta::assert_snapshot;

use super::*;

#[test]
fn steps_go_to_the_list_that_ends_their_phase() {
    assert_snapshot!(changed(NOTE, &[append("p-01", &step(3))]), @"");
    assert_snapshot!(changed(NOTE, &[append("p-02", &step(3)), append("p-02", &step(4))]), @"");
    assert_snapshot!(changed(NOTE, &[append("p-09", &step(3))]), @"");
}

#[test]
fn behind_a_block() {
    assert_snapshot!(changed(NOTE, &[after("n-001", &step(3))]), @"");
    assert_snapshot!(changed(NOTE, &[after("n-001", "> [!error] E\n> x\n")]), @"");
    assert_snapshot!(changed(NOTE, &[after("n-077", &step(3))]), @"");
}

#[test]
fn replaced() {
    let old = "> [!error] Flaky clock\n> Expiry was compared with the wall clock.\n";
    let new = "> [!error] Flaky clock\n> Expiry was compared with the wall clock.\n> Resolution: inject a clock\n";
    assert_snapshot!(changed(NOTE, &[replace(old, new)]), @"");
    let edited = NOTE.replace("Flaky clock", "Flaky clock!");
    assert_snapshot!(changed(&edited, &[replace(old, new)]), @"");
    let edited = NOTE.replace("wall clock", "clock on the wall");
    assert_snapshot!(changed(&edited, &[replace(old, new)]), @"");
    let old = "- `Bash cargo test` → ✗ 2 failed (09:33:20, exit 101) ^n-002\n";
    let new = "- `Bash cargo test` → ok (09:33:20) ^n-002\n";
    assert_snapshot!(changed(NOTE, &[replace(old, new)]), @"");
    let edited = NOTE.replace("2 failed", "two failed");
    assert_snapshot!(changed(&edited, &[replace(old, new)]), @"");
}

#[test]
fn keys() {
    assert_snapshot!(changed(NOTE, &[set("status", "active".into(), "paused".into())]), @"");
    assert_snapshot!(changed(NOTE, &[set("title", "Tokens".into(), "New".into())]), @"");
}
