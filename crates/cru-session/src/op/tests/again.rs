//! Operations applied to a text that may hold them already.

use serde_json::json;

use super::*;

fn again(note: &str, ops: &[Op]) -> (String, Vec<Outcome>) {
    with(note, ops, Mode::Again)
}

#[test]
fn what_is_there_is_left() {
    let user = "> [!user]\n> \"yes\"\n";
    let ops = [
        append("p-01", &format!("{}- `Bash step 4` → ok ^n-004\n", step(3))),
        append("p-02", user),
        Op::Phase { text: format!("## New\n\n*2026-11-20T11:00:00Z* ^p-03\n\n{}", step(5)) },
        set("status", json!("active"), json!("paused")),
        set("status", json!("paused"), json!("completed")),
        Op::Preface { text: "> [!lesson] L\n> x\n\n^l-001\n".to_owned() },
    ];
    let (new, _) = applied(NOTE, &ops);
    let (same, outcomes) = again(&new, &ops);
    assert_eq!(same, new);
    assert_eq!(outcomes, [Outcome::Present; 6]);
    assert_eq!(again(NOTE, &ops).0, new);
}

/// Of two blocks that say the same one goes, and after a crash nobody knows whether it went: the other may be a person's.
#[test]
fn what_may_be_gone_takes_no_equal_block_along() {
    let note = "## One @a\n\n1. first\n2. second\n\n## Two @a\n\n1. first\n2. second\n";
    let gone = [Op::Replace { phase: None, old: "1. first\n2. second\n".to_owned(), new: String::new() }];
    let (new, _) = applied(note, &gone);
    assert_eq!(new.matches("1. first").count(), 1);
    assert_eq!(again(&new, &gone), (new, vec![Outcome::Gone]));
}

#[test]
fn what_is_missing_is_added() {
    let steps = format!("{}- `Bash step 4` → ok ^n-004\n", step(3));
    let ops = [append("p-02", &steps)];
    let (new, _) = applied(NOTE, &ops);
    let partly = new.replace("- `Bash step 3` → ok (10:05:00) ^n-003\n", "");
    let (healed, outcomes) = again(&partly, &ops);
    assert_eq!(outcomes, [Outcome::Done]);
    assert_eq!(healed.matches("^n-003").count(), 1);
    assert_eq!(healed.matches("^n-004").count(), 1);
    let phase = [Op::Phase { text: format!("## New\n\n*2026-11-20T11:00:00Z* ^p-03\n\n{steps}") }];
    let (new, _) = applied(NOTE, &phase);
    let partly = new.replace("- `Bash step 4` → ok ^n-004\n", "");
    assert_eq!(again(&partly, &phase), (new, vec![Outcome::Done]));
}

#[test]
fn the_same_words_twice_are_there_twice() {
    let user = "> [!user]\n> \"yes\"\n";
    let ops = [append("p-02", user), append("p-02", user)];
    let (new, _) = applied(NOTE, &ops);
    assert_eq!(new.matches("\"yes\"").count(), 2);
    assert_eq!(again(&new, &ops).0, new);
    let once = applied(NOTE, &ops[..1]).0;
    assert_eq!(again(&once, &ops).0, new);
}

#[test]
fn what_was_replaced_later_is_there() {
    let (old, new) = ("> [!error] E\n> x\n", "> [!error] E\n> x\n> Resolution: y\n");
    let ops = [append("p-01", old), append("p-01", old), replace(old, new)];
    let (text, _) = applied(NOTE, &ops);
    assert_eq!(again(&text, &ops), (text.clone(), vec![Outcome::Present; 3]));
    assert_eq!(again(NOTE, &ops).0, text);
}
