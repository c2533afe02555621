//! Undoing.

use super::*;

#[test]
fn a_write_is_undone_and_that_too() {
    let world = world();
    world.write(&[step(1)]);
    world.write(&[step(2), words("why")]);
    world.save(&world.text().replace("My words.", "Other words."));
    let undo = |which, dry| world.writer().undo(KEY, &world.note, which, dry);
    let looked = undo(Which::Newest(1), true).unwrap();
    assert_eq!((looked.revision, world.steps(), world.revision()), (None, vec![1, 2], 2));
    assert!(looked.before.contains("n-002") && !looked.after.contains("n-002"));
    let undone = undo(Which::Newest(1), false).unwrap();
    assert_eq!((undone.revision, undone.writes[0].revision, undone.writes[0].what.len()), (Some(3), 2, 2));
    assert_eq!(world.steps(), [1]);
    assert!(world.text().contains("Other words.") && !world.text().contains("why"));
    let undone: Vec<bool> = world.writer().history(KEY).unwrap().iter().map(|past| past.undone).collect();
    assert_eq!(undone, [false, true, false]);
    // The undoing is a write like any other.
    undo(Which::Revision(3), false).unwrap();
    assert_eq!((world.steps(), world.text().matches("why").count()), (vec![1, 2], 1));
    assert!(matches!(undo(Which::Revision(3), false), Err(Error::No { .. })));
    undo(Which::Newest(2), false).unwrap();
    assert_eq!(world.steps(), [] as [u32; 0]);
    assert!(matches!(undo(Which::Newest(1), false), Err(Error::No { .. })));
    assert!(matches!(undo(Which::Revision(77), false), Err(Error::No { .. })));
}

#[test]
fn a_note_that_was_rewritten_is_as_it_was_again() {
    let twice = "- `Read a` → ok ^n-001\n- `Read b` → ok ^n-001\n";
    let world = world_with(&format!("{NOTE}{twice}"));
    world.write(&[words("why")]);
    let before = world.text();
    let mended = |old: &[u8]| {
        let text = String::from_utf8(old.to_vec()).unwrap();
        let text = text.replace("title: Tokens", "title: 'Tokens'").replace("b` → ok ^n-001", "b` → ok ^n-002");
        Ok(text.into_bytes())
    };
    world.writer().rewrite(KEY, &world.note, "check --fix", &mut |old| mended(old)).unwrap();
    assert!(world.text().contains("title: 'Tokens' # mine") && world.text().contains("^n-002"));
    let after = world.text();
    world.writer().rewrite(KEY, &world.note, "check --fix", &mut |old| mended(old)).unwrap();
    assert_eq!(world.text(), after);
    // A copy is mended where it lies, and is no write of the session.
    let copy = VaultPath::new("sessions/a (1).md").unwrap();
    files::create(&world.vault.file(&copy), before.as_bytes()).unwrap();
    world.writer().rewrite(KEY, &copy, "check --fix", &mut |old| mended(old)).unwrap();
    assert!(std::fs::read_to_string(world.vault.file(&copy)).unwrap().contains("title: 'Tokens'"));
    files::remove(&world.vault.file(&copy)).unwrap();
    world.save(&after.replace("My words.", "Other words."));
    let undone = world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap();
    assert_eq!(undone.writes[0].label, "check --fix");
    let bare = |text: &str| text.lines().filter(|line| !line.starts_with("cru_cursor")).collect::<Vec<_>>().join("\n");
    assert_eq!(bare(&world.text()), bare(&before.replace("My words.", "Other words.")));
    // An old buffer gets it once more.
    world.writer().undo(KEY, &world.note, Which::Revision(3), false).unwrap();
    world.save(&before);
    world.write(&[]);
    assert_eq!(bare(&world.text()), bare(&after));
}

#[test]
fn what_was_undone_stays_undone_in_old_buffers() {
    let world = world();
    world.write(&[step(1)]);
    let one = world.text();
    world.write(&[step(2)]);
    let two = world.text();
    world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap();
    let undone = world.text();
    for (buffer, name) in [(&one, "before it was written"), (&two, "before it was undone")] {
        world.save(&buffer.replace("My words.", name));
        world.write(&[]);
        assert_eq!(world.steps(), [1], "{name}");
        assert!(world.text().contains(name));
    }
    world.writer().undo(KEY, &world.note, Which::Revision(3), false).unwrap();
    assert_eq!(world.steps(), [1, 2]);
    for (buffer, name) in [(&one, "one"), (&two, "two"), (&undone, "three")] {
        world.save(&buffer.replace("My words.", name));
        world.write(&[]);
        assert_eq!(world.steps(), [1, 2], "{name}");
    }
}

#[test]
fn what_a_person_edited_is_not_undone() {
    let world = world();
    world.write(&[step(1)]);
    world.save(&world.text().replace("run 1", "run it"));
    let text = world.text();
    let error = world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap_err();
    assert!(matches!(&error, Error::No { .. }), "{error:?}");
    assert!(error.to_string().contains("r1") && error.hint().is_some(), "{error:?}");
    assert_eq!(world.text(), text);
}
