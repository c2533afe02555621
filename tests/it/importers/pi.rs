//! The notes of pi's sessions against a count made straight from the records, by none of the importer's code.

use std::collections::HashSet;
use std::path::Path;

use cru::base::Severity;
use cru::base::files;
use cru::session::{Item, Session, Step};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::Outcome;
use cru::vault::{Catalog, Vault};
use serde_json::Value;

use crate::imports::growth::{World, without_cursor};
use crate::transcript_set::{TranscriptSet, has_failed, on_both_sets};

/// What a file's records say.
#[derive(Debug, Default, PartialEq)]
struct Count {
    prompts: usize,
    calls: usize,
    failures: usize,
    tokens: u64,
    cost: f64,
}

/// Every JSON value of a file; a line may hold two.
fn records(path: &Path) -> Vec<Value> {
    let text = String::from_utf8_lossy(&files::read(path).unwrap()).into_owned();
    text.lines().flat_map(|line| serde_json::Deserializer::from_str(line).into_iter::<Value>().flatten()).collect()
}

fn count_of_records(path: &Path) -> Count {
    let mut count = Count::default();
    let (mut made, mut answered) = (0, HashSet::new());
    for record in records(path) {
        let message = &record["message"];
        for usage in [&message["usage"], &record["usage"]] {
            let number = |key: &str| usage[key].as_u64().unwrap_or(0);
            count.tokens += number("input") + number("output") + number("cacheWrite");
            count.cost += usage["cost"]["total"].as_f64().unwrap_or(0.0);
        }
        match message["role"].as_str().unwrap_or("") {
            "user" => count.prompts += 1,
            "assistant" => {
                let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
                made += blocks.iter().filter(|block| block["type"] == "toolCall").count();
            }
            "toolResult" => {
                assert!(answered.insert(message["toolCallId"].as_str().unwrap().to_owned()));
                count.failures += usize::from(message["isError"] == true);
            }
            "bashExecution" => {
                count.prompts += 1;
                count.calls += 1;
                count.failures += usize::from(message["exitCode"] != 0);
            }
            _ => {}
        }
    }
    count.calls += made;
    // A call that was never carried out is no success.
    count.failures += made - answered.len();
    count
}

fn steps(session: &Session) -> impl Iterator<Item = &Step> {
    session.phases.iter().flat_map(|phase| &phase.items).filter_map(|item| match item {
        Item::Step(step) => Some(step),
        _ => None,
    })
}

fn count_of_note(session: &Session) -> Count {
    let items = || session.preface.iter().chain(session.phases.iter().flat_map(|phase| &phase.items));
    Count {
        prompts: items().filter(|item| matches!(item, Item::User(_))).count(),
        calls: steps(session).count(),
        failures: steps(session).filter(|step| has_failed(step)).count(),
        tokens: session.meta.tokens_used.unwrap_or(0),
        cost: session.meta.cost_usd.unwrap_or(0.0),
    }
}

fn notes_say_what_the_records_say(set: &TranscriptSet) {
    let folder = set.folder("pi");
    let temp = tempfile::tempdir().unwrap();
    files::create(&temp.path().join(".cru/config.toml"), b"").unwrap();
    let vault = Vault::open(temp.path()).unwrap();
    let importer = cru::import::find("pi").unwrap();
    let import = || ingest(&vault, importer, std::slice::from_ref(&folder), &Options::default(), &Unwatched).unwrap();
    let report = import();
    assert!(report.count(Outcome::Created) >= set.least(4, 8));
    assert!(report.records.balances());
    assert!(!report.records.skipped.contains_key("unknown record type"));

    let catalog = Catalog::read(&vault);
    let (loaded, problems) = vault.load_sessions(&catalog);
    assert!(problems.is_empty());
    assert_eq!(loaded.len() as u64, report.count(Outcome::Created));
    for note in &loaded {
        let odd: Vec<_> = note.diagnostics.iter().filter(|it| it.severity >= Severity::Warning).collect();
        assert!(odd.is_empty(), "{}: {odd:?}", note.path);
        let path = note.session.meta.transcript.as_deref().unwrap();
        let (wanted, found) = (count_of_records(Path::new(path)), count_of_note(&note.session));
        assert!((wanted.cost - found.cost).abs() < 1e-6, "{path}: {wanted:?} {found:?}");
        assert_eq!(Count { cost: 0.0, ..wanted }, Count { cost: 0.0, ..found }, "{path}");
        assert!(note.session.meta.started <= note.session.meta.ended, "{path}");
    }
    assert_eq!(import().count(Outcome::Unchanged), report.count(Outcome::Created));
}

fn every_importer_knows_its_own_files_only(set: &TranscriptSet) {
    let own = ("pi", set.least(4, 8));
    for (name, wanted) in [own, ("claude", 0), ("codex", 0), ("copilot", 0), ("gemini", 0), ("cursor", 0)] {
        let found = cru::import::search(cru::import::find("pi").unwrap(), &[set.folder(name)]).unwrap();
        assert_eq!(found.bundles.len(), wanted, "{name}");
    }
}

fn a_session_that_grows_is_told_as_if_it_were_imported_at_once(set: &TranscriptSet) {
    let folder = set.folder("growth/pi");
    for session in std::fs::read_dir(folder).unwrap() {
        let session = session.unwrap().path();
        let mut captures: Vec<_> = std::fs::read_dir(&session).unwrap().map(|entry| entry.unwrap().path()).collect();
        captures.sort();
        let (grown, whole) = (World::new(), World::new());
        let name = format!("2026-01-01T00-00-00-000Z_{}.jsonl", session.file_name().unwrap().to_str().unwrap());
        for capture in &captures {
            files::put(&grown.input().join(&name), &files::read(capture).unwrap()).unwrap();
            let report = grown.import_of("pi");
            assert_eq!(report.count(Outcome::Grown), 0, "{}", capture.display());
        }
        files::put(&whole.input().join(&name), &files::read(captures.last().unwrap()).unwrap()).unwrap();
        whole.import_of("pi");
        let text = |world: &World| -> Vec<String> { world.notes().values().map(|text| without_cursor(text)).collect() };
        // The folder of each world is its own, and so is the path of the transcript.
        let plain = |world: &World| text(world)[0].replace(world.temp.path().to_str().unwrap(), "");
        assert_eq!((text(&grown).len(), text(&whole).len()), (1, 1));
        assert_eq!(plain(&grown), plain(&whole));
        assert_eq!(grown.import_of("pi").count(Outcome::Unchanged), 1);
    }
}

on_both_sets!(
    notes_say_what_the_records_say,
    a_session_that_grows_is_told_as_if_it_were_imported_at_once,
    every_importer_knows_its_own_files_only,
);
