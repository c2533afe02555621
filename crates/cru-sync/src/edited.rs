//! No edit is lost: random edits of a person between imports, growth, renewals, readings, renames, logs, merges of copies and
//! undoings, on two machines, in copies, with what machines keep and the seals deleted in between.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::import::again::{AgainOptions, again};
use crate::import::{Machine, Options, Unwatched, ingest};
use crate::merge::merge;
use crate::rename::RenameGround;
use crate::top;
use cru_base::{Env, files};
use cru_live::entry::Entry;
use cru_live::log::{Log, Target};
use cru_reading::Ledger;
use cru_reading::answer::{Answer, Claim, Summary};
use cru_reading::check::Checked;
use cru_reading::note::{ReadingHead, path_of, read, render};
use cru_session::ReviewStatus;
use cru_session::detail::Level;
use cru_session::op::Op;
use cru_session::source::Importer;
use cru_vault::state::key;
use cru_vault::writer::{Plan, Which, Writer};
use cru_vault::{Catalog, Head, State, Vault, VaultPath};

const SESSION: &str = "c0ffee00-0000-4000-8000-000000000042";
const NOW: &str = "2036-01-01T00:00:00Z";

/// A session of an agent that grows, and what a person wrote into its note.
struct World {
    temp: tempfile::TempDir,
    /// How often the vault was copied.
    copies: usize,
    records: Vec<String>,
    words: Vec<String>,
    written: usize,
    gone: Vec<String>,
    accepted: u32,
    /// The status that a person typed.
    status: Option<&'static str>,
    /// Whether nothing but generated text stands in the note.
    is_untouched: bool,
    /// The note before and after the last renewal, and who made it.
    renewed: Option<(String, String, usize)>,
    /// Whether the seals were lost.
    is_unsealed: bool,
    /// Whether a copy was merged.
    is_merged: bool,
    /// What was written into copies that were merged: undoing a merge takes it out.
    merged: Vec<String>,
}

impl World {
    fn new() -> Self {
        let world = Self {
            temp: tempfile::tempdir().unwrap(),
            copies: 0,
            records: Vec::new(),
            words: Vec::new(),
            written: 0,
            gone: Vec::new(),
            accepted: 0,
            status: None,
            is_untouched: true,
            renewed: None,
            is_unsealed: false,
            is_merged: false,
            merged: Vec::new(),
        };
        files::create(&world.root().join(".cru/config.toml"), b"[vault]\nid = \"edited\"\n").unwrap();
        world
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join(format!("vault{}", self.copies))
    }

    fn vault(&self) -> Vault {
        Vault::open(&self.root()).unwrap()
    }

    fn machine(&self, of: usize) -> Machine {
        // Each copy has machines of its own.
        let state = State::at(self.temp.path().join(format!("state{}-{of}/edited", self.copies)));
        Machine { state, now: NOW.parse().unwrap() }
    }

