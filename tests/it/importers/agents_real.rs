//! Notes of the sessions of smaller hosts, against counts that are made straight from the files by none of the importers'
//! code.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use cru::base::{Severity, files};
use cru::session::{Item, Session};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::{Catalog, Vault};
use serde_json::Value;

use crate::transcript_set::{TranscriptSet, has_failed, on_both_sets};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    prompts: u64,
    calls: u64,
    failures: u64,
    tokens: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.prompts += other.prompts;
        self.calls += other.calls;
        self.failures += other.failures;
        self.tokens += other.tokens;
    }
}

fn of_note(session: &Session) -> Count {
    let mut count = Count { tokens: session.meta.tokens_used.unwrap_or(0), ..Count::default() };
    for (_, item) in session.items() {
        match item {
            Item::User(_) => count.prompts += 1,
            Item::Step(step) => {
                count.calls += 1;
                count.failures += u64::from(has_failed(step));
            }
            _ => {}
        }
    }
    count
}

/// Imports the files of an agent; the counts of its notes by transcript.
fn import(set: &TranscriptSet, agent: &str) -> (Report, HashMap<PathBuf, Count>) {
    let folder = set.folder(agent);
    let temp = tempfile::tempdir().unwrap();
    files::create(&temp.path().join(".cru/config.toml"), b"").unwrap();
    let vault = Vault::open(temp.path()).unwrap();
    let importer = cru::import::find(agent).unwrap();
    let run = || ingest(&vault, importer, std::slice::from_ref(&folder), &Options::default(), &Unwatched).unwrap();
    let report = run();
    assert!(report.records.balances());
    let unknown: Vec<_> = report.records.skipped.keys().filter(|reason| reason.contains("unknown")).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let (loaded, problems) = vault.load_sessions(&Catalog::read(&vault));
    assert!(problems.is_empty());
    let mut counts: HashMap<PathBuf, Count> = HashMap::new();
    for note in &loaded {
        let odd: Vec<_> = note.diagnostics.iter().filter(|it| it.severity >= Severity::Warning).collect();
        assert!(odd.is_empty(), "{}: {odd:?}", note.path);
        let path = PathBuf::from(note.session.meta.transcript.as_deref().unwrap());
        counts.entry(path).or_default().add(of_note(&note.session));
    }
    assert_eq!(run().count(Outcome::Unchanged), report.count(Outcome::Created));
    (report, counts)
}

fn values(path: &Path) -> Vec<Value> {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn copilot(set: &TranscriptSet) {
    let (report, counts) = import(set, "copilot");
    let sessions = set.least(3, 4);
    assert_eq!((report.count(Outcome::Created), counts.len()), (sessions as u64, sessions));
    for (path, found) in counts {
        let (mut wanted, mut summed) = (Count::default(), None);
        for record in values(&path) {
            let data = &record["data"];
            match record["type"].as_str().unwrap() {
                "user.message" => wanted.prompts += u64::from(data["source"].is_null()),
                "tool.execution_start" => wanted.calls += u64::from(data["toolName"] != "report_intent"),
                "tool.execution_complete" => {
                    let text = data["result"]["content"].as_str().unwrap_or("");
                    let code = text.rsplit_once("exit code ").map_or("0", |(_, code)| code.trim_end_matches('>'));
                    wanted.failures += u64::from(data["success"] == false || (text.ends_with('>') && code != "0"));
                }
                "session.shutdown" => {
                    let models = data["modelMetrics"].as_object().into_iter().flatten();
                    let of = |usage: &Value| {
                        let number = |key: &str| usage[key].as_u64().unwrap();
                        // Without what the cache gave, as a note counts.
                        number("inputTokens") - number("cacheReadTokens") + number("outputTokens")
                    };
                    summed = Some(models.map(|(_, metric)| of(&metric["usage"])).sum::<u64>());
                }
                _ => {}
            }
        }
        // Without the record at the end the input is unknown.
        wanted.tokens = summed.unwrap_or(0);
        assert_eq!(found, wanted, "{}", path.display());
    }
}

fn cursor(set: &TranscriptSet) {
    let (_, counts) = import(set, "cursor");
    assert_eq!(counts.len(), 4);
    for (path, found) in counts {
        let mut wanted = Count::default();
        for record in values(&path) {
            for block in record["message"]["content"].as_array().into_iter().flatten() {
                match (record["role"].as_str().unwrap_or(""), block["type"].as_str().unwrap_or("")) {
                    // What a sub-agent is asked no person said.
                    ("user", "text") => wanted.prompts += u64::from(!path.to_string_lossy().contains("subagents")),
                    ("assistant", "tool_use" | "tool_call") => wanted.calls += 1,
                    _ => {}
                }
            }
        }
        assert_eq!(found, wanted, "{}", path.display());
    }
}

/// `7.7k` as a number.
fn amount(word: &str) -> u64 {
    let Some(number) = word.strip_suffix('k') else { return word.parse().unwrap() };
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    whole.parse::<u64>().unwrap() * 1000 + tenth.parse::<u64>().unwrap() * 100
}

fn aider(set: &TranscriptSet) {
    let (report, counts) = import(set, "aider");
    assert_eq!(report.count(Outcome::Created), set.least(3, 10));
    let file = set.least("pilot", "Aquaticat");
    let (path, found) = counts.into_iter().find(|(path, _)| path.to_string_lossy().contains(file)).unwrap();
    let text = fs::read_to_string(path).unwrap();
    let mut wanted = Count::default();
    // Blocks of the model's words, with those that the program quotes back taken off.
    let blocks = text.matches("\n<<<<<<< SEARCH\n").count() - text.matches("lines in ").count();
    let lines: Vec<&str> = text.lines().collect();
    let commits = lines.iter().filter(|line| line.starts_with("> Commit ") && line.ends_with("  ")).count();
    wanted.calls = (blocks + commits) as u64;
    for line in &lines {
        if let Some(rest) = line.strip_prefix("> Tokens: ") {
            let words: Vec<&str> = rest.split(' ').collect();
            wanted.tokens += amount(words[0]) + amount(words[2]);
        }
    }
    assert_eq!((found.tokens, found.calls), (wanted.tokens, wanted.calls));
}

fn specstory(set: &TranscriptSet) {
    let (report, counts) = import(set, "specstory");
    assert!(report.count(Outcome::Created) >= set.least(3, 14));
    let mut seen = 0;
    for (path, found) in counts {
        let text = fs::read_to_string(&path).unwrap();
        if !text.contains("Markdown v2.1.0") {
            continue;
        }
        seen += 1;
        let (mut wanted, mut aside) = (Count::default(), false);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if line.starts_with("_**") && line.ends_with("Z)**_") {
                aside = line.contains("sidechain");
                let next = lines[at + 1..].iter().find(|line| !line.trim().is_empty()).copied().unwrap_or("");
                let of_host = ["<", "[Request interrupted", "_**", "---", "This session is being continued"];
                wanted.prompts +=
                    u64::from(line.starts_with("_**User") && !of_host.iter().any(|it| next.starts_with(it)));
            }
            let silent = line.contains("\"TaskCreate\"") || line.contains("\"TaskUpdate\"");
            wanted.calls += u64::from(line.starts_with("<tool-use data-tool-type=") && !aside && !silent);
        }
        assert_eq!((found.calls, found.prompts), (wanted.calls, wanted.prompts), "{}", path.display());
    }
    assert_eq!(seen, set.least(3, 4));
}

on_both_sets!(copilot, cursor, aider, specstory);
