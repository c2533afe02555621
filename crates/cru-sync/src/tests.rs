//! Import with an invented agent, whose transcripts are lines of one word and its text.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::import::{Machine, Options, Unwatched, ingest};
use crate::report::{Outcome, Report, SessionReport};
use cru_base::{Error, Result, files};
use cru_session::event::{Call, CallResult, Event, EventKind, Prompt, PromptOrigin, StreamKey, SubagentRun};
use cru_session::source::{Account, Bundle, Consumed, Header, Importer, Sink};
use cru_vault::{State, Vault};

/// An importer in the place of one that is there, whose row in the table of agents it uses. First line `session <id> [<agent
/// id> <agent type>]`, then `day|P|R|C|O|S|junk text`.
const INVENTED: Importer = Importer {
    id: "hermes",
    recognise: |_, head| head.starts_with(b"session "),
    bundle: |mut files| {
        files.sort();
        Ok(files.into_iter().map(|file| Bundle::of(vec![file])).collect())
    },
    together: |_| Ok(Vec::new()),
    read,
    beside: |path| vec![path.to_owned()],
    hooked: None,
};

fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    for path in &bundle.files {
        let text = fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
        let mut lines = text.lines();
        let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let session = words[1].to_owned();
        let agent = words.get(2).map(|id| (*id).to_owned());
        let parent = agent.as_ref().map(|_| StreamKey { session: session.clone(), agent: None });
        let key = StreamKey { session: session.clone(), agent };
        let kind = words.get(3).map(|name| (*name).to_owned());
        sink.open(Header { key: key.clone(), parent, transcript: path.clone(), agent: kind, ..Header::default() });
        let bounds = sink.bounds(&key);
        let mut account = Account::default();
        let (mut hash, mut marked, mut open) = (blake3::Hasher::new(), None, None);
        let mut time = "2026-11-20T09:00:00Z".parse().ok();
        let mut consumed = 0;
        for (number, line) in lines.enumerate() {
            if bounds.until.is_some_and(|until| number as u64 >= until) {
                account.skip("later");
                continue;
            }
            hash.update(line.as_bytes());
            if bounds.mark == Some(number as u64 + 1) {
                marked = Some(hash.finalize().to_hex().to_string());
            }
            consumed = number as u64 + 1;
            let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
            let text = Cow::Borrowed(rest);
            let kind = match mark {
                "day" => {
                    time = rest.parse().ok();
                    account.represent();
                    continue;
                }
                "P" => EventKind::Prompt(Prompt { text, origin: PromptOrigin::Typed, attachments: Vec::new() }),
                "T" => EventKind::Prompt(Prompt { text, origin: PromptOrigin::Task, attachments: Vec::new() }),
                "R" => EventKind::Reply(text),
                "C" => {
                    open = Some(consumed);
                    EventKind::Call(Call { id: "c".into(), tool: "Bash".into(), args: text, input: Value::Null })
                }
                "O" => {
                    open = None;
                    EventKind::Result(CallResult { call: "c".into(), output: text, ..CallResult::default() })
                }
                "S" => {
                    open = None;
                    let stream = Some(StreamKey { session: session.clone(), agent: Some(rest.to_owned()) });
                    let run =
                        SubagentRun { stream, agent: Some("scout".into()), model: None, task: None, background: false };
                    EventKind::Result(CallResult { call: "c".into(), subagent: Some(run), ..CallResult::default() })
                }
                _ => {
                    account.skip("junk");
                    continue;
                }
            };
            account.represent();
            sink.event(&key, Event { record: number as u64 + 1, time, kind });
        }
        let hash = hash.finalize().to_hex().to_string();
        let consumed = Consumed { records: consumed, hash, marked, open, ..Consumed::default() };
        sink.close(&key, consumed);
        sink.account(path, account);
    }
    Ok(())
}

struct World {
    temp: tempfile::TempDir,
    vault: Vault,
}

impl World {
    fn new(config: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        files::create(&temp.path().join("vault/.cru/config.toml"), config.as_bytes()).unwrap();
        files::create_dir(&temp.path().join("in")).unwrap();
        let vault = Vault::open(&temp.path().join("vault")).unwrap();
        Self { temp, vault }
    }

    fn transcript(&self, name: &str, text: &str) {
        files::put(&self.temp.path().join("in").join(name), text.as_bytes()).unwrap();
    }

    fn import(&self) -> Report {
        self.import_with(&Options::default())
    }

    fn import_with(&self, options: &Options) -> Report {
        ingest(&self.vault, &INVENTED, &[self.temp.path().join("in")], options, &Unwatched).unwrap()
    }