    fn importer() -> &'static Importer {
        cru_agents::of_host("claude-code").unwrap()
    }

    fn record(&mut self, kind: &str, content: &Value) {
        let number = self.records.len();
        let mut message = json!({ "role": kind, "content": content });
        if kind == "assistant" {
            message["id"] = format!("m{number}").into();
            message["model"] = "claude-sonnet-4-5".into();
            message["usage"] = json!({ "input_tokens": 10, "output_tokens": 5 });
        }
        let record = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/mara/code/tidepool",
            "sessionId": SESSION, "version": "2.1.40", "gitBranch": "main", "type": kind,
            "uuid": format!("c0ffee00-0000-4000-9000-{number:012}"),
            "timestamp": format!("2025-03-01T{:02}:{:02}:00.000Z", 9 + number / 60, number % 60), "message": message,
        });
        self.records.push(record.to_string());
    }

    fn work(&mut self, more: usize) {
        for _ in 0..more {
            let at = self.records.len();
            if at.is_multiple_of(3) {
                self.record("user", &json!(format!("Raise the limit of tide {at}")));
            }
            self.record("assistant", &json!([{ "type": "text", "text": format!("Looking at tide {at} now.") }]));
            let id = format!("toolu_{at}");
            let (tool, input, answer) = match at % 4 {
                0 => ("Read", json!({ "file_path": format!("/home/mara/code/tidepool/src/t{at}.rs") }), "1→limit = 3"),
                1 => ("Bash", json!({ "command": format!("cargo test t{at}") }), "test result: ok. 3 passed; 0 failed"),
                2 => (
                    "Edit",
                    json!({ "file_path": "/home/mara/code/tidepool/src/a.rs", "old_string": format!("{at}"), "new_string": "x" }),
                    "done",
                ),
                _ => (
                    "TodoWrite",
                    json!({ "todos": [{ "content": "Raise it", "status": if at % 8 < 4 { "pending" } else { "completed" }, "activeForm": "x" },
                        { "content": "Ask Mia", "status": "pending", "activeForm": "y" }] }),
                    "ok",
                ),
            };
            self.record("assistant", &json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]));
            self.record("user", &json!([{ "type": "tool_result", "tool_use_id": id, "content": answer }]));
        }
        let path = self.temp.path().join(format!("in/{SESSION}.jsonl"));
        files::put(&path, (self.records.join("\n") + "\n").as_bytes()).unwrap();
    }

    fn import(&self, on: usize, restore: bool) {
        let options = Options { machine: Some(self.machine(on)), restore, ..Options::default() };
        ingest(&self.vault(), Self::importer(), &[self.temp.path().join("in")], &options, &Unwatched).unwrap();
    }

    fn again(&mut self, on: usize, level: Level) {
        let env = Env::fixed(NOW.parse().unwrap(), "/", &[("HOME", "/nowhere")]);
        let options = AgainOptions { level: Some(level), ..AgainOptions::default() };
        let wanted = [self.head().path];
        let before = self.text();
        let done =
            again(&self.vault(), &env, &self.machine(on), &wanted, &options, &Unwatched, &mut |_| Ok(true)).unwrap();
        if self.is_untouched {
            assert_eq!(done.first().and_then(|it| it.left.clone()), None);
            let fresh = self.fresh(level);
            assert_eq!(bare(&self.text()), bare(&fresh), "what nobody touched is as a new note of {level:?}");
            self.renewed = Some((before, self.text(), on)).filter(|(before, after, _)| bare(before) != bare(after));
        }
    }

    /// The note as another vault gets it.
    fn fresh(&self, level: Level) -> String {
        let root = self.temp.path().join("fresh");
        files::remove_derived(&root).unwrap();
        files::create(&root.join(".cru/config.toml"), b"").unwrap();
        let mut options = Options::default();
        options.fold.level = level;
        let vault = Vault::open(&root).unwrap();
        ingest(&vault, Self::importer(), &[self.temp.path().join("in")], &options, &Unwatched).unwrap();
        let path = fs::read_dir(root.join("sessions")).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(path).unwrap()
    }

    fn head(&self) -> Head {
        let heads: Vec<Head> = Catalog::read(&self.vault()).sessions().cloned().collect();
        assert_eq!(heads.len(), 1, "{heads:?}");
        heads.into_iter().next().unwrap()
    }

    fn path(&self) -> PathBuf {
        self.vault().file(&self.head().path)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn save(&self, text: &str) {
        let path = self.path();
        let old = files::read(&path).unwrap();
        files::replace(&path, &old, text.as_bytes()).unwrap();
    }

    fn word(&mut self) -> String {
        self.written += 1;
        format!("mine{}", self.written)
    }

    fn rename(&mut self, on: usize) {
        let head = self.head();
        // The command takes the title that was there away.
        let text = self.text();
        let named = |line: &&str| {
            line.starts_with("title:")
                || line.starts_with("  - ")
                || line.starts_with("# ")
                || line.starts_with("> [!summary]")
        };
        let names: Vec<&str> = text.lines().filter(named).collect();
        self.words.retain(|word| !names.iter().any(|line| has_word(line, word)));
        self.is_untouched = false;
        let title = format!("Called number {}", self.written);
        let (vault, Machine { state, now }) = (self.vault(), self.machine(on));
        let catalog = Catalog::read(&vault);
        RenameGround { vault: &vault, catalog: &catalog, state: &state, now }.rename(&head, &title, false).unwrap();
    }

    fn log(&mut self, on: usize) {
        self.is_untouched = false;
        let word = self.word();
        let (vault, Machine { state, now }) = (self.vault(), self.machine(on));
        let log = Log::new(&vault, &state, now).unwrap();
        let target = Target::of(&self.head());
        log.add(&target, &Entry::parse(&format!("{{\"event\":\"note\",\"text\":\"Said {word}\"}}")).unwrap()).unwrap();
        log.flush(&target, "log note").unwrap();
        self.words.push(word);
        // A paused session goes on with what is logged.
        self.status = self.status.filter(|status| *status != "status: paused");
    }

    fn undo(&mut self, on: usize) {
        let before = self.text();
        let (vault, Machine { state, now }) = (self.vault(), self.machine(on));
        let head = self.head();
        let done = Writer::new(&vault, &state, now).undo(&key(&head.id()), &head.path, Which::Newest(1), false);
        if let Some((old, _, _)) = self.renewed.take().filter(|(_, new, by)| *new == before && *by == on) {
            done.as_ref().unwrap();
            assert_eq!(bare(&self.text()), bare(&old), "a renewal is taken back whole");
        }
        if done.is_ok() {
            // What was logged by command is taken back by command.
            let after = self.text();
            let is_told = |word: &String| before.contains(&format!("Said {word}")) || self.merged.contains(word);
            let logged = |word: &String| is_told(word) && !has_word(&after, word);
            self.words.retain(|word| !logged(word));
            // What the write took out comes back by command, also where a person had taken it out as well.
            self.gone.retain(|gone| !is_there(&after, gone));
            self.is_untouched = false;
        }
    }

    /// A reading is accepted or rejected.
    fn read(&mut self, on: usize) {
        let (vault, Machine { state, now }) = (self.vault(), self.machine(on));
        let head = self.head();
        let stem = head.path.stem().into_owned();
        self.accepted += 1;
        let is_accepted = !self.accepted.is_multiple_of(3);
        let text = format!("A pump that works {}.", (self.accepted - 1) / 3);
        let summary = Summary { goal: Some(Claim { text, proof: Vec::new() }), ..Summary::default() };
        let answer = Answer { reading: 1, session: stem.clone(), summary, ..Answer::default() };
        let status = if is_accepted { ReviewStatus::Accepted } else { ReviewStatus::Rejected };
        let (session, _) = cru_session::read::session(&cru_note::Note::parse(self.text()));
        let note = Ledger::of(&session, false, &HashMap::new()).note();
        let of = ReadingHead { session: stem.clone(), note, status, ..ReadingHead::default() };
        let text = render(&of, "x", &Checked { answer, findings: Vec::new(), claims: 1, kept: 1 });
        let path = path_of(&stem, 1);
        files::put(&vault.root().join(&path), text.as_bytes()).unwrap();
        let link = Value::from(format!("[[{stem}@1]]"));
        let session = key(&head.id());
        let set = |note: &cru_note::Note, _: &cru_vault::writer::Known| {
            let is_there = note.text().contains("\nreading: ");
            let op = Op::Set { key: "reading".to_owned(), old: None, new: Some(link.clone()) };
            Ok(Plan { ops: if is_there { Vec::new() } else { vec![op] }, ..Plan::default() })
        };
        let mut set = set;
        Writer::new(&vault, &state, now).write(&session, &head.path, &mut set).unwrap();
        self.is_untouched = false;
        let reading = read(&path, &text).unwrap();
        top::refresh((&vault, &state, now), &session, &head.path, &[&reading]).unwrap();
    }

    fn edit(&mut self, what: u8, at: usize) {
        let text = self.text();
        let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let body = lines.iter().skip(1).position(|line| line == "---").map_or(0, |at| at + 2);
        let is = |number: usize, line: &str| match what {
            0 => number < body && line.starts_with("title: "),
            1 => line.starts_with("# "),
            2 => line.starts_with("> Result") || line.starts_with("> Asked") || line.starts_with("> Files"),
            3 => line.starts_with("- ["),
            4 | 8 => line.contains(" ^n-") && line.starts_with("- `"),
            5 | 9 => line.starts_with("Looking at"),
            6 => number < body && (line.starts_with("model: ") || line.starts_with("branch: ")),
            10 | 11 => number >= body && line.trim().is_empty(),
            7 => number >= body && line.starts_with("## "),
            12 => number < body && line.starts_with("status: "),
            _ => number >= body && line.starts_with("Looking at"),
        };
        let all: Vec<usize> = (0..lines.len()).filter(|&at| is(at, &lines[at])).collect();
        let Some(&line) = all.get(at % all.len().max(1)) else { return };
        self.is_untouched = false;
        let word = self.word();
        let old = lines[line].trim_end().to_owned();
        match what {
            3 | 4 => {
                let (head, id) = old.rsplit_once(" ^").map_or((old.as_str(), None), |(head, id)| (head, Some(id)));
                let id = id.map(|id| format!(" ^{id}")).unwrap_or_default();
                lines[line] = format!("{} {word}{id}", head.replacen("[ ]", "[x]", 1));
            }
            8 => {
                lines.remove(line);
                let mut nested = String::new();
                while lines.get(line).is_some_and(|next| next.starts_with("    ")) {
                    nested.push_str(&lines.remove(line));
                }
                self.words.retain(|word| !has_word(&old, word) && !has_word(&nested, word));
                self.gone.push(old.rsplit_once(" ^").unwrap().1.to_owned());
            }
            9 => {
                lines.remove(line);
                self.words.retain(|word| !has_word(&old, word));
                if old.ends_with(" now.") {
                    self.gone.push(old);
                }
            }
            10 => lines.insert(line, format!("{eol}%% {word} %%")),
            11 => lines.insert(line, format!("{eol}A paragraph, {word}.")),
            12 => {
                let status = ["status: blocked", "status: paused", "status: failed"][at % 3];
                // Without seals a session that is paused goes on and ends.
                self.status = Some(status).filter(|status| !self.is_unsealed || *status != "status: paused");
                status.clone_into(&mut lines[line]);
            }
            13 => {
                // It goes to the end, with a word of theirs.
                lines.remove(line);
                lines.push(format!("{eol}{old} {word}"));
            }
            _ => {
                lines[line] = match old.strip_suffix('"') {
                    Some(quoted) => format!("{quoted} {word}\""),
                    None => format!("{old} {word}"),
                }
            }
        }
        if !matches!(what, 8 | 9 | 12) {
            self.words.push(word);
        }
        self.save(&(lines.join(eol) + eol));
    }

    /// Two edits of one text, of which a sync service keeps one in a copy, and the copy is merged.
    fn merge(&mut self, on: usize, edits: [(u8, usize); 2]) {
        let before = self.text();
        let [here, there] = edits;
        self.edit(here.0, here.1);
        let own = self.text();
        self.save(&before);
        let written = self.written;
        self.edit(there.0, there.1);
        let other = self.text();
        self.save(&own);
        self.merged.extend((written + 1..=self.written).map(|number| format!("mine{number}")));
        let (vault, head) = (self.vault(), self.head());
        let name = head.path.to_string().replace(".md", " (conflicted copy 2026-11-21).md");
        let path = VaultPath::new(name).unwrap();
        files::put(&vault.file(&path), other.as_bytes()).unwrap();
        let Machine { state, now } = self.machine(on);
        let merged = merge(&vault, &state, now, &head, &path, false).unwrap();
        // A callout on a property says what is wanted now.
        let is_told = |line: &&String| line.starts_with("> You have changed this property") && !line.contains("mine");
        let missing: Vec<_> = merged.missing.iter().filter(|line| !is_told(line)).collect();
        assert_eq!(missing, Vec::<&String>::new(), "{own}\n{other}");
        self.is_untouched = false;
        self.is_merged = true;
    }

    fn copy(&mut self) {
        let from = self.root();
        self.copies += 1;
        copy_all(&from, &self.root());
        // The original is another vault now.
        files::remove_derived(&from).unwrap();
    }

    fn check(&self, all: &[Did], at: usize) {
        let all = &all[..=at];
        let text = self.text();
        for word in &self.words {
            let count = text.split(|c: char| !c.is_alphanumeric()).filter(|it| it == word).count();
            // Without a base a block that one side has changed stands there as both have it.
            let is_right = if self.is_merged { count > 0 } else { count == 1 };
            assert!(is_right, "{word}: {count} times after {all:?}:\n{text}\n{}", self.seals());
        }
        for at in 0..self.records.len() {
            for told in [
                format!("Looking at tide {at} now."),
                format!("- `Read src/t{at}.rs`"),
                format!("- `cargo test t{at}`"),
            ] {
                let count = text.lines().filter(|line| line.starts_with(&told)).count();
                assert!(count <= 1 || self.is_merged, "{told} stands twice after {all:?}:\n{text}\n{}", self.seals());
            }
        }
        if let Some(status) = self.status {
            assert!(text.lines().any(|line| line == status), "{status} after {all:?}:\n{text}\n{}", self.seals());
        }
        for gone in &self.gone {
            assert!(!is_there(&text, gone), "{gone} is back after {all:?}:\n{text}\n{}", self.seals());
        }
    }

    fn seals(&self) -> String {
        fs::read_to_string(self.seals_path()).unwrap_or_default()
    }

    fn seals_path(&self) -> PathBuf {
        self.root().join(".cru/seals").join(format!("{}.txt", key(&self.head().id())))
    }
}

