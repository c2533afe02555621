//! Notes that cannot be written, and notes that are odd.

use super::*;

#[test]
fn a_record_without_its_write_is_made_good() {
    let world = world();
    world.write(&[words("go on")]);
    let before = world.text();
    world.write(&[words("go on"), step(1)]);
    // As a kill leaves it between the record and the exchange, and once more.
    for _ in 0..2 {
        world.save(&before);
        world.write(&[]);
        assert_eq!(world.text().matches("go on").count(), 2, "the exact text is still there, so nothing was done");
        assert_eq!(world.steps(), [1]);
    }
}

#[test]
fn a_note_that_is_gone_is_told() {
    let world = world();
    files::remove(&world.path()).unwrap();
    let error = world.fails(&[step(1)]);
    assert!(matches!(&error, Error::Missing { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("journal/s.jsonl"), "{error:?}");
    assert_eq!(world.beside(), [] as [&str; 0]);
    assert!(!world.path().exists() && !world.state.operations(KEY).exists());
}

#[cfg(unix)]
#[test]
fn a_note_that_may_not_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = world.fails(&[step(1)]);
    assert!(matches!(&error, Error::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("sessions/s.md"), "{error}");
    assert!(error.hint().unwrap().contains("the next command tries again"), "{error:?}");
    assert!(!world.state.operations(KEY).exists(), "nothing is decided, so the journal keeps it");
    std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    world.write(&[step(1)]);
    assert_eq!(world.steps(), [1]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_outside_the_vault() {
    let world = world();
    let outside = world.dir.path().join("outside.md");
    files::create(&outside, NOTE.as_bytes()).unwrap();
    files::remove(&world.path()).unwrap();
    std::os::unix::fs::symlink(&outside, world.path()).unwrap();
    let error = world.fails(&[step(1)]);
    assert!(error.to_string().contains("leads out of"), "{error}");
    assert_eq!(files::read(&outside).unwrap(), NOTE.as_bytes());
}

#[test]
fn a_broken_note_is_left_and_told() {
    let world = world_with("---\ntype: session\nno end\n");
    let error = world.fails(&[step(1)]);
    assert!(error.to_string().starts_with("sessions/s.md: "), "{error}");
    assert!(error.hint().unwrap().contains("mend the note"), "{error:?}");
    assert!(!world.state.operations(KEY).exists());
}

#[test]
fn bytes_that_are_no_text_stay() {
    let world = world();
    let odd = [NOTE.as_bytes(), b"\xff\xfe caf\xe9\r\n"].concat();
    files::put(&world.path(), &odd).unwrap();
    world.write(&[step(1)]);
    let bytes = files::read(&world.path()).unwrap();
    assert!(memchr::memmem::find(&bytes, b"\xff\xfe caf\xe9\r\n").is_some());
    let undone = world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap();
    assert_eq!(undone.revision, Some(2));
    let bytes = files::read(&world.path()).unwrap();
    assert!(bytes.ends_with(b"\xff\xfe caf\xe9\r\n"));
}
