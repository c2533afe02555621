//! One session in several files, and several sessions with common records.

use super::*;

const ONE: &str = "11111111-2222-4333-8444-555555555555.jsonl";
const TWO: &str = "22222222-2222-4333-8444-555555555555.jsonl";

#[test]
fn slices_and_copies_make_one_stream() {
    let mode = json!({ "type": "mode", "mode": "x", "sessionId": "s" });
    let all = [mode.clone(), user("a", "", "one"), says("b", "a", "Two."), user("c", "b", "three")];
    let mut tail = says("d", "c", "Four.");
    tail["timestamp"] = json!("2026-03-01T11:00:00.000Z");
    let whole: Vec<_> = all.iter().cloned().chain([tail.clone()]).collect();
    let alone = read(&[("x/full.jsonl", &whole)]);
    let told = read(&[("1/full.jsonl", &all[..3]), ("2/full.jsonl", &all), ("3/full.jsonl", &[tail])]);
    assert_eq!(told.stream("s"), "2 prompt (typed) one\n3 reply Two.\n4 prompt (typed) three\n5 reply Four.\n");
    assert_eq!(told.skipped("duplicate record"), 3);
    assert_eq!(told.consumed, alone.consumed, "slices are the same evidence as the whole");
}

#[test]
fn a_marked_fork_tells_only_what_is_its_own() {
    let mut copied = user("a", "", "one");
    copied["sessionId"] = json!("s2");
    copied["forkedFrom"] = json!({ "sessionId": "s", "messageUuid": "a" });
    let mut own = user("c", "a", "another way");
    own["sessionId"] = json!("s2");
    let told = read(&[("s.jsonl", &[user("a", "", "one")]), ("s2.jsonl", &[copied, own])]);
    assert_eq!(told.stream("s2"), "2 prompt (typed) another way\n");
    assert_eq!(told.parents["s2"], "s");
    assert_eq!(told.skipped("copied from another session"), 1);
}

#[test]
fn an_unmarked_copy_under_another_name_is_told_once() {
    let first = [user("a", "", "one"), says("b", "a", "Two.")];
    let second = [user("a", "", "one"), says("b", "a", "Two."), user("c", "b", "three")];
    let told = read(&[(ONE, &first), (TWO, &second)]);
    let name = |file: &str| file.trim_end_matches(".jsonl").to_owned();
    assert_eq!(told.stream(&name(ONE)), "1 prompt (typed) one\n2 reply Two.\n");
    assert_eq!(told.stream(&name(TWO)), "1 prompt (typed) three\n");
    assert_eq!(told.skipped("duplicate record"), 2);
}

#[test]
fn masked_ids_find_their_calls() {
    let told = session(&[
        calls("a", "", "REDACTED", "Bash", json!({ "command": "ls" })),
        calls("b", "a", "REDACTED", "Bash", json!({ "command": "pwd" })),
        answers("c", "b", "REDACTED", "/home", json!({})),
        answers("d", "a", "REDACTED", "a.rs", json!({})),
        answers("e", "a", "t9", "lost", json!({})),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 call REDACTED Bash ls
    2 call REDACTED@2 Bash pwd
    3 result REDACTED@2 /home
    4 result REDACTED a.rs
    ");
    assert_eq!(told.skipped("answer without its call"), 1);
}

#[test]
fn an_answer_may_stand_before_its_call() {
    let told = session(&[
        answers("c", "b", "t2", "b.rs", json!({})),
        calls("a", "", "t1", "Bash", json!({ "command": "ls" })),
        answers("d", "a", "t1", "a.rs", json!({})),
        calls("b", "d", "t2", "Bash", json!({ "command": "ls src" })),
        answers("e", "b", "t2", "b.rs", json!({})),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    2 call t1 Bash ls
    3 result t1 a.rs
    4 call t2 Bash ls src
    4 result t2 b.rs
    ");
    assert_eq!((told.skipped("answer without its call"), told.skipped("repeated answer")), (0, 1));
}