/// Whether a block stands in a text: a step by its id, another one by its words.
fn is_there(text: &str, block: &str) -> bool {
    text.lines().any(|line| match block.strip_prefix("n-") {
        // What a callout quotes of another copy is no step of the note.
        Some(_) => line.ends_with(&format!(" ^{block}")) && !line.starts_with('>'),
        None => line == block,
    })
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|it| it == word)
}

/// What is generated of a note's text: line ends of Unix, and no line that only its vault has.
fn bare(text: &str) -> String {
    let of_vault = |line: &&str| !line.starts_with("cru_cursor:") && !line.starts_with("project_note:");
    text.lines().filter(of_vault).collect::<Vec<_>>().join("\n")
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &target);
        } else {
            files::put(&target, &fs::read(&path).unwrap()).unwrap();
        }
    }
}

#[derive(Clone, Debug)]
enum Did {
    Import(usize, usize),
    Again(usize, Level),
    Rename(usize),
    Log(usize),
    Undo(usize),
    Read(usize),
    Restore(usize),
    Edit(u8, usize),
    LineEnds,
    LoseState(usize),
    LoseBase(usize),
    LoseSeals,
    Copy,
    /// An editor saves, with an edit, what stood there before a renewal.
    Stale(usize, Level, u8, usize),
    /// Two machines save one text, each with an edit, and a copy that a sync service made of one is merged.
    Merge(usize, [(u8, usize); 2]),
}

