//! A vault's templates may be anybody's: one that would work for ever ends, the note is written without it, and what hooks
//! leave in the background is no more than two processes.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cru::base::{Env, files};
use cru::live::queue;
use cru::live::turn::Turn;
use cru::sync::hooked::Hooked;
use cru::vault::{State, Vault};
use serde_json::json;

/// A vault with a template of sessions.
struct Lab {
    temp: tempfile::TempDir,
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Lab {
    fn new(template: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        files::put(&temp.path().join("vault/.cru/config.toml"), b"[vault]\nid = \"v\"\n").unwrap();
        files::create_dir(&temp.path().join("vault/sessions")).unwrap();
        files::put(&temp.path().join("vault/templates/session.md"), template.as_bytes()).unwrap();
        Self { temp }
    }

    fn command(&self, args: &[&str]) -> Command {
        let home = self.temp.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(home).env("HOME", home).env("PATH", "/bin:/usr/bin");
        command.env("CRU_VAULT", home.join("vault")).env("CRU_NOW", "2026-11-20T10:00:00Z").env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str], input: &str) -> Ran {
        use std::io::Write as _;
        let mut child = self.command(args).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    fn state(&self) -> State {
        let home = self.temp.path();
        let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, home, &[("HOME", home.to_str().unwrap())]);
        State::there_or_not(&Vault::open(&home.join("vault")).unwrap(), &env)
    }

    fn notes(&self) -> Vec<String> {
        let notes = fs::read_dir(self.temp.path().join("vault/sessions")).unwrap().flatten();
        notes.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
    }

    /// A session of a host, told by its hooks.
    fn hooked(&self, session: &str) {
        let event = |name: &str, more: serde_json::Value| {
            let mut event = json!({ "session_id": session, "cwd": self.temp.path() });
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let ran = self.run(&["hook", name], &event.to_string());
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
        };
        event("prompt", json!({ "prompt": "do the thing in src/a.rs please" }));
        let call = json!({
            "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": format!("t-{session}"),
            "tool_response": { "stdout": "x" }
        });
        event("post-tool", call);
        event("stop", json!({}));
    }
}

const HOSTILE: &[&str] = &[
    "{{ frontmatter }}# {{ title }}\n{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}{{ body }}",
    "{{ frontmatter }}# {{ title }}\n{% for a in body %}{% for b in frontmatter %}{% for c in frontmatter %}{% for d in \
     frontmatter %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% for a in frontmatter %}{% for b in frontmatter %}{% \
     for c in frontmatter %}{% for d in frontmatter %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{{ body }}",
    "{{ frontmatter }}# {{ title }}\n{% for a in frontmatter %}{% for b in frontmatter %}{{ frontmatter }}{% endfor %}{% \
     endfor %}{{ body }}",
    "{{ frontmatter }}# {{ title }}\n{% set x = 'x' * 100000000 %}{{ body }}",
    "{{ frontmatter }}# {{ title }}\n{% set x = title %}{% for i in frontmatter %}{% set x = x ~ x %}{% endfor %}{{ body }}",
    "{{ frontmatter }}# {{ title }}\n{{ frontmatter | replace('', frontmatter) | replace('', frontmatter) }}{{ body }}",
    "{{ frontmatter }}# {{ title }}\n{% if %}\n{{ body }}",
    "nothing of the note",
];

#[test]
fn a_hostile_template_is_passed_over_and_told() {
    for template in HOSTILE {
        let lab = Lab::new(template);
        let ran = lab.run(&["session", "start", "Tides", "--agent", "a@1"], "");
        assert_eq!(ran.code, Some(0), "{template} {ran:?}");
        assert!(
            ran.err.contains("templates/session.md") && ran.err.contains("the built-in template was used"),
            "{ran:?}"
        );
        let notes = lab.notes();
        assert!(notes.len() == 1 && notes[0].contains("# Tides\n"), "{notes:?}");
        let log = fs::read_to_string(lab.state().hook_log()).unwrap_or_default();
        for told in [lab.run(&["check"], ""), lab.run(&["doctor"], "")] {
            assert!(told.code == Some(1) && told.out.contains("templates/session.md"), "{template} {log} {told:?}");
        }
    }
}

