//! Sessions with hooks from their first prompt to their end, through the real program: each hook is a process with the
//! host's JSON on its stdin, as the host would start it, and the note is what a person finds.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use cru::base::files;
use cru::live::turn::Turn;
use cru::session::{FileRef, Item, LineAnchor, Session, Status, Step};
use cru::sync::hooked::Hooked;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::imports::growth::World;
use crate::running::replay::{COMPLETED, Recorded, compare, imported, place, recorded, told};
use crate::transcript_set::{TranscriptSet, on_both_sets};

/// Sessions of more events take too long with a process for each.
const MOST: usize = 320;

/// A vault whose hooks leave the writing as `flush` says.
fn world(flush: &str) -> World {
    let world = World::new();
    let config = format!("[hooks]\nflush = \"{flush}\"\n");
    files::put(&world.vault.root().join(".cru/config.toml"), config.as_bytes()).unwrap();
    world
}

fn run(world: &World, args: &[&str], now: Timestamp, vars: &[(&str, &str)], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
    let home = world.temp.path();
    command.args(args).env_clear().current_dir(home).env("HOME", home).env("PATH", "/bin:/usr/bin");
    command.env("CRU_VAULT", world.vault.root()).env("CRU_NOW", now.to_string()).envs(vars.iter().copied());
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn hook(world: &World, name: &str, time: Timestamp, vars: &[(&str, &str)], input: &Value) {
    let output = run(world, &["hook", name], time, vars, &input.to_string());
    let said = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((said.0.as_ref(), said.1.as_ref(), output.status.code()), ("", "", Some(0)), "{name}");
}

/// Runs what must succeed; its answer.
fn ok(world: &World, args: &[&str], now: Timestamp, vars: &[(&str, &str)]) -> String {
    let output = run(world, args, now, vars, "");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn no_trouble(world: &World) {
    let log = fs::read_to_string(world.state.hook_log()).unwrap_or_default();
    assert_eq!(log, "");
}

/// The session of the fixtures, and those of a set that are short enough.
fn short(set: &TranscriptSet) -> impl Iterator<Item = (PathBuf, bool, Recorded)> {
    let all = recorded(set).into_iter().map(|(path, invented)| {
        let recorded = Recorded::read(&path);
        (path, invented, recorded)
    });
    all.filter(|(path, invented, recorded)| *invented || recorded.events(path).len() <= MOST)
}

fn with_the_transcript_beside_it_is_the_imported_one(set: &TranscriptSet) {
    for (_, _, recorded) in short(set) {
        let whole = imported(&recorded);
        let world = world("never");
        let transcript = place(&world, &recorded);
        for (number, event) in recorded.events(&transcript).iter().enumerate() {
            hook(&world, event.name, event.time, &[], &event.input);
            let end = event.name == "session-end";
            if end || event.name == "stop" || number % 23 == 3 {
                recorded.write(&transcript, if end { recorded.lines.len() } else { event.written });
                ok(&world, &["flush", &recorded.session], event.time, &[]);
            }
        }
        no_trouble(&world);
        compare(&world, &whole, "flushed");
    }
}

fn without_a_transcript_it_tells_what_the_hooks_told(set: &TranscriptSet) {
    for (path, invented, recorded) in short(set) {
        let whole = imported(&recorded);
        let world = world("never");
        let transcript = place(&world, &recorded);
        let mut events = 0;
        for event in recorded.events(&transcript) {
            hook(&world, event.name, event.time, &[], &event.input);
            if matches!(event.name, "stop" | "session-end" | "subagent-stop") {
                ok(&world, &["flush", &recorded.session], event.time, &[]);
            }
            events += 1;
        }
        no_trouble(&world);
        let (notes, want) = (world.sessions(), whole.sessions());
        let (have, wanted) = (told(&notes[&recorded.session].1), told(&want[&recorded.session].1));
        let lacking: Vec<&String> = wanted.iter().filter(|line| !have.contains(line)).collect();
        let more: Vec<&String> = have.iter().filter(|line| !wanted.contains(line)).collect();
        let (missed, other) = (lacking.len(), more.len());
        println!("{}: {events} events, {} told, {missed} lacking, {other} instead", path.display(), wanted.len());
        println!("lacking {lacking:#?}, instead {more:#?}");
        if invented {
            assert!(lacking.is_empty() && more.is_empty());
            assert_eq!(notes.len(), want.len());
        }
        recorded.write(&transcript, recorded.lines.len());
        world.import();
        compare(&world, &whole, COMPLETED);
    }
}

#[test]
fn whoever_a_hook_starts_writes_the_note() {
    let (_, _, recorded) = short(&TranscriptSet::corpus()).next().unwrap();
    let whole = imported(&recorded);
    let world = world("background");
    let transcript = place(&world, &recorded);
    for event in recorded.events(&transcript) {
        recorded.write(&transcript, if event.name == "session-end" { recorded.lines.len() } else { event.written });
        hook(&world, event.name, event.time, &[], &event.input);
    }
    let begun = Instant::now();
    let key = Hooked::key("claude-code", &recorded.session);
    let is_closed = || {
        let notes = world.sessions();
        notes.get(&recorded.session).and_then(|(_, session)| session.meta.status.clone()).filter(Status::is_closed)
    };
    // Who has the turn is alone with the notes.
    let is_done = || {
        is_closed()?;
        let turn = Turn::take(&world.state, &key).unwrap();
        is_closed().map(|_| turn)
    };
    let _turn = loop {
        if let Some(turn) = is_done() {
            break turn;
        }
        assert!(begun.elapsed() < Duration::from_mins(2), "nobody wrote it");
        std::thread::sleep(Duration::from_millis(20));
    };
    no_trouble(&world);
    compare(&world, &whole, "in the background");
}

#[test]
fn a_hook_that_writes_itself_leaves_nothing_behind() {
    let (_, _, recorded) = short(&TranscriptSet::corpus()).next().unwrap();
    let whole = imported(&recorded);
    let world = world("inline");
    let transcript = place(&world, &recorded);
    let mut seen = 0;
    for event in recorded.events(&transcript) {
        recorded.write(&transcript, if event.name == "session-end" { recorded.lines.len() } else { event.written });
        hook(&world, event.name, event.time, &[], &event.input);
        if event.name == "stop" {
            seen += usize::from(world.sessions().contains_key(&recorded.session));
        }
    }
    assert!(seen > 0, "it is there before the end");
    no_trouble(&world);
    compare(&world, &whole, "inline");
}

/// An agent's program: it writes a transcript and calls its hooks.
struct Host {
    world: World,
    id: String,
    lines: Vec<String>,
    second: i64,
    written: bool,
    vars: Vec<(String, String)>,
}

impl Host {
    fn new(flush: &str) -> Self {
        let world = world(flush);
        files::create_dir(&world.temp.path().join("code/api")).unwrap();
        Self { world, id: "5e55a0f1".to_owned(), lines: Vec::new(), second: 0, written: true, vars: Vec::new() }
    }

    fn project(&self) -> PathBuf {
        self.world.temp.path().join("code/api")
    }

    fn transcript(&self) -> PathBuf {
        self.world.input().join(format!("project/{}.jsonl", self.id))
    }

    fn now(&self) -> Timestamp {
        "2026-11-20T09:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(self.second)
    }

    fn line(&mut self, kind: &str, message: &Value, more: &Value) {
        let uuid = |number: usize| format!("{number:08x}-{}", self.id);
        let number = self.lines.len();
        let parent = number.checked_sub(1).map(uuid);
        let mut line = json!({
            "parentUuid": parent, "uuid": uuid(number), "isSidechain": false, "userType": "external",
            "cwd": self.project(), "sessionId": self.id, "version": "2.1.40", "type": kind,
            "timestamp": self.now(), "message": message,
        });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.lines.push(line.to_string());
        if self.written {
            files::put(&self.transcript(), format!("{}\n", self.lines.join("\n")).as_bytes()).unwrap();
        }
        self.second += 1;
    }

    fn answer(&mut self, content: &Value) {
        let message = json!({
            "id": format!("msg_{}", self.lines.len()), "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": [content],
            "usage": { "input_tokens": 10, "output_tokens": 5 },
        });
        self.line("assistant", &message, &json!({}));
    }

    fn event(&self, name: &str, more: &Value) {
        let mut input = json!({ "session_id": self.id, "transcript_path": self.transcript(), "cwd": self.project() });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let vars: Vec<(&str, &str)> = self.vars.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        hook(&self.world, name, self.now(), &vars, &input);
    }

    fn prompt(&mut self, words: &str) {
        self.event("prompt", &json!({ "prompt": words }));
        self.line("user", &json!({ "role": "user", "content": words }), &json!({}));
    }

    /// A call of a tool, which does `work` and gives its result in words and as the host keeps it.
    fn call(&mut self, tool: &str, input: &Value, work: impl FnOnce(&mut Self) -> (String, Value)) {
        let id = format!("toolu_{}", self.lines.len());
        self.answer(&json!({ "type": "tool_use", "id": id, "name": tool, "input": input }));
        let call = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
        self.event("pre-tool", &call);
        let (words, response) = work(self);
        let mut done = call;
        done["tool_response"] = response.clone();
        self.event("post-tool", &done);
        let block = json!({ "type": "tool_result", "tool_use_id": id, "content": words });
        self.line("user", &json!({ "role": "user", "content": [block] }), &json!({ "toolUseResult": response }));
    }

    fn shell(&mut self, command: &str, work: impl FnOnce(&mut Self)) {
        self.call("Bash", &json!({ "command": command }), |host| {
            work(host);
            ("fine".to_owned(), json!({ "stdout": "fine", "stderr": "", "interrupted": false }))
        });
    }

    fn stop(&mut self, words: &str) {
        self.answer(&json!({ "type": "text", "text": words }));
        self.event("stop", &json!({ "last_assistant_message": words }));
    }

    /// `cru` as the agent calls it in its shell.
    fn cru(&self, args: &[&str]) -> String {
        ok(&self.world, args, self.now(), &[("CRU_SESSION", &self.id)])
    }

    fn note(&self) -> (String, Session) {
        let mut notes = self.world.sessions();
        notes.remove(&self.id).unwrap()
    }

    fn edit(&self, change: impl FnOnce(&str) -> String) {
        let path = self.world.notes().into_keys().next().unwrap();
        let old = fs::read_to_string(&path).unwrap();
        let new = change(&old);
        assert_ne!(old, new);
        files::put(&path, new.as_bytes()).unwrap();
    }
}

fn steps(session: &Session) -> Vec<&Step> {
    let items = session.phases.iter().flat_map(|phase| &phase.items);
    items.filter_map(|item| if let Item::Step(step) = item { Some(step) } else { None }).collect()
}

fn digits(path: &Path) -> String {
    blake3::hash(&fs::read(path).unwrap()).to_hex()[..8].to_owned()
}

#[test]
fn files_have_the_hashes_of_the_moment() {
    for written in [true, false] {
        let mut host = Host { written, ..Host::new("never") };
        let (old, new) = (host.project().join("src/a.rs"), host.project().join("src/b.rs"));
        files::put(&old, b"fn a() {}\n").unwrap();
        let mut want = Vec::new();
        host.event("session-start", &json!({ "source": "startup" }));
        host.prompt("Rename the function in src/a.rs and write src/b.rs as a copy");
        // Only a part of the file is in the record, so that its hash can come from the hook alone.
        host.call("Read", &json!({ "file_path": old, "offset": 1, "limit": 1 }), |_| {
            let file =
                json!({ "filePath": old, "content": "fn a() {}", "numLines": 1, "startLine": 1, "totalLines": 2 });
            ("1→fn a() {}".to_owned(), json!({ "type": "text", "file": file }))
        });
        want.push(digits(&old));
        let edit = json!({ "file_path": old, "old_string": "fn a", "new_string": "fn c" });
        host.call("Edit", &edit, |_| {
            files::put(&old, b"fn c() {}\n").unwrap();
            ("edited".to_owned(), json!({ "filePath": old, "oldString": "fn a", "newString": "fn c" }))
        });
        want.push(digits(&old));
        host.call("Write", &json!({ "file_path": new, "content": "fn c() {}\n" }), |_| {
            files::put(&new, b"fn c() {}\n").unwrap();
            ("created".to_owned(), json!({ "type": "create", "filePath": new }))
        });
        host.event("session-end", &json!({ "reason": "other" }));
        host.cru(&["flush", &host.id]);
        no_trouble(&host.world);
        let (text, session) = host.note();
        let steps = steps(&session);
        let file = |path: &str, hash: &str, lines: &str, created| FileRef {
            path: path.into(),
            hash: Some(hash.into()),
            lines: LineAnchor::of_text(Some(1), lines).into_iter().collect(),
            created,
            deleted: false,
        };
        assert_eq!(steps[0].reads, [file("src/a.rs", &want[0], "fn a() {}", false)], "{text}");
        assert_eq!(steps[1].writes, [file("src/a.rs", &want[1], "", false)], "{text}");
        assert_eq!(steps[2].writes, [file("src/b.rs", &digits(&new), "fn c() {}", true)], "{text}");
        assert!(text.contains(&format!("    - writes: `src/b.rs@{}` (created)", digits(&new))), "{text}");
        assert!(text.contains(&format!("    - reads: `src/a.rs@{}`", want[0])), "{text}");
        assert_ne!(want[0], want[1]);
    }
}

#[test]
fn what_is_logged_beside_stands_in_its_moment_under_its_own_id() {
    for written in [true, false] {
        let mut host = Host { written, ..Host::new("inline") };
        host.event("session-start", &json!({ "source": "startup" }));
        host.prompt("Find out why the parser in src/parse.rs is slow and mend it");
        host.shell("make one", |_| {});
        host.stop("It is the table.");
        let id = std::cell::RefCell::new(String::new());
        host.prompt("Then write the table in src/table.rs anew, please, and measure both of them");
        host.shell("cru log decision", |host| {
            host.cru(&["log", "decision", "A flat table", "--why", "it is read in order"]);
            *id.borrow_mut() = host.cru(&["log", "tool", "Bench", "both", "--result", "twice as fast"]);
        });
        host.shell("make two", |_| {});
        host.edit(|text| {
            let text = text.replacen("## Find out", "## Slow: find out", 1);
            format!("{}\n\nWords of mine.\n", text.trim_end())
        });
        host.stop("Done.");
        host.shell("cru log phase", |host| drop(host.cru(&["log", "phase", "Measuring"])));
        host.shell("make three", |_| {});
        host.stop("Measured.");
        host.prompt("Now write what you found into docs/speed.md for the others in the team");
        host.shell("make four", |_| {});
        host.event("session-end", &json!({ "reason": "other" }));
        no_trouble(&host.world);

        let (text, session) = host.note();
        let steps = steps(&session);
        let mut ids: Vec<&str> = steps.iter().filter_map(|step| step.id.as_deref()).collect();
        ids.extend(session.phases.iter().map(|phase| phase.id.as_str()));
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), count), (count, steps.len() + session.phases.len()), "{text}");
        let bench = steps.iter().find(|step| step.tool == "Bench").unwrap();
        assert_eq!(bench.id.as_deref(), Some(id.borrow().as_str()), "{text}");
        let titles: Vec<&str> = session.phases.iter().map(|phase| phase.title.as_str()).collect();
        assert_eq!(titles.len(), 4, "{titles:?}");
        assert!(titles[0].starts_with("Slow: ") && titles[2] == "Measuring", "{titles:?}");
        let has = |phase: usize, words: &str| {
            session.phases[phase].items.iter().any(|item| match item {
                Item::Step(step) => step.args.contains(words),
                Item::Decision(it) => it.callout.title == words,
                Item::Prose(it) => it.text.contains(words),
                _ => false,
            })
        };
        assert!(has(1, "A flat table") && has(1, "make two") && has(1, "Words of mine."), "{text}");
        assert!(has(2, "make three") && !has(1, "make three"), "{text}");
        assert!(has(3, "make four"), "{text}");
        let at = |words: &str| text.find(words).unwrap();
        assert!(at("A flat table") < at("make two") && at("Words of mine.") < at("make three"), "{text}");
        assert!(!text.contains("[!conflict]"), "{text}");
        let before = host.world.notes();
        host.cru(&["flush", &host.id]);
        assert_eq!(host.world.notes(), before);
    }
}

