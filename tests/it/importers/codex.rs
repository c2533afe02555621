//! Rollouts of a set, imported, against a count that is made straight from the records.
//!
//! The count shares no code with the importer: it knows the lines of the format as they are documented, and looks at
//! each record by itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use cru::base::files;
use cru::base::text::sanitise;
use cru::note::Note;
use cru::session::{Item, Session, read};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::Vault;
use serde_json::Value;

use crate::transcript_set::{TranscriptSet, has_failed, on_both_sets};

/// What one file holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    prompts: Vec<String>,
    calls: u64,
    failures: u64,
    tokens: u64,
}

fn text<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
    keys.iter().fold(value, |value, key| &value[*key]).as_str().unwrap_or("")
}

/// The session of a file and what its records say.
fn count(bytes: &[u8]) -> (String, Count) {
    let mut count = Count::default();
    let mut session = String::new();
    let mut total = 0;
    // Calls that failed, by id; a command that went on in the background fails under its own call.
    let mut failed: BTreeSet<String> = BTreeSet::new();
    let mut running: HashMap<String, String> = HashMap::new();
    let mut waits: HashMap<String, String> = HashMap::new();
    // Calls without an answer; a note says that none is recorded, and shows them as failed.
    let mut open: BTreeSet<String> = BTreeSet::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        let payload = &record["payload"];
        match (text(&record, &["type"]), text(payload, &["type"])) {
            ("session_meta", _) if session.is_empty() => text(payload, &["id"]).clone_into(&mut session),
            ("event_msg", "user_message") => {
                count.prompts.push(sanitise(text(payload, &["message"])).trim().to_owned());
            }
            ("event_msg", "token_count") => {
                let sum = &payload["info"]["total_token_usage"];
                let of = |key: &str| sum[key].as_u64().unwrap_or(0);
                if sum.is_object() {
                    // Without what the cache gave, as a note counts.
                    total = of("input_tokens") - of("cached_input_tokens") + of("output_tokens");
                }
            }
            ("response_item", "function_call" | "custom_tool_call" | "tool_search_call") => {
                if text(payload, &["name"]) == "update_plan" {
                    continue;
                }
                count.calls += 1;
                open.insert(text(payload, &["call_id"]).to_owned());
                if text(payload, &["name"]) == "write_stdin" {
                    let given: Value = serde_json::from_str(text(payload, &["arguments"])).unwrap();
                    waits.insert(text(payload, &["call_id"]).to_owned(), given["session_id"].to_string());
                }
            }
            ("response_item", "web_search_call") => count.calls += 1,
            ("response_item", "tool_search_output") => drop(open.remove(text(payload, &["call_id"]))),
            ("response_item", "function_call_output" | "custom_tool_call_output") => {
                let id = text(payload, &["call_id"]);
                open.remove(id);
                let output = text(payload, &["output"]);
                let word = "session ID ";
                if let Some(at) = output.find(word).filter(|_| output.starts_with("Chunk ID: ")) {
                    let number: String = output[at + word.len()..].chars().take_while(char::is_ascii_digit).collect();
                    running.entry(number).or_insert_with(|| id.to_owned());
                }
                if is_failure(output) {
                    let of = waits.get(id).and_then(|number| running.get(number)).map_or(id, String::as_str);
                    failed.insert(of.to_owned());
                }
            }
            ("event_msg", "mcp_tool_call_end") if payload["result"]["Ok"]["isError"] == true => {
                failed.insert(text(payload, &["call_id"]).to_owned());
            }
            _ => {}
        }
    }
    count.tokens = total;
    failed.append(&mut open);
    count.failures = failed.len() as u64;
    (session, count)
}

/// Whether an answer says that its call failed.
fn is_failure(output: &str) -> bool {
    if let Ok(whole) = serde_json::from_str::<Value>(output) {
        return whole["metadata"]["exit_code"].as_i64().is_some_and(|code| code != 0);
    }
    let head = output.split("\nOutput:").next().unwrap_or("");
    let code = head
        .lines()
        .find_map(|line| line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code ")));
    code.is_some_and(|code| code.trim() != "0")
        || ["failed in sandbox", "error: ", "aborted by user"].iter().any(|start| output.starts_with(start))
}

fn below(root: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).build().flatten();
    let mut paths: Vec<PathBuf> = walk.map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect();
    paths.sort();
    paths
}