#[test]
fn hooks_write_without_a_hostile_template_and_leave_nothing_behind() {
    let lab = Lab::new(HOSTILE[1]);
    for session in ["s1", "s2", "s3"] {
        lab.hooked(session);
    }
    let state = lab.state();
    // Whoever gets the turn comes behind all that hooks have started.
    let end = Instant::now() + Duration::from_mins(2);
    let waiting = || fs::read_dir(state.dir().join("flush/queue")).map_or(0, Iterator::count);
    while (lab.notes().len() < 3 || waiting() > 0) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(queue::turn(&state).unwrap());
    assert_eq!(lab.notes().len(), 3);
    assert_eq!(queue::next(&state), None, "nobody waits");
    let log = fs::read_to_string(state.hook_log()).unwrap_or_default();
    assert!(log.contains("templates/session.md") && log.contains("the built-in template was used"), "{log}");
}

#[test]
fn one_process_writes_in_the_background_and_one_waits() {
    let lab = Lab::new("{{ frontmatter }}# {{ title }}\n\n{{ body }}");
    assert_eq!(lab.run(&["session", "start", "Tides", "--agent", "a@1"], "").code, Some(0));
    let state = lab.state();
    let turn = queue::turn(&state).unwrap().unwrap();
    let start = |session: &str, seconds: &str| {
        lab.command(&["flush", "--quiet", "--background", "--seconds", seconds, "--", session]).spawn().unwrap()
    };
    let waiting = start("s1", "60");
    let end = Instant::now() + Duration::from_mins(1);
    while !queue::is_awaited(&state) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    for session in ["s2", "s3", "s4"] {
        let output = start(session, "60").wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "one waits, and writes for all of them: {output:?}");
    }
    let queued = fs::read_dir(state.dir().join("flush/queue")).unwrap().count();
    assert_eq!(queued, 4);
    drop(turn);
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(queue::next(&state), None, "it wrote for all");
}

#[test]
fn a_note_that_is_being_written_is_not_said_to_be_missing() {
    let lab = Lab::new("{{ frontmatter }}# {{ title }}\n\n{{ body }}");
    let config = lab.temp.path().join("vault/.cru/config.toml");
    files::put(&config, b"[vault]\nid = \"v\"\n[hooks]\nflush = \"never\"\n").unwrap();
    lab.hooked("s1");
    let turn = Turn::take(&lab.state(), &Hooked::key("claude-code", "s1")).unwrap();
    let told = lab.run(&["status"], "").out;
    assert!(told.contains("another process is writing them") && !told.contains("no note here"), "{told}");
    drop(turn);
    let told = lab.run(&["status"], "").out;
    assert!(told.contains("no note here") && !told.contains("another process"), "{told}");

    // Who asks for the note has it when the command ends, however many ask.
    let turn = Turn::take(&lab.state(), &Hooked::key("claude-code", "s1")).unwrap();
    let asked = [(); 3].map(|()| lab.command(&["flush", "--all"]).stdout(Stdio::piped()).spawn().unwrap());
    drop(turn);
    for child in asked {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !String::from_utf8_lossy(&output.stdout).contains("waiting"), "{output:?}");
        assert_eq!(lab.notes().len(), 1);
    }
}

#[test]
fn what_takes_too_long_in_the_background_ends() {
    let lab = Lab::new("{{ frontmatter }}# {{ title }}\n\n{{ body }}");
    assert_eq!(lab.run(&["session", "start", "Tides", "--agent", "a@1"], "").code, Some(0));
    let _turn = queue::turn(&lab.state()).unwrap().unwrap();
    let ran = lab.run(&["flush", "--background", "--seconds", "1", "--", "s1"], "");
    assert!(ran.code == Some(1) && ran.err.contains("ended after 1 s"), "{ran:?}");
}
