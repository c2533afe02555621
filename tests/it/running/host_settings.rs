//! Settings of every host: the server and the hooks come and go to the byte, and what each host tells arrives.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use cru::base::files;
use cru::live::hook::{HOSTS, HookEntry, HookLayout, Host};
use cru::vault::Journal;
use serde_json::{Value, json};

/// A vault, a home and a state.
struct HostWorld {
    temp: tempfile::TempDir,
}

impl HostWorld {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        let config = b"[vault]\nid = \"v\"\n[hooks]\nflush = \"never\"\n";
        files::create(&world.path("vault/.cru/config.toml"), config).unwrap();
        files::create_dir(&world.path("home/work")).unwrap();
        let user = format!("vault = {}\n", json!(world.path("vault")));
        files::create(&world.path("home/.config/cru/config.toml"), user.as_bytes()).unwrap();
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn home(&self, path: &str) -> PathBuf {
        self.path("home").join(path.strip_prefix("~/").unwrap_or(path))
    }

    fn start(&self, program: &str, args: &[&str], input: &str) -> Output {
        let mut command = Command::new(program);
        command.args(args).env_clear().current_dir(self.path("home/work"));
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state")).env("PATH", "/bin:/usr/bin");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Exit code and what was said.
    fn cru(&self, args: &[&str]) -> (i32, String) {
        let output = self.start(env!("CARGO_BIN_EXE_cru"), args, "");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap(), said)
    }

    fn read(&self, path: &str) -> Option<String> {
        Some(String::from_utf8(files::read(&self.home(path)).ok()?).unwrap())
    }

    fn put(&self, path: &str, text: Option<&str>) {
        let _ = files::remove(&self.home(path));
        if let Some(text) = text {
            files::create(&self.home(path), text.as_bytes()).unwrap();
        }
    }

    fn entries(&self, host: &str, session: &str) -> Vec<HookEntry> {
        let states = std::fs::read_dir(self.path("state/cru")).unwrap().map(|entry| entry.unwrap().path());
        let journals = states.map(|state| state.join(format!("journal/{host}--{session}.jsonl")));
        let journal = journals.filter(|path| path.is_file()).last().unwrap_or_else(|| panic!("no journal of {host}"));
        let read = Journal::at(journal).read(None).unwrap();
        read.entries.iter().map(|entry| serde_json::from_str(entry.event.get()).unwrap()).collect()
    }
}

#[test]
fn the_server_comes_and_goes_in_the_settings_of_every_host() {
    let json = "{ \"theme\":\"dark\",\n\"mcpServers\" : {\"a\": {\"command\": \"x\"}} }";
    let jsonc = "// mine\n{\n\t\"theme\": \"dark\", // of course\n\t/* servers */\n\t\"servers\": { \"a\": 1, },\n}\n";
    let toml = "# mine\r\nmodel = \"o3\" # fast\r\n\r\n[mcp_servers.a]\r\ncommand = \"x\"\r\n";
    for (host, path, texts) in [
        ("claude-code", "~/.claude.json", [json, "{}"]),
        ("codex", "~/.codex/config.toml", [toml, "a = 1"]),
        ("cursor", "~/.cursor/mcp.json", [json, jsonc]),
        ("gemini-cli", "~/.gemini/settings.json", [json, jsonc]),
        ("opencode", "~/.config/opencode/opencode.json", [json, jsonc]),
        ("copilot-cli", "~/.copilot/mcp-config.json", [json, jsonc]),
        ("vscode", "~/.config/Code/User/mcp.json", [json, jsonc]),
        ("zed", "~/.config/zed/settings.json", [json, jsonc]),
        ("qwen-code", "~/.qwen/settings.json", [json, jsonc]),
        ("kimi-cli", "~/.kimi/mcp.json", [json, jsonc]),
    ] {
        if cfg!(target_os = "macos") && host == "vscode" {
            continue;
        }
        let world = HostWorld::new();
        for before in [None, Some(texts[0]), Some(texts[1]), Some("\n")] {
            world.put(path, before);
            let run = |verb: &str, more: &[&str]| {
                let mut args = vec!["mcp", verb, "--host", host];
                args.extend(more);
                world.cru(&args)
            };
            assert_eq!(run("install", &[]).0, 2, "{host}: nobody agreed");
            assert_eq!((run("install", &["--dry-run"]).0, world.read(path).as_deref()), (0, before), "{host}");
            assert_eq!(world.cru(&["check", "mcp", host]).0, 1);
            let (code, said) = run("install", &["--yes", "--write"]);
            assert!(code == 0 && said.contains("installed"), "{host}: {said}");
            let installed = world.read(path).unwrap();
            assert!(installed.contains(env!("CARGO_BIN_EXE_cru")) && installed.contains("--write"), "{installed}");
            let (code, said) = world.cru(&["check", "mcp"]);
            assert!(code == 0 && said.contains("starts "), "{host}: {said}");
            assert_eq!((run("install", &["--yes", "--write"]).0, world.read(path)), (0, Some(installed.clone())));
            // Another change in between: then the entry alone goes.
            assert_eq!(run("uninstall", &["--yes"]).0, 0);
            assert_eq!(world.read(path).as_deref(), before, "{host}: to the byte");
            assert!(run("uninstall", &[]).1.contains("holds no server of cru"), "{host}");
        }
        world.put(path, Some(texts[0]));
        assert_eq!(world.cru(&["mcp", "install", "--host", host, "--yes"]).0, 0);
        let changed = world.read(path).unwrap().replace("dark", "light").replace("o3", "o4");
        world.put(path, Some(&changed));
        assert_eq!(world.cru(&["mcp", "uninstall", "--host", host, "--yes"]).0, 0);
        assert_eq!(world.read(path).unwrap(), texts[0].replace("dark", "light").replace("o3", "o4"), "{host}");
    }
    let world = HostWorld::new();
    let (code, said) = world.cru(&["mcp", "install", "--host", "goose"]);
    assert!(code == 0 && said.contains("by hand") && said.contains("type: stdio"), "{said}");
    let (code, said) = world.cru(&["mcp", "install", "--host", "typewriter"]);
    assert!(code == 2 && said.contains("claude-code, codex"), "{said}");
}