#[test]
fn ids_stay_as_they_are_where_the_machine_forgot_them() {
    let mut host = Host::new("inline");
    host.prompt("Find out why the parser in src/parse.rs is slow and mend it");
    host.shell("make one", |_| {});
    host.stop("It is the table.");
    host.cru(&["log", "tool", "Bench", "both", "--result", "twice as fast"]);
    host.shell("make two", |_| {});
    host.stop("Done.");
    let ids = |session: &Session| -> Vec<(String, String)> {
        let named = |step: &&Step| (step.id.clone().unwrap(), step.args.clone());
        steps(session).iter().map(named).collect()
    };
    let before = ids(&host.note().1);
    assert_eq!(before.len(), 3, "{before:?}");
    fs::remove_dir_all(host.world.state.dir()).unwrap();
    host.shell("make three", |_| {});
    host.stop("All done.");
    let (text, session) = host.note();
    let mut want = before;
    want.push(("n-004".to_owned(), "make three".to_owned()));
    assert_eq!(ids(&session), want, "{text}");
}

#[test]
fn a_status_is_what_the_host_and_people_say() {
    let mut host = Host::new("inline");
    let status = |host: &Host| host.note().1.meta.status.unwrap();
    host.event("session-start", &json!({ "source": "startup" }));
    host.prompt("Find out why the parser in src/parse.rs is slow and mend it");
    host.shell("make one", |_| {});
    host.stop("It is the table.");
    assert_eq!(status(&host), Status::Active);

    // A call that takes long is no pause.
    host.shell("make all", |host| host.second += 7000);
    host.stop("Built.");
    assert_eq!(status(&host), Status::Active);

    // Nothing happens for more than an hour: whoever comes by then pauses it, and the host goes on.
    host.second += 3700;
    host.cru(&["flush", "--all"]);
    assert_eq!(status(&host), Status::Paused);
    let phase = host.note().1.phases.last().unwrap().id.clone();
    assert_eq!(host.note().1.meta.resume_point.as_deref(), Some(phase.as_str()));
    host.prompt("Go on with the second table in src/table.rs and its tests, then we are done");
    host.shell("make two", |_| {});
    host.stop("Done.");
    assert_eq!(status(&host), Status::Active);

    // An agent that pauses its own session has paused it, though its call ends after that.
    host.shell("cru session mark paused", |host| drop(host.cru(&["session", "mark", "paused"])));
    host.stop("Paused.");
    assert_eq!(status(&host), Status::Paused);
    host.event("session-end", &json!({ "reason": "other" }));
    let (text, session) = host.note();
    assert_eq!(session.meta.status, Some(Status::Completed), "{text}");
    assert!(session.meta.ended.is_some(), "{text}");

    // The same session of the host again: the same note, active.
    host.second += 90_000;
    host.event("session-start", &json!({ "source": "resume" }));
    host.cru(&["flush", &host.id]);
    assert_eq!((host.world.notes().len(), status(&host)), (1, Status::Active));
    host.prompt("One more table in src/third.rs, then the docs of all three of them");
    host.shell("make three", |_| {});
    host.stop("Three.");
    let (text, session) = host.note();
    assert_eq!((session.meta.status, session.meta.ended), (Some(Status::Active), None), "{text}");
    assert_eq!(session.phases.len(), 3, "{text}");

    // How somebody closed it is not what the host knows better.
    host.cru(&["session", "mark", "failed", "--reason", "it is no faster"]);
    host.event("session-end", &json!({ "reason": "other" }));
    let (text, session) = host.note();
    assert_eq!(session.meta.status, Some(Status::Failed), "{text}");
    assert!(!text.contains("[!conflict]"), "{text}");
    assert_eq!(host.world.notes().len(), 1);
    no_trouble(&host.world);
}

