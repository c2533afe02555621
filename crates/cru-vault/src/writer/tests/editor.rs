//! Editors that save what they had open: old buffers, lost revisions, saves in between.

use super::*;

#[test]
fn an_old_buffer_gets_what_it_lacks() {
    let world = world();
    world.write(&[step(1)]);
    let buffer = world.text();
    world.write(&[step(2)]);
    world.write(&[step(3)]);
    let lost = buffer.replace("My words.", "My other words.");
    world.save(&lost);
    let written = world.write(&[step(4)]);
    assert_eq!((written.again, written.revision, written.done.len()), (2, 4, 1));
    assert_eq!(world.steps(), [1, 2, 3, 4]);
    assert!(world.text().contains("My other words."));
    assert!(world.copies().contains(&lost), "as it was saved");
    // The same buffer again, and nothing new to write.
    world.save(&buffer);
    let written = world.write(&[]);
    assert_eq!((written.again, written.changed, written.revision), (3, true, 5));
    assert_eq!(world.steps(), [1, 2, 3, 4]);
    assert_eq!(world.write(&[]).again, 0);
}

#[test]
fn what_a_person_deleted_stays_deleted() {
    let world = world();
    let delete = |number: u32| {
        let text = world.text();
        let line = text.lines().find(|line| line.ends_with(&format!("^n-{number:03}"))).unwrap().to_owned();
        text.replace(&format!("{line}\n"), "")
    };
    world.write(&[step(1), step(2)]);
    world.save(&delete(1));
    world.write(&[step(3)]);
    assert_eq!(world.steps(), [2, 3]);
    // Deleted in a buffer that is old for other reasons: that it had is not brought back.
    let buffer = delete(2);
    world.write(&[step(4)]);
    world.save(&buffer);
    world.write(&[]);
    assert_eq!(world.steps(), [3, 4]);
    // Deleted in a text that was healed in between.
    let buffer = delete(3);
    world.save(&buffer);
    world.write(&[step(5)]);
    world.save(&buffer);
    world.write(&[]);
    assert_eq!(world.steps(), [4, 5]);
}

#[test]
fn a_lost_revision_is_found_again() {
    let world = world();
    world.write(&[step(1), words("one")]);
    world.write(&[step(2)]);
    let without = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("cru_cursor")).collect();
        lines.join("\n") + "\n"
    };
    // The key alone.
    world.save(&without(&world.text()));
    let written = world.write(&[]);
    assert_eq!((written.again, written.changed, world.revision()), (0, true, 3));
    assert_eq!(world.steps(), [1, 2]);
    // The whole frontmatter, of an old buffer.
    let buffer = world.text();
    world.write(&[step(3)]);
    world.save(buffer.split_once("---\n# ").unwrap().1);
    assert_eq!(world.write(&[step(4)]).again, 1);
    assert_eq!((world.steps(), world.revision()), (vec![1, 2, 3, 4], 5));
    // A buffer of the time before the first write.
    world.save(NOTE);
    world.write(&[]);
    assert_eq!(world.steps(), [1, 2, 3, 4]);
}

#[test]
fn a_typed_revision_does_no_harm() {
    let world = world();
    world.write(&[step(1)]);
    for typed in ["r18446744073709551615 0 - -", "r-1", "x", "[]", "r0 0 - -"] {
        world.save(&world.text().replace(&format!("r{} 0 - -", world.revision()), typed));
        world.write(&[]);
        assert_eq!(world.steps(), [1], "{typed}");
    }
    // Ahead of the log, as after a write of another machine: that is so.
    world.save(&world.text().replace(&format!("r{} 0", world.revision()), "r70 0"));
    assert_eq!(world.write(&[step(2)]).revision, 71);
}

#[test]
fn lost_state_is_begun_anew() {
    let world = world();
    world.write(&[step(1)]);
    world.write(&[step(2)]);
    std::fs::remove_dir_all(world.state.dir()).unwrap();
    assert_eq!(world.write(&[step(3)]).revision, 3);
    assert_eq!(world.steps(), [1, 2, 3]);
}

