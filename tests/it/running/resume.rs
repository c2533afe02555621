//! `cru session resume` hands over to a program: what it is given, what it gives back, and what is written meanwhile.

#![expect(clippy::disallowed_methods, reason = "an editor and a person write without cru")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NOTE: &str = r"---
type: session
session_id: 2026-11-20-tides
title: Tides
status: paused
project: ~/code
host: claude-code
host_session: 949d76fb-5d94
transcript: ~/session.jsonl
resume_point: p-01
---
# Tides

## Build @coder@2.0 #dev

*2026-11-20T10:00:00Z* ^p-01

> [!decision] Minutes, not hours
> Why: the office prints them.

%%private a secret%%
";

/// A vault with one note, a home, and a folder of programs that write down what they are given.
struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new(note: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["vault/.cru", "vault/sessions", "home/code", "bin", "state"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        fs::write(temp.path().join("vault/sessions/2026-11-20-tides.md"), note).unwrap();
        Self { temp }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn note(&self) -> String {
        fs::read_to_string(self.path("vault/sessions/2026-11-20-tides.md")).unwrap()
    }

    /// A program of this name that writes its arguments, one after a line of `--8<--`, its folder and its session.
    fn program(&self, name: &str, exit: u8) {
        let script = format!(
            "#!/bin/sh\nout='{}'\npwd > \"$out/cwd\"\nprintf %s \"$CRU_SESSION\" > \"$out/session\"\n: > \"$out/args\"\n\
             for arg in \"$@\"; do printf '%s\\n--8<--\\n' \"$arg\" >> \"$out/args\"; done\nexit {exit}\n",
            self.temp.path().display()
        );
        let path = self.path("bin").join(name);
        fs::write(&path, script).unwrap();
        make_executable(&path);
    }

    /// Runs it from the project's folder.
    fn run(&self, args: &[&str]) -> Output {
        let folder = self.path("home/code");
        let folder = if folder.is_dir() { folder } else { self.temp.path().to_owned() };
        self.run_from(&folder, args)
    }

    fn run_from(&self, folder: &Path, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cru"))
            .arg("--vault")
            .arg(self.path("vault"))
            .args(["session", "resume"])
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("CRU_NOW", "2026-11-21T12:00:00Z")
            .current_dir(folder)
            .output()
            .unwrap()
    }

    fn given(&self) -> Option<Vec<String>> {
        let args = fs::read_to_string(self.path("args")).ok()?;
        Some(args.split("\n--8<--\n").filter(|arg| !arg.is_empty()).map(str::to_owned).collect())
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn make_executable(_: &Path) {}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(unix)]
#[test]
fn a_host_goes_on_with_its_own_session() {
    let world = World::new(NOTE);
    world.program("claude", 7);
    fs::write(world.path("home/session.jsonl"), "{}\n").unwrap();
    let output = world.run(&["tides"]);
    assert_eq!(output.status.code(), Some(7), "the exit code is the program's: {}", text(&output.stderr));
    assert_eq!(world.given().unwrap(), ["--resume", "949d76fb-5d94"]);
    let cwd = fs::read_to_string(world.path("cwd")).unwrap();
    assert_eq!(Path::new(cwd.trim()).canonicalize().unwrap(), world.path("home/code").canonicalize().unwrap());
    assert_eq!(fs::read_to_string(world.path("session")).unwrap(), "2026-11-20-tides");
    assert!(text(&output.stdout).contains("claude --resume 949d76fb-5d94"), "{}", text(&output.stdout));
    assert!(!world.note().contains("p-02"), "a host with hooks writes its own phases");
}

#[cfg(unix)]
#[test]
fn a_folder_that_only_a_note_names_starts_nothing() {
    let world = World::new(NOTE);
    world.program("claude", 7);
    fs::write(world.path("home/session.jsonl"), "{}\n").unwrap();
    let output = world.run_from(&world.path("home"), &["tides"]);
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("only the note names the folder"), "{said}");
    assert!(world.given().is_none() && world.note().contains("status: paused"), "{}", world.note());
    // The user's own configuration knows it.
    fs::create_dir_all(world.path("config/cru")).unwrap();
    let projects = format!("[projects]\n\"~/code\" = {:?}\n", world.path("home/code"));
    fs::write(world.path("config/cru/config.toml"), projects).unwrap();
    let output = world.run_from(&world.path("home"), &["tides"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn a_host_without_its_transcript_gets_the_pack() {
    let world = World::new(NOTE);
    world.program("claude", 0);
    let output = world.run(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let given = world.given().unwrap();
    assert_eq!(given.len(), 1, "one argument, whatever stands in it: {given:?}");
    assert!(given[0].starts_with("Go on with this session"), "{given:?}");
    assert!(given[0].contains("Minutes, not hours") && !given[0].contains("secret"), "{given:?}");
    assert!(given[0].contains("transcript ~/session.jsonl is gone"), "{given:?}");
    assert!(text(&output.stderr).contains("is gone"), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn the_user_names_a_command_and_no_shell_reads_it() {
    let world =
        World::new(&NOTE.replace("claude-code", "typewriter").replace("title: Tides", "title: \"$(touch x); `id`\""));
    world.program("my writer", 0);
    let config =
        "[hosts.typewriter]\nstart = [\"my writer\", \"--in={project}\", \"{session}\", \"$HOME; x\", \"{pack}\"]\n";
    fs::create_dir_all(world.path("config/cru")).unwrap();
    fs::write(world.path("config/cru/config.toml"), config).unwrap();
    let output = world.run(&["tides", "--phase", "Write it down", "--agent", "scribe@1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let given = world.given().unwrap();
    let project = format!("--in={}", world.path("home/code").display());
    assert_eq!(given[..3], [project.as_str(), "2026-11-20-tides", "$HOME; x"]);
    assert!(given[3].contains("# $(touch x); `id`"), "{given:?}");
    assert!(!world.path("x").exists());
    let phase = "## Write it down @scribe@1 #dev\n\n*2026-11-21T12:00:00Z* ^p-02\n";
    assert!(world.note().ends_with(&format!("%%private a secret%%\n\n{phase}")), "{}", world.note());
}

#[test]
fn a_session_is_active_again_and_a_phase_goes_on_from_where_somebody_went_back() {
    let closed = NOTE
        .replace("status: paused", "status: completed\nended: 2026-11-20T11:00:00Z")
        .replace("host: claude-code", "host: typewriter")
        + "\n## Undone @coder@2.0 #dev\n\n*2026-11-20T10:30:00Z* ^p-02\n";
    let world = World::new(&closed);
    let output = world.run(&["tides"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("# Tides\n"), "the pack is printed: {}", text(&output.stdout));
    assert!(text(&output.stderr).contains("the host 'typewriter' is not known"), "{}", text(&output.stderr));
    assert_eq!(world.note(), closed, "nothing goes on with it");
    assert!(text(&output.stderr).contains("`cru session resume --no-start` sets it active"));
    assert!(world.run(&["tides", "--no-start"]).status.success());
    let note = world.note();
    assert!(note.contains("status: active\n") && !note.contains("ended:"), "{note}");
    assert!(note.contains("resume_point: p-03\n"), "{note}");
    let phase = "## Build @coder@2.0 #dev\n\n*2026-11-21T12:00:00Z* from: [[#^p-01]] ^p-03\n";
    assert!(note.ends_with(phase), "{note}");
    // Nothing else changed.
    let old: Vec<&str> = closed
        .lines()
        .filter(|line| !["status", "ended", "resume_p"].iter().any(|key| line.starts_with(key)))
        .collect();
    assert!(old.iter().all(|line| note.lines().any(|new| new == *line)), "{note}");
}

#[test]
fn a_program_that_is_missing_leaves_the_pack() {
    let world = World::new(NOTE);
    let output = world.run(&["tides"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("# Tides\n"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("claude is not installed here"), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("claude <the pack>"), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn nothing_is_started_or_written_unless_asked() {
    let world = World::new(NOTE);
    world.program("claude", 0);
    for args in [&["--print"][..], &["--dry-run"], &["--print", "--format", "json"], &["--dry-run", "--phase", "X"]] {
        let output = world.run(args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(world.note(), NOTE, "{args:?}");
        assert_eq!(fs::read_dir(world.path("state")).unwrap().count(), 0, "{args:?}");
    }
    world.run(&["--no-start"]);
    world.run(&["--format", "json"]);
    assert_eq!(world.given(), None, "no program was started");
}

#[test]
fn json_has_the_tokens_of_every_part() {
    let world = World::new(NOTE);
    let output = world.run(&["--print", "--format", "json", "--budget", "600"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["schema"], &json["budget"], &json["over"]), (&1.into(), &600.into(), &0.into()));
    let parts = json["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert!(sum > 0 && json["tokens"].as_u64() == Some(sum), "{json}");
    assert!(parts.iter().any(|part| part["part"] == "decisions"), "{json}");
}

#[test]
fn several_paused_sessions_are_a_question() {
    let world = World::new(NOTE);
    fs::write(world.path("vault/sessions/b.md"), NOTE.replace("2026-11-20-tides", "b")).unwrap();
    let output = world.run(&["--print"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("could be any of 2 sessions"), "{}", text(&output.stderr));
    fs::remove_file(world.path("vault/sessions/b.md")).unwrap();
    fs::write(world.path("vault/sessions/2026-11-20-tides.md"), NOTE.replace("paused", "completed")).unwrap();
    let output = world.run(&["--print"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(world.run(&["tides", "--print"]).status.success(), "a closed one is resumed by name");
}

#[cfg(unix)]
#[test]
fn every_host_that_can_be_started_gets_the_context() {
    let mut started = 0;
    for agent in cru::session::agent_table::all().iter().filter(|agent| !agent.start.is_empty()) {
        let world = World::new(NOTE);
        world.program(&agent.start[0], 3);
        let output = world.run(&["tides", "--host", &agent.host]);
        assert_eq!(output.status.code(), Some(3), "{}: {}", agent.host, text(&output.stderr));
        let given = world.given().unwrap();
        let (context, options) = given.split_last().unwrap();
        assert_eq!(options, &agent.start[1..agent.start.len() - 1], "{}", agent.host);
        assert!(context.contains("Minutes, not hours") && !context.contains("a secret"), "{}: {context}", agent.host);
        assert_eq!(fs::read_to_string(world.path("session")).unwrap(), "2026-11-20-tides", "{}", agent.host);
        assert!(fs::read_to_string(world.path("cwd")).unwrap().trim().ends_with("/home/code"));
        assert!(world.note().contains("status: active"), "{}", agent.host);
        // With `--print` nothing is started and nothing written.
        let world = World::new(NOTE);
        world.program(&agent.start[0], 3);
        let printed = world.run(&["tides", "--host", &agent.host, "--print"]);
        assert!(printed.status.success() && text(&printed.stdout).contains("Minutes, not hours"));
        assert!(world.given().is_none() && world.note() == NOTE, "{}", agent.host);
        started += 1;
    }
    assert!(started >= 5, "{started}");
}