/// A person's own entry of our name is left, whatever is asked; `--replace` puts ours in its place until it is taken out.
#[test]
fn an_entry_that_a_person_made_stays_theirs() {
    for host in [
        "claude-code",
        "codex",
        "cursor",
        "gemini-cli",
        "opencode",
        "copilot-cli",
        "vscode",
        "zed",
        "qwen-code",
        "kimi-cli",
    ] {
        let world = HostWorld::new();
        let path = world.path(&format!("home/work/{host}.settings"));
        let (file, read) = (path.to_str().unwrap(), || String::from_utf8(files::read(&path).unwrap()).unwrap());
        let run = |verb: &str, more: &[&str]| {
            let mut args = vec!["mcp", verb, "--host", host, "--settings", file, "--yes"];
            args.extend(more);
            world.cru(&args)
        };
        assert_eq!(run("install", &[]).0, 0);
        let (ours, moved) = (read(), std::cell::Cell::new(0));
        let forget = || {
            let gone = world.path(&format!("gone{}", moved.replace(moved.get() + 1)));
            let _ = cru::base::files::rename(&world.path("state"), &gone);
        };
        for (own, starts) in [("npx", "npx mcp"), ("/opt/cru-of-mine", "cru-of-mine mcp")] {
            forget();
            let theirs = ours.replace(env!("CARGO_BIN_EXE_cru"), own);
            files::put(&path, theirs.as_bytes()).unwrap();
            let (code, said) = run("install", &[]);
            assert!(code == 2 && said.contains("was not written by cru") && said.contains(starts), "{host}: {said}");
            assert!(said.contains("--name cru-notes") && said.contains("--replace"), "{host}: {said}");
            assert_eq!(run("uninstall", &[]).0, 2, "{host}");
            assert_eq!(read(), theirs, "{host}");
            assert_eq!(run("install", &["--name", "cru-notes"]).0, 0, "{host}");
            assert!(read().contains("cru-notes") && read().contains(own), "{host}: {}", read());
            assert_eq!(run("uninstall", &["--name", "cru-notes"]).0, 0, "{host}");
            assert_eq!(read(), theirs, "{host}");
            assert_eq!(run("install", &["--replace"]).0, 0, "{host}");
            assert!(!read().contains(own), "{host}: {}", read());
            assert_eq!(run("uninstall", &[]).0, 0, "{host}");
            assert_eq!(read(), theirs, "{host}: given back");
        }
        // One in our form that nobody is known to have written is renewed, and given back.
        forget();
        files::put(&path, ours.as_bytes()).unwrap();
        assert_eq!(run("install", &["--write"]).0, 0, "{host}");
        assert!(read().contains("--write"), "{host}");
        assert_eq!(run("uninstall", &[]).0, 0, "{host}");
        assert_eq!(read(), ours, "{host}");
    }
}

