//! Sessions that are logged to, through the real program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cru::note::Note;
use cru::session::{Item, Session, Status, read};

/// A vault, a project and the machine state of a person, in a folder of their own.
struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        for folder in ["vault/.cru", "home/code/api"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn command(&self, now: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(self.path("home/code/api")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("CRU_VAULT", self.path("vault")).env("CRU_NOW", format!("2026-11-21T{now}Z")).env("NO_COLOR", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command("12:00:00", args).output().unwrap()
    }

    /// Runs what must succeed; its answer.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    fn with_stdin(&self, args: &[&str], input: &str) -> Output {
        let mut child = self
            .command("12:00:00", args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn note(&self, id: &str) -> String {
        fs::read_to_string(self.path(&format!("vault/sessions/{id}.md"))).unwrap()
    }

    fn session(&self, id: &str) -> Session {
        let (session, diagnostics) = read::session(&Note::parse(self.note(id)));
        assert_eq!(diagnostics, [], "{}", self.note(id));
        session
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn sixteen_sessions_that_start_at_once_are_sixteen_notes() {
    let world = World::new();
    let start =
        |_| world.command("12:00:00", &["session", "start", "-q", "The same"]).stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<_> = (0..16).map(start).collect();
    let mut ids: Vec<String> = children.into_iter().map(|child| stdout(&child.wait_with_output().unwrap())).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 16);
    for id in ids {
        assert_eq!(world.session(id.trim()).meta.session_id.as_deref(), Some(id.trim()));
    }
}

#[test]
fn one_host_session_that_starts_sixteen_times_is_one_note() {
    let world = World::new();
    let args = ["session", "start", "-q", "--host", "pi", "--host-session", "77aa01b2"];
    let start = |_| world.command("12:00:00", &args).stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<_> = (0..16).map(start).collect();
    let mut ids: Vec<String> = children.into_iter().map(|child| stdout(&child.wait_with_output().unwrap())).collect();
    ids.dedup();
    assert_eq!(ids, ["2026-11-21-session-api\n"]);
    assert_eq!(fs::read_dir(world.path("vault/sessions")).unwrap().count(), 1);
}

#[test]
fn a_session_knows_where_it_runs() {
    let world = World::new();
    let git = world.path("home/code/api/.git");
    fs::create_dir_all(&git).unwrap();
    let put = |name: &str, text: &str| cru::base::files::put(&git.join(name), text.as_bytes()).unwrap();
    put("HEAD", "ref: refs/heads/feature/x\n");
    put("packed-refs", "4f1c2ab09e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b refs/heads/feature/x\n");
    let meta = world.session(&world.ok(&["session", "start", "a"])).meta;
    let said = [meta.project, meta.branch, meta.commit, meta.channel].map(Option::unwrap_or_default);
    assert_eq!(said, ["~/code/api", "feature/x", "4f1c2ab", "api"]);
}

#[test]
fn sixteen_processes_that_log_at_once_lose_nothing() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Busy"]);
    let log = |number: usize| {
        let args = format!("number {number}");
        let args = ["log", "--session", &id, "tool", "Bash", &args];
        world.command("12:00:00", &args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..16).map(log).collect();
    let mut given: Vec<String> = children.into_iter().map(|child| stdout(&child.wait_with_output().unwrap())).collect();
    let session = world.session(&id);
    let mut ids: Vec<String> =
        session.steps().filter_map(|(_, step)| step.id.clone()).map(|id| format!("{id}\n")).collect();
    let mut said: Vec<&str> = session.steps().map(|(_, step)| step.args.as_str()).collect();
    ids.sort();
    given.sort();
    assert_eq!(given, ids, "each was told the id of its own step");
    said.sort_unstable();
    said.dedup();
    assert_eq!((said.len(), session.phases.len()), (16, 1));
}

#[test]
fn events_as_json() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Stream"]);
    let input = "{\"event\":\"tool\",\"tool\":\"Bash\",\"args\":\"ls\",\"result\":\"ok\"}\n\
                 {\"event\":\"tool\",\"tol\":\"Bash\"}\n\n\
                 {\"event\":\"decision\",\"title\":\"Go on\",\"rests_on\":[\"n-001\"]}\n\
                 {\"event\":\"decision\",\"title\":\"Or not\",\"rests_on\":[\"n-007\"]}\n";
    let output = world.with_stdin(&["log", "--session", &id, "--json"], input);
    assert_eq!(output.status.code(), Some(2), "some lines were refused");
    assert_eq!(stdout(&output), "n-001\nd-01\n");
    insta::assert_snapshot!(stderr(&output), @"
    warning: stdin:2:21: unknown field `tol`, expected one of `at`, `tool`, `args`, `result`, `failed`, `exit`, `duration`, `reads`, `writes`, `created`, `after`, `replays`, `cell`, `check`, `commits`, `also_active`, `by`, `opened`
    warning: stdin:5: no block 'n-007' in this session (its only step is n-001)
    ");
    let session = world.session(&id);
    let items: Vec<&Item> = session.items().map(|(_, item)| item).collect();
    assert!(matches!(items.as_slice(), [Item::Step(_), Item::Decision(_)]));
    // One event may stand on several lines.
    let output =
        world.with_stdin(&["log", "--session", &id, "json"], "{\n  \"event\": \"note\",\n  \"text\": \"x\"\n}\n");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(world.session(&id).items().count(), 3);
}

#[test]
fn a_note_that_cannot_be_written_keeps_its_entries_in_the_journal() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Away"]);
    let (note, away) = (world.path(&format!("vault/sessions/{id}.md")), world.path("away.md"));
    // Behind a link that leads out of the vault nothing is written.
    fs::copy(&note, &away).unwrap();
    cru::base::files::remove(&note).unwrap();
    std::os::unix::fs::symlink(&away, &note).unwrap();
    let output = world.run(&["log", "--session", &id, "note", "kept"]);
    assert_eq!(output.status.code(), Some(0), "the entry is safe");
    assert_eq!(stdout(&output), "kept\n");
    assert!(
        stderr(&output).contains("the entry is kept in ") && stderr(&output).contains(&format!("cru admin flush {id}")),
        "{}",
        stderr(&output)
    );
    let json = world.run(&["-f", "json", "log", "--session", &id, "note", "too"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["written"], false);
    assert!(Path::new(json["kept_in"].as_str().unwrap()).is_file());
    cru::base::files::remove(&note).unwrap();
    fs::copy(&away, &note).unwrap();
    // Who only reads sees them already, and writes nothing.
    let shown = world.ok(&["session", "show", &id]);
    assert!(shown.contains("kept") && shown.contains("too"), "{shown}");
    assert!(!world.note(&id).contains("kept"));
    assert_eq!(world.ok(&["flush", &id]), format!("{id}  2 entries"));
    assert!(world.note(&id).ends_with("\nkept\n\ntoo\n"), "{}", world.note(&id));
    assert_eq!(world.ok(&["flush", &id]), "nothing waits");
}

#[test]
fn a_note_that_a_person_deleted_is_not_made_again() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Gone"]);
    world.ok(&["log", "--session", &id, "note", "before"]);
    cru::base::files::remove(&world.path(&format!("vault/sessions/{id}.md"))).unwrap();
    let output = world.run(&["log", "--session", &id, "note", "after"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(&format!("no session '{id}'")), "{}", stderr(&output));
    assert_eq!(fs::read_dir(world.path("vault/sessions")).unwrap().count(), 0);
}

#[test]
fn a_renamed_note_is_found_by_its_id() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Old name"]);
    world.ok(&["log", "--session", &id, "note", "one"]);
    let to = world.path("vault/New name.md");
    fs::copy(world.path(&format!("vault/sessions/{id}.md")), &to).unwrap();
    cru::base::files::remove(&world.path(&format!("vault/sessions/{id}.md"))).unwrap();
    world.ok(&["log", "--session", &id, "note", "two"]);
    assert!(fs::read_to_string(&to).unwrap().ends_with("\none\n\ntwo\n"));
}

#[test]
fn inline_work_comes_back_as_it_was() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Parent"]);
    let handle = world.ok(&["log", "--session", &id, "subagent", "@writer@2", "--mode", "inline"]);
    assert_eq!(handle, "a-001");
    let work = "## Looked around\n\n**Tool calls:**\n- `Read a` → 1 line (12:00:01) ^n-001\n\n> [!decision] Yes\n> Why: so\n\n\
                ```text\n> [!error] not one\n```\n\n- one\n  - two\n";
    let output = world
        .with_stdin(&["log", "--session", &id, "subagent", "--done", &handle, "--summary", "ok", "--text", "-"], work);
    assert!(output.status.success(), "{}", stderr(&output));
    let session = world.session(&id);
    let [Item::Subagent(it)] = session.preface.as_slice() else { panic!("{}", world.note(&id)) };
    assert_eq!((it.summary.as_deref(), it.items.len()), (Some("ok"), 4));
    assert!(matches!(&it.items[1], Item::Step(step) if step.id.is_none() && step.args == "a"));
    assert!(matches!(&it.items[2], Item::Decision(it) if it.callout.title == "Yes" && it.why.as_deref() == Some("so")));
    assert!(matches!(&it.items[3], Item::Prose(it) if it.text == "```text\n> [!error] not one\n```\n\n- one\n  - two"));
    assert_eq!(session.steps().count(), 0, "its steps are its own");
    let again = world.run(&["log", "--session", &id, "subagent", "--done", &handle]);
    assert_eq!(again.status.code(), Some(2), "done once");
}

#[test]
fn a_linked_sub_agent_is_closed_with_its_tokens() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Parent"]);
    let child = world.ok(&["log", "--session", &id, "subagent", "@reviewer@1.0", "--model", "m", "--task", "look"]);
    assert_eq!(world.session(&child).meta.parent.unwrap().target, id);
    world.ok(&["log", "--session", &child, "usage", "--model", "m", "--input", "100", "--output", "20"]);
    world.ok(&["log", "--session", &id, "subagent", "--done", &child, "--summary", "fine", "--failed"]);
    assert_eq!(world.session(&child).meta.status, Some(Status::Failed));
    let session = world.session(&id);
    let row = &session.meta.subagents[0];
    assert_eq!((row.session.as_str(), row.tokens, row.model.as_deref()), (child.as_str(), Some(120), Some("m")));
    let [Item::Subagent(it)] = session.preface.as_slice() else { panic!("{}", world.note(&id)) };
    assert_eq!((it.summary.as_deref(), it.callout.field("Tokens")), (Some("fine"), Some("120")));
}

#[test]
fn an_idle_session_is_paused_by_a_flush_and_not_by_others() {
    let world = World::new();
    let (one, other) = (world.ok(&["session", "start", "One"]), world.ok(&["session", "start", "Other"]));
    let at = |now: &str, args: &[&str]| {
        let output = world.command(now, args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    at("12:30:00", &["log", "--session", &one, "tool", "x"]);
    at("13:29:00", &["flush", &one]);
    assert_eq!(world.session(&one).meta.status, Some(Status::Active));
    at("13:31:00", &["log", "--session", &other, "note", "alive"]);
    let both = (world.session(&one).meta.status, world.session(&other).meta.status);
    assert_eq!(both, (Some(Status::Active), Some(Status::Active)), "to log is to be active, and touches nobody else");
    let seen = |now: &str, args: &[&str]| {
        let output = world.command(now, args).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let idle = |now: &str| {
        let list = seen(now, &["--format", "json", "session", "list"])["sessions"].clone();
        let row = list.as_array().unwrap().iter().find(|row| row["id"] == *one).unwrap().clone();
        let show = seen(now, &["--format", "json", "session", "show", &one]);
        (row["idle_since"].clone(), show["idle_since"].clone())
    };
    let since = serde_json::Value::from("2026-11-21T12:30:00Z");
    assert_eq!(idle("13:29:00"), (serde_json::Value::Null, serde_json::Value::Null));
    assert_eq!(idle("13:31:00"), (since.clone(), since), "who only looks sees that the pause is due");
    assert!(at("13:31:00", &["session", "list"]).contains("idle"));
    assert!(at("13:31:00", &["session", "show", &one]).contains("nothing since 2026-11-21 12:30 UTC"));
    at("13:31:00", &["flush", &one]);
    let meta = world.session(&one).meta;
    assert_eq!((meta.status, meta.resume_point.as_deref()), (Some(Status::Paused), Some("p-01")));
    at("13:40:00", &["log", "--session", &one, "tool", "y"]);
    assert_eq!(world.session(&one).meta.status, Some(Status::Active), "work takes it up again");
}

#[test]
fn what_a_person_added_to_a_note_is_shown() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Tides"]);
    let path = world.path(&format!("vault/sessions/{id}.md"));
    let note = world.note(&id).replacen("title: Tides", "title: Tides\nclient: Harbour\nreviewers: [mia, tom]", 1);
    let note = format!("{note}\n> [!subagent] @scout\n> → [[elsewhere]]\n> It looked at the wrong folder.\n");
    cru::base::files::put(&path, note.as_bytes()).unwrap();
    let shown = world.ok(&["session", "show", &id]);
    assert!(shown.contains("client     Harbour") && shown.contains("reviewers  mia, tom"), "{shown}");
    assert!(shown.contains("│ It looked at the wrong folder."), "{shown}");
    let json = world.ok(&["--format", "json", "session", "show", &id]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["session"]["meta"]["extra"]["client"], "Harbour");
    let page = world.ok(&["session", "show", "--html", &id]);
    assert!(page.contains("It looked at the wrong folder."));
}

#[test]
fn doing_it_twice_changes_nothing() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Twice"]);
    world.ok(&["log", "--session", &id, "phase", "Build"]);
    for verb in ["pause", "complete"] {
        world.ok(&["session", verb, &id, "--reason", "so"]);
        let before = world.note(&id);
        assert!(world.ok(&["session", verb, &id, "--reason", "so"]).ends_with(" already"));
        assert_eq!(world.note(&id), before);
    }
    let refused = world.run(&["session", "mark", "abandoned", &id]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("is completed") && stderr(&refused).contains("cru session resume"));
}

#[test]
fn a_persons_edit_between_two_entries_stays() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Edited"]);
    world.ok(&["log", "--session", &id, "tool", "Bash", "one", "--result", "ok"]);
    let edited = world
        .note(&id)
        .replace("# Edited\n", "# Edited\n\nmy *own* words  \n")
        .replace("title: Edited", "title:   Mine # yes");
    fs::copy(
        &{
            let path = world.path("edit.md");
            cru::base::files::put(&path, edited.as_bytes()).unwrap();
            path
        },
        world.path(&format!("vault/sessions/{id}.md")),
    )
    .unwrap();
    world.ok(&["log", "--session", &id, "tool", "Bash", "two", "--result", "ok"]);
    let note = world.note(&id);
    assert!(note.contains("\n\nmy *own* words  \n\n## Work") && note.contains("title:   Mine # yes\n"), "{note}");
    let without =
        |text: &str| text.lines().filter(|line| !line.starts_with("cru_cursor")).map(str::to_owned).collect::<Vec<_>>();
    let mut expected = without(&edited);
    expected.push("- `Bash two` → `ok` (12:00:00) ^n-002".to_owned());
    assert_eq!(without(&note), expected);
}

#[test]
fn an_own_template_surrounds_new_sessions() {
    let world = World::new();
    let text = "{{ frontmatter }}# {{ title }}\n\nup: [[Home]]\n\n{{ body }}\n\n## My notes\n";
    cru::base::files::put(&world.path("vault/templates/session.md"), text.as_bytes()).unwrap();
    let id = world.ok(&["session", "start", "Framed"]);
    world.ok(&["log", "--session", &id, "tool", "Bash", "ls"]);
    let note = world.note(&id);
    assert!(note.contains("# Framed\n\nup: [[Home]]\n"), "{note}");
    let session = world.session(&id);
    let titles: Vec<&str> = session.phases.iter().map(|phase| phase.title.as_str()).collect();
    assert!(titles.contains(&"My notes") && titles.contains(&"Work"), "{note}");
    let work = session.phases.iter().find(|phase| phase.title == "Work").unwrap();
    assert_eq!(work.items.len(), 1, "nothing is logged below a person's own section");
}

#[test]
fn a_step_that_was_finished_in_the_last_moment_is_no_failure() {
    let world = World::new();
    let id = world.ok(&["session", "start", "Killed"]);
    let handle = world.ok(&["log", "--session", &id, "tool", "Bash", "long", "--start"]);
    let begun = ignore::WalkBuilder::new(world.path("state")).build().flatten().map(ignore::DirEntry::into_path);
    let begun = begun.into_iter().find(|path| path.ends_with(format!("open/{id}.json"))).unwrap();
    let before = fs::read(&begun).unwrap();
    world.ok(&["log", "--session", &id, "tool", "--finish", &handle, "--result", "done"]);
    // As if the process had ended between the journal and this file.
    cru::base::files::put(&begun, &before).unwrap();
    world.ok(&["session", "mark", "paused", &id]);
    let results: Vec<_> = world.session(&id).steps().map(|(_, step)| step.result.clone()).collect();
    assert_eq!(results, [Some("done".to_owned())]);
}

#[test]
fn every_entry_can_be_undone_by_name() {
    // The label of each write is what `cru undo` will list.
    let world = World::new();
    let id = world.ok(&["session", "start", "Labels"]);
    world.ok(&["log", "--session", &id, "decision", "x"]);
    world.ok(&["session", "mark", "paused", &id]);
    let mut logs = Vec::new();
    for entry in ignore::WalkBuilder::new(world.path("state")).build().flatten() {
        if entry.path().components().any(|part| part.as_os_str() == "operations") && entry.path().is_file() {
            logs.push(fs::read_to_string(entry.path()).unwrap());
        }
    }
    let logs = logs.concat();
    assert!(logs.contains("\"log decision\"") && logs.contains("\"session paused\""), "{logs}");
}