    /// On a machine that remembers.
    fn grow(&self) -> Report {
        self.grow_at("2036-01-01T00:00:00Z", false)
    }

    fn grow_at(&self, now: &str, restore: bool) -> Report {
        let state = State::at(self.temp.path().join("state"));
        self.import_with(&Options {
            machine: Some(Machine { state, now: now.parse().unwrap() }),
            restore,
            ..Options::default()
        })
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.note(name);
        let old = files::read(&path).unwrap();
        let text = String::from_utf8(old.clone()).unwrap();
        assert!(text.contains(from), "{text}");
        files::replace(&path, &old, text.replacen(from, to, 1).as_bytes()).unwrap();
    }

    fn note(&self, name: &str) -> PathBuf {
        self.vault.root().join("sessions").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.note(name)).unwrap()
    }

    /// Every note with its bytes and time of change.
    fn notes(&self) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut notes: Vec<_> = ignore::Walk::new(self.vault.root())
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"))
            .map(|entry| {
                let path = entry.into_path();
                let (bytes, changed) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
                (path, bytes, changed)
            })
            .collect();
        notes.sort();
        notes
    }
}

fn outcomes(report: &Report) -> String {
    let line = |session: &SessionReport| {
        format!("{} {:?} {}", session.host_session, session.outcome, session.note.as_deref().unwrap_or("-"))
    };
    report.sessions.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn names_links_and_accounts() {
    let world = World::new("");
    world.transcript("b.jsonl", "session bbb\nP fix the login bug\nR ok\njunk\n");
    world.transcript("a.jsonl", "session aaa\nday 2026-11-21T00:00:00Z\nP Fix the Login bug!\nC task\nS x1\n");
    world.transcript("c.jsonl", "session ccc\nP fix the login bug\nR ok\n");
    world.transcript("x1.jsonl", "session aaa x1 scout\nT look around\nR nothing\n");
    world.transcript("e.jsonl", "session eee\nP hello\n");
    world.transcript("junk.jsonl", "{}\n");
    world.transcript("picture.png", "png");
    let report = world.import();
    insta::assert_snapshot!(outcomes(&report), @r"
    aaa/agent-x1 Created sessions/2026-11-21-fix-login-bug-scout.md
    bbb Created sessions/2026-11-20-fix-login-bug.md
    ccc Created sessions/2026-11-20-fix-login-bug-2.md
    eee Empty -
    aaa Created sessions/2026-11-21-fix-login-bug.md
    ");
    let parent = world.text("2026-11-21-fix-login-bug.md");
    assert!(parent.contains("> [[2026-11-21-fix-login-bug-scout]]"), "{parent}");
    assert!(parent.contains("- session: 2026-11-21-fix-login-bug-scout"), "{parent}");
    let child = world.text("2026-11-21-fix-login-bug-scout.md");
    assert!(child.contains("parent: \"[[2026-11-21-fix-login-bug]]\""), "{child}");
    let reasons: Vec<String> = report
        .files
        .iter()
        .filter_map(|file| Some(format!("{} {}", file.path.file_name()?.to_str()?, file.reason.as_ref()?)))
        .collect();
    assert_eq!(reasons, ["e.jsonl empty: no prompt, or no answer to it", "junk.jsonl not a transcript of this agent"]);
    assert!(report.records.balances());
    assert_eq!((report.records.records, report.records.skipped["junk"]), (12, 1));
}

#[test]
fn twice_changes_nothing_wherever_the_note_was_moved() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nC ls\nO x\n");
    world.transcript("b.jsonl", "session bbb\nP three\nR four\n");
    world.import();
    let moved = world.vault.root().join("sessions/archive/2026/renamed.md");
    let old = world.note("2026-11-20-one.md");
    files::create(&moved, &files::read(&old).unwrap()).unwrap();
    files::remove(&old).unwrap();
    let before = world.notes();
    let report = world.import();
    assert_eq!(world.notes(), before);
    assert_eq!((report.count(Outcome::Unchanged), report.sessions.len()), (2, 2));
    assert_eq!(report.sessions[0].note.as_deref(), Some("sessions/archive/2026/renamed.md"));
}

#[test]
fn a_deleted_block_stays_deleted_and_words_of_a_person_stay() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nC ls\nO x\n");
    world.import();
    let path = world.note("2026-11-20-one.md");
    let old = files::read(&path).unwrap();
    let text = String::from_utf8(old.clone()).unwrap();
    let edited = text.replace("\ntwo\n", "\n").replace("# One", "# One, as I saw it");
    assert_ne!(edited, text);
    files::replace(&path, &old, edited.as_bytes()).unwrap();
    assert_eq!(world.import().count(Outcome::Unchanged), 1);
    assert_eq!(world.text("2026-11-20-one.md"), edited);
}