/// A file of ours into which a person wrote is neither replaced nor removed.
#[test]
fn a_script_of_hooks_that_a_person_changed_stays() {
    let mut seen = 0;
    for host in HOSTS.iter().filter(|host| matches!(host.settings.layout, HookLayout::Script(_))) {
        let world = HostWorld::new();
        let path = world.path("home/work/hooks.script");
        let file = path.to_str().unwrap();
        let run = |verb: &str| world.cru(&["hooks", verb, "--host", host.id, "--settings", file, "--yes"]).0;
        assert_eq!(run("install"), 0);
        assert_eq!(run("install"), 0);
        let mut text = files::read(&path).unwrap();
        text.extend(b"// mine\n");
        files::put(&path, &text).unwrap();
        assert_eq!((run("install"), run("uninstall")), (2, 2), "{}", host.id);
        assert_eq!(files::read(&path).unwrap(), text);
        text.truncate(text.len() - 8);
        files::put(&path, &text).unwrap();
        assert_eq!(run("uninstall"), 0, "{}", host.id);
        assert!(!path.exists());
        seen += 1;
    }
    assert!(seen > 0);
}

/// Settings of a person, with comments where the host reads them.
fn texts(host: &Host) -> Vec<Option<&'static str>> {
    match host.settings.layout {
        HookLayout::Script(_) => vec![None],
        HookLayout::Rows => {
            vec![None, Some("# mine\ntheme = \"dark\" # of course\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n")]
        }
        _ if host.settings.comments => {
            vec![None, Some("// mine\n{\n\t\"hooks\": {\n\t\t// none yet\n\t},\n\t\"a\": 1, // one\n}\n")]
        }
        _ => vec![None, Some("{ \"hooks\": {}, \"model\":\"opus\",\n\"env\" : {\"KEY\": \"1\"} }")],
    }
}

#[test]
fn hooks_come_and_go_in_the_settings_of_every_host() {
    for host in &HOSTS {
        let world = HostWorld::new();
        let path = host.settings.user;
        files::create_dir(&world.home(host.settings.folder)).unwrap();
        for before in texts(host) {
            world.put(path, before);
            let run = |verb: &str, more: &[&str]| {
                let mut args = vec!["hooks", verb, "--host", host.id];
                args.extend(more);
                world.cru(&args)
            };
            assert_eq!(run("install", &[]).0, 2, "{}: nobody agreed", host.id);
            let status = || world.cru(&["check", "hooks", host.id]);
            assert_eq!(status().0, 1, "{}", host.id);
            let (code, said) = run("install", &["--yes"]);
            assert!(code == 0 && said.contains("installed"), "{}: {said}", host.id);
            let (code, said) = status();
            assert!(code == 0 && said.contains("this program") && said.contains("arrives in"), "{}: {said}", host.id);
            assert!(run("install", &["--yes"]).1.contains("already installed"), "{}", host.id);
            assert_eq!(run("uninstall", &["--yes"]).0, 0);
            assert_eq!(world.read(path).as_deref(), before, "{}: to the byte", host.id);
        }
        assert!(!world.home("~/.agents/plugins/cru/plugin.json").exists());
    }
}

#[test]
fn every_host_that_is_found_is_named() {
    let world = HostWorld::new();
    for folder in [".claude", ".codex", ".cursor"] {
        files::create_dir(&world.home(folder)).unwrap();
    }
    let (code, said) = world.cru(&["hooks", "install", "--all", "--yes"]);
    assert!(code == 0 && said.matches(": installed").count() == 3, "{said}");
    let event = r#"{"conversation_id": "c1", "cursor_version": "2.4", "hook_event_name": "sessionStart", "workspace_roots": ["/w"]}"#;
    world.start(env!("CARGO_BIN_EXE_cru"), &["hook", "session-start", "--host", "cursor"], event);
    let vault = world.path("vault");
    let (code, said) = world.cru(&["--vault", vault.to_str().unwrap(), "check", "hooks"]);
    assert_eq!(code, 0, "{said}");
    for line in ["Codex (", "Cursor (", "no event arrived in this vault yet", "last event for this vault: "] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("Gemini") && !said.contains("Refused"), "{said}");
    assert_eq!(world.cru(&["hooks", "uninstall", "--all", "--yes"]).0, 0);
    assert!(
        [".claude/settings.json", ".codex/hooks.json", ".cursor/hooks.json"].iter().all(|it| world.read(it).is_none())
    );
}

