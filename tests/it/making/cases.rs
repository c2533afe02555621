//! Cases through the program: notes that persons touched, what must not leave the vault, and vaults with little in them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cru::base::files;

use crate::making::secrets::shapes;

/// A vault in a temporary folder, with its machine state beside it.
struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { temp: tempfile::tempdir().unwrap() };
        assert!(place.cru(&["init", "."]).status.success());
        place
    }

    fn with(notes: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (name, text) in notes {
            place.put(&format!("sessions/{name}.md"), text);
        }
        place
    }

    fn root(&self) -> &Path {
        self.temp.path()
    }

    fn put(&self, name: &str, text: &str) {
        files::put(&self.root().join(name), text.as_bytes()).unwrap();
    }

    fn cru(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.root())
            .env("XDG_STATE_HOME", self.root().join(".state"));
        command.env("XDG_CONFIG_HOME", self.root().join(".config")).args(args).output().unwrap()
    }

    /// The files under a folder with their bytes.
    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.root().join(folder)];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(self.root()).unwrap().to_string_lossy().into_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        found
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A session with an error that was solved and a correction.
fn session(id: &str, about: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\ntitle: {about}\nstatus: completed\n---\n# {about}\n\n## Build @coder@1.0 #dev\n\n\
         *2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Make the {about} faster.\"\n\n**Tool calls:**\n\
         - `Bash cargo test -p {about}` → ✗ 2 of 9 failed in {about} (exit 101) ^n-001\n- `Edit src/{about}.rs` → +1 −1 ^n-002\n\
         - `Bash cargo test -p {about}` → 9 passed ^n-003\n\n> [!error] The {about} was empty\n> Nobody filled it.\n> Step: [[#^n-001]]\n\
         > Resolution: fill the {about} when it is made, see [[#^n-002]].\n\nThe {about} is filled.\n\n> [!user]\n\
         > \"no, fill the {about} only when it is asked\"\n\n**Tool calls:**\n- `Edit src/{about}.rs` → +4 −9 ^n-004\n\nIt is filled later now.\n"
    )
}

fn three() -> Place {
    let notes = ["cache", "table", "queue", "index", "store"]
        .map(|about| (about, session(&format!("2026-11-20-{about}"), about)));
    Place::with(&notes.each_ref().map(|(name, text)| (*name, text.as_str())))
}