fn did() -> impl Strategy<Value = Did> {
    let level = prop_oneof![Just(Level::Brief), Just(Level::Normal), Just(Level::Full)];
    let on = || 0..2_usize;
    prop_oneof![
        4 => (on(), 0..3_usize).prop_map(|(on, more)| Did::Import(on, more)),
        5 => (on(), level.clone()).prop_map(|(on, level)| Did::Again(on, level)),
        2 => (on(), level.clone(), 0..14_u8, 0..20_usize).prop_map(|(on, level, what, at)| Did::Stale(on, level, what, at)),
        2 => (on(), kept(), kept()).prop_map(|(on, here, there)| Did::Merge(on, [here, there])),
        1 => on().prop_map(Did::Rename),
        1 => on().prop_map(Did::Log),
        1 => on().prop_map(Did::Undo),
        2 => on().prop_map(Did::Read),
        1 => on().prop_map(Did::Restore),
        8 => (0..14_u8, 0..20_usize).prop_map(|(what, at)| Did::Edit(what, at)),
        1 => Just(Did::LineEnds),
        1 => on().prop_map(Did::LoseState),
        1 => on().prop_map(Did::LoseBase),
        1 => Just(Did::LoseSeals),
        1 => Just(Did::Copy),
    ]
}

/// An edit that takes nothing out, and is of nothing that one value only can stand for.
fn kept() -> impl Strategy<Value = (u8, usize)> {
    (prop_oneof![0..8_u8, 10..12_u8], 0..20_usize)
}