/// What hosts are documented to tell after a call, and what is kept of it under shared names.
#[test]
fn what_hosts_tell_is_kept_under_shared_names() {
    let world = HostWorld::new();
    for (host, event, input) in [
        (
            "codex",
            "post-tool",
            json!({"session_id": "s", "turn_id": "t", "cwd": "/w", "hook_event_name": "PostToolUse",
            "model": "m", "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "c", "transcript_path": null,
            "tool_input": {"command": "true"}, "tool_response": "ok"}),
        ),
        (
            "cursor",
            "post-tool",
            json!({"conversation_id": "s", "generation_id": "g", "hook_event_name": "postToolUse",
            "cursor_version": "2.4", "workspace_roots": ["/w"], "transcript_path": "/t", "tool_name": "Shell",
            "tool_input": {"command": "true"}, "tool_output": "ok", "tool_use_id": "c"}),
        ),
        (
            "gemini-cli",
            "post-tool",
            json!({"session_id": "s", "transcript_path": "/t", "cwd": "/w", "timestamp": "x",
            "hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_input": {"command": "true"},
            "tool_response": "ok"}),
        ),
        (
            "copilot-cli",
            "post-tool",
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w",
            "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_result": "ok"}),
        ),
        (
            "qwen-code",
            "post-tool",
            json!({"session_id": "s", "transcript_path": "/t", "cwd": "/w",
            "hook_event_name": "PostToolUse", "tool_name": "run_shell_command", "tool_use_id": "c",
            "tool_input": {"command": "true"}, "tool_response": "ok"}),
        ),
        (
            "kimi-cli",
            "post-tool",
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w",
            "tool_name": "Shell", "tool_input": {"command": "true"}, "tool_output": "ok", "tool_call_id": "c"}),
        ),
        (
            "goose",
            "post-tool",
            json!({"event": "PostToolUse", "session_id": "s", "tool_name": "developer__shell",
            "tool_input": {"command": "true"}, "working_dir": "/w", "tool_call_id": "c"}),
        ),
        (
            "opencode",
            "post-tool",
            json!({"session_id": "s", "cwd": "/w", "hook_event_name": "tool.execute.after",
            "tool_name": "bash", "tool_use_id": "c", "tool_input": {"command": "true"}, "tool_response": "ok"}),
        ),
        (
            "pi",
            "post-tool",
            json!({"session_id": "s", "transcript_path": "/t", "cwd": "/w",
            "hook_event_name": "tool_result", "tool_name": "bash", "tool_use_id": "c",
            "tool_input": {"command": "true"}, "tool_response": "ok"}),
        ),
    ] {
        let output = world.start(env!("CARGO_BIN_EXE_cru"), &["hook", event, "--host", host], &input.to_string());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{host}");
        let entries = world.entries(host, "s");
        let [entry] = entries.as_slice() else { panic!("{host}: {entries:?}") };
        let has = |name: &str| entry.input.get(name).cloned().unwrap_or(Value::Null);
        assert_eq!((entry.host.as_str(), entry.event.as_str()), (host, event));
        assert_eq!(
            (has("session_id"), has("cwd"), has("tool_input")),
            (json!("s"), json!("/w"), json!({"command": "true"}))
        );
        if host != "goose" {
            assert_eq!(has("tool_response"), json!("ok"), "{host}");
        }
        if !["gemini-cli", "copilot-cli"].contains(&host) {
            assert_eq!(has("tool_use_id"), json!("c"), "{host}");
        }
    }
}