#[test]
fn a_transcript_that_grew_leaves_its_note_alone() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    world.import();
    let before = world.notes();
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nP three\nR four\n");
    let report = world.import();
    assert_eq!(world.notes(), before);
    assert_eq!(report.sessions[0].outcome, Outcome::Grown);
    assert_eq!(report.sessions[0].detail.as_deref(), Some("2 new records"));
}

#[test]
fn children_find_parents_of_earlier_runs_and_parents_their_children() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nC task\nS x1\n");
    world.import();
    world.transcript("x1.jsonl", "session aaa x1 scout\nT look\nR seen\n");
    world.import();
    assert!(world.text("2026-11-20-one-scout.md").contains("parent: \"[[2026-11-20-one]]\""));

    let other = World::new("");
    other.transcript("x1.jsonl", "session aaa x1 scout\nT look\nR seen\n");
    other.import();
    other.transcript("a.jsonl", "session aaa\nP one\nC task\nS x1\n");
    other.import();
    assert!(other.text("2026-11-20-one.md").contains("> [[2026-11-20-look]]"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    let report = world.import_with(&Options { dry_run: true, ..Options::default() });
    assert_eq!(report.count(Outcome::Created), 1);
    assert!(world.notes().is_empty() && !world.vault.root().join("sessions").exists());
}

#[test]
fn the_configuration_decides_about_folder_agent_channel_and_exclusion() {
    let config = "[vault]\nsessions = \"log\"\n[import]\nexclude = [\"bbb\"]\nagent = \"coder@2\"\nchannel = \"dev\"\n";
    let world = World::new(config);
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    world.transcript("b.jsonl", "session bbb\nP one\nR two\n");
    let report = world.import();
    assert_eq!(report.count(Outcome::Excluded), 1);
    let text = fs::read_to_string(world.vault.root().join("log/2026-11-20-one.md")).unwrap();
    assert!(text.contains("## One @coder@2 #dev\n"), "{text}");
}

#[test]
fn hostile_names_stay_inside() {
    let world = World::new("");
    world.transcript("a.jsonl", "session ../../etc\nP ../../../etc/passwd\nR two\n");
    world.import();
    assert!(world.note("2026-11-20-passwd.md").is_file());
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let bytes = |threads: usize| {
        let world = World::new("");
        for number in 0..40 {
            let day = number % 3 + 1;
            let text = format!("session s{number:02}\nday 2026-11-0{day}T00:00:00Z\nP go\nC task\nS x{number}\n");
            world.transcript(&format!("{number}.jsonl"), &text);
            let child = format!("session s{number:02} x{number} scout\nT look\nR seen\n");
            world.transcript(&format!("x{number}.jsonl"), &child);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| world.import());
        let root = world.temp.path().to_str().unwrap().to_owned();
        let notes = world.notes().into_iter();
        let notes = notes.map(|(path, text, _)| {
            let name = path.strip_prefix(&root).unwrap().to_owned();
            (name, String::from_utf8(text).unwrap().replace(&root, ""))
        });
        notes.collect::<Vec<_>>()
    };
    let one = bytes(1);
    assert_eq!(one.len(), 80);
    assert_eq!(one, bytes(8));
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let world = World::new("");
    let error = ingest(&world.vault, &INVENTED, &[Path::new("/nowhere").into()], &Options::default(), &Unwatched);
    assert_eq!(error.unwrap_err().exit_code(), 3);
}

#[test]
fn a_note_gets_what_its_transcript_gained_and_keeps_what_a_person_did() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nC ls\nO x\n");
    world.grow();
    let name = "2026-11-20-one.md";
    world.edit(name, "\ntwo\n", "\nmine\n");
    world.edit(name, "# One", "# One, as I saw it");
    let more = "P Write a test for all of it and run them until they pass\nR four\n";
    world.transcript("a.jsonl", &format!("session aaa\nP one\nR two\nC ls\nO x\n{more}"));
    let report = world.grow();
    assert_eq!((report.count(Outcome::Updated), report.new_records), (1, 2));
    let text = world.text(name);
    for words in ["# One, as I saw it\n", "\nmine\n", "`Bash ls` → `x`", "## Write a test", "\nfour\n", " ^p-02\n"] {
        assert_eq!(text.matches(words).count(), 1, "{words} in {text}");
    }
    assert!(!text.contains("\ntwo\n") && !text.contains("conflict"), "a block that is gone stays gone: {text}");
    let before = world.notes();
    assert_eq!(world.grow().count(Outcome::Unchanged), 1);
    assert_eq!(world.notes(), before);
    // Without the machine's memory the same is made of the records behind the cursor.
    fs::remove_dir_all(world.temp.path().join("state")).unwrap();
    world.transcript("a.jsonl", &format!("session aaa\nP one\nR two\nC ls\nO x\n{more}C pwd\nO here\n"));
    assert_eq!(world.grow().count(Outcome::Updated), 1);
    let text = world.text(name);
    assert!(text.contains("`Bash pwd` → `here`") && text.contains("\nmine\n") && !text.contains("\ntwo\n"), "{text}");
    assert!(!text.contains("conflict"), "{text}");
}

