//! Nothing vanishes: every record and every file is accounted for.

use std::collections::BTreeMap;

use cru::sync::report::Outcome;
use serde_json::Value;

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::raw::Line;
use super::world::{Written, world};

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

/// Whether a line plainly tells something that a note shows or counts: words, a call, or tokens of the agent.
fn tells(line: &Line) -> bool {
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => !block["text"].as_str().unwrap_or("").trim().is_empty(),
        Some("tool_use") => true,
        _ => false,
    };
    let content = &line.json["message"]["content"];
    line.text(&["type"]) == "assistant"
        && line.text(&["message", "model"]) != "<synthetic>"
        && content.as_array().is_some_and(|blocks| blocks.iter().any(block))
}

/// What the account counts as in notes is in the notes that are there: of each session as many records as its note has
/// taken in at most, of a session without a note none, and none is missing that plainly tells something.
fn what_is_in_notes_is_in_a_note(set: &TranscriptSet) {
    let world = world(set);
    let hosts = world.by_host();
    let read = |note: &Written| {
        let cursor = note.session.meta.cursor.as_deref().unwrap_or_default();
        cursor.split(' ').nth(1).and_then(|records| records.parse::<u64>().ok()).expect("a cursor says how many")
    };
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut in_notes, mut fates) = (0, 0);
    for file in &world.report.files {
        assert!(file.account.balances(), "{}", file.path.display());
        in_notes += file.account.represented;
        fates += file.account.represented + file.account.skipped.values().sum::<u64>();
        let noted = file.sessions.iter().any(|session| hosts.contains_key(session.as_str()));
        assert!(noted || file.account.represented == 0, "{}: {:?}", file.path.display(), file.account);
        for (stream, count) in &file.account.by_stream {
            let key = stream.to_string();
            if let Some((key, _)) = hosts.get_key_value(key.as_str()) {
                *told.entry(key).or_default() += count;
            }
        }
    }
    assert_eq!(fates, world.report.records.records);
    assert_eq!(in_notes, world.report.records.represented);
    assert_eq!(told.values().sum::<u64>(), in_notes, "every record in a note is of a session that has one");
    let mut plain: BTreeMap<&str, u64> = BTreeMap::new();
    for line in world.lines().filter(|line| !line.copy && tells(line)) {
        if let Some((key, _)) = hosts.get_key_value(line.stream.as_str()) {
            *plain.entry(key).or_default() += 1;
        }
    }
    for (key, note) in &hosts {
        let (told, least) = (told.get(key).copied().unwrap_or(0), plain.get(key).copied().unwrap_or(0));
        assert!(least <= told && told <= read(note), "{}: {least} <= {told} <= {}", note.path, read(note));
    }
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

on_both_sets!(
    every_file_has_an_account_that_balances,
    every_file_gave_a_note_or_has_a_reason,
    what_is_in_notes_is_in_a_note
);
