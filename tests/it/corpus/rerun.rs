//! Importing again: no byte changes, with or without what is kept beside the notes, and what a person removed stays so.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use cru::base::files;
use cru::note::{BlockKind, Note};
use cru::sync::report::{Outcome, Report};

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::{World, below, import, snapshot, world};

type Times = BTreeMap<String, SystemTime>;

fn times(root: &Path) -> Times {
    let notes = below(root).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    notes.map(|path| (path.to_str().unwrap().to_owned(), fs::metadata(&path).unwrap().modified().unwrap())).collect()
}

/// Every session with a note is unchanged, every other one has the outcome it had.
fn nothing_new(world: &World, again: &Report) {
    let outcome = |report: &Report, wanted| report.count(wanted);
    assert_eq!(outcome(again, Outcome::Unchanged), outcome(&world.report, Outcome::Created));
    assert_eq!(outcome(again, Outcome::Created) + outcome(again, Outcome::Grown), 0);
    assert_eq!(outcome(again, Outcome::Empty), outcome(&world.report, Outcome::Empty));
    assert_eq!(again.records, world.report.records);
}

fn a_second_import_writes_nothing(set: &TranscriptSet) {
    let world = world(set);
    let vault = world.on_disk();
    let before = times(vault.path());
    nothing_new(world, &import(vault.path(), &world.sources));
    assert_eq!(snapshot(vault.path()), world.files);
    assert_eq!(times(vault.path()), before);

    // Without anything that is kept beside the notes.
    for path in below(&vault.path().join(".cru")) {
        if path.file_name().is_some_and(|name| name != "config.toml") {
            files::remove(&path).unwrap();
        }
    }
    nothing_new(world, &import(vault.path(), &world.sources));
    assert_eq!(times(vault.path()), before);
    let notes = |files: &BTreeMap<String, Vec<u8>>| {
        files.iter().filter(|(path, _)| path.ends_with(".md")).map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>()
    };
    assert_eq!(notes(&snapshot(vault.path())), notes(&world.files));
}

fn what_a_person_deleted_stays_deleted(set: &TranscriptSet) {
    let world = world(set);
    let vault = world.on_disk();
    let mut edited = BTreeMap::new();
    for written in &world.notes {
        let callouts = written.note.blocks().iter().filter(|block| matches!(block.kind, BlockKind::Callout { .. }));
        // A different one in every note: the first, the second, …
        let callouts: Vec<_> = callouts.collect();
        let Some(block) = callouts.get(edited.len() % callouts.len().max(1)) else { continue };
        let text = written.note.text();
        let rest = format!("{}{}", &text[..block.span.start], &text[block.span.end..]);
        assert_eq!(Note::parse(rest.clone()).bytes().len(), text.len() - block.span.len());
        files::replace(&vault.path().join(&written.path), text.as_bytes(), rest.as_bytes()).unwrap();
        edited.insert(written.path.clone(), rest.into_bytes());
    }
    assert!(edited.len() > set.least(10, 50), "{} notes with a callout", edited.len());
    let before = times(vault.path());
    nothing_new(world, &import(vault.path(), &world.sources));
    let after = snapshot(vault.path());
    for (path, bytes) in &edited {
        assert!(after[path] == *bytes, "{path} was written to");
    }
    assert_eq!(times(vault.path()), before);
}

on_both_sets!(a_second_import_writes_nothing, what_a_person_deleted_stays_deleted);
