//! Many processes that log to one session while somebody edits its note: every step once, every edit there.
//!
//! `CRU_CROWD=16x1000` for sixteen writers of a thousand steps each; that one also saves in place, as some editors do,
//! which leaves moments in which a note is empty.

use std::collections::HashMap;
use std::io::Read as _;
use std::time::{Duration, Instant};

use cru::base::Error;

use crate::running::writing::{ALONE, World, again, now, told};

/// Logs its steps one by one, each written before the next unless somebody else is too fast.
#[test]
#[ignore = "a process that the test below starts"]
fn writer() {
    let (Some(dir), Some(name), Some(steps)) = (told("CRU_TEST_DIR"), told("CRU_TEST_NAME"), told("CRU_TEST_STEPS"))
    else {
        panic!("{ALONE}");
    };
    let world = World::open(dir.as_ref());
    for number in 0..steps.parse().unwrap() {
        let entry = world.append(&format!("w{name}-{number:05}"), now()).unwrap();
        match world.flush_entry(&entry, now()) {
            Ok(_) | Err(Error::Changed { .. }) => {}
            Err(error) => panic!("{error}: {error:?}"),
        }
    }
    println!("finished");
}

/// One edit of a person: of a paragraph, of a heading, or a new remark.
fn edited(text: &str, version: usize) -> Option<String> {
    let replaced = |before: &str, after: &str| {
        let (head, rest) = text.split_once(before)?;
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        Some(format!("{head}{before}{version}{after}{}", rest[digits..].strip_prefix(after)?))
    };
    match version % 3 {
        0 => replaced("Paragraph one, version ", "."),
        1 => replaced("## Build version ", "\n"),
        _ => {
            let (head, rest) = text.split_once("## Build")?;
            Some(format!("{head}> [!thought] Remark {version}\n> mine\n\n## Build{rest}"))
        }
    }
}

/// What an editor has made of the note so far must be in what it reads: a remark for each third edit.
fn has_remarks(text: &str, version: usize) -> bool {
    (0..=version).filter(|version| version % 3 == 2).all(|version| text.contains(&format!("Remark {version}\n")))
}

/// Edits so often, or until all writers have finished; the number of edits.
fn edit(world: &World, in_place: bool, edits: usize, finished: &dyn Fn() -> bool) -> usize {
    let mut version = 0;
    // Not without end: whoever saves faster than others can write keeps them waiting.
    while version < edits && !finished() {
        let start = Instant::now();
        let text = loop {
            // The editor of a person holds its text; this one reads it again, and may meet a moment between two texts.
            let text = std::fs::read_to_string(world.path()).unwrap();
            if has_remarks(&text, version) && edited(&text, version + 1).is_some() {
                break text;
            }
            assert!(start.elapsed() < Duration::from_mins(1), "an edit before {version} is lost:\n{text}");
            std::thread::sleep(Duration::from_millis(1));
        };
        version += 1;
        let new = edited(&text, version).unwrap();
        if in_place && version % 4 == 0 {
            #[expect(clippy::disallowed_methods, reason = "an editor's way of saving")]
            std::fs::write(world.path(), &new).unwrap();
        } else {
            cru::base::files::put(&world.path(), new.as_bytes()).unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    version
}

#[test]
fn every_step_once_and_every_edit_there() {
    let size = told("CRU_CROWD");
    let (writers, steps) = match &size {
        Some(size) => size.split_once('x').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap(),
        None => (4, 40),
    };
    let dir = tempfile::tempdir().unwrap();
    let world = World::make(dir.path());
    let start = Instant::now();
    let vars = |name: usize| [("CRU_TEST_NAME", name.to_string()), ("CRU_TEST_STEPS", format!("{steps}"))];
    let mut children: Vec<_> =
        (0..writers).map(|name| again("running::crowd::writer", dir.path(), &vars(name))).collect();
    let running = std::sync::atomic::AtomicUsize::new(writers);
    let edits = std::thread::scope(|scope| {
        for child in &mut children {
            let running = &running;
            scope.spawn(move || {
                let mut said = String::new();
                child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
                let lived = child.wait().unwrap().success();
                running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                assert!(lived && said.contains("finished"), "{said}");
            });
        }
        let edits = if size.is_some() { 1000 } else { 30 };
        edit(&world, size.is_some(), edits, &|| running.load(std::sync::atomic::Ordering::SeqCst) == 0)
    });
    world.flush(now()).unwrap();
    let (found, text) = (world.steps(), world.text());
    let wanted = (0..writers).flat_map(|name| (0..steps).map(move |number| format!("w{name}-{number:05}")));
    let missing: Vec<String> = wanted.filter(|step| !found.contains(step)).collect();
    if !missing.is_empty() {
        println!("what is left of it is in {}", dir.keep().display());
    }
    assert_eq!((found.len(), missing), (writers * steps, Vec::new()), "each once");
    let mut next: HashMap<&str, usize> = HashMap::new();
    for step in &found {
        let (writer, number) = step.split_once('-').unwrap();
        let expected = next.entry(writer).or_default();
        assert_eq!(number, format!("{expected:05}"), "the order of {writer}");
        *expected += 1;
    }
    assert_eq!(next.len(), writers);
    assert!(edits > 0 && has_remarks(&text, edits));
    let newest = |kind: usize| (0..=edits).rev().find(|version| version % 3 == kind).unwrap_or(0);
    assert!(text.contains(&format!("Paragraph one, version {}.", newest(0))), "{text}");
    assert!(edits < 1 || text.contains(&format!("## Build version {}\n", newest(1))), "{text}");
    println!("{writers} writers, {steps} steps each, {edits} edits: {:?}", start.elapsed());
}
