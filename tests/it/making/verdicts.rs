//! How checks ended, against what careful readers found in real sessions.

use std::fs;

use cru::action::Verdict;
use cru::import;
use cru::session::{Session, Step};
use cru::sync::import::{Options, Unwatched, ingest};
use serde_json::Value;

use crate::imports::growth::World;
use crate::transcript_set::TranscriptSet;

/// The session of a transcript, read from the notes that an import of it alone made: the longest, where sub-agents have
/// notes of their own.
fn session_of(set: &TranscriptSet, transcript: &str) -> Session {
    let world = World::new();
    let path = set.root().join(transcript);
    let (importer, _) = import::any::search(std::slice::from_ref(&path)).unwrap().found.remove(0);
    ingest(&world.vault, importer, &[path], &Options::default(), &Unwatched).unwrap();
    let sessions = world.sessions().into_values().map(|(_, session)| session);
    sessions.max_by_key(|session| session.steps().count()).unwrap_or_else(|| panic!("no note of {transcript}"))
}

/// The last step that ran a check: its words stand in the command, in order, and perhaps with a folder before a path.
fn last_run<'a>(session: &'a Session, check: &str) -> Option<&'a Step> {
    let runs = |step: &&Step| {
        let mut rest = step.full_args();
        check.split_whitespace().all(|word| match rest.split_once(word) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
    };
    session.steps().map(|(_, step)| step).filter(|step| step.check.is_some()).filter(runs).last()
}

/// What failed is never told to have passed, and nearly all of what passed is told to.
#[test]
#[ignore = "needs ../shared/transcripts"]
fn labels_shared() {
    let set = TranscriptSet::shared();
    let mut files: Vec<_> =
        fs::read_dir(set.root().join("../labels")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(files.len() >= 20, "{} labels", files.len());
    let (mut found, mut wrong, mut missed, mut no_step) = (0, Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let label: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let session = session_of(&set, label["transcript"].as_str().unwrap());
        for check in label["checks"].as_array().into_iter().flatten() {
            let (command, last) = (check["command"].as_str().unwrap(), check["last"].as_str().unwrap());
            let told = format!("{}: {command}", file.file_stem().unwrap().to_string_lossy());
            let Some(step) = last_run(&session, command) else {
                no_step.push(told);
                continue;
            };
            match (last, step.check) {
                ("passed", Some(Verdict::Passed)) => found += 1,
                ("passed", verdict) => missed.push(format!("{told}: {verdict:?}")),
                (_, Some(Verdict::Passed)) => wrong.push(told),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "told to have passed: {wrong:#?}");
    let passed = found + missed.len();
    println!("{found} of {passed} that passed; not told: {missed:#?}; no step: {no_step:#?}");
    assert!(found * 100 >= passed * 95, "{found} of {passed}: {missed:#?}");
}
