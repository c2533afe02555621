//! Nothing vanishes: every record and every file is accounted for.

use cru::sync::import::report::Outcome;

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::world;

fn every_file_has_an_account_that_balances(set: &TranscriptSet) {
    let world = world(set);
    assert_eq!(world.report.files.len(), world.raw.len());
    let mut records = 0;
    for raw in &world.raw {
        let file = world.report.files.iter().find(|file| file.path == raw.path);
        let file = file.unwrap_or_else(|| panic!("{} has no account", raw.path.display()));
        assert!(file.account.balances(), "{}: {:?}", raw.path.display(), file.account);
        assert_eq!(file.account.records, raw.records, "{}", raw.path.display());
        records += raw.records;
    }
    assert_eq!(world.report.records.records, records);
    assert!(world.report.records.balances());
    assert!(world.report.records.represented * 2 > records, "half of the records and more are in notes");
}

fn every_file_gave_a_note_or_has_a_reason(set: &TranscriptSet) {
    let world = world(set);
    let hosts = world.by_host();
    for file in &world.report.files {
        let noted = file.sessions.iter().any(|session| hosts.contains_key(session.as_str()));
        assert_eq!(noted, file.reason.is_none(), "{}: {:?}", file.path.display(), file.reason);
        assert!(file.reason.as_deref().is_none_or(|reason| !reason.is_empty()), "{}", file.path.display());
    }
    let created = world.report.with(Outcome::Created).count();
    assert_eq!(created, world.notes.len());
    for session in &world.report.sessions {
        assert_eq!(session.note.is_some(), session.outcome == Outcome::Created, "{}", session.host_session);
    }
}

on_both_sets!(every_file_has_an_account_that_balances, every_file_gave_a_note_or_has_a_reason);