#[test]
fn events_of_unknown_hosts_are_refused_and_told() {
    let world = HostWorld::new();
    let run = |args: &[&str], input: &str| {
        assert_eq!(world.start(env!("CARGO_BIN_EXE_cru"), args, input).status.code(), Some(0));
    };
    // VS Code runs the hooks of Claude Code's settings, and says so by its names of fields.
    run(
        &["hook", "stop"],
        r#"{"sessionId": "v", "hookEventName": "Stop", "transcript_path": "/t/v.json", "cwd": "/w"}"#,
    );
    run(&["hook", "stop", "--host", "typewriter"], r#"{"session_id": "t"}"#);
    // Cursor does as well, and is known.
    run(
        &["hook", "stop"],
        r#"{"conversation_id": "c", "cursor_version": "2", "hook_event_name": "stop", "workspace_roots": ["/w"]}"#,
    );
    assert_eq!(world.entries("cursor", "c").len(), 1);
    let vault = world.path("vault");
    let (_, said) = world.cru(&["--vault", vault.to_str().unwrap(), "check", "hooks"]);
    assert!(said.contains("Refused: 2 events of hosts that are not known."), "{said}");
    let waiting = world.cru(&["--vault", vault.to_str().unwrap(), "check", "hooks", "-f", "json"]).1;
    assert!(!waiting.contains("unfiled") && waiting.contains("no host 'typewriter' is known"), "{waiting}");
}

/// A host that no importer reads gets its note from what its hooks told; each event counts once.
#[test]
fn hooks_alone_make_a_note() {
    for (host, call, result) in
        [("qwen-code", "tool_use_id", "tool_response"), ("kimi-cli", "tool_call_id", "tool_output")]
    {
        let world = HostWorld::new();
        let vault = world.path("vault");
        let tell = |event: &str, name: &str, more: Value| {
            let mut input = json!({"session_id": "q1", "cwd": vault, "hook_event_name": name});
            input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            for _ in 0..2 {
                world.start(env!("CARGO_BIN_EXE_cru"), &["hook", event, "--host", host], &input.to_string());
            }
        };
        tell("session-start", "SessionStart", json!({"source": "startup"}));
        tell("prompt", "UserPromptSubmit", json!({"prompt": "Count the herons by the lake"}));
        tell(
            "pre-tool",
            "PreToolUse",
            json!({"tool_name": "Shell", call: "c1", "tool_input": {"command": "wc -l herons"}}),
        );
        tell(
            "post-tool",
            "PostToolUse",
            json!({"tool_name": "Shell", call: "c1", "tool_input": {"command": "wc -l herons"}, result: "41 herons"}),
        );
        tell("stop", "Stop", json!({"last_assistant_message": "There are 41 herons."}));
        tell("session-end", "SessionEnd", json!({"reason": "exit"}));
        let (code, said) = world.cru(&["--vault", vault.to_str().unwrap(), "flush", "--all"]);
        assert_eq!(code, 0, "{said}");
        let notes = std::fs::read_dir(vault.join("sessions")).unwrap().map(|entry| entry.unwrap().path());
        let note = notes.filter(|path| path.is_file()).last().unwrap();
        let text = std::fs::read_to_string(note).unwrap();
        assert!(text.contains(&format!("host: {host}")), "{text}");
        for words in ["Count the herons", "wc -l herons", "41 herons"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert_eq!(text.matches("`shell wc -l herons`").count(), 1, "{text}");
        assert_eq!(text.matches("> [!user]").count(), 1, "{text}");
    }
}

/// One command adds hooks and server to the settings that a host has, and one takes both back, to the byte.
#[test]
fn a_host_is_connected_and_disconnected() {
    let dark = Some("{ \"theme\":\"dark\" }\n");
    for (host, files, before) in [
        ("claude-code", &["~/.claude/settings.json", "~/.claude.json"][..], dark),
        ("gemini-cli", &["~/.gemini/settings.json"], dark),
        ("gemini-cli", &["~/.gemini/settings.json"], None),
        ("vscode", &["~/.config/Code/User/mcp.json"], dark),
    ] {
        if cfg!(target_os = "macos") && host == "vscode" {
            continue;
        }
        let world = HostWorld::new();
        for path in files {
            world.put(path, before);
        }
        let args: &[&str] = if host == "claude-code" { &[] } else { &[host] };
        let run = |verb: &str, more: &[&str]| world.cru(&[&[verb], args, more].concat());
        assert_eq!(run("connect", &[]).0, 2, "{host}: nobody agreed");
        assert_eq!(run("connect", &["--dry-run"]).0, 0);
        assert!(files.iter().all(|path| world.read(path).as_deref() == before), "{host}");
        let (code, said) = run("connect", &["--yes", "-f", "json"]);
        let value: Value = serde_json::from_str(&said[said.find('{').unwrap()..=said.rfind('}').unwrap()]).unwrap();
        let changes = value["changes"].as_array().map_or(1, Vec::len);
        assert_eq!((code, changes), (0, if host == "vscode" { 1 } else { 2 }), "{host}: {said}");
        let all: String = files.iter().filter_map(|path| world.read(path)).collect();
        assert!(all.contains("mcp") && all.contains("hook") == (host != "vscode"), "{host}: {all}");
        assert!(run("connect", &["--yes"]).1.contains("already installed"), "{host}");
        let (code, said) = run("disconnect", &["--yes"]);
        assert_eq!(code, 0, "{host}: {said}");
        for path in files {
            assert_eq!(world.read(path).as_deref(), before, "{host}: {path}");
        }
    }
    let world = HostWorld::new();
    let (code, said) = world.cru(&["connect", "--settings", "x.json", "--yes"]);
    assert!(code == 2 && said.contains("say with --only what it holds"), "{said}");
    let (code, said) = world.cru(&["connect", "nobody", "--yes"]);
    assert!(code == 2 && said.contains("claude-code, codex"), "{said}");
    assert_eq!(world.cru(&["connect", "--all", "--yes"]).0, 1, "no host is there");
}