#[test]
fn what_a_person_touched_survives_every_run() {
    let place = three();
    assert!(place.cru(&["session", "learn"]).status.success());
    let names: Vec<String> = place.files("cases").into_keys().collect();
    assert_eq!(names.len(), 10, "{names:?}");
    let id = |name: &str| {
        let text = fs::read_to_string(place.root().join(name)).unwrap();
        text.lines().find_map(|line| line.strip_prefix("case_id: ")).unwrap().to_owned()
    };
    // One is edited, one accepted, one rejected by command, one rejected by hand, one deleted, one moved.
    let text = fs::read_to_string(place.root().join(&names[0])).unwrap();
    let edited =
        text.replacen("## What it did then\n", "## What it did then\n\nAsked for it first, then filled it.\n\n", 1);
    assert_ne!(text, edited);
    place.put(&names[0], &edited);
    assert!(place.cru(&["cases", "accept", &id(&names[1])]).status.success());
    assert!(place.cru(&["cases", "reject", &id(&names[2])]).status.success());
    let text = fs::read_to_string(place.root().join(&names[3])).unwrap();
    place.put(&names[3], &text.replace("status: proposed", "status: rejected"));
    let deleted = id(&names[4]);
    files::remove(&place.root().join(&names[4])).unwrap();
    let moved = fs::read_to_string(place.root().join(&names[5])).unwrap();
    files::remove(&place.root().join(&names[5])).unwrap();
    place.put("cases/old/mine.md", &moved);
    let ids: Vec<String> = names[..4].iter().map(|name| id(name)).collect();
    // The sessions go on meanwhile: what nobody touched follows them.
    for about in ["cache", "table", "queue", "index", "store"] {
        let path = place.root().join(format!("sessions/{about}.md"));
        let text = fs::read_to_string(&path).unwrap();
        files::put(
            &path,
            text.replace("later now.", "later now, and tested.")
                .replace("when it is made", "as soon as it is made")
                .as_bytes(),
        )
        .unwrap();
    }
    let before = place.files("cases");
    let output = place.cru(&["session", "learn"]);
    assert!(output.status.success(), "{}", said(&output));
    let after = place.files("cases");
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>(),
        "nothing comes back: {}",
        said(&output)
    );
    for name in &names[..4] {
        assert_eq!(before[name], after[name], "{name}");
    }
    let renewed = after.iter().filter(|(name, bytes)| before[*name] != **bytes).count();
    assert_eq!(renewed, 5, "notes that nobody touched say what the sessions say now");
    // An export takes the edited text, and nothing that was rejected or deleted.
    let rows = place.cru(&["session", "learn", "--export", "jsonl"]);
    assert!(String::from_utf8(rows.stdout).unwrap().contains("Asked for it first, then filled it."));
    let rows = place.cru(&["session", "learn", "--export", "jsonl", "--proposed"]);
    let rows = String::from_utf8(rows.stdout).unwrap();
    assert_eq!(rows.lines().count(), 7);
    for gone in [&ids[2], &ids[3], &deleted] {
        assert!(!rows.contains(gone.as_str()), "{gone}");
    }
    let accepted = place.cru(&["session", "learn", "--export", "jsonl", "--accepted-only"]);
    let accepted = String::from_utf8(accepted.stdout).unwrap();
    assert_eq!(accepted.lines().count(), 1);
    assert!(accepted.contains(&ids[1]) && accepted.contains(r#""status":"accepted""#));
    // A third run writes nothing at all.
    assert!(place.cru(&["session", "learn"]).status.success());
    assert_eq!(place.files("cases"), after);
}

#[test]
fn cases_are_listed_shown_decided_and_checked() {
    let place = three();
    assert_eq!(place.cru(&["cases", "list"]).status.code(), Some(1));
    assert!(place.cru(&["session", "learn"]).status.success());
    let list = said(&place.cru(&["cases", "list"]));
    assert_eq!(list.matches("  proposed  ").count(), 10, "{list}");
    let id =
        list.lines().find_map(|line| line.split_whitespace().find(|word| word.starts_with("correction-"))).unwrap();
    assert!(said(&place.cru(&["cases", "show", id])).contains("## What it did then"));
    assert!(said(&place.cru(&["cases", "accept", &id[..18]])).contains("proposed → accepted"));
    assert!(said(&place.cru(&["cases", "accept", id])).contains("accepted already"));
    assert_eq!(place.cru(&["cases", "show", "nothing"]).status.code(), Some(1));
    assert_eq!(place.cru(&["cases", "reject", "correction"]).status.code(), Some(2), "an id that many have");
    assert!(place.cru(&["check", "c:"]).status.success());
    let name = place.files("cases").into_keys().next().unwrap();
    let text = fs::read_to_string(place.root().join(&name)).unwrap();
    let broken = text
        .replace("## What it did then", "## Then")
        .replace("status: proposed", "status: maybe")
        .replace("^u-", "^x-");
    place.put(&name, &broken.replace("status: accepted", "status: maybe"));
    let check = place.cru(&["check", "c:"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(
        said(&check).contains("expected behaviour is missing") && said(&check).contains("`status: maybe`"),
        "{}",
        said(&check)
    );
}

#[test]
fn nothing_private_leaves_the_vault() {
    let mut body = session("2026-11-20-leaks", "leaks");
    let mut hidden: Vec<String> = Vec::new();
    for (rule, secret, text) in shapes(3) {
        let _ = writeln!(body, "\nI found this ({rule}):\n\n{text}\n");
        hidden.push(secret);
    }
    for (text, personal) in [
        ("Ask anna.k@firma.de about it.", "anna.k@firma.de"),
        ("It runs on 81.169.145.66 now.", "81.169.145.66"),
        ("Call +49 30 1234567 first.", "1234567"),
        ("It is in /home/annak/code and /Users/annak/x.", "annak"),
        ("On Annas-MacBook-Pro.local it works.", "Annas-MacBook-Pro"),
        ("%%private the name of the client%% Done.", "the name of the client"),
    ] {
        let _ = writeln!(body, "\n{text}\n");
        hidden.push(personal.to_owned());
    }
    body.push_str("\n> [!user]\n> \"no, not there\"\n\nI put it elsewhere.\n");
    let withheld =
        session("2026-11-20-withheld", "withheld").replace("status: completed", "status: completed\nexport: false");
    let tagged =
        session("2026-11-20-tagged", "tagged").replace("status: completed", "status: completed\ntags:\n  - no-train");
    let place = three();
    place.put("sessions/leaks.md", &body);
    place.put("sessions/withheld.md", &withheld);
    place.put("sessions/tagged.md", &tagged);
    for args in [
        ["--export", "jsonl", "-o", "out/hf", "--dialect", "hf"],
        ["--export", "jsonl", "-o", "out/openai", "--dialect", "openai"],
        ["--export", "jsonl", "-o", "out/axolotl", "--dialect", "axolotl"],
        ["--export", "puzzle", "-o", "out/inspect", "--split", "0"],
        ["--export", "markdown", "-o", "out/notes", "--split", "0"],
    ] {
        let output = place.cru(&[&["session", "learn"], args.as_slice()].concat());
        assert!(output.status.success(), "{args:?}: {}", said(&output));
    }
    let promptfoo =
        ["session", "learn", "--export", "puzzle", "-o", "out/promptfoo", "--split", "0", "--eval", "promptfoo"];
    assert!(place.cru(&promptfoo).status.success());
    let files = place.files("out");
    assert!(files.len() > 15, "{:?}", files.keys());
    assert!(
        files.values().any(|bytes| String::from_utf8_lossy(bytes).contains("[secret:")),
        "the session itself is exported"
    );
    for (name, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        for hidden in &hidden {
            assert!(!text.contains(hidden.as_str()), "{name} holds {hidden}");
        }
        assert!(!text.contains("withheld") && !text.contains("tagged.md"), "{name}");
    }
}

#[test]
fn a_row_that_holds_a_secret_is_left_out_and_named() {
    let place = three();
    let secret = &shapes(5)[0].1;
    // What a template holds passes no mask.
    place.put("templates/prompt.md", &format!("You are an agent. Use {secret} to log in.\n"));
    let output = place.cru(&["session", "learn", "--export", "jsonl", "-o", "out"]);
    // No row is without it.
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("holds a secret or personal data"), "{}", said(&output));
    assert!(!said(&output).contains(secret.as_str()), "the value is never told");
    assert!(place.files("out").is_empty());
}

#[test]
fn little_to_learn_from_has_a_clear_outcome() {
    let place = Place::new();
    for args in [
        vec!["session", "learn"],
        vec!["session", "learn", "--export", "jsonl", "--dry-run"],
        vec!["session", "learn", "--export", "jsonl"],
    ] {
        assert_eq!(place.cru(&args).status.code(), Some(1), "{args:?}");
    }
    place.put("sessions/one.md", &session("2026-11-20-one", "one"));
    let output = place.cru(&["session", "learn", "--export", "jsonl", "-o", "out"]);
    assert!(output.status.success());
    let rows: usize = place
        .files("out")
        .iter()
        .filter(|(name, _)| name.ends_with("train.jsonl"))
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).lines().count())
        .sum();
    assert_eq!(rows, 1, "{}", said(&output));
    // Puzzles are split only where that is asked for: then one family cannot be asked about what it was trained on.
    let puzzles = place.cru(&["session", "learn", "--export", "puzzle"]);
    assert!(puzzles.status.success(), "{}", said(&puzzles));
    assert!(said(&puzzles).contains("nobody has judged these cases (1 proven)"), "{}", said(&puzzles));
    assert!(said(&puzzles).contains("\"grade\":\"proven\""), "{}", said(&puzzles));
    let puzzles = place.cru(&["session", "learn", "--export", "puzzle", "--split", "0.9"]);
    assert_eq!(puzzles.status.code(), Some(1));
    assert!(said(&puzzles).contains("of a session that is trained on"), "{}", said(&puzzles));
    // Of a session that is named all that it has, each with its grade.
    let proposed = session("2026-11-21-two", "two").replace("session_id: one", "session_id: two");
    place.put("sessions/two.md", &proposed);
    let named = place.cru(&["session", "learn", "two", "--export", "puzzle"]);
    assert!(named.status.success(), "{}", said(&named));
    let none = place.cru(&["session", "learn", "--type", "demonstration", "--export", "jsonl"]);
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn the_same_vault_gives_the_same_bytes_and_no_family_stands_on_two_sides() {
    let place = three();
    let child = session("2026-11-20-cache-helper", "helper")
        .replace("status: completed", "status: completed\nparent: \"[[cache]]\"");
    place.put("sessions/cache-helper.md", &child);
    let export = |dir: &str| {
        let output = place.cru(&["session", "learn", "--export", "jsonl", "-o", dir, "--split", "0.5"]);
        assert!(output.status.success(), "{}", said(&output));
        let files = place.files(dir);
        files.into_iter().map(|(name, bytes)| (name[dir.len()..].to_owned(), bytes)).collect::<BTreeMap<_, _>>()
    };
    let files = export("out-a");
    assert_eq!(files, export("out-b"));
    let mut sides: BTreeMap<String, std::collections::BTreeSet<&str>> = BTreeMap::new();
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".jsonl")) {
        let side = if name.ends_with("train.jsonl") { "train" } else { "validation" };
        for line in String::from_utf8_lossy(bytes).lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let root = row["metadata"]["root_session_id"].as_str().unwrap().to_owned();
            sides.entry(root).or_default().insert(side);
        }
    }
    assert!(sides.values().all(|sides| sides.len() == 1), "{sides:?}");
    assert_eq!(sides.values().flatten().collect::<std::collections::BTreeSet<_>>().len(), 2);
    assert!(!sides.contains_key("2026-11-20-cache-helper"), "a sub-agent belongs to its parent");
}