fn import(root: &Path, paths: &[PathBuf]) -> Report {
    if !root.join(".cru/config.toml").exists() {
        files::create(&root.join(".cru/config.toml"), b"").unwrap();
    }
    let importer = cru::import::find("codex").expect("a row of the table");
    ingest(&Vault::open(root).unwrap(), importer, paths, &Options::default(), &Unwatched).unwrap()
}

/// The notes of a vault by the session they tell of.
fn notes(root: &Path) -> BTreeMap<String, Session> {
    let all = below(&root.join("sessions")).into_iter().map(|path| {
        let (session, _) = read::session(&Note::parse(fs::read(path).unwrap()));
        (session.meta.host_session.clone().unwrap_or_default(), session)
    });
    all.collect()
}

fn told(session: &Session) -> Count {
    let mut count = Count::default();
    for (_, item) in session.items() {
        match item {
            Item::User(user) => count.prompts.push(user.words.trim().to_owned()),
            Item::Step(step) => {
                count.calls += 1;
                count.failures += u64::from(has_failed(step));
            }
            _ => {}
        }
    }
    count.tokens = session.meta.tokens_used.unwrap_or(0);
    count
}

fn prompts_calls_failures_and_tokens_are_those_of_the_records(set: &TranscriptSet) {
    let sources: Vec<PathBuf> = below(&set.folder("codex"))
        .into_iter()
        // Shortened records of all kinds, put together by their owners: no session.
        .filter(|path| !path.to_string_lossy().contains("Fixtures"))
        .collect();
    assert!(sources.len() >= set.least(4, 8), "{} rollouts", sources.len());
    let vault = tempfile::tempdir().unwrap();
    let report = import(vault.path(), &sources);
    assert_eq!(report.count(Outcome::Created), sources.len() as u64);
    let notes = notes(vault.path());
    let mut wrong = Vec::new();
    for path in &sources {
        let (session, wanted) = count(&fs::read(path).unwrap());
        let found = told(&notes[&session]);
        if found != wanted {
            let (calls, failures) = ((found.calls, wanted.calls), (found.failures, wanted.failures));
            let tokens = (found.tokens, wanted.tokens);
            let missing: Vec<_> = wanted.prompts.iter().filter(|it| !found.prompts.contains(it)).collect();
            let more: Vec<_> = found.prompts.iter().filter(|it| !wanted.prompts.contains(it)).collect();
            wrong.push(format!(
                "{}: calls {calls:?} failures {failures:?} tokens {tokens:?} missing {missing:?} more {more:?}",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "found and wanted:\n{}", wrong.join("\n"));
    let again = import(vault.path(), &sources);
    assert_eq!(again.count(Outcome::Unchanged), report.count(Outcome::Created));
}

fn every_record_is_accounted_for(set: &TranscriptSet) {
    let sources = set.folders(&["codex", "growth/codex"]);
    let vault = tempfile::tempdir().unwrap();
    let report = import(vault.path(), &sources);
    let mut lines = 0;
    for file in &report.files {
        let wanted = String::from_utf8_lossy(&fs::read(&file.path).unwrap())
            .lines()
            .filter(|line| !line.trim().is_empty())
            .count();
        assert!(file.account.balances(), "{}", file.path.display());
        assert_eq!(file.account.records, wanted as u64, "{}", file.path.display());
        let unknown: Vec<_> = file.account.skipped.keys().filter(|reason| reason.contains("unknown")).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", file.path.display());
        lines += wanted;
    }
    assert!(lines > set.least(300, 5000), "{lines} records");
    // The captures of one session give one note, with each of its prompts once.
    let grown = below(&set.folder("growth/codex")).pop().unwrap();
    let (session, wanted) = count(&fs::read(grown).unwrap());
    assert_eq!(told(&notes(vault.path())[&session]), wanted);
}

on_both_sets!(prompts_calls_failures_and_tokens_are_those_of_the_records, every_record_is_accounted_for);
