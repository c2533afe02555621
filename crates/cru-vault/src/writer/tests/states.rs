//! Two states that write one note: machines that sync it, a container and its host.

use super::*;

/// The state of another machine that has the same vault.
fn other(world: &World) -> World {
    let dir = tempfile::tempdir().unwrap();
    let state = State::at(world.dir.path().join("other"));
    World { vault: world.vault.clone(), state, note: world.note.clone(), now: world.now, dir }
}

fn named(number: u32, name: &str) -> Op {
    Op::Append { phase: None, text: format!("- `Bash {name}` → ok ^n-{number:03}\n") }
}

fn lines(world: &World) -> Vec<String> {
    let text = world.text();
    let name = |line: &str| Some(line.strip_prefix("- `Bash ")?.split('`').next()?.to_owned());
    let mut lines: Vec<String> = text.lines().filter_map(name).collect();
    lines.sort_unstable();
    lines
}

fn ids_are_unique(world: &World) {
    let mut ids = world.steps();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{}", world.text());
}

#[test]
fn what_two_states_wrote_at_one_revision_is_there_once() {
    let one = world();
    let two = other(&one);
    one.write(&[named(1, "base")]);
    let base = one.text();
    one.write(&[named(2, "of one")]);
    let ones = one.text();
    // The other machine had the note of before, and its text wins.
    one.save(&base);
    two.write(&[named(2, "of two"), named(3, "after: n-002")]);
    assert_eq!(cursor::read(ones.as_bytes()).unwrap().revision, two.revision());
    for round in 0..2 {
        let changed = one.write(&[]).changed;
        assert_eq!(
            (changed, lines(&one)),
            (round == 0, ["after: n-002", "base", "of one", "of two"].map(str::to_owned).into())
        );
        assert!(!two.write(&[]).changed);
    }
    ids_are_unique(&one);
    // A buffer of the time before both; each puts its own back.
    one.save(&base.replace("My words.", "Stale."));
    one.write(&[]);
    two.write(&[]);
    assert_eq!(lines(&one), ["after: n-002", "base", "of one", "of two"]);
    assert!(one.text().contains("Stale."));
    ids_are_unique(&one);
    assert!(!one.write(&[]).changed && !two.write(&[]).changed);
}

#[test]
fn what_a_person_deleted_is_not_put_back_by_another_state() {
    let one = world();
    let two = other(&one);
    one.write(&[named(1, "of one")]);
    two.write(&[named(2, "of two")]);
    one.write(&[named(3, "again of one")]);
    let text: String = one.text().split_inclusive('\n').filter(|line| !line.contains("of two")).collect();
    one.save(&text);
    two.write(&[]);
    one.write(&[named(4, "last")]);
    two.write(&[named(5, "of two at last")]);
    assert_eq!(lines(&one), ["again of one", "last", "of one", "of two at last"]);
    // Also in a buffer that lacks what came since.
    one.save(&text);
    one.write(&[]);
    two.write(&[]);
    assert_eq!(lines(&one), ["again of one", "last", "of one", "of two at last"]);
}

#[test]
fn steps_of_both_branches_are_there_once() {
    let one = world();
    let two = other(&one);
    one.write(&[named(1, "base")]);
    let main = one.text();
    one.write(&[named(2, "of one")]);
    let branch = one.text();
    // Another branch is checked out while the session runs, then the first again.
    one.save(&main);
    one.write(&[named(3, "on main")]);
    one.save(&branch);
    one.write(&[named(4, "on the branch")]);
    assert_eq!(lines(&one), ["base", "of one", "on main", "on the branch"]);
    // Two branches on two machines, both sides kept by hand with the cursor of one.
    let base = one.text();
    one.write(&[named(5, "left")]);
    let left = one.text();
    one.save(&base);
    two.write(&[named(5, "right")]);
    let right = two.text();
    let line = |text: &str, name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
    for (kept, added) in [(&left, line(&right, "right")), (&right, line(&left, "left"))] {
        one.save(&format!("{}\n{added}\n", kept.trim_end()));
        one.write(&[]);
        two.write(&[]);
        assert_eq!(lines(&one), ["base", "left", "of one", "on main", "on the branch", "right"], "{}", one.text());
        assert!(!one.write(&[]).changed && !two.write(&[]).changed);
    }
}

#[test]
fn nothing_is_written_between_the_sides_of_a_conflict() {
    let one = world();
    one.write(&[named(1, "base")]);
    let text = one.text();
    let conflict = text.replace("My words.", "<<<<<<< HEAD\nMy words.\n=======\nTheir words.\n>>>>>>> branch");
    let heads = text.replace("cru_cursor: ", "<<<<<<< HEAD\ncru_cursor: \"r9 0 - -\"\n=======\ncru_cursor: ");
    let heads = heads.replace("\n---\n# Tokens", "\n>>>>>>> branch\n---\n# Tokens");
    for conflict in [conflict, heads] {
        one.save(&conflict);
        let error = one.fails(&[named(2, "new")]);
        assert!(error.to_string().contains("conflict") && error.hint().unwrap().contains("journal"), "{error:?}");
        assert_eq!(one.text(), conflict);
    }
    // One in a fence is an example.
    one.save(&text.replace("My words.", "```diff\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> branch\n```"));
    one.write(&[named(2, "new")]);
    assert_eq!(lines(&one), ["base", "new"]);
}
