//! Programs that hold the note open while it is written: slow saves in place, and lines that are appended.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use super::*;

fn appending(world: &World) -> File {
    OpenOptions::new().append(true).open(world.path()).unwrap()
}

fn saving(world: &World) -> File {
    OpenOptions::new().write(true).truncate(true).open(world.path()).unwrap()
}

fn count(world: &World, text: &str) -> usize {
    world.text().matches(text).count()
}

#[test]
fn lines_appended_to_a_displaced_file_are_brought_in() {
    let world = world();
    world.write(&[step(1)]);
    let mut one = appending(&world);
    writeln!(one, "one 1").unwrap();
    world.write(&[step(2)]);
    let mut two = appending(&world);
    for number in 2..6 {
        writeln!(one, "one {number}").unwrap();
        writeln!(two, "two {number}").unwrap();
        world.write(&[step(number + 1)]);
    }
    // One that is written in two parts, with a write between.
    write!(one, "one ").unwrap();
    world.write(&[step(7)]);
    writeln!(one, "6").unwrap();
    world.write(&[]);
    for number in 1..7 {
        assert_eq!(count(&world, &format!("one {number}\n")), 1, "{}", world.text());
    }
    for number in 2..6 {
        assert_eq!(count(&world, &format!("two {number}\n")), 1, "{}", world.text());
    }
    let mut steps = world.steps();
    steps.sort_unstable();
    assert_eq!(steps, [1, 2, 3, 4, 5, 6, 7]);
    assert!(!world.write(&[]).changed, "nothing new");
    assert!(world.beside().is_empty());
}

#[test]
fn an_append_is_brought_in_beside_a_persons_save() {
    let world = world();
    world.write(&[step(1)]);
    let mut held = appending(&world);
    world.write(&[step(2)]);
    world.save(&world.text().replace("My words.", "My new words."));
    let old = world.text();
    writeln!(held, "a line").unwrap();
    world.write(&[step(3)]);
    assert_eq!((count(&world, "My new words."), count(&world, "a line\n"), world.steps()), (1, 1, vec![1, 2, 3]));
    // A buffer of the time before it was brought in.
    world.save(&old);
    world.write(&[]);
    assert_eq!((count(&world, "a line\n"), world.steps()), (1, vec![1, 2, 3]), "{}", world.text());
}

#[test]
fn the_rest_of_a_slow_save_is_brought_in_wherever_it_was_cut() {
    let long = format!("{NOTE}- `Bash run 90` → ok ^n-090\n\nA paragraph.\n\n## Test\n\nThe end.\n");
    let whole = {
        let world = world_with(&long);
        world.write(&[step(1)]);
        world.text()
    };
    // A note that is cut in its frontmatter is looked at for long.
    let head = whole.find("# Tokens").unwrap();
    for cut in (0..head).step_by(29).chain((head..whole.len()).step_by(3)) {
        let world = world_with(&long);
        world.write(&[step(1)]);
        let saved = world.text().replace("My words.", "My other words.").replace("A paragraph.", "Another.");
        let cut = cut.min(saved.len());
        let mut file = saving(&world);
        file.write_all(&saved.as_bytes()[..cut]).unwrap();
        // A frontmatter without an end takes nothing; the entry then waits.
        let done = world.writer().write(KEY, &world.note, &mut |_, _| Ok(plan(vec![step(2)])));
        file.write_all(&saved.as_bytes()[cut..]).unwrap();
        drop(file);
        world.write(&[if done.is_ok() { step(3) } else { step(2) }]);
        let wanted = if done.is_ok() { vec![90, 1, 2, 3] } else { vec![90, 1, 2] };
        assert_eq!(world.steps(), wanted, "cut at {cut}:\n{}", world.text());
        let lines = |text: &str| -> Vec<String> {
            let own = text.lines().filter(|line| !line.starts_with("cru_cursor") && !line.is_empty());
            own.filter(|line| !line.ends_with("^n-002") && !line.ends_with("^n-003")).map(str::to_owned).collect()
        };
        assert_eq!(lines(&world.text()), lines(&saved), "cut at {cut}");
        assert!(!world.write(&[]).changed, "cut at {cut}");
    }
}