fn run(all: &[Did]) {
    let mut world = World::new();
    world.work(3);
    world.import(0, false);
    for (at, did) in all.iter().enumerate() {
        match *did {
            Did::Import(on, more) => {
                world.work(more);
                world.import(on, false);
            }
            Did::Again(on, level) => world.again(on, level),
            Did::Stale(on, level, what, at) => {
                let buffer = world.text();
                world.again(on, level);
                world.save(&buffer);
                world.edit(what, at);
                world.is_untouched = false;
            }
            Did::Merge(on, edits) => world.merge(on, edits),
            Did::Rename(on) => world.rename(on),
            Did::Log(on) => world.log(on),
            Did::Undo(on) => world.undo(on),
            Did::Read(on) => world.read(on),
            Did::Restore(on) => world.import(on, true),
            Did::Edit(what, at) => world.edit(what, at),
            Did::LineEnds => {
                let text = world.text();
                let unix = text.replace("\r\n", "\n");
                world.save(&if unix == text { unix.replace('\n', "\r\n") } else { unix });
            }
            Did::LoseState(on) => files::remove_derived(world.machine(on).state.dir()).unwrap(),
            Did::LoseBase(on) => files::remove_derived(&world.machine(on).state.dir().join("base")).unwrap(),
            Did::LoseSeals => {
                files::remove(&world.seals_path()).unwrap();
                world.is_untouched = false;
                // Without them nobody knows who took something out, or who paused the session.
                world.gone.clear();
                world.is_unsealed = true;
                world.status = None;
            }
            Did::Copy => world.copy(),
        }
        world.check(all, at);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_edit_is_lost(all in proptest::collection::vec(did(), 1..9)) {
        run(&all);
    }
}

/// Few, unless the environment asks for more.
fn cases() -> u32 {
    cru_base::Env::real().var("PROPTEST_CASES").and_then(|text| text.parse().ok()).unwrap_or(24)
}

#[test]
fn a_step_that_an_old_buffer_put_back_is_not_put_back_again() {
    run(&[Did::Stale(0, Level::Brief, 4, 0), Did::Again(1, Level::Brief), Did::Undo(0)]);
}

#[test]
fn a_pause_of_a_person_stays_behind_a_merge() {
    run(&[Did::Edit(12, 10), Did::Import(1, 1), Did::Merge(1, [(0, 0), (0, 0)]), Did::Import(0, 1)]);
}

#[test]
fn an_old_buffer_is_told_as_it_was() {
    run(&[Did::Stale(0, Level::Brief, 1, 0), Did::Import(0, 1), Did::Edit(9, 0)]);
    run(&[Did::Edit(4, 0), Did::Stale(1, Level::Brief, 6, 0), Did::Import(1, 1)]);
}

#[test]
fn a_step_with_words_of_a_person_is_told_once_in_each_detail() {
    run(&[Did::Edit(4, 0), Did::Again(0, Level::Brief), Did::Again(0, Level::Normal)]);
}

#[test]
fn what_was_undone_elsewhere_stands_once() {
    run(&[Did::Again(0, Level::Brief), Did::Import(1, 1), Did::Undo(1), Did::Again(0, Level::Normal)]);
}

#[test]
fn what_was_changed_in_an_old_buffer_is_not_told_again() {
    run(&[Did::Stale(0, Level::Brief, 5, 0), Did::Again(1, Level::Brief), Did::Again(0, Level::Normal)]);
}

#[test]
fn what_another_machine_told_is_not_told_again_behind_a_command() {
    run(&[Did::Import(0, 1), Did::Import(1, 1), Did::Rename(0), Did::Import(0, 1)]);
}

#[test]
fn what_a_callout_quotes_of_a_copy_is_no_step() {
    run(&[Did::Again(0, Level::Normal), Did::Merge(0, [(4, 7), (4, 7)]), Did::Edit(8, 15)]);
}

#[test]
fn a_copy_that_nobody_changed_is_merged_without_a_base() {
    let merged = Did::Merge(0, [(5, 18), (4, 19)]);
    run(&[Did::Again(1, Level::Brief), Did::LoseBase(0), Did::LoseBase(1), Did::Edit(7, 10), merged]);
}

#[test]
fn a_brief_note_that_grew_is_as_a_new_one() {
    run(&[Did::Again(0, Level::Brief), Did::Import(0, 2), Did::Import(0, 1), Did::Again(0, Level::Brief)]);
}
