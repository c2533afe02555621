//! What other programs write and strict readers of JSON refuse, in the files of every host that writes JSON: a byte order
//! mark, and halves of characters. No record may be lost to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cru::base::files;

/// The hosts that write JSON, each with its invented transcripts.
const HOSTS: [(&str, &str); 7] = [
    ("claude", "claude-projects"),
    ("codex", "codex/sessions"),
    ("pi", "pi"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("cursor", "cursor/projects"),
    ("droid", "droid"),
];

/// What the notes of a host's transcripts tell, once each transcript was given to `change`.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    notes: usize,
    steps: usize,
    prompts: usize,
    answers: usize,
    broken: bool,
}

fn told(host: &str, folder: &str, change: &dyn Fn(&str) -> String) -> Told {
    let temp = tempfile::tempdir().unwrap();
    let path = |name: &str| temp.path().join(name);
    files::create(&path("vault/.cru/config.toml"), b"").unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
    copy(&corpus, &path("in"), change);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(temp.path()).env_clear().stdin(Stdio::null()).env("HOME", path("home"));
        command.env("CRU_VAULT", path("vault")).env("CRU_NOW", "2036-01-01T00:00:00Z").env("NO_COLOR", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let account = run(&["import", host, path("in").to_str().unwrap(), "-v"]);
    let notes: Vec<String> = fs::read_dir(path("vault/sessions"))
        .map(|entries| entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect())
        .unwrap_or_default();
    let lines = |is: &dyn Fn(&str) -> bool| notes.iter().flat_map(|note| note.lines()).filter(|line| is(line)).count();
    Told {
        notes: notes.len(),
        steps: lines(&|line| line.starts_with("- `") && line.contains(" ^n-")),
        prompts: lines(&|line| line.starts_with("> [!user]")),
        answers: lines(&|line| line.starts_with("> [!assistant]") || line.starts_with("> [!agent]")),
        broken: account.contains("broken"),
    }
}

fn copy(from: &Path, to: &Path, change: &dyn Fn(&str) -> String) {
    for entry in fs::read_dir(from).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target, change);
        } else {
            match String::from_utf8(fs::read(&path).unwrap()) {
                Ok(text) if !text.is_empty() => files::create(&target, change(&text).as_bytes()).unwrap(),
                _ => files::create(&target, &fs::read(&path).unwrap()).unwrap(),
            };
        }
    }
}

#[test]
fn no_host_loses_a_record_to_odd_text() {
    for (host, folder) in HOSTS {
        let plain = told(host, folder, &str::to_owned);
        assert!(plain.notes > 0 && plain.steps > 0, "{host}: {plain:?}");
        let marked = told(host, folder, &|text| format!("\u{feff}{text}"));
        assert_eq!(marked, plain, "{host}: byte order mark");
        let halved = told(host, folder, &|text| text.replace(" the ", " \\ud83dthe "));
        assert_eq!(halved, plain, "{host}: halves of characters");
        // As they stand in arguments that are a text of JSON.
        let nested = told(host, folder, &|text| text.replace(" the ", " \\\\ud83dthe "));
        assert_eq!(nested, plain, "{host}: halves of characters, escaped twice");
    }
}