/// An editor that saves in place into a displaced file empties it first; a disk may lose it for good.
#[test]
fn an_emptied_displaced_file_never_becomes_the_note() {
    for gone in [&b""[..], b"\0\0\0\0", b"hello there\n"] {
        let world = world();
        world.write(&[step(1)]);
        let mut held = OpenOptions::new().write(true).open(world.path()).unwrap();
        let saved = world.text().replace("My words.", "My other words.");
        world.write(&[step(2)]);
        held.set_len(0).unwrap();
        held.write_all(gone).unwrap();
        world.write(&[step(3)]);
        assert_eq!((count(&world, "My words."), world.steps()), (1, vec![1, 2, 3]), "{}", world.text());
        // The save goes on.
        held.set_len(0).unwrap();
        std::io::Seek::rewind(&mut held).unwrap();
        held.write_all(saved.as_bytes()).unwrap();
        world.write(&[step(4)]);
        let text = world.text();
        assert_eq!((count(&world, "My other words."), count(&world, "My words.")), (1, 0), "{text}");
        assert_eq!(
            (world.steps(), text.matches("\n## ").count()),
            (vec![1, 2, 3, 4], saved.matches("\n## ").count()),
            "{text}"
        );
        assert!(!world.write(&[]).changed);
    }
}

#[test]
fn sixty_slow_saves_lose_nothing() {
    const ROUNDS: usize = 60;
    let world = world();
    let mut number = 0;
    let mut lines = Vec::new();
    for round in 0..ROUNDS {
        lines.push(format!("Line {round} of mine."));
        // The buffer of a person, who has not seen the newest steps.
        let buffer = world.text();
        number += 1;
        world.write(&[step(number)]);
        let saved = buffer.replace("\n## Build", &format!("{}\n\n## Build", lines[round]));
        std::thread::scope(|scope| {
            let saved = saved.as_bytes();
            let world = &world;
            scope.spawn(move || {
                let mut file = saving(world);
                for piece in saved.chunks(saved.len().div_ceil(5)) {
                    file.write_all(piece).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(round as u64 % 4));
                }
            });
            for _ in 0..3 {
                number += 1;
                // What cannot be written now waits, as in a journal.
                let entry = format!("entry {number}");
                let mut log = |_: &Note, known: &Known| {
                    if known.made.contains_key(&entry) {
                        return Ok(Plan::default());
                    }
                    let made = [(entry.clone(), format!("n-{number:03}"))].into();
                    Ok(Plan { made, ..plan(vec![step(number)]) })
                };
                while world.writer().write(KEY, &world.note, &mut log).is_err() {}
            }
        });
        world.write(&[]);
        let mut steps = world.steps();
        steps.sort_unstable();
        assert_eq!(steps, (1..=number).collect::<Vec<_>>(), "round {round}:\n{}", world.text());
        for line in &lines {
            assert_eq!(count(&world, line), 1, "round {round}, {line}:\n{}", world.text());
        }
    }
}

#[test]
fn displaced_files_go_when_nobody_writes_into_them() {
    let mut world = world();
    world.write(&[step(1)]);
    let mut held = appending(&world);
    for number in 2..200 {
        world.write(&[step(number)]);
    }
    let kept = |world: &World| std::fs::read_dir(world.state.displaced(KEY)).unwrap().count();
    assert!((100..=130).contains(&kept(&world)), "{}", kept(&world));
    world.now += SignedDuration::from_mins(11);
    world.write(&[]);
    assert_eq!(kept(&world), 0);
    // Whoever has written a line keeps its file.
    drop(std::mem::replace(&mut held, appending(&world)));
    world.write(&[step(200)]);
    writeln!(held, "one").unwrap();
    for number in 201..400 {
        world.write(&[step(number)]);
    }
    writeln!(held, "two").unwrap();
    world.write(&[]);
    assert_eq!((count(&world, "\none\n"), count(&world, "\ntwo\n")), (1, 1));
}