#[test]
fn a_session_that_was_handed_over_points_back_and_forth() {
    let mut host = Host::new("inline");
    let old = ok(&host.world, &["session", "start", "Tide tables"], host.now(), &[]);
    ok(&host.world, &["log", "phase", "Plan", "--session", &old], host.now(), &[]);
    host.vars = vec![("CRU_SESSION".to_owned(), old.clone())];
    host.event("session-start", &json!({ "source": "startup" }));
    host.vars.clear();
    host.prompt("Go on with this session of work: the tables of the second harbour");
    host.shell("make one", |_| {});
    host.stop("It is the table.");
    host.shell("make two", |_| {});
    host.event("session-end", &json!({ "reason": "other" }));
    no_trouble(&host.world);
    let notes = host.world.notes();
    assert_eq!(notes.len(), 2);
    let (path, new) = notes.iter().find(|(_, text)| text.contains(&host.id)).unwrap();
    assert!(new.contains(&format!("\nparent: \"[[{old}]]\"\n")), "{new}");
    let text = notes.values().find(|text| !text.contains(&host.id)).unwrap();
    let line = format!("Continued in [[{}]].", path.file_stem().unwrap().to_str().unwrap());
    assert_eq!(text.matches(&line).count(), 1, "{text}");
    assert!(text.find("## Plan").unwrap() < text.find(&line).unwrap(), "{text}");

    // An agent that is started in the shell of another goes on with nothing.
    let mut other = Host { id: "0ther".to_owned(), ..Host::new("inline") };
    other.vars = vec![("CRU_SESSION".to_owned(), "5e55a0f1".to_owned())];
    other.event("session-start", &json!({ "source": "startup" }));
    other.prompt("Read src/a.rs and say what is odd about the names in it, nothing else");
    other.stop("Nothing.");
    assert!(!other.note().0.contains("parent:"));
}

on_both_sets!(with_the_transcript_beside_it_is_the_imported_one, without_a_transcript_it_tells_what_the_hooks_told,);

#[test]
fn a_flush_that_makes_a_note_says_so() {
    let mut host = Host::new("never");
    host.prompt("Make the table in src/table.rs twice as fast");
    host.shell("make one", |_| {});
    host.stop("Done.");
    let said = host.cru(&["flush", "--all"]);
    assert!(said.trim_end().ends_with("  new"), "{said}");
    assert_eq!(host.cru(&["flush", "--all"]).trim_end(), "nothing waits");
}
