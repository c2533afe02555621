//! Every transcript of Claude Code in a set, imported: accounted for, sound notes, and nothing to do the second time.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::transcript_set::{TranscriptSet, on_both_sets};
use cru::base::Severity;
use cru::base::files;
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::{Catalog, Vault};

fn import(vault: &Vault, paths: &[PathBuf]) -> Report {
    let importer = cru::import::find("claude").unwrap();
    ingest(vault, importer, paths, &Options::default(), &Unwatched).unwrap()
}

fn new_vault(root: &Path) -> Vault {
    files::create(&root.join(".cru/config.toml"), b"").unwrap();
    Vault::open(root).unwrap()
}

/// Every note with its bytes and time of change.
fn notes(vault: &Vault) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut notes: Vec<_> = std::fs::read_dir(vault.sessions_dir())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let (bytes, changed) = (files::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap());
            (path, bytes, changed)
        })
        .collect();
    notes.sort();
    notes
}

fn transcripts_become_sound_notes(set: &TranscriptSet) {
    let paths = set.folders(&["claude", "claude-projects"]);
    let temp = tempfile::tempdir().unwrap();
    let vault = new_vault(temp.path());
    let report = import(&vault, &paths);
    assert!(report.count(Outcome::Created) > set.least(10, 50));
    assert!(report.records.balances());
    let catalog = Catalog::read(&vault);
    let (loaded, problems) = vault.load_sessions(&catalog);
    assert!(problems.is_empty());
    assert_eq!(loaded.len() as u64, report.count(Outcome::Created));
    for note in &loaded {
        let odd: Vec<_> = note.diagnostics.iter().filter(|it| it.severity >= Severity::Warning).collect();
        assert!(odd.is_empty(), "{}: {odd:?}", note.path);
        let session = &note.session;
        assert!(!session.phases.is_empty() && session.meta.started <= session.meta.ended, "{}", note.path);
        let links = session.meta.parent.iter().map(|link| link.target.as_str());
        for target in links.chain(session.meta.subagents.iter().map(|row| row.session.as_str())) {
            assert!(catalog.note(target, &note.path).is_some(), "{}: no note {target}", note.path);
        }
        let first = session.phases.first().and_then(|phase| phase.items.first());
        assert!(first.is_some(), "{}: an empty first phase", note.path);
    }
    let before = notes(&vault);
    let again = import(&vault, &paths);
    assert_eq!(again.count(Outcome::Unchanged), report.count(Outcome::Created));
    assert_eq!(again.count(Outcome::Created) + again.count(Outcome::Grown), 0);
    assert_eq!(notes(&vault), before);
}

fn a_session_that_grew_is_told_and_left_alone(set: &TranscriptSet) {
    let paths = set.folders(&["growth/claude"]);
    let captures: Vec<PathBuf> = ignore::Walk::new(&paths[0])
        .flatten()
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    let (first, last) = (captures.iter().min().unwrap(), captures.iter().max().unwrap());
    assert_ne!(first, last);
    let temp = tempfile::tempdir().unwrap();
    let vault = new_vault(temp.path());
    assert_eq!(import(&vault, std::slice::from_ref(first)).count(Outcome::Created), 1);
    let before = notes(&vault);
    let report = import(&vault, std::slice::from_ref(last));
    assert_eq!((report.count(Outcome::Grown), report.count(Outcome::Created)), (1, 0));
    assert_eq!(notes(&vault), before);
}

on_both_sets!(transcripts_become_sound_notes, a_session_that_grew_is_told_and_left_alone);