#[test]
fn what_found_no_name_is_written_once_there_is_one() {
    let place = Place::with(&[("s1", &session("s1", "parser"))]);
    assert!(place.cru(&["session", "learn"]).status.success());
    let notes = place.files("cases");
    // As if none had been written yet, and somebody's own notes had all the names.
    files::remove(&place.root().join(".cru/cases.txt")).unwrap();
    for name in notes.keys() {
        let id = String::from_utf8_lossy(&notes[name])
            .lines()
            .find_map(|it| it.strip_prefix("case_id: ").map(str::to_owned));
        place.put(name, "# mine\n");
        place.put(&format!("cases/{}.md", id.unwrap()), "# mine too\n");
    }
    let told = said(&place.cru(&["session", "learn"]));
    assert!(told.contains(&format!("{} not written: other files have their names", notes.len())), "{told}");
    assert!(place.files("cases").values().all(|bytes| bytes.starts_with(b"# mine")));
    // They were not deleted by anybody: an export has them, and the next run makes them.
    assert!(place.cru(&["session", "learn", "--export", "jsonl"]).status.success());
    for (name, _) in place.files("cases") {
        files::remove(&place.root().join(name)).unwrap();
    }
    place.cru(&["session", "learn"]);
    assert_eq!(place.files("cases"), notes);
}

