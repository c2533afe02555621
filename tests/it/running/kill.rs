//! Writers that die, and disks that fill, at every moment: the note is the old or the new one, and the next contact
//! makes it right.

use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cru::base::files::fault::{self, Fault};
use jiff::{SignedDuration, Timestamp};

use crate::running::writing::{ALONE, World, again, now, told};

/// Logs one step and writes it; something happens on the way.
#[test]
#[ignore = "a process that the tests below start"]
fn victim() {
    let (Some(dir), Some(kind)) = (told("CRU_TEST_DIR"), told("CRU_TEST_KIND")) else { panic!("{ALONE}") };
    let world = World::open(dir.as_ref());
    let at = told("CRU_TEST_AT").unwrap().parse().unwrap();
    let save = told("CRU_TEST_SAVE").and_then(|save| Some((save.parse().ok()?, Fault::Save)));
    fault::arm_all([(at, Fault::of(&kind).unwrap())].into_iter().chain(save).collect());
    // The first write of a day, which keeps a copy.
    let now = now() + SignedDuration::from_hours(24);
    if world.append("s-2", now).is_ok() {
        println!("acknowledged");
    }
    if world.flush(now).is_ok() {
        println!("written");
    }
    println!("passed {}", fault::passed());
}

/// What a victim said, and how many points it passed if it lived.
fn run(dir: &std::path::Path, kind: &str, at: u64) -> (String, Option<u64>) {
    run_with_save(dir, kind, at, 0)
}

/// [`run`]; a person saves the note in a moment of the exchange, the first being 1.
fn run_with_save(dir: &std::path::Path, kind: &str, at: u64, save: u64) -> (String, Option<u64>) {
    let vars =
        [("CRU_TEST_KIND", kind.to_owned()), ("CRU_TEST_AT", at.to_string()), ("CRU_TEST_SAVE", save.to_string())];
    let mut child = again("running::kill::victim", dir, &vars);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let lived = child.wait().unwrap().success();
    let passed = said.lines().find_map(|line| line.rsplit_once("passed ")?.1.parse().ok());
    assert_eq!(lived, passed.is_some(), "it may die, not fail: {said}");
    (said, passed)
}

/// A session with one step, in a note that was then saved from an old buffer if that is wanted.
fn prepare(dir: &std::path::Path, stale: bool) -> World {
    let world = World::make(dir);
    world.append("s-0", now()).unwrap();
    world.flush(now()).unwrap();
    let buffer = world.text();
    if stale {
        world.append("s-1", now()).unwrap();
        world.flush(now()).unwrap();
        cru::base::files::remove(&world.path()).unwrap();
        cru::base::files::create(&world.path(), buffer.replace("version 0", "version 1").as_bytes()).unwrap();
    }
    world
}

fn every_point(kind: &str, stale: bool) -> u64 {
    let new = {
        let dir = tempfile::tempdir().unwrap();
        let world = prepare(dir.path(), stale);
        let (said, _) = run(dir.path(), "kill", u64::MAX);
        assert!(said.contains("written"), "{said}");
        world.text()
    };
    let mut at = 1;
    loop {
        let dir = tempfile::tempdir().unwrap();
        let world = prepare(dir.path(), stale);
        let old = world.text();
        let (said, passed) = run(dir.path(), kind, at);
        let name = format!("{kind} at {at}, {}", if stale { "old buffer" } else { "current note" });
        let text = world.text();
        assert!(text == old || text == new, "{name}: neither the old nor the new note:\n{text}");
        let done = said.contains("acknowledged") && said.contains("written");
        assert!(!done || text == new, "{name}: told of a write that was not made");
        let lived = passed.is_some_and(|passed| passed < at);
        // A day later, so that what is left beside the note is nobody's any more.
        let later = Timestamp::now_in_test() + SignedDuration::from_hours(48);
        world.append("s-3", later).unwrap();
        let written = world.flush(later).unwrap();
        assert_eq!(written.recovered, None, "{name}");
        let steps = world.steps();
        let count = |id: &str| steps.iter().filter(|step| *step == id).count();
        assert_eq!((count("s-0"), count("s-1"), count("s-3")), (1, usize::from(stale), 1), "{name}: {steps:?}");
        let acknowledged = said.contains("acknowledged");
        assert!(count("s-2") == 1 || (count("s-2") == 0 && !acknowledged), "{name}: {steps:?}");
        assert!(steps.is_sorted(), "{name}: {steps:?}");
        assert!(!world.flush(later).unwrap().changed, "{name}: written twice");
        assert!(world.text().contains(if stale { "version 1" } else { "version 0" }), "{name}");
        let beside = std::fs::read_dir(world.path().parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "{name}: something is left beside the note");
        if lived {
            return at;
        }
        at += 1;
    }
}

/// The time, for the age of files.
trait Clock {
    fn now_in_test() -> Timestamp;
}

impl Clock for Timestamp {
    #[expect(clippy::disallowed_methods, reason = "files that are made now have the time of now")]
    fn now_in_test() -> Timestamp {
        Timestamp::now()
    }
}

