//! Readings that agents made of real sessions: their claims hold, and what is spoiled in them is refused.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::transcript_set::TranscriptSet;

/// A vault with the sessions of the readings.
struct ReadVault {
    dir: tempfile::TempDir,
}

/// What the program shows a reader of one session.
#[derive(Default)]
struct Shown {
    /// The hash of the record.
    note: String,
    /// Steps in their order, each with how it ended.
    steps: Vec<(String, String)>,
}

impl ReadVault {
    fn new() -> Self {
        let vault = Self { dir: tempfile::tempdir().unwrap() };
        assert!(cru::base::files::create(&vault.path("vault/.cru/config.toml"), b"").unwrap());
        vault
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(args)
            .current_dir(self.path("vault"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("HOME", self.path("home"))
            .env("NO_COLOR", "1")
            .env_remove("CRU_VAULT")
            .env_remove("CRU_SESSION")
            .output()
            .unwrap()
    }

    /// The name of the note of a transcript.
    fn name_of(&self, transcript: &Path) -> String {
        let line = format!("transcript: {}", transcript.display());
        let notes = std::fs::read_dir(self.path("vault/sessions")).unwrap().map(|entry| entry.unwrap().path());
        let is_of = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(|it| it == line));
        let note = notes.into_iter().find(is_of).unwrap_or_else(|| panic!("no note of {}", transcript.display()));
        note.file_stem().unwrap().to_str().unwrap().to_owned()
    }

    /// What `cru read --prompt` shows of a session, all parts of it.
    fn shown(&self, name: &str) -> Shown {
        let mut shown = Shown::default();
        for part in 1.. {
            let out = self.run(&["read", "--prompt", "--part", &part.to_string(), name]);
            if !out.status.success() {
                break;
            }
            let text = String::from_utf8(out.stdout).unwrap();
            let (_, behind) = text.split_once("\"record\": \"").unwrap();
            behind.split('"').next().unwrap().clone_into(&mut shown.note);
            for line in text.lines().filter(|line| line.starts_with("n-")) {
                let id = line.split(' ').next().unwrap();
                let end = line.rsplit_once('[').map_or("", |(_, end)| end);
                let status = end.split([',', ']']).next().unwrap();
                shown.steps.push((id.to_owned(), status.to_owned()));
            }
        }
        assert!(!shown.steps.is_empty(), "{name}");
        shown
    }

    /// Claims of an answer, those that hold, and the paths of what is refused.
    fn check(&self, answer: &Value) -> (u64, u64, Vec<String>) {
        let file = self.path("answer.json");
        drop(cru::base::files::remove(&file));
        assert!(cru::base::files::create(&file, answer.to_string().as_bytes()).unwrap());
        let out = self.run(&["--format", "json", "check", &format!("r:{}", file.display())]);
        let told: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{out:?}"));
        let messages = |code: &str| -> Vec<String> {
            let found = told["diagnostics"].as_array().unwrap().iter().filter(|it| it["code"] == code);
            found.map(|it| it["message"].as_str().unwrap().to_owned()).collect()
        };
        let refused = messages("refused-claim");
        // `outcome.proof[1]: refused: …`: the place within the summary, and which proof.
        let path = |told: &String| told.split(": refused").next().unwrap().split(".proof[").next().unwrap().to_owned();
        let refused = refused.iter().map(path).collect();
        let holds = messages("claims");
        let numbers: Vec<u64> = holds[0].split(' ').filter_map(|word| word.parse().ok()).collect();
        (numbers[1], numbers[0], refused)
    }
}

/// Every claim with proofs of an answer, with the path that a finding names: of an object's only claim, that of the object.
fn claims(answer: &mut Value) -> Vec<(String, &mut Value)> {
    fn visit<'v>(path: &str, value: &'v mut Value, found: &mut Vec<(String, &'v mut Value)>) {
        if value.get("proof").is_some() && value.get("text").is_some() {
            found.push((path.trim_end_matches(".claim").to_owned(), value));
            return;
        }
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    visit(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, found);
                }
            }
            Value::Array(items) => {
                for (at, value) in items.iter_mut().enumerate() {
                    visit(&format!("{path}[{at}]"), value, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit("", answer, &mut found);
    found
}

/// Spoils a claim in one way; whether it could be.
type Spoil = fn(&mut Value, &Shown) -> bool;

/// The first proof of a claim that has a key.
fn proof<'v>(claim: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    claim["proof"].as_array_mut()?.iter_mut().find(|proof| proof.get(key).is_some())
}

fn missing_id(claim: &mut Value, _: &Shown) -> bool {
    let ids = [("step", "n-9999"), ("said", "u-999"), ("prose", "p-999")];
    ids.into_iter().any(|(key, id)| proof(claim, key).map(|proof| proof[key] = json!(id)).is_some())
}

fn turned_status(claim: &mut Value, _: &Shown) -> bool {
    let Some(proof) = proof(claim, "step") else { return false };
    proof["status"] = if proof["status"] == "ok" { json!("failed") } else { json!("ok") };
    true
}

fn changed_word(claim: &mut Value, _: &Shown) -> bool {
    let key = if proof(claim, "said").is_some() { "said" } else { "prose" };
    let Some(proof) = proof(claim, key) else { return false };
    let quote = proof["quote"].as_str().unwrap().to_owned();
    let mut words: Vec<&str> = quote.split(' ').collect();
    let middle = words.len() / 2;
    words[middle] = "marmalade";
    proof["quote"] = json!(words.join(" "));
    words.len() > 1
}

fn other_speaker(claim: &mut Value, _: &Shown) -> bool {
    for (key, other, id) in [("said", "prose", "p-01"), ("prose", "said", "u-01")] {
        if let Some(proof) = proof(claim, key) {
            *proof = json!({ other: id, "quote": proof["quote"].clone() });
            return true;
        }
    }
    false
}

fn other_place(claim: &mut Value, _: &Shown) -> bool {
    for (key, letter) in [("said", "u"), ("prose", "p")] {
        let Some(proof) = proof(claim, key) else { continue };
        let Some(number) = proof[key].as_str().and_then(|id| id.strip_prefix(&format!("{letter}-"))) else { continue };
        let number: u32 = number.parse().unwrap();
        if number > 1 {
            proof[key] = json!(format!("{letter}-01"));
            return true;
        }
    }
    false
}

/// A name in the text gets another letter.
fn changed_name(claim: &mut Value, _: &Shown) -> bool {
    let text = claim["text"].as_str().unwrap();
    let is_name = |word: &&str| word.len() > 5 && word[1..word.len() - 1].contains(['_', '/', '.']) && word.is_ascii();
    let Some(name) = text.split([' ', '`', ',', '(', ')']).find(is_name) else { return false };
    let changed = format!("{}x{}", &name[..name.len() / 2], &name[name.len() / 2..]);
    let changed = text.replacen(name, &changed, 1);
    claim["text"] = json!(changed);
    true
}

/// Another step: with the status that was told, or with its own, as a careful liar would name it.
fn moved(claim: &mut Value, shown: &Shown, is_careful: bool, to: impl Fn(usize) -> usize) -> bool {
    let Some(proof) = proof(claim, "step") else { return false };
    let at = shown.steps.iter().position(|(id, _)| proof["step"] == json!(id));
    let Some((id, status)) = at.and_then(|at| shown.steps.get(to(at) % shown.steps.len())) else { return false };
    proof["step"] = json!(id);
    if is_careful {
        proof["status"] = json!(status);
    }
    true
}

fn next_id(claim: &mut Value, shown: &Shown) -> bool {
    moved(claim, shown, false, |at| at + 1)
}

fn next_step(claim: &mut Value, shown: &Shown) -> bool {
    moved(claim, shown, true, |at| at + 1)
}

fn other_step(claim: &mut Value, shown: &Shown) -> bool {
    let half = shown.steps.len() / 2;
    moved(claim, shown, true, |at| at + half)
}

/// What is spoiled, and the least share that must be refused. A text of a step may stand in the one behind it as well, where the
/// same call was made again.
const SPOILED: &[(&str, Spoil, f64)] = &[
    ("id that does not exist", missing_id, 1.0),
    ("outcome turned round", turned_status, 1.0),
    ("one word of a quote changed", changed_word, 0.99),
    ("quote given to the other speaker", other_speaker, 0.95),
    ("quote given to another place", other_place, 0.94),
    ("name in the text changed", changed_name, 0.85),
    ("id off by one", next_id, 0.89),
    ("id off by one, with the status of that step", next_step, 0.8),
    ("another step", other_step, 0.95),
];

#[test]
#[ignore = "needs ../shared/transcripts"]
fn readings_hold_and_spoiled_ones_do_not_shared() {
    let root = TranscriptSet::shared().root().canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/readings");
    let sources = std::fs::read_to_string(folder.join("sources.tsv")).unwrap();
    let sources: HashMap<&str, PathBuf> = sources
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once('\t'))
        .map(|(file, rest)| (file, root.join(rest.split('\t').next().unwrap())))
        .collect();
    assert_eq!(sources.len(), 10);
    let vault = ReadVault::new();
    let files: Vec<&str> = sources.values().map(|path| path.to_str().unwrap()).collect();
    let imported = vault.run(&[&["import"], files.as_slice()].concat());
    assert!(imported.status.success(), "{imported:?}");
    let (mut all, mut held) = (0, 0);
    let mut counts: Vec<(usize, usize)> = vec![(0, 0); SPOILED.len()];
    for (file, transcript) in &sources {
        let name = vault.name_of(transcript);
        let shown = vault.shown(&name);
        let mut answer: Value = serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap();
        (answer["session"], answer["note"]) = (json!(name), json!(shown.note));
        let (claimed, kept, before) = vault.check(&answer);
        (all, held) = (all + claimed, held + kept);
        for ((_, spoil, _), (caught, spoiled)) in SPOILED.iter().zip(&mut counts) {
            let mut answer = answer.clone();
            let short = |path: &str| path.strip_prefix("summary.").unwrap_or(path).to_owned();
            let claims = claims(&mut answer).into_iter().filter(|(path, _)| !before.contains(&short(path)));
            let paths: Vec<String> =
                claims.filter_map(|(path, claim)| spoil(claim, &shown).then_some(short(&path))).collect();
            let (_, _, refused) = vault.check(&answer);
            *spoiled += paths.len();
            *caught += paths.iter().filter(|path| refused.contains(path)).count();
        }
    }
    assert!(all > 200 && held * 100 >= all * 95, "{held} of {all} claims hold");
    for ((what, _, least), (caught, spoiled)) in SPOILED.iter().zip(&counts) {
        assert!(*spoiled >= 20, "{what}: only {spoiled}");
        let rate = f64::from(u32::try_from(*caught).unwrap()) / f64::from(u32::try_from(*spoiled).unwrap());
        assert!(rate >= *least, "{what}: {caught} of {spoiled}; all: {counts:?}");
    }
}