#[test]
fn another_transcript_is_told_and_left() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    world.grow();
    let before = world.notes();
    world.transcript("a.jsonl", "session aaa\nP one\nR other words\nR three\n");
    let report = world.grow();
    assert_eq!(report.sessions[0].detail.as_deref(), Some("the transcript is another one than it was"));
    world.transcript("a.jsonl", "session aaa\nP one\n");
    let report = world.grow();
    assert_eq!(report.sessions[0].detail.as_deref(), Some("an older copy of the transcript"));
    assert_eq!(world.notes(), before);
}

#[test]
fn a_note_that_was_deleted_is_made_again_only_when_asked() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    world.grow();
    files::remove(&world.note("2026-11-20-one.md")).unwrap();
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nR three\n");
    let report = world.grow();
    assert_eq!((report.count(Outcome::Deleted), world.notes().len()), (1, 0));
    assert_eq!(report.files[0].reason.as_deref(), Some("its note is gone; --restore makes it again"));
    let report = world.grow_at("2036-01-01T00:00:00Z", true);
    assert_eq!((report.count(Outcome::Created), world.notes().len()), (1, 1));
}

#[test]
fn a_parent_gets_the_link_to_a_child_that_comes_later() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nC task\nS x1\n");
    world.grow();
    assert!(!world.text("2026-11-20-one.md").contains("[[2026-11-20-one-scout]]"));
    world.transcript("x1.jsonl", "session aaa x1 scout\nT look\nR seen\n");
    let report = world.grow();
    assert_eq!((report.count(Outcome::Created), report.count(Outcome::Updated)), (1, 1));
    let parent = world.text("2026-11-20-one.md");
    assert!(parent.contains("> [[2026-11-20-one-scout]]"), "{parent}");
    assert!(parent.contains("- session: 2026-11-20-one-scout"), "{parent}");
    // The child's file is not at hand: its link stays.
    files::remove(&world.temp.path().join("in/x1.jsonl")).unwrap();
    world.transcript("a.jsonl", "session aaa\nP one\nC task\nS x1\nR done\n");
    assert_eq!(world.grow().count(Outcome::Updated), 1);
    assert!(world.text("2026-11-20-one.md").contains("> [[2026-11-20-one-scout]]"));
}

#[test]
fn a_running_session_is_told_up_to_the_first_open_call() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    world.grow();
    world.edit("2026-11-20-one.md", "status: completed", "status: active");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nR three\nC ls\n");
    world.grow_at("2026-11-20T09:05:00Z", false);
    let text = world.text("2026-11-20-one.md");
    assert!(text.contains("\nthree\n") && !text.contains("no result") && text.contains("status: active"), "{text}");
    // An hour without a sign of life: what is open stays open.
    world.grow_at("2026-11-20T11:05:00Z", false);
    let text = world.text("2026-11-20-one.md");
    assert!(text.contains("✗ no result recorded"), "{text}");
    assert!(text.contains("status: active"), "a person's word stays: {text}");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\nR three\nC ls\nO late\n");
    world.grow_at("2026-11-20T11:06:00Z", false);
    let text = world.text("2026-11-20-one.md");
    assert!(text.contains("`Bash ls` → `late`") && !text.contains("no result"), "{text}");
}

/// A name that something takes between the plan and the write leaves its session to be made by the next import.
#[cfg(unix)]
#[test]
fn a_session_whose_name_was_taken_is_made_by_the_next_import() {
    let world = World::new("");
    world.transcript("a.jsonl", "session aaa\nP one\nR two\n");
    // A link that leads nowhere is no note, and takes the name.
    let taken = world.note("2026-11-20-one.md");
    files::create_dir(taken.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", &taken).unwrap();
    let first = world.grow();
    assert!(!outcomes(&first).contains("Created sessions/2026-11-20-one.md"), "{}", outcomes(&first));
    assert!(files::remove(&taken).unwrap());
    assert_eq!(outcomes(&world.grow()), "aaa Created sessions/2026-11-20-one.md");
}