#[test]
fn killed_between_every_two_steps_of_a_write() {
    if !fault::arm(u64::MAX, Fault::Kill) {
        return;
    }
    for stale in [false, true] {
        let points = every_point("kill", stale);
        assert!(points > 20, "{points} points are too few to be all");
    }
}

#[test]
fn killed_in_the_middle_of_every_write() {
    if fault::arm(u64::MAX, Fault::Torn) {
        every_point("torn", false);
    }
}

#[test]
fn the_disk_fills_at_every_step_of_a_write() {
    if fault::arm(u64::MAX, Fault::NoSpace) {
        every_point("full", false);
    }
}

#[test]
fn writing_is_forbidden_from_every_step_on() {
    if fault::arm(u64::MAX, Fault::Denied) {
        every_point("denied", true);
    }
}

#[test]
fn a_save_behind_the_last_look_is_in_the_note_wherever_the_writer_is_killed() {
    if !fault::arm(u64::MAX, Fault::Kill) {
        return;
    }
    let mut displaced = 0;
    for save in [1, 2] {
        for at in 1.. {
            let dir = tempfile::tempdir().unwrap();
            let world = prepare(dir.path(), false);
            let (_, passed) = run_with_save(dir.path(), "kill", at, save);
            let beside = || std::fs::read_dir(world.path().parent().unwrap()).unwrap().map(|it| it.unwrap().path());
            let is_saved = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap().contains("saved");
            let was_saved = beside().any(is_saved);
            displaced += u64::from(was_saved && !world.text().contains("saved"));
            let later = Timestamp::now_in_test() + SignedDuration::from_hours(48);
            world.append("s-3", later).unwrap();
            world.flush(later).unwrap();
            assert_eq!(world.text().contains("saved"), was_saved, "killed at {at}, saved in moment {save}");
            let steps = world.steps();
            assert!(steps.contains(&"s-3".to_owned()) && steps.is_sorted(), "{at}, {save}: {steps:?}");
            assert_eq!(beside().count(), 1, "{at}, {save}: something is left beside the note");
            if passed.is_some_and(|passed| passed < at) {
                break;
            }
        }
    }
    assert!(displaced > 1, "no save lay in a temporary file");
}

/// Logs steps until it is killed, and says which are in the journal.
#[test]
#[ignore = "a process that the test below starts"]
fn logger() {
    let (Some(dir), Some(life)) = (told("CRU_TEST_DIR"), told("CRU_TEST_LIFE")) else { panic!("{ALONE}") };
    let world = World::open(dir.as_ref());
    for number in 0.. {
        let id = format!("k{life}-{number:05}");
        world.append(&id, now()).unwrap();
        println!("ok {id}");
        // Somebody else may be faster without end; the journal has it.
        let _ = world.flush(now());
    }
}

/// Rewrites the note as an editor does until told to stop: reads all, changes a little, puts all in its place.
fn edit(world: &World, stop: &AtomicBool) {
    let mut version = 0;
    while !stop.load(Ordering::SeqCst) {
        let text = world.text();
        version += 1;
        if let Some((before, rest)) = text.split_once("Paragraph one, version ") {
            let (_, after) = rest.split_once('.').unwrap();
            let new = format!("{before}Paragraph one, version {version}.{after}");
            cru::base::files::put(&world.path(), new.as_bytes()).unwrap();
        }
        std::thread::sleep(Duration::from_millis(60));
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_doubled() {
    let kills: u64 = told("CRU_KILLS").and_then(|kills| kills.parse().ok()).unwrap_or(40);
    let dir = tempfile::tempdir().unwrap();
    let world = World::make(dir.path());
    let stop = AtomicBool::new(false);
    let mut acknowledged = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| edit(&world, &stop));
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for life in 0..kills {
            let mut child = again("running::kill::logger", dir.path(), &[("CRU_TEST_LIFE", life.to_string())]);
            let mut said = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            // It lives until it has logged something, and then some more.
            while !line.contains("ok k") {
                line.clear();
                assert_ne!(said.read_line(&mut line).unwrap(), 0, "the logger died by itself");
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_micros((random >> 33) % 200_000));
            child.kill().unwrap();
            child.wait().unwrap();
            let mut rest = String::new();
            said.read_to_string(&mut rest).unwrap();
            for line in [line].iter().flat_map(|line| line.lines()).chain(rest.lines()) {
                acknowledged.extend(line.rsplit_once("ok k").map(|(_, id)| format!("k{id}")));
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    world.flush(now()).unwrap();
    let steps = world.steps();
    let mut counts: std::collections::HashMap<&str, usize> = steps.iter().map(|step| (step.as_str(), 0)).collect();
    for step in &steps {
        *counts.entry(step).or_default() += 1;
    }
    let lost: Vec<_> = acknowledged.iter().filter(|id| !counts.contains_key(id.as_str())).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let doubled: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty(), "doubled: {doubled:?}");
    assert!(acknowledged.len() as u64 >= kills, "{}", acknowledged.len());
    println!("{kills} kills, {} steps", steps.len());
}
