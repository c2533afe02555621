//! What a person or agent says on a command line, over MCP, by a hook or in an answer is masked before it is kept or names
//! something: no note, state, cache or name of a file holds a key.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::running::mcp::Client;

/// A token that nobody has, by number.
fn key(number: usize) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = number as u64 + 77;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        SIGNS[(state >> 33) as usize % SIGNS.len()] as char
    };
    format!("gh{}{}", "p_", (0..36).map(|_| next()).collect::<String>())
}

struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn cru(&self, args: &[&str], input: &str) -> String {
        let root = self.temp.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(root.join("project")).env_clear().env("HOME", root).env("PATH", "/usr/bin:/bin");
        command
            .env("CRU_VAULT", root.join("vault"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// Every file of the vault and of the machine that holds the body of a key in its bytes or its name.
    fn holding(&self, keys: &[String]) -> Vec<String> {
        let mut left: Vec<PathBuf> =
            [".local", ".cache", ".config", "vault"].map(|it| self.temp.path().join(it)).into();
        let mut found = Vec::new();
        while let Some(path) = left.pop() {
            let name = path.to_string_lossy().into_owned();
            let bytes = if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
                Vec::new()
            } else {
                fs::read(&path).unwrap_or_default()
            };
            let text = String::from_utf8_lossy(&bytes);
            let held = keys.iter().enumerate().filter(|(_, key)| text.contains(&key[4..]) || name.contains(&key[4..]));
            found.extend(held.map(|(at, _)| format!("{at}: {}", Path::new(&name).display())));
        }
        found
    }
}

/// Commands that take words of a person; `KEY` stands for a key of its own, `S` for the session.
const COMMANDS: &[&[&str]] = &[
    &["session", "start", "x KEY", "--agent", "a@1"],
    &["session", "start", "c", "--channel", "KEY", "--agent", "a@1"],
    &["session", "start", "c", "--agent", "KEY@1"],
    &["session", "start", "c", "--agent", "a@1", "--tag", "KEY"],
    &["session", "rename", "S", "x KEY y"],
    &["session", "mark", "paused", "S", "--reason", "because KEY"],
    &["session", "mark", "completed", "S", "--reason", "because KEY"],
    &["lessons", "add", "use KEY now", "--from", "S#d-01", "--do", "put KEY", "--check", "echo KEY"],
    &["bookmark", "KEY", "S#n-001"],
    &["checkpoint", "before KEY", "--session", "S"],
    &["checkpoint", "x", "--blocked", "by KEY", "--session", "S"],
    &["read", "c:", "--from", "-", "--reader", "KEY"],
    &["summary", "topic", "KEY", "--write"],
    &["log", "phase", "x KEY", "--session", "S"],
    &["log", "note", "x KEY", "--session", "S"],
    &["log", "decision", "x KEY", "--why", "y KEY", "--rejected", "z KEY", "--session", "S"],
    &["log", "error", "x KEY", "--session", "S"],
    &["log", "task", "add", "x KEY", "--session", "S"],
    &["log", "question", "x KEY", "--session", "S"],
    &["log", "lesson", "x KEY", "--session", "S"],
    &["log", "checkpoint", "x KEY", "--session", "S"],
    &["log", "user", "x KEY", "--session", "S"],
    &["log", "tool", "KEY", "y KEY", "--result", "z KEY", "--session", "S"],
    &["log", "subagent", "x KEY", "--session", "S"],
    &["run", "--session", "S", "--", "sh", "-c", "echo token KEY"],
    &["run", "--session", "S", "--", "echo", "KEY"],
    &["run", "--session", "S", "--read", "KEY", "--", "true"],
    &["run", "--session", "S", "--write", "KEY", "--", "true"],
    &["run", "--session", "S", "--", "no-such-program-KEY"],
    &["read", "S", "--from", "-", "--reader", "KEY"],
];

#[test]
fn no_key_that_is_said_is_kept() {
    let world = World { temp: tempfile::tempdir().unwrap() };
    let root = world.temp.path().to_owned();
    fs::create_dir_all(root.join("project")).unwrap();
    let vault = root.join("vault");
    assert!(world.cru(&["init", vault.to_str().unwrap()], "").len() < 10_000 && vault.join(".cru").is_dir());
    world.cru(&["session", "start", "first one", "--agent", "a@1"], "");
    let sessions = fs::read_dir(vault.join("sessions")).unwrap().flatten();
    let session = sessions.map(|it| it.path().file_stem().unwrap().to_string_lossy().into_owned()).next().unwrap();
    world.cru(&["log", "tool", "Bash", "ls", "--session", &session], "");
    world.cru(&["log", "decision", "Stay", "--why", "calm", "--session", &session], "");
    let mut keys = Vec::new();
    let mut told = Vec::new();
    for words in COMMANDS {
        keys.push(key(keys.len()));
        let key = keys.last().unwrap().as_str();
        let words: Vec<String> = words
            .iter()
            .map(|word| word.replace("KEY", key))
            .map(|word| if word == "S" || word.starts_with("S#") { word.replacen('S', &session, 1) } else { word })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        told.push(world.cru(&words, &format!("{{\"goal\": \"x {key}\", \"summary\": \"{key}\"}}")));
    }
    // A row that no command understands shows nothing.
    let refused: Vec<&String> =
        told.iter().filter(|told| told.contains("unexpected argument") || told.contains("unrecognized")).collect();
    assert!(refused.is_empty(), "{refused:#?}");

    keys.push(key(keys.len()));
    let mut client = Client::start(&root, &vault, &["--write"]);
    let key_of = keys.last().unwrap();
    for name in ["search", "read", "before", "decisions", "query", "status", "log"] {
        let arguments = json!({
            "query": key_of, "ref": key_of, "file": key_of, "project": key_of, "where": key_of, "session": session,
            "client_id": key_of, "events": [{"event": "note", "text": format!("key {key_of}")}],
        });
        let known: &[&str] = match name {
            "search" => &["query", "project"],
            "read" => &["ref"],
            "before" => &["file"],
            "decisions" => &["file", "project"],
            "query" => &["where", "project"],
            "log" => &["session", "client_id", "events"],
            _ => &[],
        };
        let given: serde_json::Map<String, serde_json::Value> =
            known.iter().map(|name| ((*name).to_owned(), arguments[*name].clone())).collect();
        client.call(name, &json!(given));
    }
    client.ask("prompts/get", &json!({"name": "decide", "arguments": {"question": key_of}}));
    client.end();

    let hook = |event: &str, name: &str, more: serde_json::Value| {
        let mut payload = json!({"session_id": "0b5e1c1a-7a4c-4c5e-9d1f-0c00f0a0b000", "cwd": root.join("project"), "hook_event_name": event});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.cru(&["hook", name], &payload.to_string());
    };
    keys.push(key(keys.len()));
    let key_of = keys.last().unwrap();
    hook("SessionStart", "session-start", json!({"source": key_of}));
    hook("UserPromptSubmit", "user-prompt", json!({"prompt": format!("use {key_of}")}));
    let call =
        json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": format!("rm -rf gone-{key_of}")}});
    hook("PreToolUse", "pre-tool", call.clone());
    let mut result = call;
    result["tool_response"] = json!({"stdout": format!("no {key_of}"), "stderr": key_of});
    hook("PostToolUse", "post-tool", result);
    hook("SessionEnd", "session-end", json!({"reason": key_of}));
    hook(key_of, "no-such-event", json!({"x": key_of}));

    world.cru(&["flush", "--all"], "");
    world.cru(&["session", "list"], "");
    let held = world.holding(&keys);
    let named = |held: &String| {
        let at: usize = held.split(':').next().unwrap().parse().unwrap();
        format!("{held} by {:?}", COMMANDS.get(at))
    };
    assert!(held.is_empty(), "{}", held.iter().map(named).collect::<Vec<_>>().join("\n"));
    assert!(fs::read_dir(vault.join("sessions")).unwrap().count() > 3, "sessions were written");
}
