//! `cru hook` as an agent calls it: the real program, odd input and an odd world, and what it leaves.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cru::base::files;
use cru::live::hook::{Event, HookEntry};
use cru::vault::Journal;
use serde_json::{Value, json};

/// A vault, a state folder, a home.
struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        // The note is not what is looked at here.
        let config = b"[vault]\nid = \"v\"\n[hooks]\nflush = \"never\"\n";
        files::create(&world.vault().join(".cru/config.toml"), config).unwrap();
        files::create_dir(&world.path("home")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn vault(&self) -> PathBuf {
        self.path("vault")
    }

    /// The program in this world, outside of the vault.
    fn cru<I: AsRef<OsStr>>(&self, args: &[I]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.path("home"));
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state")).env("PATH", "/bin:/usr/bin");
        command
    }

    /// Calls a hook, which must say nothing and exit with 0.
    fn hook(&self, args: &[&str], input: &[u8]) {
        let output = give(self.cru(args), input);
        assert_eq!(said(&output), (String::new(), String::new()), "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }

    fn event(&self, event: &str, input: &Value) {
        self.hook(&["hook", event], input.to_string().as_bytes());
    }

    /// The machine state of the vault.
    fn state(&self) -> PathBuf {
        let folders = std::fs::read_dir(self.path("state/cru")).unwrap().map(|entry| entry.unwrap().path());
        folders.into_iter().find(|path| path.is_dir()).unwrap()
    }

    fn entries(&self, session: &str) -> Vec<HookEntry> {
        let journal = self.state().join(format!("journal/claude-code--{session}.jsonl"));
        let read = Journal::at(journal).read(None).unwrap();
        assert_eq!(read.odd, 0);
        read.entries.iter().map(|entry| serde_json::from_str(entry.event.get()).unwrap()).collect()
    }
}

fn give(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that refuses its input may not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn lines(log: &Path) -> Vec<String> {
    let bytes = files::read(log).unwrap_or_default();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_session_leaves_its_events_in_order() {
    let world = World::new();
    let vault = world.vault();
    files::create(&vault.join("src/a.rs"), b"fn main() {}\n").unwrap();
    let common = |name: &str| json!({"session_id": "949d", "cwd": vault.join("src"), "hook_event_name": name});
    let with = |name: &str, more: Value| {
        let mut input = common(name);
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    world.event("session-start", &with("SessionStart", json!({"source": "startup"})));
    let prompt = "Please ".repeat(20_000);
    world.event("prompt", &with("UserPromptSubmit", json!({"prompt": prompt})));
    let write = json!({"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": "new.rs", "content": "x".repeat(70_000)}});
    world.event("pre-tool", &with("PreToolUse", write.clone()));
    files::create(&vault.join("src/new.rs"), b"x").unwrap();
    let mut done = write;
    done["tool_response"] = json!({"type": "create", "content": "é".repeat(9000), "list": [1, "short"]});
    world.event("post-tool", &with("PostToolUse", done));
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": vault.join("src/a.rs")}, "agent_id": "a7"});
    world.event("PostToolUse", &with("PostToolUse", read));
    // The host calls a hook of one event for another: what it says counts.
    world.event("stop", &with("SubagentStop", json!({"agent_id": "a7"})));
    world.event("session-end", &with("SessionEnd", json!({"reason": "other"})));

    let entries = world.entries("949d");
    let events: Vec<_> = entries.iter().map(|entry| entry.event().unwrap()).collect();
    assert_eq!(
        events,
        [
            Event::SessionStart,
            Event::Prompt,
            Event::PreTool,
            Event::PostTool,
            Event::PostTool,
            Event::SubagentStop,
            Event::SessionEnd
        ]
    );
    assert_eq!(entries[1].input["prompt"], prompt, "the person's words are never cut");
    assert!(entries[2].files[0].created && entries[2].files[0].hash.is_empty());
    let content = entries[3].input["tool_input"]["content"].as_str().unwrap();
    assert!(content.starts_with(&"x".repeat(65536)) && content.ends_with("… [cut: 65536 of 70000 bytes]"));
    let response = &entries[3].input["tool_response"];
    assert_eq!(response["content"], format!("{}… [cut: 8192 of 18000 bytes]", "é".repeat(4096)));
    assert_eq!(response["list"], json!([1, "short"]));
    assert_eq!(entries[3].files[0].path, "new.rs");
    assert_eq!(entries[3].files[0].hash, &blake3::hash(b"x").to_hex()[..16]);
    assert!(entries[3].files[0].created);
    assert_eq!(entries[4].files[0].hash, &blake3::hash(b"fn main() {}\n").to_hex()[..16]);
    assert_eq!(entries[4].input["agent_id"], "a7");
    assert_eq!(lines(&world.state().join("hook.log")), [""; 0]);
}

#[test]
fn odd_input_is_a_line_of_trouble_and_nothing_else() {
    let world = World::new();
    let vault = world.vault();
    let at = |args: &[&str], input: &[u8]| {
        let mut all = vec!["--vault", vault.to_str().unwrap()];
        all.extend(args);
        world.hook(&all, input);
    };
    let fine = br#"{"session_id": "s"}"#;
    let cases: &[(&[&str], &[u8], &str)] = &[
        (&["hook", "stop"], b"", "nothing on stdin"),
        (&["hook", "stop"], b"garbage", "stdin is no JSON"),
        (&["hook", "stop"], b"\xff\x00{", "stdin is no JSON"),
        (&["hook", "stop"], b"[1, 2]", "stdin is no JSON object"),
        (&["hook", "stop"], b"{\"session_id\": []}", "names no session"),
        (&["hook", "no-such"], fine, "no event 'no-such' is known"),
        (&["hook", "stop", "--host", "other"], fine, "no host 'other' is known"),
    ];
    for (args, input, _) in cases {
        at(args, input);
    }
    let mut log: Vec<_> = lines(&world.path("state/cru/hook.log"));
    log.extend(lines(&world.state().join("hook.log")));
    for (args, _, expected) in cases {
        assert_eq!(log.iter().filter(|line| line.contains(expected)).count() % 2, 1, "{args:?}: {expected} in {log:?}");
    }
    assert_eq!(log.len(), cases.len());
    // An id from outside is never a path.
    let hostile = "../../../outside";
    at(&["hook", "stop"], json!({"session_id": hostile}).to_string().as_bytes());
    assert!(!world.path("outside.jsonl").exists());
    let journals = std::fs::read_dir(world.state().join("journal")).unwrap();
    assert_eq!(journals.count(), 1);
}

#[test]
fn a_wrong_command_line_does_not_stop_the_agent() {
    let world = World::new();
    for args in [&["hook"][..], &["hook", "stop", "--bad"], &["hook", "stop", "extra"], &["--odd", "hook", "stop"]] {
        world.hook(args, b"{}");
    }
    assert_eq!(lines(&world.path("state/cru/hook.log")).len(), 4);
    let help = give(world.cru(&["hook", "--help"]), b"");
    assert!(help.status.success() && said(&help).0.contains("journal"));
    let other = give(world.cru(&["hooks", "--bad"]), b"");
    assert_eq!(other.status.code(), Some(2), "only hooks hide what is wrong");
}

#[test]
fn without_a_vault_or_a_place_to_write() {
    let world = World::new();
    let input = json!({"session_id": "s", "cwd": world.path("home")});
    world.event("stop", &input);
    let log = lines(&world.path("state/cru/hook.log"));
    assert!(log[0].contains("hook stop: no vault here"), "{log:?}");

    // Neither the state folder nor the one inside the vault can be made.
    let world = World::new();
    files::create(&world.path("state"), b"a file").unwrap();
    files::create(&world.vault().join(".cru/local"), b"a file").unwrap();
    world.event("post-tool", &json!({"session_id": "s", "cwd": world.vault()}));
    assert_eq!(files::read(&world.path("state")).unwrap(), b"a file");

    // A broken configuration.
    let world = World::new();
    files::put(&world.vault().join(".cru/config.toml"), b"[vault\n").unwrap();
    world.event("stop", &json!({"session_id": "s", "cwd": world.vault()}));
    assert!(lines(&world.path("state/cru/hook.log"))[0].contains("config.toml:1:"));
}

#[test]
fn the_agent_s_shell_is_told_the_session() {
    let world = World::new();
    let input = json!({"session_id": "it's 7", "cwd": world.vault(), "hook_event_name": "SessionStart"}).to_string();
    let start = |env: &Path| {
        let mut command = world.cru(&["hook", "session-start"]);
        command.env("CLAUDE_ENV_FILE", env);
        let output = give(command, input.as_bytes());
        assert_eq!((said(&output), output.status.code()), ((String::new(), String::new()), Some(0)));
    };
    let env = world.path("env.sh");
    files::create(&env, b"export A=1\n").unwrap();
    start(&env);
    assert_eq!(files::read(&env).unwrap(), b"export A=1\nexport CRU_SESSION='it'\\''s 7'\n");
    let shell = Command::new("sh")
        .arg("-c")
        .arg(". ./env.sh; printf %s \"$CRU_SESSION\"")
        .current_dir(world.temp.path())
        .output();
    assert_eq!(shell.unwrap().stdout, b"it's 7");
    start(&world.path("home"));
    assert!(lines(&world.state().join("hook.log"))[0].contains("is no file"));
}

#[test]
fn too_much_input_is_refused_and_read_to_the_end() {
    let world = World::new();
    let mut input = json!({"session_id": "s", "cwd": world.vault(), "x": ""}).to_string().into_bytes();
    let end = input.split_off(input.len() - 2);
    input.resize(65 << 20, b'x');
    input.extend(end);
    world.hook(&["--vault", world.vault().to_str().unwrap(), "hook", "post-tool"], &input);
    let log = lines(&world.path("state/cru/hook.log"));
    assert!(log[0].contains("more than 64 MiB"), "{log:?}");
}

#[test]
fn parallel_hooks_leave_whole_lines() {
    let world = World::new();
    let input = |number: usize| {
        let text = format!("{number} ").repeat(2000 + number);
        json!({"session_id": "s", "cwd": world.vault(), "tool_use_id": number, "tool_input": {"command": text}})
    };
    std::thread::scope(|scope| {
        for worker in 0..10 {
            let (world, input) = (&world, &input);
            scope.spawn(move || (0..10).for_each(|round| world.event("post-tool", &input(worker * 10 + round))));
        }
    });
    let entries = world.entries("s");
    let mut numbers: Vec<_> = entries.iter().map(|entry| entry.input["tool_use_id"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    for entry in entries {
        let number = usize::try_from(entry.input["tool_use_id"].as_u64().unwrap()).unwrap();
        assert_eq!(entry.input["tool_input"], input(number)["tool_input"]);
    }
}

#[test]
fn settings_are_given_back_to_the_byte() {
    let world = World::new();
    let settings = world.path("home/.claude/settings.json");
    let run = |args: &[&str]| {
        let output = give(world.cru(args), b"");
        (output.status.code().unwrap(), said(&output))
    };
    let original = "{ \"hooks\": {}, \"model\":\"opus\",\n\"env\" : {\"KEY\": \"secret\"} }";
    for before in [None, Some(original), Some("{}"), Some(" \n")] {
        let _ = files::remove(&settings);
        if let Some(text) = before {
            files::create(&settings, text.as_bytes()).unwrap();
        }
        let now = || files::read(&settings).ok().map(|bytes| String::from_utf8(bytes).unwrap());
        let (code, (_, error)) = run(&["hooks", "install"]);
        assert_eq!((code, now().as_deref()), (2, before), "nobody agreed: {error}");
        assert!(error.contains("--yes"));
        assert_eq!(run(&["hooks", "install", "--dry-run"]).0, 0);
        assert_eq!(now().as_deref(), before);
        assert_eq!(run(&["check", "hooks"]).0, 1);

        let (code, (text, _)) = run(&["hooks", "install", "--yes", "--program", "/old/cru"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("+ ") && text.contains("installed"));
        assert_eq!(run(&["check", "hooks"]).0, 1, "there is no such program");
        let (_, (text, _)) = run(&["hooks", "install", "--yes"]);
        assert!(text.contains("renewed"), "{text}");
        let installed = now().unwrap();
        assert!(installed.contains(env!("CARGO_BIN_EXE_cru")));
        let (code, (text, _)) = run(&["check", "hooks"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("this program"));
        let (code, (text, _)) = run(&["hooks", "install"]);
        assert_eq!((code, now().unwrap()), (0, installed), "{text}");
        assert!(text.contains("already installed"));

        assert_eq!(run(&["hooks", "uninstall", "--yes"]).0, 0);
        assert_eq!(now().as_deref(), before);
        let (code, (text, _)) = run(&["hooks", "uninstall"]);
        assert!(code == 0 && text.contains("holds no hooks"), "{text}");
    }
    #[cfg(unix)]
    for copy in std::fs::read_dir(world.path("state/cru/hooks")).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = copy.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "settings may hold secrets");
    }
}

#[test]
fn settings_that_changed_since_lose_only_ours() {
    let world = World::new();
    let settings = world.path("home/.claude/settings.json");
    files::create(&settings, b"{\n  \"model\": \"opus\"\n}\n").unwrap();
    let run = |args: &[&str]| give(world.cru(args), b"");
    assert!(run(&["hooks", "install", "--yes"]).status.success());
    let text = String::from_utf8(files::read(&settings).unwrap()).unwrap();
    files::put(&settings, text.replace("opus", "sonnet").as_bytes()).unwrap();
    assert!(run(&["hooks", "uninstall", "--yes"]).status.success());
    assert_eq!(files::read(&settings).unwrap(), b"{\n  \"model\": \"sonnet\"\n}\n");

    files::put(&settings, b"{\n  \"model\": \"opus\",\n}\n").unwrap();
    let output = run(&["hooks", "install", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).1.contains("settings.json:3:1: trailing comma"), "{}", said(&output).1);
    assert_eq!(files::read(&settings).unwrap(), b"{\n  \"model\": \"opus\",\n}\n");
}

#[test]
fn who_writes_the_note_is_started_and_nobody_waits() {
    let world = World::new();
    files::put(&world.vault().join(".cru/config.toml"), b"[vault]\nid = \"v\"\n").unwrap();
    let input = json!({"session_id": "949d 1", "cwd": world.vault()}).to_string();
    let output = give(world.cru(&["hook", "stop"]), input.as_bytes());
    assert_eq!((said(&output), output.status.code()), ((String::new(), String::new()), Some(0)));
    // Noted only once it was started; its complaints have a place.
    let handed = files::read(&world.state().join("flush").join(name_of(&world.state())));
    assert_ne!(handed.unwrap(), b"0\n");
    assert!(world.state().join("hook.log").is_file());
}

/// The key of the one journal.
fn name_of(state: &Path) -> String {
    let path = std::fs::read_dir(state.join("journal")).unwrap().next().unwrap().unwrap().path();
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}
