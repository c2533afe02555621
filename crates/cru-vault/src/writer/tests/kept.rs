//! What is kept beside a note: bases, cursors, copies, journals.

use super::*;

#[test]
fn two_bases_are_kept_and_only_whole_ones_known() {
    let world = world();
    let mut known = Vec::new();
    let mut number = 0;
    let mut write = |text: Option<&str>| {
        number += 1;
        let written = world.writer().write(KEY, &world.note, &mut |_, it| {
            known.push(it.base.clone());
            Ok(Plan { base: text.map(str::to_owned), ..plan(vec![step(number)]) })
        });
        written.unwrap();
    };
    for text in [Some("a"), Some("b"), None, Some("c"), Some("c"), None] {
        write(text);
    }
    let base = |revision| world.state.base(KEY, revision).exists();
    assert_eq!((1..=6).map(base).collect::<Vec<_>>(), [false, true, false, true, false, false]);
    files::put(&world.state.base(KEY, 4), b"half").unwrap();
    write(None);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(known, [None, some("a"), some("b"), some("b"), some("c"), some("c"), None]);
}

#[test]
fn the_cursor_follows_the_transcript_and_the_log() {
    let world = world();
    let at =
        |records: u64| Consumed { records, last: Some("abc".to_owned()), hash: "ff".to_owned(), ..Consumed::default() };
    let write = |records, ops: Vec<Op>| {
        let plan = Plan { cursor: Some(at(records)), ..plan(ops) };
        world.writer().write(KEY, &world.note, &mut |_, _| Ok(plan.clone())).unwrap()
    };
    write(10, vec![step(1)]);
    assert!(world.text().contains("cru_cursor: r1 10 abc ff "));
    assert!(!write(10, Vec::new()).changed, "the same again");
    let buffer = world.text();
    assert!(write(20, Vec::new()).changed);
    world.save(&buffer);
    let seen = std::cell::RefCell::new(String::new());
    world
        .writer()
        .write(KEY, &world.note, &mut |note, _| {
            *seen.borrow_mut() = note.text().to_owned();
            Ok(Plan::default())
        })
        .unwrap();
    assert!(seen.borrow().contains("cru_cursor: r2 20 abc ff "), "the plan sees how far it is");
    assert!(world.text().contains("cru_cursor: r3 20 abc ff "));
}

#[test]
fn copies_are_kept_once_a_day_and_twenty() {
    let mut world = world();
    world.write(&[step(1)]);
    world.write(&[step(2)]);
    assert_eq!(world.copies(), [NOTE]);
    for number in 3..30 {
        world.now += SignedDuration::from_hours(24);
        world.write(&[step(number)]);
    }
    assert_eq!(world.copies().len(), 20);
    assert!(!world.copies().contains(&NOTE.to_owned()), "the oldest goes");
}

#[test]
fn the_journal_goes_when_its_revision_was_seen() {
    let mut world = world();
    let journal = Journal::at(world.state.journal(KEY));
    journal.append(&1, world.now).unwrap();
    let write = |world: &World| {
        let plan = &mut |_: &Note, known: &Known| {
            let read = Journal::at(world.state.journal(KEY)).read(known.consumed.get(KEY))?;
            let ops = read.entries.iter().map(|entry| step(entry.event.get().parse().unwrap())).collect();
            Ok(Plan { consumed: [(KEY.to_owned(), read.mark)].into(), ..plan(ops) })
        };
        world.writer().write(KEY, &world.note, plan).unwrap()
    };
    write(&world);
    write(&world);
    assert!(journal.path().exists());
    world.now += SignedDuration::from_mins(11);
    write(&world);
    assert!(!journal.path().exists());
    journal.append(&2, world.now).unwrap();
    write(&world);
    assert_eq!(world.steps(), [1, 2]);
}

#[test]
fn state_that_cannot_be_written_has_another_home() {
    let world = world();
    // A file where the folder should be.
    let home = world.dir.path().join("home");
    files::create(&home, b"").unwrap();
    let env = Env::fixed(world.now, world.dir.path(), &[("XDG_STATE_HOME", home.to_str().unwrap())]);
    let state = State::of(&world.vault, &env).unwrap();
    assert!(state.dir().starts_with(world.vault.root().join(".cru/local")), "{state:?}");
    Writer::new(&world.vault, &state, world.now).write(KEY, &world.note, &mut |_, _| Ok(plan(vec![step(1)]))).unwrap();
    assert_eq!(world.steps(), [1]);
}