#[test]
fn rows_of_one_dialect_take_the_place_of_those_of_another() {
    let place = three();
    let export = |dialect: &str| {
        let output = place.cru(&["session", "learn", "--export", "jsonl", "-o", "out", "--dialect", dialect]);
        assert!(output.status.success(), "{}", said(&output));
        (said(&output), place.files("out"))
    };
    let (_, hf) = export("hf");
    let (_, openai) = export("openai");
    let aside =
        |files: &BTreeMap<String, Vec<u8>>| files.keys().filter(|name| name.ends_with(".metadata.jsonl")).count();
    let rows = |files: &BTreeMap<String, Vec<u8>>| files.keys().filter(|name| name.ends_with(".jsonl")).count();
    assert_eq!((aside(&hf), aside(&openai) * 2), (0, rows(&openai)));
    assert!(
        openai
            .iter()
            .filter(|(name, _)| !name.contains("metadata"))
            .all(|(_, bytes)| { !String::from_utf8_lossy(bytes).contains(r#""metadata":{"#) })
    );
    assert!(export("openai").0.contains("unchanged"));
    assert_eq!(export("hf").1, hf, "nothing of the other is left");
    place.put("out/sft/train.jsonl", "mine");
    assert!(place.cru(&["session", "learn"]).status.success());
    for (_, bytes) in place.files("cases") {
        let text = String::from_utf8(bytes).unwrap();
        let id = text.lines().find_map(|line| line.strip_prefix("case_id: ")).unwrap();
        assert!(place.cru(&["cases", "accept", id]).status.success());
    }
    place.put("out/kto/train.jsonl", "mine");
    let output = place.cru(&["session", "learn", "--export", "jsonl", "-o", "out"]);
    assert!(!output.status.success() && said(&output).contains("was not written by an export"), "{}", said(&output));
}

#[test]
fn counts_are_the_same_wherever_they_are_told() {
    let place = three();
    let json = |args: &[&str]| -> serde_json::Value {
        let output = place.cru(&[&["session", "learn", "-f", "json"], args].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
    };
    let (stats, list) = (json(&["--export", "jsonl", "--dry-run"]), json(&["--dry-run"]));
    let notes = json(&[]);
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let all = stats["report"]["kinds"].as_object().unwrap().values().map(number).sum::<u64>();
    assert_eq!(
        (all, list["cases"].as_array().unwrap().len() as u64),
        (number(&notes["cases"]), number(&notes["cases"]))
    );
    assert_eq!(stats["report"]["kinds"], list["kinds"]);
    for standing in ["accepted", "judged", "proven", "proposed", "left_out"] {
        assert_eq!(list["standing"][standing], notes["standing"][standing], "{standing}");
        let told = &stats["report"]["standing"][standing.replace('_', " ")];
        assert_eq!(list["standing"][standing], *told, "{standing}");
    }
    assert_eq!(place.files("cases").len() as u64, all);
    // What is exported is what is proven, or proposed as well.
    let rows = |args: &[&str]| {
        let output = place.cru(&[&["session", "learn", "--export", "jsonl"], args].concat());
        String::from_utf8(output.stdout).unwrap().lines().count() as u64
    };
    let count = |standing: &str| list["standing"][standing].as_u64().unwrap_or_default();
    assert_eq!((rows(&[]), rows(&["--proposed"])), (count("proven"), count("proven") + count("proposed")));
    // The review tells of them, and what a person accepts is called so wherever it is told.
    let review = || said(&place.cru(&["review"]));
    assert!(review().contains(&format!("{all} proposed cases of `cru learn`: `cru list cases`")), "{}", review());
    let id =
        list["cases"].as_array().unwrap().iter().find(|case| case["standing"] == "proposed").unwrap()["id"].as_str();
    assert!(place.cru(&["review", "accept", id.unwrap()]).status.success());
    let accepted = json(&["--dry-run"]);
    assert_eq!(
        (&accepted["standing"]["accepted"], &accepted["standing"]["proven"]),
        (&1.into(), &list["standing"]["proven"])
    );
    assert!(review().contains(&format!("{} proposed cases", all - 1)), "{}", review());
}