#[test]
fn a_faster_editor_is_no_loss_and_no_double() {
    let world = world();
    world.write(&[words("go on")]);
    let mut calls = 0;
    let written = world.writer().write(KEY, &world.note, &mut |_, known| {
        calls += 1;
        let mut consumed = known.consumed.clone();
        if consumed.is_empty() {
            world.save(&world.text().replace("My words.", "Faster."));
            consumed.insert("j".to_owned(), Mark { generation: "g".to_owned(), end: 1 });
            let made = [("entry".to_owned(), "n-001".to_owned())].into();
            // The same words as before, without an id: said twice.
            return Ok(Plan { ops: vec![words("go on"), step(1)], consumed, made, ..plan(Vec::new()) });
        }
        Ok(Plan::default())
    });
    let written = written.unwrap();
    assert_eq!((calls, written.changed, written.done.len()), (2, true, 2));
    assert!(written.done.iter().all(|done| done.outcome == Outcome::Done), "{:?}", written.done);
    assert_eq!(written.made["entry"], "n-001");
    assert_eq!(world.text().matches("go on").count(), 2);
    assert_eq!(world.steps(), [1]);
    assert!(world.text().contains("Faster."));
    let past = world.writer().history(KEY).unwrap();
    assert_eq!(past.iter().map(|past| past.revision).collect::<Vec<_>>(), [1, 2], "told once");
}

#[test]
fn a_refused_write_is_repeated_only_for_what_it_was_computed_for() {
    let world = world();
    world.write(&[step(1)]);
    let old = world.text();
    world.write(&[step(2)]);
    // Decided for a text with step 2, then twice refused for an old buffer without it.
    let mut call = 0;
    let written = world.writer().write(KEY, &world.note, &mut |_, _| {
        call += 1;
        match call {
            1 | 2 => world.save(&old.replace("My words.", &format!("Words {call}."))),
            _ => {}
        }
        Ok(plan(if call == 1 { vec![step(3)] } else { Vec::new() }))
    });
    assert_eq!((call, written.unwrap().revision), (3, 3));
    assert_eq!(world.steps(), [1, 2, 3]);
    assert!(world.text().contains("Words 2."));
}

/// One attempt while an editor is at work: which of the texts that ever stood there it saves, whether with its own words
/// and whether without its revision; and whether there is a new step to write.
type Tried = (Option<(proptest::sample::Index, bool, bool)>, bool);

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Every text that stands there has all that was written up to its revision, whatever is saved in between.
    #[test]
    fn no_old_buffer_takes_a_step_away(
        writes in proptest::collection::vec(proptest::collection::vec(tried(), 1..6), 1..8),
    ) {
        let world = world();
        let mut texts = vec![world.text()];
        let mut number = 0;
        for tries in &writes {
            let mut tries = tries.iter();
            let written = world.writer().write(KEY, &world.note, &mut |_, _| {
                let Some((saved, more)) = tries.next() else { return Ok(plan(Vec::new())) };
                if let Some((which, edited, bare)) = saved {
                    let mut text: String = which.get(&texts).clone();
                    if *edited {
                        text = text.replace("My words.", &format!("My words. {}", texts.len()));
                    }
                    if *bare {
                        text = text.split_inclusive('\n').filter(|line| !line.starts_with("cru_cursor")).collect();
                    }
                    world.save(&text);
                    texts.push(text);
                }
                number += u32::from(*more);
                Ok(plan(if *more { vec![step(number)] } else { Vec::new() }))
            });
            written.unwrap();
            // The last save may have come after all was read; the next contact finds it.
            texts.push(world.text());
            world.write(&[]);
            texts.push(world.text());
            let mut steps = world.steps();
            steps.sort_unstable();
            proptest::prop_assert_eq!(steps, (1..=number).collect::<Vec<_>>());
        }
    }
}

fn tried() -> impl proptest::strategy::Strategy<Value = Tried> {
    let saved = (
        proptest::prelude::any::<proptest::sample::Index>(),
        proptest::prelude::any::<bool>(),
        proptest::bool::weighted(0.1),
    );
    (proptest::option::weighted(0.8, saved), proptest::bool::weighted(0.4))
}

#[test]
fn an_editor_that_never_rests_leaves_it_to_the_next_contact() {
    let world = world();
    let mut number = 0;
    let mut first = true;
    let error = world.writer().write(KEY, &world.note, &mut |_, _| {
        number += 1;
        world.save(&NOTE.replace("My words.", &format!("Words {number}.")));
        Ok(if std::mem::take(&mut first) { plan(vec![step(1)]) } else { Plan::default() })
    });
    assert!(matches!(error, Err(Error::Changed { .. })), "{error:?}");
    assert_eq!(world.steps(), [] as [u32; 0]);
    assert_eq!(world.log().all().unwrap().len(), 1, "decided once, however often it is tried");
    world.write(&[step(2)]);
    assert_eq!(world.steps(), [1, 2]);
    assert!(world.text().contains(&format!("Words {number}.")));
    assert_eq!(world.beside(), [] as [&str; 0]);
}
